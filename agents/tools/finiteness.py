"""Infinities and NaNs where nothing can be raised: in compiled code and its results."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Nest, Trajectory
from agents.tools.faults import EnvironmentFault, NumericFault

_QUANTITIES = ("reward", "observation")
_HELP = (
    "The last checkpoint is from before; a smaller learning_rate or max_gradient_norm "
    "may help, and --debug_numerics shows the operation."
)


def first_fault(trajectory: Trajectory, observation: Nest) -> tf.Tensor:
    """Return [4] int32: whether anything is not finite, and where it is first.

    The numbers are 1 if so, otherwise 0; the row of the trajectory; the environment;
    and 0 for its reward or 1 for its observation. Rows that are no transitions do not
    count.

    Args:
        trajectory: leaves [T, N, ...].
        observation: nest of [N, ...], what is acted on after it.
    """
    shape = trajectory.valid.shape
    following = tf.nest.map_structure(
        lambda leaf, last: tf.concat([leaf[1:], last[None]], 0),
        trajectory.observation,
        observation,
    )
    finite_observation = tf.ones(shape, tf.bool)
    for leaf in tf.nest.flatten(
        (trajectory.observation, trajectory.final_observation, following)
    ):
        if leaf.dtype.is_floating:
            finite = tf.reshape(tf.math.is_finite(leaf), [*shape, -1])
            finite_observation &= tf.reduce_all(finite, -1)
    finite = tf.stack([tf.math.is_finite(trajectory.reward), finite_observation], -1)
    faulty = tf.reshape(~finite & trajectory.valid[..., None], [-1])
    first = tf.argmax(tf.cast(faulty, tf.int32), output_type=tf.int32)
    place = (first // (2 * shape[1]), first // 2 % shape[1], first % 2)
    return tf.stack([tf.cast(faulty[first], tf.int32), *place])


def check_metrics(metrics: Mapping[str, np.ndarray], steps: Sequence[int]) -> None:
    """Raise what is not finite of the metrics of some iterations.

    Args:
        metrics: [iterations] float32 by name.
        steps: at which the iterations began.

    Raises:
        NumericFault: Names the metric and the step.
    """
    for name, values in metrics.items():
        for step, value in zip(steps, values, strict=True):
            if not np.isfinite(value):
                raise NumericFault(
                    f"{name} became {value} in the update after step {step:,}. {_HELP}"
                )


def check_weights(weights: Mapping[str, tf.Variable], step: int) -> None:
    """Raise what is not finite of variables by name.

    Raises:
        NumericFault: Names the variable and the step.
    """
    for name, variable in weights.items():
        values = variable.numpy()
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            value = values[~np.isfinite(values)].flat[0]
            raise NumericFault(
                f"The variable {name} became {value} before step {step:,}. {_HELP}"
            )


def check(found: tf.Tensor, first_steps: tf.Tensor) -> None:
    """Raise what `first_fault` found in several iterations.

    Args:
        found: [iterations, 4] int32.
        first_steps: [iterations] int64, number of the step that is row 0.

    Raises:
        EnvironmentFault: Names the environment, the quantity and the step.
    """
    for (faulty, row, index, quantity), first_step in zip(
        np.asarray(found), np.asarray(first_steps), strict=True
    ):
        if faulty:
            raise EnvironmentFault(
                [int(index)],
                f"gave a {_QUANTITIES[quantity]} that is infinite or no number in step "
                f"{first_step + row} after the batch was reset: observations and "
                "rewards must be finite numbers",
            )
