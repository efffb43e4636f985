"""What the commands have in common, free of TensorFlow."""

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from agents.parts.settings import SettingError
from agents.scripts import compilation_cache, config_file
from agents.tools.faults import EnvironmentFault, RunFault
from agents.tools.stop_signal import Stopped
from agents.tools.wrappers.external_process import UnpicklableConstructor


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with 2."""
        self.exit(2, f"{self.prog}: {message} See --help.\n")


def add_set(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the option `--set KEY=VALUE`, which `given` reads."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help=text
    )


def given(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the settings of `--set`, typed, and imported where they name code.

    Raises:
        SettingError: One of them can't be read.
    """
    settings: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"--set takes KEY=VALUE, but got {text!r}.")
        if name == "network" and ":" in value:
            import_tensorflow()  # As its module will, but quietly.
        settings[name] = config_file.resolve(name, config_file.parse_value(value))
    return settings


def positive(text: str) -> int:
    """Parse a whole number above 0.

    Raises:
        ArgumentTypeError: It is none.
    """
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0.")
    return int(text)


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what a person can understand into one sentence and an exit code.

    2 for a mistake in what was asked, 1 for a run that failed, 128 plus its number for
    a signal. Anything else is a defect of this library, and keeps its traceback.
    """
    try:
        yield
    except (SettingError, UnpicklableConstructor) as error:
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
        _exit(130, "Stopped.")


def set_tensorflow_defaults() -> None:
    """Set what TensorFlow reads when it is imported; what a person has set stays.

    Commands do so first of all: importing JAX, which EnvPool does as well, sets some of
    the same variables otherwise.
    """
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    # Errors are raised as well; those only logged are false alarms about the cache.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Networks of this size gain a tenth from a second thread where two cores are near
    # each other, and lose a third where they are not; handing over between operations
    # only costs (docs/performance.md). Nor do results depend on the number of cores.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
    # Small products take longer with oneDNN, and larger ones the same on one thread.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    compilation_cache.enable(os.environ)


def import_tensorflow() -> None:
    """Import TensorFlow without the messages that it prints while it starts.

    They precede its log level, so its error stream is set aside; if the import fails,
    they are shown.
    """
    set_tensorflow_defaults()
    sys.stderr.flush()
    own_stream = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            import tensorflow as tf  # pylint: disable=import-outside-toplevel

            tf.config.list_logical_devices()
        except Exception:
            aside.seek(0)
            os.write(own_stream, aside.read())
            raise
        finally:
            os.dup2(own_stream, 2)
            os.close(own_stream)


def _exit(code: int, message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)
