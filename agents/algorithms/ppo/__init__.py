"""Proximal policy optimization."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["losses"],
    submod_attrs={"ppo": ["PPO"], "settings": ["PPOSettings"]},
)
