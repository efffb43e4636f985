"""The two kinds of members of a `BatchEnv`, each writing its rows of the result.

A member's work comes in two halves, `begin` and `finish`, so that all workers are busy
between the two.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts import nests
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.external_process import ExternalProcess
from agents.tools.wrappers.transition_arrays import TransitionArrays


class SingleMember:
    """One environment, in this process or a worker; its episodes are restarted here.

    Attributes:
        rows: of the batch that it writes.
        restart: starts its worker again; None without a worker.
        episode_ended: whether a reset is due.
    """

    size = 1

    def __init__(self, env: gymnasium.Env | ExternalProcess, row: int):
        """Let an environment write a row of the batch."""
        self.rows = slice(row, row + 1)
        self._env = env
        self._row = row
        self._action_space = env.action_space
        self._action_is_leaf = isinstance(env.action_space, nests.Leaf)
        self._is_external = isinstance(env, ExternalProcess)
        self.restart = env.restart if self._is_external else None
        # An answer, or a promise of one where the environment is in a worker.
        self._answer: Any = None
        self.episode_ended = False

    def begin_step(self, action_leaves: Sequence[np.ndarray]) -> None:
        """Hand over the actions, a leaf [N, ...] each of the whole batch."""
        if self._action_is_leaf:
            action = action_leaves[0][self._row]
        else:
            rows = [leaf[self._row] for leaf in action_leaves]
            action = nests.pack(self._action_space, rows)
        if self._is_external:
            self._answer = self._env.step(action, blocking=False)
        else:
            self._answer = self._env.step(action)

    def finish_step(self, result: TransitionArrays, infos: dict[int, Any]) -> None:
        """Wait for the step and write its row; a reset, if due, comes later."""
        answer = self._answer() if self._is_external else self._answer
        if not isinstance(answer, tuple) or len(answer) != 5:
            raise EnvironmentFault(
                [0],
                "returned from step what is not (observation, reward, terminated, "
                f"truncated, info): {answer!r}",
            )
        observation, reward, terminated, truncated, info = answer
        row = self._row
        result.write_observation(result.final_observation, row, observation)
        for array, final in zip(
            result.observation, result.final_observation, strict=True
        ):
            array[row] = final[row]
        result.write_outcome(row, reward, terminated, truncated)
        self.episode_ended = bool(terminated or truncated)
        if info:
            infos[row] = info

    def begin_reset(self, seeds: dict[int, int | None]) -> None:
        """Start an episode, with a seed if there is one for this row."""
        seed = seeds.get(self._row)
        if self._is_external:
            self._answer = self._env.reset(seed=seed, blocking=False)
        else:
            self._answer = self._env.reset(seed=seed)

    def finish_reset(self, result: TransitionArrays) -> None:
        """Wait for the reset and write the first observation."""
        observation, _ = self._answer() if self._is_external else self._answer
        result.write_observation(result.observation, self._row, observation)


class BatchMember:
    """A worker that hosts a `BatchEnv`, which restarts its episodes itself.

    Attributes are those of `SingleMember`.
    """

    episode_ended = False

    def __init__(self, worker: ExternalProcess, first_row: int):
        """Let a worker write as many rows as it hosts environments."""
        self.size = worker.num_envs
        self.rows = slice(first_row, first_row + self.size)
        self._worker = worker
        self.restart = worker.restart
        self._observation_space = worker.observation_space
        self._promise: Callable[[], Any] = tuple
        self._reset_rows: list[int] = []

    def begin_step(self, action_leaves: Sequence[np.ndarray]) -> None:
        """Hand over the actions, a leaf [N, ...] each of the whole batch."""
        self._worker.begin_batch_step([leaf[self.rows] for leaf in action_leaves])

    def finish_step(self, result: TransitionArrays, infos: dict[int, Any]) -> None:
        """Wait for the step and write its rows."""
        arrays, own_infos = self._worker.finish_batch_step()
        rows = self.rows
        for ours, theirs in (
            (result.observation, arrays.observation),
            (result.final_observation, arrays.final_observation),
        ):
            for array, leaf in zip(ours, theirs, strict=True):
                array[rows] = leaf
        result.reward[rows] = arrays.reward
        result.terminated[rows] = arrays.terminated
        result.truncated[rows] = arrays.truncated
        for index, info in own_infos.items():
            infos[rows.start + index] = info

    def begin_reset(self, seeds: dict[int, int | None]) -> None:
        """Start episodes in those of the given rows that are this member's."""
        first = self.rows.start
        own = [row for row in seeds if first <= row < self.rows.stop]
        indices = [row - first for row in own]
        own_seeds = [seeds[row] for row in own]
        self._promise = self._worker.reset(indices, own_seeds, blocking=False)
        self._reset_rows = own

    def finish_reset(self, result: TransitionArrays) -> None:
        """Wait for the reset and write the first observations."""
        leaves = nests.flatten(self._observation_space, self._promise())
        for array, leaf in zip(result.observation, leaves, strict=True):
            array[self._reset_rows] = leaf
