"""Acrobot-v1: swing the tip of two links above a line (Sutton, 1996)."""

import math

import gymnasium
import numpy as np
import tensorflow as tf

GRAVITY = 9.8
STEP_SECONDS = 0.2
MAX_SPEEDS = (4 * math.pi, 9 * math.pi)
# Both links: mass 1, length 1, moment of inertia 1, center of mass in the middle.
CENTER = 0.5


class Acrobot:
    """The state is both angles (0: hanging) and both angular speeds."""

    observation_space = gymnasium.spaces.Box(
        -np.float32([1, 1, 1, 1, *MAX_SPEEDS]), np.float32([1, 1, 1, 1, *MAX_SPEEDS])
    )
    action_space = gymnasium.spaces.Discrete(3)
    max_length = 500

    def start(self, seed: tf.Tensor, count: int) -> tf.Tensor:
        """Draw each number in +-0.1, [count, 4]."""
        return tf.random.stateless_uniform([count, 4], seed, -0.1, 0.1, alg="philox")

    def step(
        self, state: tf.Tensor, action: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Turn the joint by -1, 0 or 1; each step costs 1, but for the last."""
        torque = tf.cast(action, tf.float32) - 1.0
        moved = _integrate(state, torque)
        angles = tf.math.floormod(moved[:, :2] + math.pi, 2 * math.pi) - math.pi
        limits = tf.constant(MAX_SPEEDS, tf.float32)
        speeds = tf.clip_by_value(moved[:, 2:], -limits, limits)
        first, second = tf.unstack(angles, axis=-1)
        terminated = -tf.cos(first) - tf.cos(first + second) > 1.0
        reward = tf.where(terminated, 0.0, -1.0)
        return tf.concat([angles, speeds], -1), reward, terminated

    def observe(self, state: tf.Tensor) -> tf.Tensor:
        """Return cosine and sine of both angles, and both speeds, [N, 6]."""
        first, second, *speeds = tf.unstack(state, axis=-1)
        angles = [tf.cos(first), tf.sin(first), tf.cos(second), tf.sin(second)]
        return tf.stack([*angles, *speeds], -1)


def _integrate(state: tf.Tensor, torque: tf.Tensor) -> tf.Tensor:
    """Take one step of the classical Runge-Kutta method."""
    first = _derivative(state, torque)
    second = _derivative(state + STEP_SECONDS / 2 * first, torque)
    third = _derivative(state + STEP_SECONDS / 2 * second, torque)
    fourth = _derivative(state + STEP_SECONDS * third, torque)
    return state + STEP_SECONDS / 6 * (first + 2 * second + 2 * third + fourth)


def _derivative(state: tf.Tensor, torque: tf.Tensor) -> tf.Tensor:
    angle1, angle2, speed1, speed2 = tf.unstack(state, axis=-1)
    sine, cosine = tf.sin(angle2), tf.cos(angle2)
    inertia11 = CENTER**2 + 1 + CENTER**2 + 2 * CENTER * cosine + 2
    inertia12 = CENTER**2 + CENTER * cosine + 1
    inertia22 = CENTER**2 + 1
    weight2 = CENTER * GRAVITY * tf.sin(angle1 + angle2)
    weight1 = (CENTER + 1) * GRAVITY * tf.sin(angle1) + weight2
    coupling = CENTER * sine * (speed2**2 + 2 * speed1 * speed2)
    load1 = weight1 - coupling
    ratio = inertia12 / inertia11
    load2 = weight2 + CENTER * sine * speed1**2
    acceleration2 = (torque + ratio * load1 - load2) / (inertia22 - ratio * inertia12)
    acceleration1 = -(inertia12 * acceleration2 + load1) / inertia11
    return tf.stack([speed1, speed2, acceleration1, acceleration2], -1)
