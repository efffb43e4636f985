"""CartPole-v1: balance a pole by pushing its cart (Barto, Sutton, Anderson, 1983)."""

import math

import gymnasium
import numpy as np
import tensorflow as tf

GRAVITY = 9.8
POLE_MASS = 0.1
TOTAL_MASS = 1.1
HALF_LENGTH = 0.5
FORCE = 10.0
STEP_SECONDS = 0.02
MAX_POSITION = 2.4
MAX_ANGLE = 12 * 2 * math.pi / 360


class CartPole:
    """The state is position, speed, angle and angular speed, all observed."""

    observation_space = gymnasium.spaces.Box(
        -np.float32([2 * MAX_POSITION, np.inf, 2 * MAX_ANGLE, np.inf]),
        np.float32([2 * MAX_POSITION, np.inf, 2 * MAX_ANGLE, np.inf]),
    )
    action_space = gymnasium.spaces.Discrete(2)
    max_length = 500

    def start(self, seed: tf.Tensor, count: int) -> tf.Tensor:
        """Draw each number in +-0.05, [count, 4]."""
        return tf.random.stateless_uniform([count, 4], seed, -0.05, 0.05, alg="philox")

    def step(
        self, state: tf.Tensor, action: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Push left by 0 and right by 1; each step earns 1 until cart or pole leave."""
        position, speed, angle, angular_speed = tf.unstack(state, axis=-1)
        force = tf.where(action == 1, FORCE, -FORCE)
        sine, cosine = tf.sin(angle), tf.cos(angle)
        pole_moment = POLE_MASS * HALF_LENGTH
        push = (force + pole_moment * angular_speed**2 * sine) / TOTAL_MASS
        inertia = HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * cosine**2 / TOTAL_MASS)
        angular_acceleration = (GRAVITY * sine - cosine * push) / inertia
        acceleration = push - pole_moment * angular_acceleration * cosine / TOTAL_MASS
        changes = [speed, acceleration, angular_speed, angular_acceleration]
        state = state + STEP_SECONDS * tf.stack(changes, -1)
        terminated = tf.abs(state[:, 0]) > MAX_POSITION
        terminated |= tf.abs(state[:, 2]) > MAX_ANGLE
        return state, tf.ones_like(position), terminated

    def observe(self, state: tf.Tensor) -> tf.Tensor:
        """Return the state, [N, 4]."""
        return state
