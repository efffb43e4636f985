"""What can be chosen about PPO."""

import dataclasses

from agents.algorithms.settings import OnPolicySettings
from agents.parts.settings import SettingError, setting


@dataclasses.dataclass(frozen=True)
class PPOSettings(OnPolicySettings):
    """Settings of PPO, checked when they are made.

    Raises:
        SettingError: One of them has the wrong type or is out of its range.
    """

    batch_size: int = setting(64, "transitions in a minibatch", low=1)
    update_epochs: int = setting(10, "passes over the transitions in an update", low=1)
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

    def __post_init__(self) -> None:
        """Check each field, and those that depend on each other."""
        super().__post_init__()
        if self.clip_range is None and self.kl_target is None:
            raise SettingError(
                "clip_range and kl_target are both null, so that nothing limits an "
                "update: set one of them."
            )
