"""Drawing indices in proportion to priorities, in the graph."""

import tensorflow as tf

# Children of a node: three levels hold two million leaves, and a processor sums so many
# numbers in the time that it takes to find a single one in memory.
_CHILDREN = 128


class PriorityTree(tf.Module):
    """Priorities with their sums, so that drawing and changing some costs little.

    Each number of a level is the sum of 128 numbers of the level below, computed anew
    when one of them changes, so that rounding errors do not add up.
    """

    def __init__(self, capacity: int):
        """Start with `capacity` priorities of 0."""
        super().__init__()
        self._levels, size = [], capacity
        while not self._levels or size > 1:
            size = -(-size // _CHILDREN)
            self._levels.append(
                tf.Variable(tf.zeros([size, _CHILDREN]), trainable=False)
            )

    def total(self) -> tf.Tensor:
        """Return the sum [] float32 of all priorities."""
        return tf.reduce_sum(self._levels[-1])

    def set(self, index: tf.Tensor, priority: tf.Tensor) -> None:
        """Change some priorities.

        Args:
            index: [count] int32; where one stands there twice, either may stay.
            priority: [count] float32, at least 0.
        """
        for level in self._levels:
            row, column = index // _CHILDREN, index % _CHILDREN
            level.scatter_nd_update(tf.stack([row, column], -1), priority)
            index, priority = row, tf.reduce_sum(tf.gather(level, row), -1)

    def draw(self, seed: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Draw indices with replacement, one from each of `count` equal shares.

        Args:
            seed: [2] int32.
            count: how many.

        Returns:
            Indices [count] int32; their priorities [count] float32. Where all
            priorities are 0, so are those.
        """
        share = tf.random.stateless_uniform([count], seed, alg="philox")
        rest = (tf.range(count, dtype=tf.float32) + share) / count * self.total()
        index = tf.zeros([count], tf.int32)
        for level in reversed(self._levels):
            children = tf.gather(level, index)
            sums = tf.cumsum(children, -1)
            # By rounding the rest may reach the sum: never go where nothing is.
            passed = (sums <= rest[:, None]) & (sums < sums[:, -1:])
            child = tf.reduce_sum(tf.cast(passed, tf.int32), -1)
            before = tf.gather(sums - children, child, batch_dims=1)
            rest = rest - before
            index = index * _CHILDREN + child
        chosen = tf.gather(children, child, batch_dims=1)
        return index, chosen
