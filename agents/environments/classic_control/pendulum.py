"""Pendulum-v1: swing up and hold, by a torque too weak to do it at once."""

import math

import gymnasium
import numpy as np
import tensorflow as tf

GRAVITY = 10.0
STEP_SECONDS = 0.05
MAX_TORQUE = 2.0
MAX_SPEED = 8.0


class Pendulum:
    """A rod of mass 1 and length 1; the state is angle (0: upright) and speed."""

    observation_space = gymnasium.spaces.Box(
        np.float32([-1, -1, -MAX_SPEED]), np.float32([1, 1, MAX_SPEED])
    )
    action_space = gymnasium.spaces.Box(-MAX_TORQUE, MAX_TORQUE, (1,))
    max_length = 200

    def start(self, seed: tf.Tensor, count: int) -> tf.Tensor:
        """Draw angle in +-pi and speed in +-1, [count, 2]."""
        unit = tf.random.stateless_uniform([count, 2], seed, -1, 1, alg="philox")
        return unit * [math.pi, 1.0]

    def step(
        self, state: tf.Tensor, action: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Apply a torque; the reward is the cost of angle, speed and torque."""
        angle, speed = tf.unstack(state, axis=-1)
        torque = tf.clip_by_value(action[:, 0], -MAX_TORQUE, MAX_TORQUE)
        folded = tf.math.floormod(angle + math.pi, 2 * math.pi) - math.pi
        cost = folded**2 + 0.1 * speed**2 + 0.001 * torque**2
        acceleration = 1.5 * GRAVITY * tf.sin(angle) + 3.0 * torque
        speed = tf.clip_by_value(
            speed + acceleration * STEP_SECONDS, -MAX_SPEED, MAX_SPEED
        )
        angle = angle + speed * STEP_SECONDS
        never = tf.zeros_like(angle, tf.bool)
        return tf.stack([angle, speed], -1), -cost, never

    def observe(self, state: tf.Tensor) -> tf.Tensor:
        """Return cosine, sine and speed, [N, 3]."""
        angle, speed = tf.unstack(state, axis=-1)
        return tf.stack([tf.cos(angle), tf.sin(angle), speed], -1)
