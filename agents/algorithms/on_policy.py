"""What algorithms have in common that learn from what they have just done.

A subclass gives a loss. `OnPolicyAlgorithm.update` is the whole of an update, and
calls the rest.
"""

from typing import Any, NamedTuple

import gymnasium
import tensorflow as tf

from agents.algorithms.algorithm import Algorithm
from agents.algorithms.settings import OnPolicySettings
from agents.parts import (
    actions,
    loops,
    losses,
    minibatches,
    randomness,
    schedules,
    sparse,
)
from agents.parts.advantages import discounted_sums, generalized_advantage
from agents.parts.distributions import Distribution
from agents.parts.normalizer import CLIP, ObservationNormalizer, RunningMoments
from agents.parts.optimizer import Adam
from agents.parts.settings import SettingError
from agents.parts.trajectory import Decision, Nest, Trajectory, without_invalid

Metrics = dict[str, tf.Tensor]


class Behavior(NamedTuple):
    """How the policy acted that the trajectory comes from.

    Attributes:
        sample: [..., size], what it drew; the action is its bounded version.
        log_prob: [...] float32, of the sample.
        policy: the distribution that it was drawn from.
    """

    sample: tf.Tensor
    log_prob: tf.Tensor
    policy: Distribution


class Batch(NamedTuple):
    """Samples to learn from, each leaf [sequences, chunk_length, ...].

    Attributes:
        observation: raw, as bytes of images are quicker to gather than floats.
        reset: bool, whether the recurrent state starts anew after the step.
        state: recurrent state before the step.
        behavior: of the policy that acted.
        weight: float32, 1 for a transition, otherwise 0.
        advantage: float32, normalized if the settings say so.
        value_target: float32.
    """

    observation: Nest
    reset: tf.Tensor
    state: Nest
    behavior: Behavior
    weight: tf.Tensor
    advantage: tf.Tensor
    value_target: tf.Tensor


class OnPolicyAlgorithm(Algorithm):
    """Learns policy and value from each trajectory, and then forgets it.

    A subclass has a method `loss`, and may have `may_step` and `finish`. It gets
    advantages, minibatches, normalizers, schedules and recurrent networks; checkpoints
    hold its variables.
    """

    def __init__(
        self,
        settings: OnPolicySettings,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        network: Any,
        num_envs: int,
        seed: int,
    ):
        """Build the network, the optimizer and the normalizers.

        Raises:
            SettingError: Settings and network don't go together.
            UnsupportedSpace: The network does not fit the action space.
        """
        super().__init__(
            settings, observation_space, action_space, network, num_envs, seed
        )
        self.settings: OnPolicySettings = settings
        self._action_space = action_space
        self.network = network(settings, observation_space, action_space, seed)
        self._chunk_length = settings.chunk_length if self.network.recurrent else 1
        self._check_chunks()
        self.optimizer = Adam(self.network.trainable_variables)
        self.observation_normalizer = ObservationNormalizer(
            observation_space, settings.normalize_observations
        )
        self._returns = RunningMoments(())
        self._return_accumulator = tf.Variable(tf.zeros([num_envs]), trainable=False)

    def loss(self, batch: Batch) -> tuple[tf.Tensor, Metrics]:
        """Return the loss [] float32 of a minibatch, and scalars for the logs.

        Rows whose weight is 0 must not count (`losses.weighted_mean`).
        """
        raise NotImplementedError

    def may_step(self, metrics: Metrics) -> tf.Tensor:
        """Return whether the rest of an update may change anything, [] bool.

        Args:
            metrics: of the loss of the next minibatch.
        """
        del metrics
        return tf.constant(True)

    def finish(self, metrics: Metrics) -> Metrics:
        """Return the metrics of an update; here a subclass moves its own variables."""
        return metrics

    def initial_state(self, batch_size: int) -> Nest:
        """Return the recurrent state at the start of an episode."""
        return self.network.initial_state(batch_size)

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Sample actions in training; take the most likely ones otherwise."""
        observation = self.observation_normalizer(observation)
        policy, _, state = self.network(observation, state)
        sample = policy.sample(seed) if training else policy.mode()
        action = actions.to_environment(
            self._action_space, sample, self.settings.normalize_ranges
        )
        return Decision(action, state, sample)

    @tf.function(jit_compile=True, autograph=False)
    def update(
        self, trajectory: Trajectory, seed: tf.Tensor, progress: tf.Tensor
    ) -> Metrics:
        """Improve policy and value on a trajectory, then move the normalizers on.

        Advantages are computed anew in each epoch (Andrychowicz et al.,
        arXiv:2006.05990), over the whole trajectory. See `Algorithm.update` for the
        arguments.
        """
        trajectory = without_invalid(trajectory)
        learning_rate = schedules.learning_rate(
            self.settings.learning_rate, self.settings.learning_rate_schedule, progress
        )
        behavior = self._behavior(trajectory)

        def epoch(enabled: tf.Tensor, index: tf.Tensor) -> tuple[tf.Tensor, Metrics]:
            batch = self._prepare(trajectory, behavior)
            epoch_seed = randomness.fold(seed, index)
            return self._train_epoch(batch, epoch_seed, learning_rate, enabled)

        enabled, metrics = loops.scan(
            epoch, tf.constant(True), self.settings.update_epochs
        )
        metrics = {name: rows[-1] for name, rows in metrics.items()}
        metrics["stopped"] = 1.0 - tf.cast(enabled, tf.float32)
        metrics["learning_rate"] = learning_rate
        metrics = self.finish(metrics)
        self.warm_up(trajectory)
        return metrics

    def warm_up(self, trajectory: Trajectory) -> None:
        """Move the normalizers on; also called with a first rollout before training."""
        self.observation_normalizer.update(trajectory.observation, trajectory.valid)
        sums, accumulator = discounted_sums(
            self._return_accumulator,
            trajectory.reward,
            trajectory.terminated | trajectory.truncated,
            trajectory.valid,
            self.settings.discount,
        )
        self._returns.update(sums, trajectory.valid)
        self._return_accumulator.assign(accumulator)

    def unroll(
        self, observation: Nest, state: Nest, reset: tf.Tensor
    ) -> tuple[Distribution, tf.Tensor, Nest]:
        """Return policy, value and states of raw sequences [sequences, length, ...].

        Args:
            observation: raw.
            state: recurrent state before each step; the first is gone on from.
            reset: bool, whether the state starts anew after a step.
        """
        first = tf.nest.map_structure(lambda leaf: leaf[:, 0], state)
        observation = self.observation_normalizer(observation)
        return self.network.unroll(observation, first, reset)

    def _behavior(self, trajectory: Trajectory) -> Behavior:
        """Return how the policy acted, [T, N, ...]; before its weights change."""
        ended = trajectory.terminated | trajectory.truncated
        inputs = (trajectory.observation, trajectory.state, ended)
        policy, _, _ = self.unroll(
            *minibatches.to_sequences(inputs, self._chunk_length)
        )
        policy = minibatches.from_sequences(policy, ended.shape[0])
        sample = trajectory.extras
        return Behavior(sample, policy.log_prob(sample), policy)

    def _prepare(self, trajectory: Trajectory, behavior: Behavior) -> Batch:
        """Estimate advantages by the value function as it is now."""
        ended = trajectory.terminated | trajectory.truncated
        value, next_value = self._values(trajectory, ended)
        advantage = generalized_advantage(
            self._scaled(trajectory.reward),
            value,
            next_value,
            trajectory.terminated,
            trajectory.truncated,
            trajectory.valid,
            self.settings.discount,
            self.settings.gae_lambda,
        )
        value_target = advantage + value
        weight = tf.cast(trajectory.valid, tf.float32)
        if self.settings.normalize_advantages:
            advantage = losses.normalize(advantage, weight)
        batch = Batch(
            observation=trajectory.observation,
            reset=ended,
            state=trajectory.state,
            behavior=behavior,
            weight=weight,
            advantage=advantage,
            value_target=value_target,
        )
        return minibatches.to_sequences(batch, self._chunk_length)

    def _values(
        self, trajectory: Trajectory, ended: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the values [T, N] of observations and of final observations.

        Where an episode went on, the final observation of a row is the observation of
        the next one, so that its value need not be computed twice.
        """
        time = ended.shape[0]
        length = self._chunk_length if self.network.recurrent else time
        observation, final, state, ended, valid = minibatches.to_sequences(
            (
                trajectory.observation,
                trajectory.final_observation,
                trajectory.state,
                ended,
                trajectory.valid,
            ),
            length,
        )
        _, value, states_after = self.unroll(observation, state, ended)
        goes_on = ~ended[:, :-1] & valid[:, 1:]
        goes_on = tf.pad(goes_on, [[0, 0], [0, 1]])
        next_value = tf.pad(value[:, 1:], [[0, 0], [0, 1]])

        def value_of(rows: tuple[Nest, Nest]) -> tf.Tensor:
            return self.network(self.observation_normalizer(rows[0]), rows[1])[1]

        final_value = sparse.map_where(~goes_on, value_of, (final, states_after))
        next_value = tf.where(goes_on, next_value, final_value)
        return minibatches.from_sequences((value, next_value), time)

    def _train_epoch(
        self,
        batch: Batch,
        seed: tf.Tensor,
        learning_rate: tf.Tensor,
        enabled: tf.Tensor,
    ) -> tuple[tf.Tensor, Metrics]:
        """Take a step on each minibatch; return whether to go on, and mean metrics."""
        sequences = batch.weight.shape[0]
        size = self.settings.batch_size
        size = size // self._chunk_length if size else sequences
        drawn = minibatches.draw_minibatches(seed, sequences, size)

        def step(enabled: tf.Tensor, index: tf.Tensor) -> tuple[tf.Tensor, Metrics]:
            indices, used = drawn.indices[index], drawn.used[index]
            rows = tf.nest.map_structure(lambda x: tf.gather(x, indices), batch)
            used = tf.cast(used, tf.float32)[:, None]
            rows = rows._replace(weight=rows.weight * used)
            return self._train_minibatch(rows, learning_rate, enabled)

        enabled, metrics = loops.scan(step, enabled, drawn.indices.shape[0])
        return enabled, {name: tf.reduce_mean(rows) for name, rows in metrics.items()}

    def _train_minibatch(
        self, batch: Batch, learning_rate: tf.Tensor, enabled: tf.Tensor
    ) -> tuple[tf.Tensor, Metrics]:
        gradients, metrics = self.optimizer.gradients(lambda: self.loss(batch))
        enabled &= self.may_step(metrics)
        holds_samples = tf.reduce_sum(batch.weight) > 0
        metrics["gradient_norm"] = self.optimizer.apply(
            self.reduce_gradients(gradients),
            learning_rate,
            enabled & holds_samples,
            self.settings.max_gradient_norm,
        )
        return enabled, metrics

    def _scaled(self, reward: tf.Tensor) -> tf.Tensor:
        if not self.settings.normalize_rewards:
            return reward
        return tf.clip_by_value(reward * self._returns.scale, -CLIP, CLIP)

    def _check_chunks(self) -> None:
        for name in ("horizon", "batch_size"):
            value = getattr(self.settings, name)
            if value is not None and value % self._chunk_length:
                raise SettingError(
                    f"{name} must be a multiple of chunk_length with a recurrent "
                    f"network, but {name} is {value} and chunk_length is "
                    f"{self._chunk_length}."
                )
