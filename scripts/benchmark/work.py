"""The work that all peers do alike."""

import argparse
import dataclasses
import json
from typing import Self

from agents.scripts import command_line, configs
from agents.scripts.config import Config

DISCOUNT, LEARNING_RATE = 0.95, 1e-3
_JAX_ONLY = ("gymnax:", "brax:")


@dataclasses.dataclass(frozen=True)
class Work:
    """What is simulated and learned in each iteration, and for how long.

    Attributes:
        env: Gymnasium's id, or one of the backend jax, such as `brax:ant`.
        num_envs: environments, stepped as one batch.
        horizon: steps of each environment between updates.
        epochs: passes over these steps in an update.
        minibatch: steps from which each gradient is taken.
        layers: units of the hidden layers, of policy and value each.
        seconds: least length of a turn, after its warm-up; iterations are whole.
        steps: least number of environment steps in a turn.
    """

    env: str = "Pendulum-v1"
    num_envs: int = 32
    horizon: int = 64
    epochs: int = 10
    minibatch: int = 64
    layers: tuple[int, ...] = (64, 64)
    seconds: float = 5.0
    steps: int = 0

    @classmethod
    def of(cls, options: argparse.Namespace) -> Self:
        """Return the work that parsed options ask for; its fields have their names."""
        names = [field.name for field in dataclasses.fields(cls)]
        given = {name: getattr(options, name) for name in names if name in options}
        return cls(**given | {"layers": tuple(options.layers)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote."""
        fields = json.loads(text)
        return cls(**fields | {"layers": tuple(fields["layers"])})

    def to_json(self) -> str:
        """Return it in one line."""
        return json.dumps(dataclasses.asdict(self))

    @property
    def steps_per_iteration(self) -> int:
        """Environment steps between two updates."""
        return self.num_envs * self.horizon

    def suits(self, backend: str) -> bool:
        """Return whether a backend ("": any) may have an environment of such an id."""
        return backend in ("jax", "") or not self.env.startswith(_JAX_ONLY)

    def config(self, backend: str, workers: int | None = None) -> Config:
        """Return the config of this project for this work.

        Args:
            backend: what runs the environments.
            workers: processes for them; None: by the backend.
        """
        env = self.env
        if backend == "jax" and ":" not in env:
            env = f"gymnax:{env}"
        return configs.default().replace(
            env=env,
            backend=backend,
            workers=workers,
            num_agents=self.num_envs,
            horizon=self.horizon,
            update_epochs=self.epochs,
            batch_size=self.minibatch,
            policy_layers=self.layers,
            value_layers=self.layers,
            discount=DISCOUNT,
            learning_rate=LEARNING_RATE,
        )


def add_options(parser: argparse.ArgumentParser, minibatch: int = Work.minibatch):
    """Add the options of a work, except for its number of environments and horizon."""
    positive = command_line.positive
    parser.add_argument("--env", default=Work.env, help="environment id")
    parser.add_argument(
        "--epochs", type=positive, default=Work.epochs, help="passes in an update"
    )
    parser.add_argument(
        "--minibatch", type=positive, default=minibatch, help="steps per gradient"
    )
    parser.add_argument(
        "--layers",
        type=positive,
        nargs="+",
        default=Work.layers,
        help="units of the hidden layers of policy and value",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=Work.seconds,
        help="least length of a turn, after the warm-up",
    )
    parser.add_argument(
        "--turns", type=positive, default=3, help="turns of each, one after the other"
    )
