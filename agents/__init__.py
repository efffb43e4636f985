"""Batched PPO in one TensorFlow graph.

Nothing is imported before it is used: worker processes import this package too, and
must stay free of TensorFlow (3.4 s and 400 MB each).
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["algorithms", "parts", "scripts", "tools"]
)
