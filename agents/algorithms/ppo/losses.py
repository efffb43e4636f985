"""The losses of PPO (Schulman et al., arXiv:1707.06347), as pure functions.

All return one value for each sample, of the shape of their arguments.
"""

import tensorflow as tf


def log_ratio_of(
    log_prob: tf.Tensor, behavior_log_prob: tf.Tensor, weights: tf.Tensor
) -> tf.Tensor:
    """Return the log of the probability ratio [...], 0 where weights are 0.

    The samples there were never drawn, so that their ratio may be infinite, of which
    not even a product with 0 is finite.
    """
    return tf.where(weights > 0, log_prob - behavior_log_prob, 0.0)


def surrogate_loss(
    log_ratio: tf.Tensor, advantage: tf.Tensor, clip_range: float | None
) -> tf.Tensor:
    """Return the policy loss, pessimistic beyond `clip_range`; equation 7.

    Args:
        log_ratio: log-probability of the action now, less that when it was taken.
        advantage: of the action.
        clip_range: above 0, or None for the plain surrogate of equation 6.
    """
    ratio = tf.exp(log_ratio)
    gain = ratio * advantage
    if clip_range is not None:
        clipped = tf.clip_by_value(ratio, 1.0 - clip_range, 1.0 + clip_range)
        gain = tf.minimum(gain, clipped * advantage)
    return -gain


def penalty_loss(
    divergence: tf.Tensor,
    mean_divergence: tf.Tensor,
    penalty: tf.Tensor,
    cutoff: float,
    cutoff_coef: float,
) -> tf.Tensor:
    """Return the KL penalty, with a steep wall behind a cutoff.

    The penalty is equation 8; the wall is that of Hafner et al., arXiv:1709.02878.

    Args:
        divergence: in nats, for each sample.
        mean_divergence: [], its mean over the minibatch.
        penalty: [] float32, weight of the divergence.
        cutoff: nats from which on the squared excess of the mean is added.
        cutoff_coef: weight of that.
    """
    excess = tf.maximum(mean_divergence - cutoff, 0.0)
    return penalty * divergence + cutoff_coef * excess**2


def adapted_penalty(
    penalty: tf.Tensor, mean_divergence: tf.Tensor, target: float
) -> tf.Tensor:
    """Return the penalty [] for the next update; section 4, with a milder step.

    It grows by half where the divergence was 1.3 times its target or more, and shrinks
    likewise where it was 0.7 times or less.
    """
    grown = tf.where(mean_divergence > 1.3 * target, 1.5 * penalty, penalty)
    return tf.where(mean_divergence < 0.7 * target, penalty / 1.5, grown)
