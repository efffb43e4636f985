"""The mathematics of deep Q-learning (Mnih et al., 2015), as pure functions."""

import tensorflow as tf

from agents.parts.distributions import IMPOSSIBLE, Categorical


def action_values(policy: Categorical, value: tf.Tensor, dueling: bool) -> tf.Tensor:
    """Return the value of each action, [..., actions] float32.

    The network's logits are read as values of actions, or, dueling (Wang et al.,
    arXiv:1511.06581), as advantages over its value. What an action mask forbids is
    worth `IMPOSSIBLE`.

    Args:
        policy: of the network, for one choice.
        value: [...] float32, of the network.
        dueling: whether logits are advantages.
    """
    logits = policy.logits[..., 0, :]
    if not dueling:
        return logits
    allowed = tf.cast(logits > IMPOSSIBLE / 4, tf.float32)
    mean = tf.reduce_sum(logits * allowed, -1) / tf.maximum(
        tf.reduce_sum(allowed, -1), 1.0
    )
    shifted = logits + (value - mean)[..., None]
    return tf.where(allowed > 0, shifted, IMPOSSIBLE)


def bootstrapped_target(
    reward: tf.Tensor,
    discount: tf.Tensor,
    next_values: tf.Tensor,
    choosing_values: tf.Tensor,
) -> tf.Tensor:
    """Return reward + discount * value of the next action, [batch] float32.

    Args:
        reward: [batch] float32.
        discount: [batch] float32, 0 where the task ended.
        next_values: [batch, actions] float32, that the next action is worth by.
        choosing_values: [batch, actions] float32, whose greatest chooses it: the same,
            or the online network's for double Q-learning (van Hasselt et al.,
            arXiv:1509.06461).
    """
    chosen = tf.one_hot(tf.argmax(choosing_values, -1), next_values.shape[-1])
    return reward + discount * tf.reduce_sum(next_values * chosen, -1)


def huber_loss(error: tf.Tensor) -> tf.Tensor:
    """Return half the square [...] of errors [...], beyond 1 their size less a half."""
    size = tf.abs(error)
    inner = tf.minimum(size, 1.0)
    return 0.5 * inner**2 + (size - inner)


def explore(
    values: tf.Tensor, choice: tf.Tensor, epsilon: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Return choices [batch] int32, each with a chance of being any that is allowed.

    Args:
        values: [batch, actions] float32, `IMPOSSIBLE` for what is not allowed.
        choice: [batch] int32, the best ones.
        epsilon: [] float32 in [0, 1], that chance.
        seed: [2] int32.
    """
    seeds = tf.unstack(tf.random.split(seed, 2, alg="philox"))
    draws = tf.random.stateless_uniform(values.shape, seeds[0], alg="philox")
    allowed = tf.where(values > IMPOSSIBLE / 4, draws, -1.0)
    coin = tf.random.stateless_uniform(choice.shape, seeds[1], alg="philox")
    return tf.where(coin < epsilon, tf.argmax(allowed, -1, tf.int32), choice)
