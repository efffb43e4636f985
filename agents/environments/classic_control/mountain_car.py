"""MountainCar: gain height by swinging, since the motor is too weak (Moore, 1990)."""

import gymnasium
import numpy as np
import tensorflow as tf

MIN_POSITION, MAX_POSITION = -1.2, 0.6
MAX_SPEED = 0.07
GRAVITY = 0.0025

_SPACE = gymnasium.spaces.Box(
    np.float32([MIN_POSITION, -MAX_SPEED]), np.float32([MAX_POSITION, MAX_SPEED])
)


class MountainCar:
    """MountainCar-v0: full throttle or none; each step costs 1 until the goal."""

    observation_space = _SPACE
    action_space = gymnasium.spaces.Discrete(3)
    max_length = 200

    def start(self, seed: tf.Tensor, count: int) -> tf.Tensor:
        """Draw a position near the bottom, at rest, [count, 2]."""
        return _start(seed, count)

    def step(
        self, state: tf.Tensor, action: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Accelerate left by 0, not by 1, right by 2."""
        throttle = 0.001 * (tf.cast(action, tf.float32) - 1.0)
        state = _move(state, throttle)
        return state, -tf.ones_like(throttle), _arrived(state, 0.5)

    def observe(self, state: tf.Tensor) -> tf.Tensor:
        """Return position and speed, [N, 2]."""
        return state


class MountainCarContinuous:
    """MountainCarContinuous-v0: any throttle, which costs; the goal earns 100."""

    observation_space = _SPACE
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    max_length = 999

    def start(self, seed: tf.Tensor, count: int) -> tf.Tensor:
        """Draw a position near the bottom, at rest, [count, 2]."""
        return _start(seed, count)

    def step(
        self, state: tf.Tensor, action: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Accelerate by up to +-1."""
        throttle = action[:, 0]
        state = _move(state, 0.0015 * tf.clip_by_value(throttle, -1.0, 1.0))
        arrived = _arrived(state, 0.45)
        return state, tf.where(arrived, 100.0, 0.0) - 0.1 * throttle**2, arrived

    def observe(self, state: tf.Tensor) -> tf.Tensor:
        """Return position and speed, [N, 2]."""
        return state


def _start(seed: tf.Tensor, count: int) -> tf.Tensor:
    position = tf.random.stateless_uniform([count], seed, -0.6, -0.4, alg="philox")
    return tf.stack([position, tf.zeros([count])], -1)


def _move(state: tf.Tensor, throttle: tf.Tensor) -> tf.Tensor:
    position, speed = tf.unstack(state, axis=-1)
    speed = speed + throttle - GRAVITY * tf.cos(3.0 * position)
    speed = tf.clip_by_value(speed, -MAX_SPEED, MAX_SPEED)
    position = tf.clip_by_value(position + speed, MIN_POSITION, MAX_POSITION)
    hit_the_wall = (position == MIN_POSITION) & (speed < 0)
    return tf.stack([position, tf.where(hit_the_wall, 0.0, speed)], -1)


def _arrived(state: tf.Tensor, goal: float) -> tf.Tensor:
    return (state[:, 0] >= goal) & (state[:, 1] >= 0)
