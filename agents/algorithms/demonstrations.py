"""Transitions from a Minari data set, read from local files episode by episode."""

import importlib.util
import warnings
from typing import Any

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts import nests
from agents.parts.plugins import describe
from agents.parts.replay import ReplayMemory, Row
from agents.parts.settings import SettingError, nearest


class Demonstrations:
    """A data set that is there, and fits the spaces.

    Attributes:
        transitions: how many it has.
    """

    def __init__(
        self,
        name: str,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
    ):
        """Open a data set by its id; its transitions are not read yet.

        Raises:
            SettingError: It can't be opened, is empty, or has other spaces.
        """
        self._name = name
        self._space = observation_space
        self._data = _open(name)
        for kind, ours in (
            ("observation", observation_space),
            ("action", action_space),
        ):
            theirs = getattr(self._data, f"{kind}_space")
            if theirs not in (ours, _as_stored(ours)):
                raise SettingError(
                    f"The demonstrations {name} have the {kind} space {theirs}, but "
                    f"the environment has {ours}: choose a data set of this "
                    "environment."
                )
        self.transitions = int(self._data.total_steps)
        if not self.transitions:
            raise SettingError(f"The demonstrations {name} hold no transition.")

    def memory(self, specs: Row) -> ReplayMemory:
        """Return a memory of all transitions.

        Args:
            specs: `tf.TensorSpec`s of one transition.

        Raises:
            SettingError: An episode can't be read, or is not what its data set says.
        """
        memory = ReplayMemory(specs, 1, self.transitions, prioritized=False)
        try:
            for episode in self._data.iterate_episodes():
                memory.append(self._rows(episode, specs))
        except SettingError:
            raise
        except Exception as error:  # Of many kinds: files may hold anything.
            raise SettingError(
                f"The demonstrations {self._name} can't be read: {describe(error)}."
            ) from error
        return memory

    def _rows(self, episode: Any, specs: Row) -> Row:
        """Return the transitions of an episode, leaves [T, 1, ...]."""
        steps = len(episode.rewards)

        def array(kind: str, values: Any, count: int, spec: tf.TensorSpec) -> Any:
            return self._array(f"{kind} of episode {episode.id}", values, count, spec)

        leaves = [
            array("observations", leaf, steps + 1, spec)
            for leaf, spec in zip(
                nests.flatten(self._space, episode.observations),
                tf.nest.flatten(specs.observation),
                strict=True,
            )
        ]
        terminated, truncated = (
            array(name, getattr(episode, name), steps, specs.terminated)
            for name in ("terminations", "truncations")
        )
        # What follows the last row belongs to another episode.
        truncated[-1:] = True
        return Row(
            observation=nests.pack(self._space, [leaf[:-1] for leaf in leaves]),
            action=array("actions", episode.actions, steps, specs.action),
            reward=array("rewards", episode.rewards, steps, specs.reward),
            terminated=terminated,
            truncated=truncated & ~terminated,
            final_observation=nests.pack(self._space, [leaf[1:] for leaf in leaves]),
            valid=np.ones([steps, 1], bool),
        )

    def _array(
        self, kind: str, values: Any, count: int, spec: tf.TensorSpec
    ) -> np.ndarray:
        """Return values as a new array [count, 1, ...] of a dtype.

        Raises:
            SettingError: They have another shape, or are no finite numbers.
        """
        array = np.array(values, spec.dtype.as_numpy_dtype)
        expected = (count, *spec.shape)
        if array.shape != expected:
            wrong = f"have the shape {expected}, but have {array.shape}"
        elif not np.isfinite(array).all():
            wrong = "be finite numbers"
        else:
            return array[:, None]
        raise SettingError(
            f"The {kind} of the demonstrations {self._name} must {wrong}."
        )


def _as_stored(space: gymnasium.Space) -> gymnasium.Space:
    """Return a space as a data set has it, where all Discrete ones are of int64."""
    # pylint: disable-next=import-outside-toplevel
    from minari.serialization import deserialize_space, serialize_space

    return deserialize_space(serialize_space(space))


def _open(name: str) -> Any:
    if importlib.util.find_spec("minari") is None:
        raise SettingError(
            "demonstrations need the package minari: pip install -e '.[minari]'."
        )
    import minari  # pylint: disable=import-outside-toplevel

    try:
        return minari.load_dataset(name, download=False)
    except FileNotFoundError as error:
        raise SettingError(
            f"The demonstrations {name!r} are no local data set{_nearest(name)}"
        ) from error
    except Exception as error:  # Of many kinds: files, formats, names.
        raise SettingError(
            f"The demonstrations {name!r} can't be opened: {describe(error)}."
        ) from error


def _nearest(name: str) -> str:
    """Return the end of a sentence that names the local data sets, if known."""
    import minari  # pylint: disable=import-outside-toplevel

    try:
        with warnings.catch_warnings():
            # About those that are damaged.
            warnings.simplefilter("ignore", UserWarning)
            known = minari.list_local_datasets()
    except (OSError, TypeError, ValueError):  # A folder there is no data set.
        return "."
    return nearest(name, known) if known else ": there is none."
