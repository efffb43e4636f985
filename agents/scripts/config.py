"""What a run is made of, free of TensorFlow."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

from agents.algorithms import trainers
from agents.parts.settings import (
    SettingError,
    check,
    check_names,
    field_values,
    setting,
)


@dataclasses.dataclass(frozen=True)
class Config:
    """A run: its environments, its algorithm, its length.

    Raises:
        SettingError: A field has the wrong type or is out of its range.
    """

    env: str | Callable[..., Any] = setting(
        "Pendulum-v1", "environment id, or a function that returns an environment"
    )
    backend: Literal["gymnasium", "tensorflow", "envpool", "jax"] = setting(
        "gymnasium",
        "what runs the environments: worker processes; the compiled graph itself "
        "(tensorflow, for classic control; jax, for gymnax, Brax and functions); or "
        "EnvPool's threads",
    )
    algorithm: str = setting("ppo", "name of the trainer")
    num_agents: int = setting(16, "environments that are stepped as one batch", low=1)
    workers: int | None = setting(
        None,
        "processes for the environments; null: one per core, kept there; 0: none",
        low=0,
    )
    steps: int = setting(
        1_000_000,
        "environment steps to train, over all environments",
        low=1,
        high=10**15,
    )
    max_length: int | None = setting(
        None, "steps after which an episode is truncated; null: by the env", low=1
    )
    seed: int = setting(
        0, "of weights, environments and actions", low=0, high=2**63 - 1
    )
    network: str | Callable[..., Any] = setting(
        "feed_forward", "name in networks.py, or a function like those"
    )
    eval_every: int = setting(
        100_000,
        "environment steps between evaluations; at the end in any case",
        low=1,
        high=10**15,
    )
    eval_episodes: int = setting(
        20, "least number of whole episodes in an evaluation", low=1
    )
    checkpoint_steps: int = setting(
        100_000,
        "environment steps between checkpoints; episodes of Python environments start "
        "anew there",
        high=10**15,
        low=1,
    )
    keep_checkpoints: int = setting(
        3, "newest checkpoints that stay, beside that of the best evaluation", low=1
    )
    timeout: float = setting(
        60.0,
        "seconds that a worker may take to start, step or reset",
        above=0,
        high=86400,
    )
    restart_workers: int = setting(
        0,
        "failures of worker processes that are answered by starting them again; the "
        "episodes there are lost. The next failure ends the run",
        low=0,
    )
    hyperparameters: Any = setting(
        None, "settings of the algorithm; null: its defaults"
    )

    def __post_init__(self) -> None:
        """Check each field, and that the algorithm and its settings belong together."""
        check(self)
        settings_class = trainers.find(self.algorithm).settings
        _check_fields(settings_class, self)
        if self.hyperparameters is None:
            object.__setattr__(self, "hyperparameters", settings_class())
        if not isinstance(self.hyperparameters, settings_class):
            raise SettingError(
                f"hyperparameters must be {settings_class.__name__} for the algorithm "
                f"{self.algorithm}, but are {self.hyperparameters!r}."
            )

    def replace(self, **changes: Any) -> "Config":
        """Return a config with other values; settings of the algorithm count by name.

        Another algorithm begins with its own defaults.

        Raises:
            SettingError: A name is unknown, or its value wrong.
        """
        algorithm = changes.get("algorithm", self.algorithm)
        settings_class = trainers.find(algorithm).settings
        own = [name for name in field_values(self) if name != "hyperparameters"]
        inner = [field.name for field in dataclasses.fields(settings_class)]
        check_names(changes, own + inner, "The setting")
        outer = {name: value for name, value in changes.items() if name in own}
        rest = {name: value for name, value in changes.items() if name in inner}
        kept = self.hyperparameters if algorithm == self.algorithm else settings_class()
        settings = dataclasses.replace(kept, **rest)
        return dataclasses.replace(self, **outer, hyperparameters=settings)

    def differences(self, other: "Config") -> list[str]:
        """Return the names of settings in which two configs differ."""
        return [
            name
            for mine, theirs in (
                (self, other),
                (self.hyperparameters, other.hyperparameters),
            )
            for name, value in field_values(mine).items()
            if name != "hyperparameters" and value != getattr(theirs, name, None)
        ]


def _check_fields(settings_class: type, config: Config) -> None:
    """Check what the settings of a trainer are called.

    Raises:
        SettingError: One is called like a setting of the run, or `horizon` is missing.
    """
    names = {field.name for field in dataclasses.fields(settings_class)}
    twice = sorted(names & set(field_values(config)))
    if twice or "horizon" not in names:
        wrong = (
            f"has {twice[0]}, which is a setting of the run"
            if twice
            else ("lacks horizon, the steps of each environment between two updates")
        )
        raise SettingError(
            f"The settings of the trainer {config.algorithm} can't be used: "
            f"{settings_class.__name__} {wrong}."
        )
