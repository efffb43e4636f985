"""A memory of transitions, in the graph."""

import math
from typing import NamedTuple

import tensorflow as tf

from agents.parts.priorities import PriorityTree
from agents.parts.trajectory import Nest, Trajectory, select


class Transitions(NamedTuple):
    """Samples from a memory, each leaf [batch, ...].

    Attributes:
        observation: nest of [batch, ...], raw.
        action: as the environment took it.
        reward: float32, the discounted sum of `n_step` rewards, of fewer where the
            episode ended or the memory does.
        discount: float32, of the value of what followed: 0 where the task ended, but
            not where an episode was cut off.
        next_observation: nest of [batch, ...], raw, after the last of those rewards.
        weight: float32, 0 for what is no transition, otherwise the correction for how
            often it is drawn, at most 1.
        index: int32, by which priorities are set.
    """

    observation: Nest
    action: tf.Tensor
    reward: tf.Tensor
    discount: tf.Tensor
    next_observation: Nest
    weight: tf.Tensor
    index: tf.Tensor


class Row(NamedTuple):
    """What is kept of a step, leaves [N, ...]: fields of a `Trajectory`."""

    observation: Nest
    action: tf.Tensor
    reward: tf.Tensor
    terminated: tf.Tensor
    truncated: tf.Tensor
    final_observation: Nest
    valid: tf.Tensor


def row_of(trajectory: Trajectory) -> Row:
    """Return the leaves [T, N, ...] that a memory keeps of a trajectory."""
    return Row(*(getattr(trajectory, name) for name in Row._fields))


def size_in_bytes(specs: Row, capacity: int, prioritized: bool) -> int:
    """Return what a memory takes, without making it.

    Args:
        specs: `tf.TensorSpec`s of one transition.
        capacity: transitions.
        prioritized: whether priorities are kept.
    """
    leaves = tf.nest.flatten(specs)
    each = sum(math.prod(leaf.shape) * leaf.dtype.size for leaf in leaves)
    return capacity * (each + (4 if prioritized else 0))


class ReplayMemory(tf.Module):
    """The newest transitions of N environments; the oldest are overwritten."""

    def __init__(self, specs: Row, num_envs: int, capacity: int, prioritized: bool):
        """Take the room for all transitions, and hold none.

        Args:
            specs: `tf.TensorSpec`s of one transition.
            num_envs: N.
            capacity: transitions; what does not make a row of all N is left out.
            prioritized: whether some are drawn more often than others.
        """
        super().__init__()
        self._num_envs = num_envs
        self._rows = max(capacity // num_envs, 1)
        self.capacity = self._rows * num_envs
        self._specs = specs
        self._leaves = [
            tf.Variable(
                tf.zeros([self._rows, num_envs, *spec.shape], spec.dtype),
                trainable=False,
            )
            for spec in tf.nest.flatten(specs)
        ]
        self._written = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._priorities = PriorityTree(self.capacity) if prioritized else None
        self._greatest = tf.Variable(1.0, trainable=False)

    @property
    def count(self) -> tf.Tensor:
        """How many transitions there are, [] int32."""
        rows = tf.minimum(self._written, self._rows)
        return tf.cast(rows, tf.int32) * self._num_envs

    def append(self, rows: Row) -> None:
        """Write steps behind those that came before, over the oldest.

        Args:
            rows: leaves [T, N, ...]; the last `capacity` transitions stay.
        """
        time = min(rows.reward.shape[0], self._rows)
        rows = tf.nest.map_structure(lambda leaf: leaf[-time:], rows)
        places = (self._written + tf.range(time, dtype=tf.int64)) % self._rows
        places = tf.cast(places, tf.int32)[:, None]
        for variable, leaf in zip(self._leaves, tf.nest.flatten(rows), strict=True):
            variable.scatter_nd_update(places, leaf)
        self._written.assign_add(time)
        if self._priorities:
            index = places * self._num_envs + tf.range(self._num_envs)
            valid = tf.cast(tf.reshape(rows.valid, [-1]), tf.float32)
            self._priorities.set(tf.reshape(index, [-1]), valid * self._greatest)

    def sample(
        self,
        seed: tf.Tensor,
        size: int,
        discount: float,
        n_step: int = 1,
        importance_exponent: tf.Tensor | float = 0.0,
    ) -> Transitions:
        """Draw transitions with replacement.

        Args:
            seed: [2] int32.
            size: how many.
            discount: in [0, 1], per step.
            n_step: most rewards in the sum of each.
            importance_exponent: in [0, 1], how far weights make up for priorities.
        """
        index, weight = self._draw(seed, size, importance_exponent)
        first, last, reward, factor = self._follow(index, discount, n_step)
        return Transitions(
            observation=first.observation,
            action=first.action,
            reward=reward,
            discount=tf.where(last.terminated, 0.0, factor),
            next_observation=last.final_observation,
            weight=tf.where(first.valid, weight, 0.0),
            index=index,
        )

    def set_priorities(self, index: tf.Tensor, priority: tf.Tensor) -> None:
        """Say how often transitions are to be drawn, relative to one another.

        Args:
            index: [batch] int32, of samples.
            priority: [batch] float32, above 0; what is no transition keeps 0.
        """
        if self._priorities is None:
            return
        valid = self._read(index).valid
        self._priorities.set(index, tf.where(valid, priority, 0.0))
        greatest = tf.reduce_max(tf.where(valid, priority, 0.0))
        self._greatest.assign(tf.maximum(self._greatest, greatest))

    def _draw(
        self, seed: tf.Tensor, size: int, importance_exponent: tf.Tensor | float
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Return indices and weights [size]; equation 1 of arXiv:1511.05952."""
        if self._priorities is None:
            index = tf.random.stateless_uniform(
                [size], seed, 0, tf.maximum(self.count, 1), tf.int32, alg="philox"
            )
            return index, tf.ones([size])
        index, priority = self._priorities.draw(seed, size)
        priority = tf.maximum(priority, 1e-30)
        least = tf.reduce_min(priority)
        return index, (least / priority) ** importance_exponent

    def _follow(
        self, index: tf.Tensor, discount: float, n_step: int
    ) -> tuple[Row, Row, tf.Tensor, tf.Tensor]:
        """Return first and last row, sum of rewards, and what discounts the rest."""
        newest = tf.cast((self._written - 1) % self._rows, tf.int32)
        first = last = self._read(index)
        reward, factor = first.reward, tf.fill(index.shape, discount)
        goes_on = tf.ones_like(first.valid)
        for _ in range(n_step - 1):
            is_newest = index // self._num_envs == newest
            goes_on &= ~(last.terminated | last.truncated | is_newest)
            index = tf.where(goes_on, (index + self._num_envs) % self.capacity, index)
            row = self._read(index)
            goes_on &= row.valid
            last = select(goes_on, row, last)
            reward += tf.where(goes_on, factor * row.reward, 0.0)
            factor = tf.where(goes_on, factor * discount, factor)
        return first, last, reward, factor

    def _read(self, index: tf.Tensor) -> Row:
        # Neither a reshape nor a read copies what a variable holds.
        leaves = [
            tf.gather(tf.reshape(leaf, [self.capacity, *leaf.shape[2:]]), index)
            for leaf in self._leaves
        ]
        return tf.nest.pack_sequence_as(self._specs, leaves)
