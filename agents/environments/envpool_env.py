"""EnvPool's environments, by its ids.

Free of TensorFlow and of EnvPool until they are asked for.
"""

import contextlib
import importlib.util
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts import nests
from agents.parts.settings import SettingError, nearest
from agents.tools import constructors
from agents.tools.faults import EnvironmentFault

# What EnvPool says where nothing limits an episode.
_ENDLESS = 2**31 - 1
_LEAST_POSITIVE = np.float32(2.0**-126)


def check(env_id: Any) -> None:
    """Check that EnvPool has an environment of an id, and that it fits.

    Raises:
        SettingError: Says what is missing or does not fit, and what to do.
    """
    if not isinstance(env_id, str):
        raise SettingError(
            "The backend envpool has environments of its own only, by id: run "
            f"{constructors.name_of(env_id)} with --backend=gymnasium."
        )
    if importlib.util.find_spec("envpool") is None:
        raise SettingError(
            "The backend envpool needs the package envpool, which is not installed: "
            "pip install -e '.[envpool]'."
        )
    import envpool  # pylint: disable=import-outside-toplevel

    known = envpool.list_all_envs()
    if env_id not in known:
        rest = nearest(env_id, known, "envpool.list_all_envs() returns all that it has")
        raise SettingError(f"The backend envpool has no env {env_id!r}{rest}")
    try:
        spec = envpool.make_spec(env_id)
    # Each family of environments has errors of its own about what it needs.
    except Exception as error:  # pylint: disable=broad-exception-caught
        raise SettingError(f"EnvPool can't make the env {env_id!r}: {error}") from error
    players = spec.config.max_num_players
    if players > 1:
        raise SettingError(
            f"The env {env_id!r} has {players} players, but an environment can have "
            "only one here."
        )


def make(env_id: str, num_envs: int, max_length: int | None) -> Any:
    """Return environments of an id as an `InGraphEnv`.

    Args:
        env_id: one that `check` accepts.
        num_envs: how many.
        max_length: steps after which an episode is truncated; None: EnvPool's limit.

    Raises:
        SettingError: Nothing limits the length of its episodes.
        UnsupportedSpace: It observes or does what can't be represented as arrays.
    """
    # pylint: disable-next=import-outside-toplevel
    from agents.tools.in_graph_batch_env import InGraphBatchEnv

    return InGraphBatchEnv(EnvPoolBatch(env_id, num_envs, max_length))


class EnvPoolBatch:
    """Environments in EnvPool's threads, with the methods of `BatchEnv`.

    EnvPool alone starts the next episode one step late, and ignores the action of that
    step; here it starts within the step that ended the last one. Where a task ends in
    the last step that the limit allows, EnvPool reports only that the episode was
    truncated.

    Attributes:
        num_envs: how many environments there are.
        observation_space: of one environment.
        action_space: of one environment; numbers of a Box are float32, as Gymnasium's.
        restarts: None, as there are no workers.
    """

    restarts = None

    def __init__(self, env_id: str, num_envs: int, max_length: int | None):
        """Describe the environments; `reset` makes them.

        Args:
            env_id: one that `check` accepts.
            num_envs: how many.
            max_length: steps after which an episode is truncated; None: by EnvPool.

        Raises:
            SettingError: Nothing limits the length of its episodes.
        """
        import envpool  # pylint: disable=import-outside-toplevel

        limit = {} if max_length is None else {"max_episode_steps": max_length}
        with _without_cast_warnings():
            spec = envpool.make_spec(env_id, **limit)
            observation_space = spec.gymnasium_observation_space
            action_space = spec.gymnasium_action_space
        self._max_length = spec.config.max_episode_steps
        if self._max_length == _ENDLESS:
            raise SettingError(
                f"The environment {env_id} has no limit to the length of its episodes, "
                "so that an evaluation might never end: add --set=max_length=1000, say."
            )
        # BabyAI's environments derive a limit from the level: 0 leaves it to them.
        self._max_length = self._max_length or _ENDLESS
        self.num_envs = num_envs
        self._valid = np.ones(num_envs, bool)
        self.observation_space = _with_true_bounds(observation_space)
        self.action_space = _in_single_precision(action_space)
        self._dtypes = [
            nests.leaf_dtype(leaf) for leaf in nests.leaf_spaces(self.observation_space)
        ]
        self._env_id = env_id
        cores = len(constructors.available_cores())
        threads = min(num_envs, cores)
        self._options = {"num_envs": num_envs, "num_threads": threads, **limit}
        # As all wake at once, none is to wait for the core of another.
        if threads == cores == os.cpu_count():
            self._options["thread_affinity_offset"] = 0
        self._pool: Any = None
        self._lost: Exception | None = None

    def reset(self, seeds: Sequence[int]) -> Any:
        """Make all environments anew, as EnvPool takes seeds only then.

        Args:
            seeds: one for each environment, below 2**31.

        Returns:
            The first observations, nest of [N, ...], in new arrays.

        Raises:
            EnvironmentFault: EnvPool raised. The batch is lost then: whatever else it
                is asked raises the same.
        """
        import envpool  # pylint: disable=import-outside-toplevel

        with self._faults("could not be constructed"), _without_cast_warnings():
            self._pool = None
            self._pool = envpool.make_gymnasium(
                self._env_id, seed=list(seeds), **self._options
            )
            observation, _ = self._pool.reset()
        return nests.pack(self.observation_space, self._leaves(observation))

    def step(
        self, actions: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all environments.

        Args:
            actions: [N, ...], cast to the dtype that EnvPool wants.

        Returns:
            observations: nest of [N, ...], of the next episode where one ended.
            rewards: [N] float32.
            terminated: [N] bool.
            truncated: [N] bool.
            infos: `final_observation`, nest of [N, ...] before any reset, and `valid`,
                [N] bool, which always holds.
            All other arrays are new.

        Raises:
            EnvironmentFault: As for `reset`.
            ValueError: The actions have another shape, which EnvPool would not notice.
        """
        shape = (self.num_envs, *self.action_space.shape)
        if actions.shape != shape:
            raise ValueError(
                f"Got actions of shape {actions.shape} for {self.num_envs} "
                f"environments with the action space {self.action_space}."
            )
        with self._faults("raised"):
            outcome = self._pool.step(actions)
            observation, reward, terminated, truncated, info = outcome
            # Some families of environments ignore the limit that they are given.
            truncated = truncated | (info["elapsed_step"] >= self._max_length)
            final = self._leaves(observation)
            leaves = [leaf.copy() for leaf in final]
            ended = np.flatnonzero(terminated | truncated)
            if ended.size:
                first, _ = self._pool.reset(ended)
                for leaf, rows in zip(leaves, self._leaves(first), strict=True):
                    leaf[ended] = rows
        return (
            nests.pack(self.observation_space, leaves),
            reward.astype(np.float32, copy=False),
            terminated,
            truncated,
            {
                "final_observation": nests.pack(self.observation_space, final),
                "valid": self._valid,
            },
        )

    def abort(self) -> None:
        """Let no further step begin, from any thread; the batch is lost."""
        self._lost = InterruptedError("The batch of environments was told to stop.")

    def close(self) -> None:
        """Free the environments and their threads."""
        self._pool = None

    def _leaves(self, observation: Any) -> list[np.ndarray]:
        """Return leaves as they travel; EnvPool never writes to an array again."""
        leaves = nests.flatten(self.observation_space, observation)
        return [
            leaf.astype(dtype, copy=False)
            for leaf, dtype in zip(leaves, self._dtypes, strict=True)
        ]

    @contextlib.contextmanager
    def _faults(self, event: str) -> Iterator[None]:
        """Lose the batch where EnvPool raises, without saying for which environment."""
        if self._lost is not None:
            raise self._lost
        try:
            yield
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._lost = EnvironmentFault.of(range(self.num_envs), event, error)
            raise self._lost from None


@contextlib.contextmanager
def _without_cast_warnings() -> Iterator[None]:
    """Keep quiet that EnvPool declares bounds in float64 for spaces in float32."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*precision lowered by casting")
        yield


def _with_true_bounds(space: gymnasium.Space) -> gymnasium.Space:
    """Return a space without the least positive number as a bound below.

    Some of EnvPool's environments (LunarLander) say so where nothing bounds them.
    """
    if isinstance(space, gymnasium.spaces.Dict):
        parts = {key: _with_true_bounds(part) for key, part in space.items()}
        return gymnasium.spaces.Dict(parts)
    if isinstance(space, gymnasium.spaces.Box) and space.dtype.kind == "f":
        low = np.where(space.low == _LEAST_POSITIVE, -np.inf, space.low)
        return gymnasium.spaces.Box(
            low.astype(space.dtype), space.high, dtype=space.dtype.type
        )
    return space


def _in_single_precision(space: gymnasium.Space) -> gymnasium.Space:
    if isinstance(space, gymnasium.spaces.Box) and space.dtype.kind == "f":
        return gymnasium.spaces.Box(space.low, space.high, space.shape, np.float32)
    return space
