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
    advantage 0, and the chain passes over it.

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
    decay = tf.where(terminated | truncated, 0.0, discount * gae_lambda)

    def step(following, inputs):
        row_delta, row_decay, row_valid = inputs
        return tf.where(row_valid, row_delta + row_decay * following, following)

    chain = tf.scan(step, (delta, decay, valid), tf.zeros_like(value[0]), reverse=True)
    return tf.where(valid, chain, 0.0)


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
        valid: [time, batch] bool; other rows leave the accumulator as it is.
        discount: in [0, 1], per step.

    Returns:
        The sums [time, batch] after each reward, and the next `initial` [batch].
    """

    def step(carry, inputs):
        accumulator, _ = carry
        row_reward, row_ended, row_valid = inputs
        total = tf.where(row_valid, accumulator * discount + row_reward, accumulator)
        return tf.where(row_valid & row_ended, 0.0, total), total

    accumulators, sums = tf.scan(step, (reward, ended, valid), (initial, initial))
    return sums, accumulators[-1]
