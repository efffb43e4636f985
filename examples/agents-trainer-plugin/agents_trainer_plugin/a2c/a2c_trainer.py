"""Advantage actor-critic (Mnih et al., arXiv:1602.01783), stepped as one batch."""

import tensorflow as tf

from agents.algorithms.on_policy import Batch, Metrics, OnPolicyAlgorithm
from agents.parts.losses import squared_error, weighted_mean
from agents_trainer_plugin.a2c import A2CSettings, a2c_optimizer


class A2C(OnPolicyAlgorithm):
    """One gradient step on each trajectory."""

    settings: A2CSettings

    def loss(self, batch: Batch) -> tuple[tf.Tensor, Metrics]:
        """Return policy loss, value loss and entropy bonus as one number."""
        policy, value, _ = self.unroll(batch.observation, batch.state, batch.reset)
        # What was never drawn may be impossible, whose log-probability is no number.
        log_prob = tf.where(
            batch.weight > 0, policy.log_prob(batch.behavior.sample), 0.0
        )
        parts = {
            "policy_loss": a2c_optimizer.policy_loss(log_prob, batch.advantage),
            "value_loss": squared_error(value, batch.value_target),
            "entropy": policy.entropy(),
        }
        metrics = {k: weighted_mean(v, batch.weight) for k, v in parts.items()}
        loss = metrics["policy_loss"]
        loss += self.settings.value_coef * metrics["value_loss"]
        loss -= self.settings.entropy_coef * metrics["entropy"]
        return loss, metrics
