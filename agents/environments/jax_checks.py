"""Whether the functions of a `JaxTask` are pure, and return what they promise."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from agents.environments.jax_env import JaxTask
from agents.environments.jax_functions import Layout, dtype_of, key_of, travel_dtype
from agents.parts import nests
from agents.parts.settings import SettingError
from agents.tools.faults import EnvironmentFault

_ARGUMENTS = {"reset": ("key",), "step": ("state", "action", "key")}
_RESULTS = {
    "reset": ("state", "observation"),
    "step": ("state", "observation", "reward", "terminated", "truncated"),
}
# How what calls back into Python looks in the compiled program.
_CALLBACK = re.compile(r"custom_call @\w*python\w*callback")
# What TensorFlow's XLA lacks: how it looks there, and by which names people know it.
_LACKING = {
    "getrf": "the LU decomposition, of jax.numpy.linalg.solve, inv and det",
    "chlo.top_k": "jax.lax.top_k",
}
# What TensorFlow can keep in a variable.
_STORABLE = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
}


def checked_layout(task: JaxTask, name: str, trusted: bool) -> Layout:
    """Trace a task and return the layout of its states.

    Args:
        task: as the person wrote it.
        name: by which errors call it.
        trusted: whether its functions are known to be pure.

    Raises:
        SettingError: Its functions are not pure, or what they take or return does not
            fit one another or the spaces.
        UnsupportedSpace: A space can't be represented as arrays.
        EnvironmentFault: A function raised an error of its own.
    """
    nests.leaf_spaces(task.observation_space)
    if not isinstance(task.action_space, nests.Leaf):
        raise nests.UnsupportedSpace(
            f"The action space {task.action_space} is not supported: use "
            f"{nests.LEAF_NAMES}."
        )
    return _Checks(task, name, trusted).layout()


class _Checks:
    """The checks of one task; each error names the function that is wrong."""

    def __init__(self, task: JaxTask, name: str, trusted: bool):
        self._task = task
        self._name = name
        self._trusted = trusted

    def layout(self) -> Layout:
        """Trace both functions and return the layout that they agree in."""
        seed = jax.ShapeDtypeStruct((2,), jnp.int32)
        layout = self._trace("reset", lambda seed: (key_of(seed, 0),), seed)
        space = self._task.action_space
        action = jax.ShapeDtypeStruct(space.shape, travel_dtype(space))
        arrays = jax.eval_shape(
            lambda seed: layout.encode(self._task.reset(key_of(seed, 0))[0]), seed
        )
        after = self._trace(
            "step",
            lambda arrays, action, seed: (
                layout.decode(arrays),
                action,
                key_of(seed, 0),
            ),
            arrays,
            action,
            seed,
        )
        self._compare(layout, after)
        return layout

    def _trace(
        self, part: str, prepare: Callable[..., tuple[Any, ...]], *shapes: Any
    ) -> Layout:
        """Trace a function for arguments that are made of arrays of given shapes."""
        self._check_arguments(part)
        layouts: list[Layout] = []
        try:
            if self._trusted:
                jax.eval_shape(self._noting(part, prepare, layouts), *shapes)
            else:
                # Each in a function of its own, or JAX would not trace it again.
                functions = [self._noting(part, prepare, layouts) for _ in range(2)]
                texts = [jax.jit(each).lower(*shapes).as_text() for each in functions]
                self._check_program(part, *texts)
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            reason = str(error).partition("\n")[0].rstrip(".: ")
            raise SettingError(
                f"The {part} of {self._name} is no pure function that JAX can trace: "
                f"{type(error).__name__}: {reason}."
            ) from error
        except (SettingError, EnvironmentFault):
            raise
        except Exception as error:
            fault = EnvironmentFault.of([0], f"raised in its {part}", error)
            raise fault from None
        return layouts[0]

    def _noting(
        self, part: str, prepare: Callable[..., tuple[Any, ...]], layouts: list[Layout]
    ) -> Callable[..., Any]:
        """Return a function of arrays that checks results and notes their layout."""

        def traced(*arrays: Any) -> list[Any]:
            results = getattr(self._task, part)(*prepare(*arrays))
            layouts.append(self._check_results(part, results))
            state, *rest = results
            return [layouts[-1].encode(state), jax.tree.leaves(rest)]

        return traced

    def _check_arguments(self, part: str) -> None:
        names = _ARGUMENTS[part]
        try:
            inspect.signature(getattr(self._task, part)).bind(*names)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"The {part} of {self._name} must take {', '.join(names)}: {error}."
            ) from error

    def _check_program(self, part: str, first: str, second: str) -> None:
        if _CALLBACK.search(first):
            raise SettingError(
                f"The {part} of {self._name} is no pure function: it calls back into "
                "Python, as jax.debug.print and jax.pure_callback do."
            )
        for mark, shown in _LACKING.items():
            if mark in first:
                raise SettingError(
                    f"The {part} of {self._name} uses what the XLA of TensorFlow does "
                    f"not have: {shown}."
                )
        if first != second:
            raise SettingError(
                f"The {part} of {self._name} is no pure function: traced twice, it "
                "made two different programs, as numpy.random, a counter or the time "
                "would cause; draw from the key, and keep what changes in the state."
            )

    def _check_results(self, part: str, results: Any) -> Layout:
        """Check what a function returned, and return the layout of the state."""
        names = _RESULTS[part]
        if not isinstance(results, (tuple, list)) or len(results) != len(names):
            given = type(results).__name__
            if isinstance(results, (tuple, list)):
                given = f"{given} of {len(results)}"
            raise SettingError(
                f"The {part} of {self._name} returned a {given}, where "
                f"({', '.join(names)}) is expected."
            )
        state, observation, *scalars = results
        self._check_observation(
            part, self._task.observation_space, observation, "observation"
        )
        for name, value in zip(names[2:], scalars, strict=True):
            self._check_scalar(part, name, value)
        return self._check_state(part, state)

    def _check_state(self, part: str, state: Any) -> Layout:
        for path, leaf in jax.tree_util.tree_leaves_with_path(state):
            shown = f"state{jax.tree_util.keystr(path)}"
            self._describe(part, shown, leaf)
        layout = Layout.of(state)
        for leaf in layout.leaves:
            is_extended = jnp.issubdtype(leaf.dtype, jax.dtypes.extended)
            if not is_extended and leaf.dtype != jax.dtypes.float0:
                if str(leaf.dtype) not in _STORABLE:
                    raise SettingError(
                        f"The {part} of {self._name} returns {leaf.path} as "
                        f"{leaf.dtype}, which can't be stored."
                    )
        return layout

    def _check_observation(
        self, part: str, space: gymnasium.Space, value: Any, path: str
    ) -> None:
        if isinstance(space, gymnasium.spaces.Dict):
            keys = sorted(value) if isinstance(value, Mapping) else None
            if keys != sorted(space):
                given = type(value).__name__ if keys is None else f"one of {keys}"
                raise SettingError(
                    f"The {part} of {self._name} returns as {path} a {given}, where "
                    f"the space has a dict of {sorted(space)}."
                )
            for key, inner in space.items():
                self._check_observation(part, inner, value[key], f"{path}[{key!r}]")
        elif isinstance(space, gymnasium.spaces.Tuple):
            if not isinstance(value, (tuple, list)) or len(value) != len(space):
                raise SettingError(
                    f"The {part} of {self._name} returns as {path} a "
                    f"{type(value).__name__}, where the space has a tuple of "
                    f"{len(space)}."
                )
            for index, inner in enumerate(space):
                self._check_observation(part, inner, value[index], f"{path}[{index}]")
        else:
            self._check_leaf(part, space, value, path)

    def _check_leaf(
        self, part: str, space: gymnasium.Space, value: Any, path: str
    ) -> None:
        shape, dtype = self._describe(part, path, value)
        kinds = "biuf" if np.dtype(space.dtype).kind == "f" else "biu"
        if shape != space.shape or _kind(dtype) not in kinds:
            raise SettingError(
                f"The {part} of {self._name} returns {path} as {dtype}{list(shape)}, "
                f"where its space has {np.dtype(space.dtype)}{list(space.shape)}."
            )

    def _check_scalar(self, part: str, name: str, value: Any) -> None:
        shape, dtype = self._describe(part, name, value)
        if shape != () or _kind(dtype) not in "biuf":
            expected = "a number" if name == "reward" else "true or false"
            raise SettingError(
                f"The {part} of {self._name} returns {name} as {dtype}{list(shape)}, "
                f"where {expected} of shape () is expected."
            )

    def _describe(self, part: str, path: str, value: Any) -> tuple[Any, Any]:
        try:
            return np.shape(value), dtype_of(value)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"The {part} of {self._name} returns {path} as "
                f"{type(value).__name__}, where an array is expected."
            ) from error

    def _compare(self, before: Layout, after: Layout) -> None:
        if before.structure != after.structure:
            raise SettingError(
                f"The step of {self._name} returns a state of the structure "
                f"{after.structure}, where its reset has {before.structure}."
            )
        for old, new in zip(before.leaves, after.leaves, strict=True):
            if old != new:
                raise SettingError(
                    f"The step of {self._name} returns {new.path} as "
                    f"{new.dtype}{list(new.shape)}, where its reset has "
                    f"{old.dtype}{list(old.shape)}."
                )


def _kind(dtype: Any) -> str:
    """Return the letter of a dtype's kind as NumPy has it; bfloat16 is a float."""
    if jnp.issubdtype(dtype, jnp.floating):
        return "f"
    return getattr(dtype, "kind", "V")
