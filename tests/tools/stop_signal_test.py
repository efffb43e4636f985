"""Signals as requests."""

import os
import signal
import time
import unittest

from agents.tools.stop_signal import StopSignal


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

    def check(self, number):
        """Send a signal and expect a request with time left."""
        with StopSignal(abort=self.fail) as stop:
            self.assertIsNone(stop.requested)
            self.assertEqual(stop.seconds_left, float("inf"))
            os.kill(os.getpid(), number)
            self.assertTrue(wait_until(lambda: stop.requested == number))
            self.assertTrue(wait_until(lambda: stop.seconds_left < 3.1))

    def test_a_signal_is_a_request_with_time_left(self):
        self.check(signal.SIGINT)
        self.check(signal.SIGTERM)

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
