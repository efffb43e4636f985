"""Gymnasium's classic control tasks as TensorFlow programs, by Gymnasium's ids.

Free of TensorFlow until a task is asked for.
"""

import importlib
from typing import Any

from agents.parts.settings import SettingError, nearest

_TASKS = {
    "Acrobot-v1": ("acrobot", "Acrobot"),
    "CartPole-v1": ("cart_pole", "CartPole"),
    "MountainCar-v0": ("mountain_car", "MountainCar"),
    "MountainCarContinuous-v0": ("mountain_car", "MountainCarContinuous"),
    "Pendulum-v1": ("pendulum", "Pendulum"),
}
IDS = tuple(_TASKS)


def check(env_id: Any) -> None:
    """Check that there is a task of an id.

    Raises:
        SettingError: There is none; names the nearest.
    """
    if env_id not in IDS:
        raise SettingError(
            f"The backend tensorflow has no env {env_id!r}{nearest(str(env_id), IDS)}"
        )


def make(env_id: str, num_envs: int, max_length: int | None) -> Any:
    """Return environments of an id as an `InGraphEnv`, wholly compilable.

    Args:
        env_id: one of `IDS`.
        num_envs: how many.
        max_length: steps after which an episode is truncated; None: Gymnasium's limit.

    Raises:
        SettingError: There is none of that id.
    """
    # pylint: disable-next=import-outside-toplevel
    from agents.environments.dynamics_env import DynamicsEnv

    return DynamicsEnv(dynamics(env_id), num_envs, max_length)


def dynamics(env_id: str) -> Any:
    """Return the `Dynamics` of an id.

    Raises:
        SettingError: There is none.
    """
    check(env_id)
    module, name = _TASKS[env_id]
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)()
