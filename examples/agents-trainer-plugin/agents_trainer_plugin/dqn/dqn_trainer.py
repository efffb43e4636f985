"""Deep Q-learning on the building blocks of batch-ppo."""

from typing import Any

import gymnasium
import tensorflow as tf

from agents.algorithms.off_policy import Losses, Metrics, OffPolicyAlgorithm
from agents.parts import actions, schedules
from agents.parts.nests import UnsupportedSpace
from agents.parts.network import Network
from agents.parts.replay import Transitions
from agents.parts.trajectory import Decision, Nest
from agents_trainer_plugin.dqn import DQNSettings, dqn_optimizer


class DQN(OffPolicyAlgorithm):
    """Learns what each action is worth; explores by acting at random now and then."""

    settings: DQNSettings

    def __init__(
        self,
        settings: DQNSettings,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        network: Any,
        num_envs: int,
        seed: int,
    ):
        """See `OffPolicyAlgorithm`.

        Raises:
            UnsupportedSpace: The actions are not one choice.
        """
        if not isinstance(action_space, gymnasium.spaces.Discrete):
            raise UnsupportedSpace(
                f"DQN needs a Discrete action space, but got {action_space}: use "
                "another trainer, such as ppo."
            )
        super().__init__(
            settings, observation_space, action_space, network, num_envs, seed
        )
        self._action_space = action_space
        self._epsilon = tf.Variable(settings.initial_epsilon, trainable=False)

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Take the action of the highest value; in training sometimes any."""
        values = self._values(self.network, self.observation_normalizer(observation))
        choice = tf.argmax(values, -1, tf.int32)
        if training:
            choice = dqn_optimizer.explore(values, choice, self._epsilon, seed)
        action = actions.to_environment(self._action_space, choice[:, None], False)
        return Decision(action, state, ())

    def target(self, batch: Transitions) -> tf.Tensor:
        """Return the reward and what the best next action is worth."""
        next_values = self._values(self.target_network, batch.next_observation)
        choosing = next_values
        if self.settings.double:
            choosing = self._values(self.network, batch.next_observation)
        return dqn_optimizer.bootstrapped_target(
            batch.reward, batch.discount, next_values, choosing
        )

    def loss(self, batch: Transitions, target: tf.Tensor) -> Losses:
        """Return the Huber loss of the values of the actions that were taken."""
        values = self._values(self.network, batch.observation)
        choice = batch.action - int(self._action_space.start)
        value = tf.gather(values, choice, batch_dims=1)
        error = target - value
        return Losses(dqn_optimizer.huber_loss(error), error, {"value": value})

    def finish(self, metrics: Metrics, progress: tf.Tensor) -> Metrics:
        """Explore less."""
        epsilon = schedules.linear(
            self.settings.initial_epsilon,
            self.settings.final_epsilon,
            progress,
            self.settings.exploration_share,
        )
        self._epsilon.assign(epsilon)
        return metrics | {"epsilon": epsilon}

    def _values(self, network: Network, observation: Nest) -> tf.Tensor:
        policy, value, _ = network(observation, ())
        return dqn_optimizer.action_values(policy, value, self.settings.dueling)
