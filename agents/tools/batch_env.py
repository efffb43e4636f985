"""Many environments as one, without TensorFlow."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts import nests
from agents.parts.settings import SettingError
from agents.tools.batch_members import BatchMember, SingleMember
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.external_process import ExternalProcess
from agents.tools.wrappers.transition_arrays import Layout, TransitionArrays

_Member = SingleMember | BatchMember


class BatchEnv:
    """Steps a batch of environments, and starts the next episode where one ends.

    Members in worker processes run side by side. A worker may host one environment or
    a `BatchEnv` of several, which then counts as so many.

    Attributes:
        num_envs: how many environments there are.
        observation_space: of one environment.
        action_space: of one environment.
        restarts: how many workers were started again; None where none ever is.
    """

    def __init__(
        self, envs: Sequence[gymnasium.Env | ExternalProcess], most_restarts: int = 0
    ):
        """Combine environments with the same spaces; they are closed with the batch.

        Args:
            envs: environments, or workers that host one or several.
            most_restarts: how many failures of workers are answered by starting the
                worker again. The episodes of all that it hosts are lost then.

        Raises:
            EnvironmentFault: A worker failed to construct its environments, or the
                spaces of two environments differ.
        """
        if not envs:
            raise ValueError("A BatchEnv needs at least one environment.")
        self._envs = list(envs)
        self._members: list[_Member] = []
        self._lost: Exception | None = None
        self._most_restarts = most_restarts
        self.restarts = 0 if most_restarts else None
        self.num_envs = 0
        try:
            for env in self._envs:
                self._add(env)
        except BaseException:
            self.close()
            raise
        spaces = (self.observation_space, self.action_space)
        self._layout = Layout(*spaces, self.num_envs)
        self._action_leaves = nests.leaf_spaces(self.action_space)
        self._seeds: list[int | None] = [None] * self.num_envs

    def step(
        self, actions: Any
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all environments.

        Args:
            actions: nest of [N, ...], cast to the dtype of the action space.

        Returns:
            observations: nest of [N, ...], of the next episode where one ended.
            rewards: [N] float32.
            terminated: [N] bool.
            truncated: [N] bool.
            infos: `final_observation`, nest of [N, ...] before any reset; `valid`, [N]
                bool, false where a worker was started again, and the row is no
                transition; and `environments`, what each environment told, by index.
            All arrays are new.

        Raises:
            EnvironmentFault: An environment raised, died or answered wrongly. The
                batch is lost then: whatever else it is asked raises the same.
            ValueError: The actions have another shape.
        """
        result = TransitionArrays(self._layout)
        infos, invalid = self.step_into(result, self._copied(actions))
        valid = np.ones(self.num_envs, bool)
        valid[invalid] = False
        final = nests.pack(self.observation_space, result.final_observation)
        observation = nests.pack(self.observation_space, result.observation)
        all_infos = {"final_observation": final, "valid": valid, "environments": infos}
        return (
            observation,
            result.reward,
            result.terminated,
            result.truncated,
            all_infos,
        )

    def step_into(
        self, result: TransitionArrays, action_leaves: Sequence[np.ndarray]
    ) -> tuple[dict[int, dict[str, Any]], list[int]]:
        """Step all environments, and write into arrays that are there already.

        Args:
            result: takes everything but the actions.
            action_leaves: [N, ...] each; environments may keep them.

        Returns:
            What each environment told, by index, and the rows that are no transitions.

        Raises:
            EnvironmentFault: As for `step`.
        """
        infos: dict[int, dict[str, Any]] = {}
        working, failed = self._for_each(
            self._members, lambda member: member.begin_step(action_leaves)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            working, others = self._for_each(
                working, lambda member: member.finish_step(result, infos)
            )
        failed += others
        ended = [member for member in working if member.episode_ended]
        if ended:
            failed += self._reset(ended, {}, result)
        if not failed:
            return infos, []
        self._restart(failed, result)
        invalid = [row for member in failed for row in _rows(member)]
        for array, first in zip(
            result.final_observation, result.observation, strict=True
        ):
            array[invalid] = first[invalid]
        result.reward[invalid] = 0
        result.terminated[invalid], result.truncated[invalid] = False, True
        return infos, invalid

    def reset(
        self,
        indices: Sequence[int] | None = None,
        seeds: Sequence[int | None] | None = None,
    ) -> Any:
        """Start new episodes.

        Args:
            indices: of the environments; default: all.
            seeds: one for each of them; default: go on with their own generators.

        Returns:
            The first observations, nest of [len(indices), ...], in new arrays.

        Raises:
            EnvironmentFault: As for `step`.
            IndexError: There is no such environment.
        """
        rows = range(self.num_envs)
        indices = list(rows if indices is None else (rows[index] for index in indices))
        seeds = [None] * len(indices) if seeds is None else list(seeds)
        seed_of = dict(zip(indices, seeds, strict=True))
        for index, seed in seed_of.items():
            self._seeds[index] = seed
        result = TransitionArrays(self._layout)
        chosen = [
            member
            for member in self._members
            if any(member.rows.start <= i < member.rows.stop for i in indices)
        ]
        self._restart(self._reset(chosen, seed_of, result), result)
        observations = [array[indices] for array in result.observation]
        return nests.pack(self.observation_space, observations)

    def abort(self) -> None:
        """End the step that is under way, from any thread; the batch is lost."""
        self._lost = InterruptedError("The batch of environments was told to stop.")
        for env in self._envs:
            if isinstance(env, ExternalProcess):
                env.kill()

    def close(self) -> None:
        """Close all environments, side by side where they are in worker processes."""
        envs, self._envs, self._members = self._envs, [], []
        promises = [
            env.close(blocking=False)
            for env in envs
            if isinstance(env, ExternalProcess)
        ]
        for env in envs:
            if not isinstance(env, ExternalProcess):
                env.close()
        for promise in promises:
            promise()

    def _add(self, env: gymnasium.Env | ExternalProcess) -> None:
        first = self.num_envs
        try:
            several = isinstance(env, ExternalProcess) and env.num_envs is not None
            member = BatchMember(env, first) if several else SingleMember(env, first)
            spaces = (env.observation_space, env.action_space)
        except EnvironmentFault as fault:
            raise fault.shifted(first) from None
        if not self._members:
            self.observation_space, self.action_space = spaces
        own = (self.observation_space, self.action_space)
        if spaces != own:
            raise EnvironmentFault(
                range(first, first + member.size),
                f"has the spaces {spaces}, but those before it have {own}: all "
                "environments of a batch must have the same",
            )
        self._members.append(member)
        self.num_envs += member.size

    def _reset(
        self,
        members: Sequence[_Member],
        seeds: dict[int, int | None],
        result: TransitionArrays,
    ) -> list[_Member]:
        """Start episodes; return the members that failed and are to be restarted."""
        working, failed = self._for_each(
            members, lambda member: member.begin_reset(seeds)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            _, others = self._for_each(
                working, lambda member: member.finish_reset(result)
            )
        return failed + others

    def _restart(self, members: list[_Member], result: TransitionArrays) -> None:
        """Start workers again, side by side, and then episodes in them."""
        while members:
            working, failed = self._for_each(members, lambda member: member.restart())
            seeds = {row: self._next_seed(row) for m in working for row in _rows(m)}
            members = failed + self._reset(working, seeds, result)

    def _next_seed(self, row: int) -> int | None:
        """Return a seed that follows from the last one of an environment, if any."""
        seed = self._seeds[row]
        if seed is None:
            return None
        words = np.random.SeedSequence([seed, self.restarts]).generate_state(1)
        return int(words[0] >> 1)

    def _copied(self, actions: Any) -> list[np.ndarray]:
        """Return the leaves of actions in new arrays, as environments may keep them."""
        copies = []
        leaves = nests.flatten(self.action_space, actions)
        for leaf, space in zip(leaves, self._action_leaves, strict=True):
            copy = np.array(leaf, space.dtype)
            if copy.shape != (self.num_envs, *space.shape):
                raise ValueError(
                    f"Got actions of shape {copy.shape} for {self.num_envs} "
                    f"environments with the action space {space}."
                )
            copies.append(copy)
        return copies

    def _for_each(
        self, members: Sequence[_Member], work: Callable[[_Member], None]
    ) -> tuple[Sequence[_Member], list[_Member]]:
        """Do some work; return the members that did it and those to be restarted.

        What an environment raises otherwise becomes a fault of its rows.
        """
        failed: list[_Member] = []
        for member in members:
            # After a fault, the answers of other workers may still be on their way.
            if self._lost is not None:
                raise self._lost
            try:
                work(member)
            except SettingError:
                raise
            except Exception as error:  # pylint: disable=broad-exception-caught
                fault = EnvironmentFault.of(_rows(member), "raised", error)
                if fatal := self._unless_restarted(member, fault):
                    self._lost = self._lost or fatal
                if self._lost:
                    raise self._lost from None
                failed.append(member)
        if failed:
            members = [member for member in members if member not in failed]
        return members, failed

    def _unless_restarted(
        self, member: _Member, fault: EnvironmentFault
    ) -> EnvironmentFault | None:
        """Return the fault if it must end the batch; otherwise count and report it."""
        if self.restarts is None or member.restart is None:
            return fault
        if self.restarts == self._most_restarts:
            reason = f"{fault.reason} (after {self.restarts} restarts of workers)"
            return EnvironmentFault(fault.indices, reason, fault.remote_traceback)
        self.restarts += 1
        print(
            f"{fault.remote_traceback}{fault}. The worker was started again; "
            f"{self._most_restarts - self.restarts} restarts are left.",
            file=sys.stderr,
        )
        return None


def _rows(member: _Member) -> range:
    return range(member.rows.start, member.rows.stop)
