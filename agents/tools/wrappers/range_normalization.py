"""Observations and actions in the range of -1 to 1."""

import gymnasium
import numpy as np


def normalize_ranges(env: gymnasium.Env) -> gymnasium.Env:
    """Rescale observations and actions to [-1, 1] where both bounds are finite.

    Dimensions with an infinite bound, and spaces other than Box, are left as they are.
    """
    if isinstance(env.observation_space, gymnasium.spaces.Box):
        env = gymnasium.wrappers.RescaleObservation(
            env, *_target_bounds(env.observation_space)
        )
    if isinstance(env.action_space, gymnasium.spaces.Box):
        env = gymnasium.wrappers.RescaleAction(env, *_target_bounds(env.action_space))
    return env


def _target_bounds(space: gymnasium.spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    finite = np.isfinite(space.low) & np.isfinite(space.high)
    low = np.where(finite, -1, space.low).astype(space.dtype)
    high = np.where(finite, 1, space.high).astype(space.dtype)
    return low, high
