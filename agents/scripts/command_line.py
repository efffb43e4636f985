"""What the commands have in common, free of TensorFlow."""

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import NoReturn

from agents.parts.nests import UnsupportedSpace
from agents.parts.settings import SettingError
from agents.tools.faults import EnvironmentFault, RunFault
from agents.tools.stop_signal import Stopped
from agents.tools.wrappers.external_process import UnpicklableConstructor


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with 2."""
        self.exit(2, f"{self.prog}: {message} See --help.\n")


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what a person can understand into one sentence and an exit code.

    2 for a mistake in what was asked, 1 for a run that failed, 128 plus its number for a
    signal. Anything else is a defect of this library, and keeps its traceback.
    """
    try:
        yield
    except (SettingError, UnsupportedSpace, UnpicklableConstructor) as error:
        _exit(2, str(error))
    except EnvironmentFault as fault:
        if fault.remote_traceback:
            print(fault.remote_traceback.rstrip(), file=sys.stderr)
        _exit(1, str(fault))
    except (RunFault, OSError) as fault:
        _exit(1, str(fault))
    except Stopped as stopped:
        _exit(stopped.exit_code, str(stopped))
    except KeyboardInterrupt:
        _exit(130, "Stopped before training began.")


def import_tensorflow() -> None:
    """Import TensorFlow without the messages that it prints while it starts.

    They precede its log level, so its error stream is set aside; if the import fails,
    they are shown.
    """
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    sys.stderr.flush()
    own_stream = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            import tensorflow as tf  # pylint: disable=import-outside-toplevel

            tf.config.list_logical_devices()
        except BaseException:
            aside.seek(0)
            os.write(own_stream, aside.read())
            raise
        finally:
            os.dup2(own_stream, 2)
            os.close(own_stream)


def _exit(code: int, message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)
