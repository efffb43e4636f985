"""What an off-policy algorithm learns from: its own transitions, and demonstrations."""

import sys

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.demonstrations import Demonstrations
from agents.algorithms.settings import OffPolicySettings
from agents.parts import nests, randomness
from agents.parts.replay import ReplayMemory, Row, Transitions, size_in_bytes
from agents.parts.settings import SettingError


class Experience:
    """One or two memories that minibatches are drawn from.

    No `tf.Module`: an algorithm decides whether checkpoints hold a memory.

    Attributes:
        own: what was done in the environments.
    """

    def __init__(
        self,
        settings: OffPolicySettings,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        num_envs: int,
    ):
        """Say how much room the memories take, and then take it.

        Raises:
            SettingError: It is more than `replay_limit`, or the data set does not fit.
        """
        specs = row_specs(observation_space, action_space)
        given = settings.demonstrations
        demonstrations = (
            Demonstrations(given, observation_space, action_space) if given else None
        )
        prioritized = settings.priority_exponent > 0
        size = size_in_bytes(specs, settings.replay_capacity, prioritized)
        demonstrated = demonstrations.transitions if demonstrations else 0
        rest = size_in_bytes(specs, demonstrated, prioritized=False)
        _check_room(settings, size, rest)
        self.own = ReplayMemory(specs, num_envs, settings.replay_capacity, prioritized)
        self._demonstrated = demonstrations and demonstrations.memory(specs)
        share = settings.demonstration_share if demonstrations else 0.0
        self._foreign_size = round(share * settings.batch_size)
        self._own_size = settings.batch_size - self._foreign_size
        self._settings = settings

    def sample(
        self, seed: tf.Tensor, importance_exponent: tf.Tensor | float
    ) -> Transitions:
        """Draw a minibatch: the agent's own transitions first, then demonstrations.

        Args:
            seed: [2] int32.
            importance_exponent: see `ReplayMemory.sample`.
        """
        seeds = tf.unstack(randomness.split(seed, 2))
        discount, n_step = self._settings.discount, self._settings.n_step
        parts = []
        if self._own_size:
            parts.append(
                self.own.sample(
                    seeds[0], self._own_size, discount, n_step, importance_exponent
                )
            )
        if self._foreign_size:
            parts.append(
                self._demonstrated.sample(
                    seeds[1], self._foreign_size, discount, n_step
                )
            )
        return tf.nest.map_structure(lambda *leaves: tf.concat(leaves, 0), *parts)

    def set_priorities(self, index: tf.Tensor, error: tf.Tensor) -> None:
        """Take the errors [batch] of a minibatch as how often to replay its samples."""
        exponent = self._settings.priority_exponent
        if exponent and self._own_size:
            size = self._own_size
            # So that nothing is left out for ever.
            priority = (tf.abs(error[:size]) + 1e-6) ** exponent
            self.own.set_priorities(index[:size], priority)


def row_specs(observation_space: gymnasium.Space, action_space: gymnasium.Space) -> Row:
    """Return the `tf.TensorSpec`s of one transition, without a batch dimension."""
    observation = nests.map_space(
        lambda leaf: tf.TensorSpec(leaf.shape, nests.leaf_dtype(leaf)),
        observation_space,
    )
    action = tf.TensorSpec(action_space.shape, np.dtype(action_space.dtype))
    flag = tf.TensorSpec([], tf.bool)
    return Row(
        observation=observation,
        action=action,
        reward=tf.TensorSpec([], tf.float32),
        terminated=flag,
        truncated=flag,
        final_observation=observation,
        valid=flag,
    )


def _check_room(settings: OffPolicySettings, size: int, demonstrated: int) -> None:
    """Say what the memories take, in bytes; an error if that is too much."""
    limit = int(settings.replay_limit * 1e9)
    text = f"{settings.replay_capacity:,} transitions take {size:,} bytes of memory"
    if demonstrated:
        text += f", demonstrations {demonstrated:,} more"
    if settings.save_replay:
        text += ", and twice that to be saved"
    if size + demonstrated > limit:
        most = max(0, limit - demonstrated) * settings.replay_capacity // size
        smaller = f"set replay_capacity to {most:,} or less, or " if most else ""
        raise SettingError(
            f"{text}, but replay_limit is {settings.replay_limit:g} GB: {smaller}raise "
            "replay_limit."
        )
    print(f"Replay memory: {text}.", file=sys.stderr)
