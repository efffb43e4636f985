"""Signals as requests."""

import os
import signal
import time
import unittest
from unittest import mock

from agents.tools.stop_signal import Stopped, StopSignal, interruptible


def wait_until(condition, seconds=5.0):
    """Wait until a condition holds; return whether it did."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


class StopSignalTest(unittest.TestCase):
    """Signals that this process sends to itself."""

    def test_a_signal_is_a_request_with_time_left(self):
        for number, seconds in ((signal.SIGINT, 2), (signal.SIGTERM, 8)):
            with StopSignal(abort=lambda: None) as stop:
                self.assertIsNone(stop.requested)
                self.assertEqual(stop.seconds_left, float("inf"))
                os.kill(os.getpid(), number)
                self.assertTrue(wait_until(lambda s=stop: s.requested is not None))
                self.assertEqual(stop.requested, number)
                left = stop.seconds_left
            self.assertLessEqual(left, seconds)
            self.assertGreater(left, seconds - 1)

    def test_other_signals_are_none_of_its_business(self):
        heard = []
        before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        with StopSignal(abort=lambda: None) as stop:
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertTrue(wait_until(lambda: heard))
            time.sleep(0.1)
            self.assertIsNone(stop.requested)

    def test_outside_of_the_training_a_signal_is_an_error_with_its_exit_code(self):
        before = signal.getsignal(signal.SIGTERM)
        timer = mock.patch("threading.Timer")
        with (
            timer as made,
            self.assertRaisesRegex(Stopped, "nothing was being trained") as raised,
            interruptible(),
        ):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        self.assertEqual(raised.exception.exit_code, 143)
        made.return_value.start.assert_called_once()
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_abort_is_called_when_the_time_is_over(self):
        calls = []
        with StopSignal(lambda: calls.append(1), grace_seconds=0.2):
            os.kill(os.getpid(), signal.SIGINT)
            self.assertTrue(wait_until(lambda: calls))
        self.assertEqual(calls, [1])

    def test_a_second_signal_ends_the_time(self):
        calls = []
        with StopSignal(lambda: calls.append(1), grace_seconds=60) as stop:
            os.kill(os.getpid(), signal.SIGINT)
            self.assertTrue(wait_until(lambda: stop.requested))
            os.kill(os.getpid(), signal.SIGINT)
            self.assertTrue(wait_until(lambda: calls))

    def test_handlers_are_as_before_afterwards(self):
        before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        with StopSignal(abort=lambda: None):
            pass
        after = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
