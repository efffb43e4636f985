"""Computing only the rows that are needed, with shapes that stay static."""

from collections.abc import Callable

import tensorflow as tf

from agents.parts.trajectory import Nest

# Rows in a pass: few where few are needed, and still enough to fill a processor.
_CHUNK = 64


def map_where(
    condition: tf.Tensor, function: Callable[[Nest], tf.Tensor], rows: Nest
) -> tf.Tensor:
    """Apply a function to the rows where a condition holds; the others become 0.

    The cost grows with the number of such rows, in steps of 64.

    Args:
        condition: [*leading] bool.
        function: takes rows [64, ...], and returns a float32 number for each, [64].
        rows: nest of [*leading, ...].

    Returns:
        [*leading] float32.
    """
    rank, flat = condition.shape.rank, tf.reshape(condition, [-1])
    rows = tf.nest.map_structure(
        lambda leaf: tf.reshape(leaf, [-1, *leaf.shape[rank:]]), rows
    )
    total = flat.shape[0]
    chunks = -(-total // _CHUNK)
    place = tf.cumsum(tf.cast(flat, tf.int32)) - 1
    size = chunks * _CHUNK
    # What is not needed is put in a place of its own, behind all others.
    order = tf.scatter_nd(
        tf.where(flat, place, size)[:, None], tf.range(total), [size + 1]
    )
    order = tf.reshape(order[:-1], [chunks, _CHUNK])

    def compute(chunk, results):
        needed = tf.nest.map_structure(lambda leaf: tf.gather(leaf, order[chunk]), rows)
        return chunk + 1, results.write(chunk, function(needed))

    _, results = tf.while_loop(
        lambda chunk, _: chunk * _CHUNK <= place[-1],
        compute,
        (0, tf.TensorArray(tf.float32, chunks, element_shape=[_CHUNK])),
        maximum_iterations=chunks,
    )
    computed = tf.gather(tf.reshape(results.stack(), [-1]), tf.maximum(place, 0))
    return tf.reshape(tf.where(flat, computed, 0.0), condition.shape)
