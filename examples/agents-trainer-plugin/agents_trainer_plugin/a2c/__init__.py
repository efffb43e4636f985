"""Advantage actor-critic; this module is read with each config, without TensorFlow."""

import dataclasses

from agents.algorithms.settings import OnPolicySettings
from agents.parts.settings import setting


@dataclasses.dataclass(frozen=True)
class A2CSettings(OnPolicySettings):
    """Settings of A2C."""

    horizon: int = setting(8, "steps of each environment between two updates", low=1)
    learning_rate: float = setting(1e-3, "of Adam, at the start", above=0)
    value_coef: float = setting(0.5, "weight of the value loss", low=0)


def get_type_and_setting() -> tuple[dict[str, str], dict[str, type]]:
    """Return the algorithm and its settings by the name of the trainer."""
    algorithm = "agents_trainer_plugin.a2c.a2c_trainer:A2C"
    return {"a2c": algorithm}, {"a2c": A2CSettings}
