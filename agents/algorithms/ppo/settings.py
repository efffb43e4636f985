"""What can be chosen about PPO."""

import dataclasses
from typing import Literal

from agents.parts.settings import SettingError, check, setting


@dataclasses.dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO, checked when they are made.

    Raises:
        SettingError: One of them has the wrong type or is out of its range.
    """

    horizon: int = setting(128, "steps of each environment between two updates", low=1)
    batch_size: int = setting(64, "transitions in a minibatch", low=1)
    update_epochs: int = setting(10, "passes over the transitions in an update", low=1)
    learning_rate: float = setting(3e-4, "of Adam, at the start", above=0)
    learning_rate_schedule: Literal["linear", "constant"] = setting(
        "linear", "linear: falls to 0 at the end of the run"
    )
    discount: float = setting(0.99, "per step", low=0, high=1)
    gae_lambda: float = setting(
        0.95, "weight of longer returns in the advantages", low=0, high=1
    )
    clip_range: float | None = setting(
        0.2, "how far probability ratios may leave 1; null: not clipped", above=0
    )
    kl_target: float | None = setting(
        None,
        "nats per update that the adaptive penalty aims at; null: no penalty",
        above=0,
    )
    kl_init_penalty: float = setting(1.0, "weight of the penalty at the start", low=0)
    kl_cutoff_factor: float = setting(
        2.0, "multiple of kl_target from which the cutoff is felt", above=0
    )
    kl_cutoff_coef: float = setting(
        1000.0, "weight of the squared excess over the cutoff", low=0
    )
    kl_stop: float | None = setting(
        None, "nats from which on an update takes no further step", above=0
    )
    entropy_coef: float = setting(0.0, "weight of the entropy bonus", low=0)
    value_coef: float = setting(0.25, "weight of the value loss", low=0)
    max_gradient_norm: float | None = setting(
        0.5, "global norm to which gradients are clipped; null: not clipped", above=0
    )
    normalize_observations: bool = setting(
        True, "bring continuous observations to mean 0 and deviation 1"
    )
    normalize_rewards: bool = setting(
        True, "divide rewards by the deviation of discounted returns"
    )
    normalize_advantages: bool = setting(
        True, "bring the advantages of an update to mean 0 and deviation 1"
    )
    normalize_ranges: bool = setting(
        True, "let the policy see action bounds as -1 to 1, where both are finite"
    )
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
    chunk_length: int = setting(
        16, "steps through which a recurrent network is trained in one piece", low=1
    )

    def __post_init__(self) -> None:
        """Check each field, and those that depend on each other."""
        check(self)
        for layer in self.conv_layers:
            if len(layer) != 3:
                raise SettingError(
                    "conv_layers must be a list of [filters, kernel, stride], but one "
                    f"of them is {list(layer)}."
                )
        if self.clip_range is None and self.kl_target is None:
            raise SettingError(
                "clip_range and kl_target are both null, so that nothing limits an "
                "update: set one of them."
            )
