"""Loops in the graph whose body is traced once."""

from collections.abc import Callable

import tensorflow as tf

from agents.parts.trajectory import Nest


def specs(nest: Nest) -> Nest:
    """Return the shapes and types of tensors, by which a function can be traced."""
    return tf.nest.map_structure(lambda x: tf.TensorSpec(x.shape, x.dtype), nest)


def scan(
    function: Callable[[Nest, tf.Tensor], tuple[Nest, Nest]],
    carry: Nest,
    capacity: int,
    count: tf.Tensor | None = None,
) -> tuple[Nest, Nest]:
    """Apply `carry, row = function(carry, step)` for each step, and stack the rows.

    `tf.scan` wants to know the structure of the rows beforehand; this learns it.

    Args:
        function: is traced once, and called as a function of its own.
        carry: nest of tensors of static shape.
        capacity: rows in the result.
        count: [] int32, how often to apply the function; None: `capacity` times.

    Returns:
        The last carry; the rows, leaves [capacity, ...], 0 from `count` on.
    """
    traced = tf.function(function, autograph=False)
    step_spec = tf.TensorSpec([], tf.int32)
    graph = traced.get_concrete_function(specs(carry), step_spec)
    _, row_specs = graph.structured_outputs
    arrays = tf.nest.map_structure(
        lambda spec: tf.TensorArray(spec.dtype, capacity, element_shape=spec.shape),
        row_specs,
    )

    def body(step, carry, arrays):
        carry, row = traced(carry, step)
        arrays = tf.nest.map_structure(lambda a, x: a.write(step, x), arrays, row)
        return step + 1, carry, arrays

    limit = capacity if count is None else count
    _, carry, arrays = tf.while_loop(
        lambda step, *_: step < limit,
        body,
        (tf.constant(0), carry, arrays),
        parallel_iterations=1,
    )
    return carry, tf.nest.map_structure(lambda array: array.stack(), arrays)
