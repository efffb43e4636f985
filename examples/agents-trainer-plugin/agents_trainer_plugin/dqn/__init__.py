"""Deep Q-learning; this module is read with each config, without TensorFlow."""

import dataclasses

from agents.algorithms.settings import OffPolicySettings
from agents.parts.settings import setting


@dataclasses.dataclass(frozen=True)
class DQNSettings(OffPolicySettings):
    """Settings of DQN; the layers of the policy are those of the action values."""

    initial_epsilon: float = setting(
        1.0, "chance of a random action at the start", low=0, high=1
    )
    final_epsilon: float = setting(0.05, "and from some time on", low=0, high=1)
    exploration_share: float = setting(0.2, "of the run, until then", above=0, high=1)
    double: bool = setting(True, "let the online network choose the next action")
    dueling: bool = setting(False, "sum values of actions of a value and advantages")
    init_output_factor: float = setting(
        1.0, "gain of the last policy layer at the start", above=0
    )


def get_type_and_setting() -> tuple[dict[str, str], dict[str, type]]:
    """Return the algorithm and its settings by the name of the trainer."""
    algorithm = "agents_trainer_plugin.dqn.dqn_trainer:DQN"
    return {"dqn": algorithm}, {"dqn": DQNSettings}
