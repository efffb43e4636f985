"""Environments as one batch, one graph over them, and the loop around it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["wrappers"],
    submod_attrs={
        "batch_env": ["BatchEnv"],
        "faults": ["EnvironmentFault"],
        "in_graph_batch_env": ["InGraphBatchEnv"],
        "in_graph_env": ["InGraphEnv"],
        "loop": ["Loop"],
        "simulation": ["simulate"],
        "training_graph": ["TrainingGraph"],
    },
)
