"""What can be chosen about algorithms of a kind; each adds settings of its own."""

import dataclasses
from typing import Literal

from agents.parts.settings import SettingError, check, setting


@dataclasses.dataclass(frozen=True)
class NetworkSettings:
    """Settings that the functions in `agents/scripts/networks.py` read.

    Raises:
        SettingError: One of them has the wrong type or is out of its range.
    """

    shared_layers: tuple[int, ...] = setting(
        (), "units of hidden layers that policy and value share, before others", low=1
    )
    policy_layers: tuple[int, ...] = setting(
        (64, 64), "units of the hidden layers of the policy", low=1
    )
    value_layers: tuple[int, ...] = setting(
        (64, 64), "units of the hidden layers of the value", low=1
    )
    conv_layers: tuple[tuple[int, ...], ...] = setting(
        ((32, 8, 4), (64, 4, 2), (64, 3, 1)),
        "filters, kernel and stride of each layer over images, in convolutional "
        "networks (those of Mnih et al., 2015, by default)",
        low=1,
    )
    recurrent_units: int = setting(64, "units of the GRU of recurrent networks", low=1)
    activation: Literal["tanh", "relu", "elu", "gelu", "silu"] = setting(
        "tanh", "of all hidden layers but the GRU"
    )
    state_dependent_std: bool = setting(
        False, "let the deviation of continuous actions depend on the observation"
    )
    init_output_factor: float = setting(
        0.01, "gain of the last policy layer at the start", above=0
    )
    init_std: float = setting(
        0.6, "standard deviation of continuous actions at the start", above=0
    )

    def __post_init__(self) -> None:
        """Check each field, and that layers over images are complete."""
        check(self)
        for layer in self.conv_layers:
            if len(layer) != 3:
                raise SettingError(
                    "conv_layers must be a list of [filters, kernel, stride], but one "
                    f"of them is {list(layer)}."
                )


@dataclasses.dataclass(frozen=True)
class LearnerSettings(NetworkSettings):
    """Settings of whatever learns by gradients from rewards."""

    horizon: int = setting(128, "steps of each environment between two updates", low=1)
    learning_rate: float = setting(3e-4, "of Adam, at the start", above=0)
    learning_rate_schedule: Literal["linear", "constant"] = setting(
        "linear", "linear: falls to 0 at the end of the run"
    )
    discount: float = setting(0.99, "per step", low=0, high=1)
    max_gradient_norm: float | None = setting(
        0.5, "global norm to which gradients are clipped; null: not clipped", above=0
    )
    normalize_observations: bool = setting(
        True, "bring continuous observations to mean 0 and deviation 1"
    )
    normalize_ranges: bool = setting(
        True, "let the policy see action bounds as -1 to 1, where both are finite"
    )


@dataclasses.dataclass(frozen=True)
class OnPolicySettings(LearnerSettings):
    """Settings of algorithms that learn from what they have just done."""

    batch_size: int | None = setting(
        None, "transitions in a minibatch; null: all of an update", low=1
    )
    update_epochs: int = setting(1, "passes over the transitions in an update", low=1)
    gae_lambda: float = setting(
        0.95, "weight of longer returns in the advantages", low=0, high=1
    )
    entropy_coef: float = setting(0.0, "weight of the entropy bonus", low=0)
    value_coef: float = setting(0.25, "weight of the value loss", low=0)
    normalize_rewards: bool = setting(
        True, "divide rewards by the deviation of discounted returns"
    )
    normalize_advantages: bool = setting(
        True, "bring the advantages of an update to mean 0 and deviation 1"
    )
    chunk_length: int = setting(
        16, "steps through which a recurrent network is trained in one piece", low=1
    )


@dataclasses.dataclass(frozen=True)
class OffPolicySettings(LearnerSettings):
    """Settings of algorithms that learn from a memory of what was done."""

    batch_size: int = setting(64, "transitions in a minibatch", low=1)
    gradient_steps: int = setting(
        64, "minibatches to learn from in each update, drawn from the memory", low=1
    )
    learning_starts: int = setting(
        1000, "transitions in the memory before the first gradient step", low=1
    )
    n_step: int = setting(
        1, "rewards that a target sums before it looks at a value", low=1, high=100
    )
    target_update: int = setting(
        1, "updates after which the target network takes on the weights", low=1
    )
    replay_capacity: int = setting(
        100_000, "transitions that the memory holds; the oldest go first", low=1
    )
    replay_limit: float = setting(
        2.0, "gigabytes that all memories together may take", above=0
    )
    save_replay: bool = setting(
        True,
        "keep the memory in checkpoints, so that a resumed run is one that never "
        "stopped; it is copied to do so, and takes three times its room",
    )
    priority_exponent: float = setting(
        0.0, "how much more often large errors are replayed; 0: all alike", low=0
    )
    importance_exponent: float = setting(
        0.4, "correction for that at the start; it grows to 1", low=0, high=1
    )
    demonstrations: str | None = setting(
        None, "id of a Minari data set to learn from as well, read from local files"
    )
    demonstration_share: float = setting(
        0.25, "of each minibatch, that is drawn from the demonstrations", low=0, high=1
    )
