"""Observations and actions in the range of -1 to 1."""

import gymnasium
import numpy as np


def normalize_ranges(env: gymnasium.Env) -> gymnasium.Env:
    """Rescale observations and actions to [-1, 1] where both bounds are finite.

    Dimensions with an infinite bound or two equal ones, and spaces other than a Box of
    floats, are left as they are.
    """
    # Gymnasium's RescaleObservation divides by zero where the bounds are equal.
    if _is_continuous(env.observation_space):
        env = _rescale_observations(env)
    if _is_continuous(env.action_space):
        env = _rescale_actions(env)
    return env


def _rescale_observations(env: gymnasium.Env) -> gymnasium.Env:
    space, center, radius = _rescaled(env.observation_space)
    return gymnasium.wrappers.TransformObservation(
        env, lambda observation: (observation - center) / radius, space
    )


def _rescale_actions(env: gymnasium.Env) -> gymnasium.Env:
    space, center, radius = _rescaled(env.action_space)
    return gymnasium.wrappers.TransformAction(
        env, lambda action: center + radius * action, space
    )


def _is_continuous(space: gymnasium.Space) -> bool:
    return isinstance(space, gymnasium.spaces.Box) and space.dtype.kind == "f"


def _rescaled(
    space: gymnasium.spaces.Box,
) -> tuple[gymnasium.spaces.Box, np.ndarray, np.ndarray]:
    """Return the new space, and center and radius of the old one."""
    low, high = space.low, space.high
    chosen = np.isfinite(low) & np.isfinite(high) & (low < high)
    new_low, new_high = np.where(chosen, -1, low), np.where(chosen, 1, high)
    new_space = gymnasium.spaces.Box(new_low, new_high, dtype=space.dtype)
    # What is not rescaled has the bounds -1 and 1 already, as it were.
    low, high = np.where(chosen, low, -1), np.where(chosen, high, 1)
    return new_space, low / 2 + high / 2, high / 2 - low / 2
