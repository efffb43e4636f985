"""What algorithms have in common that learn from a memory of what was done.

A subclass gives a policy, a target and a loss. `OffPolicyAlgorithm.update` is the whole
of an update, and calls the rest.
"""

from typing import Any, NamedTuple

import gymnasium
import tensorflow as tf

from agents.algorithms.algorithm import Algorithm
from agents.algorithms.experience import Experience
from agents.algorithms.settings import OffPolicySettings
from agents.parts import loops, randomness, replay, schedules
from agents.parts.losses import weighted_mean
from agents.parts.normalizer import ObservationNormalizer
from agents.parts.optimizer import Adam
from agents.parts.replay import Transitions
from agents.parts.settings import SettingError
from agents.parts.trajectory import Nest, Trajectory, without_invalid

Metrics = dict[str, tf.Tensor]


class Losses(NamedTuple):
    """What a subclass makes of a minibatch.

    Attributes:
        loss: [batch] float32, of each transition.
        error: [batch] float32, by whose size transitions are replayed.
        metrics: [batch] float32 by name; their means go to the logs.
    """

    loss: tf.Tensor
    error: tf.Tensor
    metrics: Metrics


class OffPolicyAlgorithm(Algorithm):
    """Remembers transitions, and learns from minibatches of them.

    A subclass has the methods `perform`, `target` and `loss`, and may have `finish`. It
    gets a memory, uniform or prioritized, n-step rewards, demonstrations, a target
    network, normalizers and schedules; checkpoints hold its variables.

    Attributes:
        network: what is learned.
        target_network: a copy of it, as it was some updates ago.
    """

    def __init__(
        self,
        settings: OffPolicySettings,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        network: Any,
        num_envs: int,
        seed: int,
    ):
        """Build the networks, the optimizer and the memory.

        Raises:
            SettingError: The network is recurrent, the memory too large, or too small
                to begin, or the demonstrations are not there.
            UnsupportedSpace: The network does not fit the action space.
        """
        super().__init__(
            settings, observation_space, action_space, network, num_envs, seed
        )
        self.settings: OffPolicySettings = settings
        arguments = (settings, observation_space, action_space, seed)
        self.network, self.target_network = network(*arguments), network(*arguments)
        if self.network.recurrent:
            raise SettingError(
                "Algorithms with a replay memory know no recurrent networks: use "
                "another, such as feed_forward or convolutional."
            )
        self._copy_to_target(tf.constant(True))
        self.optimizer = Adam(self.network.trainable_variables)
        self.observation_normalizer = ObservationNormalizer(
            observation_space, settings.normalize_observations
        )
        self._experience = Experience(
            settings, observation_space, action_space, num_envs
        )
        if settings.learning_starts > self._experience.own.capacity:
            raise SettingError(
                f"learning_starts is {settings.learning_starts:,}, but the memory "
                f"holds {self._experience.own.capacity:,} transitions, so that nothing "
                "would ever be learned: lower it, or raise replay_capacity."
            )
        if settings.save_replay:
            self.memory = self._experience.own
        self._updates = tf.Variable(0, dtype=tf.int64, trainable=False)

    def target(self, batch: Transitions) -> tf.Tensor:
        """Return what the values are to become, [batch] float32; no gradient flows.

        Args:
            batch: with observations that are normalized.
        """
        raise NotImplementedError

    def loss(self, batch: Transitions, target: tf.Tensor) -> Losses:
        """Return the loss of each transition of a minibatch.

        Args:
            batch: with observations that are normalized.
            target: [batch] float32.
        """
        raise NotImplementedError

    def finish(self, metrics: Metrics, progress: tf.Tensor) -> Metrics:
        """Return the metrics of an update; here a subclass moves its own variables."""
        del progress
        return metrics

    def initial_state(self, batch_size: int) -> Nest:
        """Return nothing."""
        return ()

    @tf.function(jit_compile=True, autograph=False)
    def update(
        self, trajectory: Trajectory, seed: tf.Tensor, progress: tf.Tensor
    ) -> Metrics:
        """Remember a trajectory, and take gradient steps on what is remembered.

        See `Algorithm.update` for the arguments.
        """
        settings = self.settings
        trajectory = without_invalid(trajectory)
        self._experience.own.append(replay.row_of(trajectory))
        learning_rate = schedules.learning_rate(
            settings.learning_rate, settings.learning_rate_schedule, progress
        )
        exponent = schedules.linear(settings.importance_exponent, 1.0, progress)
        begun = self._experience.own.count >= settings.learning_starts
        steps = tf.where(begun, settings.gradient_steps, 0)

        def step(carry: tuple[()], index: tf.Tensor) -> tuple[tuple[()], Metrics]:
            batch = self._experience.sample(randomness.fold(seed, index), exponent)
            return carry, self._train_minibatch(batch, learning_rate)

        _, rows = loops.scan(step, (), settings.gradient_steps, steps)
        count = tf.cast(tf.maximum(steps, 1), tf.float32)
        metrics = {name: tf.reduce_sum(row) / count for name, row in rows.items()}
        metrics["learning_rate"] = learning_rate
        self._updates.assign_add(tf.cast(begun, tf.int64))
        self._copy_to_target(self._updates % settings.target_update == 0)
        metrics = self.finish(metrics, progress)
        self.warm_up(trajectory)
        return metrics

    def warm_up(self, trajectory: Trajectory) -> None:
        """Move the normalizer on; also called with a first rollout before training."""
        self.observation_normalizer.update(trajectory.observation, trajectory.valid)

    def _train_minibatch(self, batch: Transitions, learning_rate: tf.Tensor) -> Metrics:
        batch = batch._replace(
            observation=self.observation_normalizer(batch.observation),
            next_observation=self.observation_normalizer(batch.next_observation),
        )
        target = tf.stop_gradient(self.target(batch))

        def loss() -> tuple[tf.Tensor, Losses]:
            made = self.loss(batch, target)
            return weighted_mean(made.loss, batch.weight), made

        gradients, made = self.optimizer.gradients(loss)
        norm = self.optimizer.apply(
            self.reduce_gradients(gradients),
            learning_rate,
            tf.reduce_sum(batch.weight) > 0,
            self.settings.max_gradient_norm,
        )
        self._experience.set_priorities(batch.index, made.error)
        return {
            "loss": weighted_mean(made.loss, batch.weight),
            "gradient_norm": norm,
            **{k: weighted_mean(v, batch.weight) for k, v in made.metrics.items()},
        }

    def _copy_to_target(self, enabled: tf.Tensor) -> None:
        for target, source in zip(
            self.target_network.trainable_variables,
            self.network.trainable_variables,
            strict=True,
        ):
            target.assign(tf.where(enabled, source, target))
