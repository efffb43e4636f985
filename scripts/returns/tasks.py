"""The tasks, and what a policy is asked to reach after a million steps.

Stable-Baselines3 is measured on some of them, by the settings that the RL Zoo tuned for
each (its hyperparams/ppo.yml; they were tuned for version 3 of the environments).
"""

import dataclasses
from typing import Any

_WIDE = {
    "log_std_init": -2,
    "ortho_init": False,
    "activation_fn": "ReLU",
    "net_arch": {"pi": [256, 256], "vf": [256, 256]},
}


STEPS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Task:
    """A preset with its marks.

    Attributes:
        least: mean score over seeds that is asked for.
        aim: mean score that is hoped for.
        zoo: settings of Stable-Baselines3's PPO; None: it is not compared.
    """

    least: float
    aim: float
    zoo: dict[str, Any] | None = None


TASKS = {
    "cheetah": Task(
        5500,
        6500,
        {
            "batch_size": 64,
            "n_steps": 512,
            "gamma": 0.98,
            "learning_rate": 2.0633e-05,
            "ent_coef": 0.000401762,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.92,
            "max_grad_norm": 0.8,
            "vf_coef": 0.58096,
            "policy_kwargs": _WIDE,
        },
    ),
    "hopper": Task(
        2600,
        3000,
        {
            "batch_size": 32,
            "n_steps": 512,
            "gamma": 0.999,
            "learning_rate": 9.80828e-05,
            "ent_coef": 0.00229519,
            "clip_range": 0.2,
            "n_epochs": 5,
            "gae_lambda": 0.99,
            "max_grad_norm": 0.7,
            "vf_coef": 0.835671,
            "policy_kwargs": _WIDE,
        },
    ),
    "walker": Task(
        4200,
        5000,
        {
            "batch_size": 32,
            "n_steps": 512,
            "gamma": 0.99,
            "learning_rate": 5.05041e-05,
            "ent_coef": 0.000585045,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.95,
            "max_grad_norm": 1,
            "vf_coef": 0.871923,
        },
    ),
    "ant": Task(1700, 2500),
    "humanoid": Task(1000, 1500),
    "swimmer": Task(270, 330),
    "reacher": Task(-5, -4),
    "inverted_pendulum": Task(990, 1000),
    "inverted_double_pendulum": Task(9200, 9350),
    "pusher": Task(-40, -30),
}
