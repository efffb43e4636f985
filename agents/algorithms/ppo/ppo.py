"""Proximal policy optimization (Schulman et al., arXiv:1707.06347).

`OnPolicyAlgorithm.update` is the course of an update: advantages, and epochs of
minibatches. What makes it PPO is the loss, which is here.
"""

from typing import Any

import gymnasium
import tensorflow as tf

from agents.algorithms.on_policy import Batch, Metrics, OnPolicyAlgorithm
from agents.algorithms.ppo import losses
from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.losses import squared_error, weighted_mean


class PPO(OnPolicyAlgorithm):
    """Clipped surrogate, adaptive KL penalty, or both, by the settings."""

    settings: PPOSettings

    def __init__(
        self,
        settings: PPOSettings,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        network: Any,
        num_envs: int,
        seed: int,
    ):
        """See `OnPolicyAlgorithm`; the weight of the penalty is a variable as well."""
        super().__init__(
            settings, observation_space, action_space, network, num_envs, seed
        )
        self._penalty = tf.Variable(settings.kl_init_penalty, trainable=False)

    def loss(self, batch: Batch) -> tuple[tf.Tensor, Metrics]:
        """Return policy loss, value loss and entropy bonus as one number."""
        settings, weight = self.settings, batch.weight
        policy, value, _ = self.unroll(batch.observation, batch.state, batch.reset)
        log_ratio = losses.log_ratio_of(
            policy.log_prob(batch.behavior.sample), batch.behavior.log_prob, weight
        )
        divergence = batch.behavior.policy.divergence(policy)
        mean_divergence = weighted_mean(divergence, weight)
        policy_loss = losses.surrogate_loss(
            log_ratio, batch.advantage, settings.clip_range
        )
        value_loss = squared_error(value, batch.value_target)
        entropy = policy.entropy()
        loss = policy_loss + settings.value_coef * value_loss
        loss -= settings.entropy_coef * entropy
        if settings.kl_target is not None:
            loss += losses.penalty_loss(
                divergence,
                mean_divergence,
                self._penalty,
                settings.kl_cutoff_factor * settings.kl_target,
                settings.kl_cutoff_coef,
            )
        metrics = {
            "policy_loss": weighted_mean(policy_loss, weight),
            "value_loss": weighted_mean(value_loss, weight),
            "entropy": weighted_mean(entropy, weight),
            "divergence": mean_divergence,
        }
        return weighted_mean(loss, weight), metrics

    def may_step(self, metrics: Metrics) -> tf.Tensor:
        """Return whether the policy is still within `kl_stop` of the one that acted."""
        if self.settings.kl_stop is None:
            return tf.constant(True)
        return metrics["divergence"] <= self.settings.kl_stop

    def finish(self, metrics: Metrics) -> Metrics:
        """Adapt the penalty to the divergence of the last epoch."""
        if self.settings.kl_target is None:
            return metrics
        penalty = losses.adapted_penalty(
            self._penalty, metrics["divergence"], self.settings.kl_target
        )
        self._penalty.assign(penalty)
        return metrics | {"penalty": penalty}
