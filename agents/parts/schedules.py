"""What changes in the course of a run, as functions of its progress."""

import tensorflow as tf


def linear(
    first: float, last: float, progress: tf.Tensor, share: float = 1.0
) -> tf.Tensor:
    """Return [] float32, which goes from `first` to `last` in a share of the run.

    Args:
        first: value at the start.
        last: value from the end of that share on.
        progress: [] float32 in [0, 1], the share of the run that is done.
        share: in (0, 1], how much of the run the way takes.
    """
    done = tf.minimum(progress / share, 1.0)
    return first + (last - first) * done


def learning_rate(initial: float, schedule: str, progress: tf.Tensor) -> tf.Tensor:
    """Return the rate [] float32 at some progress [] in [0, 1].

    Args:
        initial: at the start.
        schedule: "constant", or "linear", which falls to 0.
        progress: the share of the run that is done.
    """
    rate = tf.constant(initial)
    return rate * (1.0 - progress) if schedule == "linear" else rate
