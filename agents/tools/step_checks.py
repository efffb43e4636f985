"""What environments must hold to, checked for a whole batch at once."""

import sys
from collections.abc import Sequence

import gymnasium
import numpy as np

from agents.parts import nests
from agents.tools.faults import EnvironmentFault

_Categories = (
    gymnasium.spaces.Discrete
    | gymnasium.spaces.MultiDiscrete
    | gymnasium.spaces.MultiBinary
)


class StepChecks:
    """Numbers are finite, and observations are of their space.

    A category that there is not is an error, as it could not be encoded. Many
    environments exceed the bounds of a Box a little: that is said once.
    """

    def __init__(self, observation_space: gymnasium.Space):
        """Work out what is to be checked of each leaf of a space."""
        self._leaves = nests.leaf_spaces(observation_space)
        self._bounds = [_bounds(leaf) for leaf in self._leaves]

    def observation(
        self, leaves: Sequence[np.ndarray], step: int, when: str = ""
    ) -> None:
        """Check leaves [N, ...] in the order of the space.

        Args:
            leaves: as they travel.
            step: since the batch was reset, for the error.
            when: the rest of the name of the quantity.

        Raises:
            EnvironmentFault: Names the environment, the number and the step.
        """
        for leaf, space, bounds in zip(leaves, self._leaves, self._bounds, strict=True):
            if bounds is None:
                check_finite(f"observation{when}", leaf, step)
                continue
            low, high = bounds
            inside = (leaf >= low) & (leaf <= high)
            # All bounds are finite, so that this includes what is no number.
            if inside.all():
                continue
            check_finite(f"observation{when}", leaf, step)
            index, value = _first(inside, leaf)
            reason = f"gave the observation{when} {value} in step {step} after the "
            reason += f"batch was reset, which is outside of its space {space}"
            if isinstance(space, _Categories):
                remedy = "mend the environment or its observation_space"
                raise EnvironmentFault([index], f"{reason}: {remedy}")
            print(f"Environment {index} {reason}.", file=sys.stderr)
            for number, other in enumerate(self._leaves):
                if not isinstance(other, _Categories):
                    self._bounds[number] = None


def check_finite(quantity: str, values: np.ndarray, step: int) -> None:
    """Check that values [N, ...] are finite numbers.

    Raises:
        EnvironmentFault: Names the environment, the number and the step.
    """
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    index, value = _first(np.isfinite(values), values)
    raise EnvironmentFault(
        [index],
        f"gave the {quantity} {value} in step {step} after the batch was reset: "
        "observations and rewards must be finite numbers",
    )


def _first(good: np.ndarray, values: np.ndarray) -> tuple[int, np.generic]:
    """Return the first environment with a value that is not good, and the value."""
    place = np.unravel_index(np.argmin(good), good.shape)
    return int(place[0]), values[place]


def _bounds(space: gymnasium.Space) -> tuple[np.ndarray, np.ndarray] | None:
    """Return what bounds the numbers of a leaf; None if nothing can exceed it."""
    dtype = nests.leaf_dtype(space)
    if isinstance(space, gymnasium.spaces.Discrete):
        low, high = space.start, space.start + space.n - 1
    elif isinstance(space, gymnasium.spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
    elif isinstance(space, gymnasium.spaces.MultiBinary):
        low, high = 0, 1
    else:
        low, high = space.low, space.high
        if dtype.kind == "f":
            limits = (-np.inf, np.inf)
        elif dtype.kind == "b":
            limits = (False, True)
        else:
            limits = (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if (low == limits[0]).all() and (high == limits[1]).all():
            return None
    if dtype.kind == "f":
        largest = np.nextafter(dtype.type(np.inf), dtype.type(0))
        low, high = np.clip((low, high), -largest, largest)
    return np.asarray(low, dtype), np.asarray(high, dtype)
