"""Wrappers of single environments, one file per concept, free of TensorFlow.

Where Gymnasium ships one that does the job, use it from `gymnasium.wrappers`:

    action repeat       RepeatAction
    frame history       FrameStackObservation
    action clipping     ClipAction
    duration limit      TimeLimit
    32-bit conversion   DtypeObservation (the batch casts to float32 in any case)

Ours are those that it lacks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "cache_spaces": ["CacheSpaces"],
        "external_process": ["ExternalProcess"],
        "frame_delta": ["FrameDelta"],
        "random_start": ["RandomStart"],
        "range_normalization": ["normalize_ranges"],
    },
)
