"""Advantage estimation."""

import tensorflow as tf


def generalized_advantage(
    reward: tf.Tensor,
    value: tf.Tensor,
    next_value: tf.Tensor,
    terminated: tf.Tensor,
    truncated: tf.Tensor,
    valid: tf.Tensor,
    discount: float,
    gae_lambda: float,
) -> tf.Tensor:
    """Estimate advantages by GAE (Schulman et al., arXiv:1506.02438).

    A terminated step bootstraps from 0, any other from its own `next_value`. The chain
    of estimates is cut at both ends of an episode. A row that is no transition gets the
    advantage 0, and the chain passes over it unless an episode ended there.

    Args:
        reward: [time, batch] float32.
        value: [time, batch] float32, of the observation before the step.
        next_value: [time, batch] float32, of the final observation of the step.
        terminated: [time, batch] bool.
        truncated: [time, batch] bool.
        valid: [time, batch] bool.
        discount: in [0, 1], per step.
        gae_lambda: in [0, 1].

    Returns:
        [time, batch] float32.
    """
    bootstrap = tf.where(terminated, 0.0, next_value)
    delta = reward + discount * bootstrap - value
    decay = tf.where(valid, discount * gae_lambda, 1.0)
    chain = _recurrence(
        tf.reverse(tf.where(valid, delta, 0.0), [0]),
        tf.reverse(tf.where(terminated | truncated, 0.0, decay), [0]),
    )
    return tf.where(valid, tf.reverse(chain, [0]), 0.0)


def discounted_sums(
    initial: tf.Tensor,
    reward: tf.Tensor,
    ended: tf.Tensor,
    valid: tf.Tensor,
    discount: float,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Accumulate discounted rewards forwards in time, starting over at each episode.

    Their spread is the scale of the rewards (Engstrom et al., arXiv:2005.12729).

    Args:
        initial: [batch] float32, the accumulator before the first row.
        reward: [time, batch] float32.
        ended: [time, batch] bool, terminated or truncated.
        valid: [time, batch] bool; the reward of other rows does not count.
        discount: in [0, 1], per step.

    Returns:
        The sums [time, batch] after each reward, and the next `initial` [batch].
    """

    addend = tf.where(valid, reward, 0.0)
    decay = tf.where(valid, discount, 1.0)
    kept = tf.where(ended, 0.0, 1.0)
    before = tf.concat([tf.ones_like(kept[:1]), kept[:-1]], 0)
    first = addend[:1] + decay[:1] * initial
    sums = _recurrence(tf.concat([first, addend[1:]], 0), decay * before)
    return sums, tf.math.multiply_no_nan(sums[-1], kept[-1])


def _recurrence(addend: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Return x [time, batch] with x[t] = addend[t] + factor[t] * x[t - 1], x[-1] = 0.

    After each pass a row reaches back twice as far, so that log2(time) passes over the
    whole array take the place of a loop over time.
    """
    time, reach = addend.shape[0], 1
    while reach < time:
        padding = [[reach, 0], [0, 0]]
        # Where an episode ended nothing may follow, not even a NaN times 0.
        addend += tf.math.multiply_no_nan(tf.pad(addend[:-reach], padding), factor)
        factor *= tf.pad(factor[:-reach], padding)
        reach *= 2
    return addend
