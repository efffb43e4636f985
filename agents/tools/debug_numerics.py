"""Training in which each operation is checked to give finite numbers."""

import contextlib
import pathlib
import traceback
from collections.abc import Iterator

import keras
import tensorflow as tf

from agents.tools.faults import NumericFault

_LIBRARIES = tuple(str(pathlib.Path(m.__file__).parent) for m in (tf, keras))


@contextlib.contextmanager
def operations_checked() -> Iterator[None]:
    """Run all functions operation by operation, a thousand times slower.

    Draws differ from those of compiled functions, so that a run takes another course.

    Raises:
        NumericFault: Names the operation whose result is infinite or no number, and the
            line that called it.
    """
    tf.config.run_functions_eagerly(True)
    tf.debugging.enable_check_numerics()
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        lines = str(error).splitlines()
        found = [line for line in lines if "Detected" in line or "Input tensor" in line]
        if not found:
            raise
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
        place = f"{own[-1].filename}:{own[-1].lineno}: {own[-1].line}"
        raise NumericFault(f"{' '.join(found)}\nIt was called by {place}") from error
    finally:
        tf.debugging.disable_check_numerics()
        tf.config.run_functions_eagerly(False)
