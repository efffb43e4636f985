"""Observations that are not of their space."""

import contextlib
import io
import unittest

import numpy as np
from gymnasium import spaces

from agents.tools.faults import EnvironmentFault
from agents.tools.step_checks import StepChecks, check_finite


class ObservationTest(unittest.TestCase):
    """Of two environments."""

    def test_a_category_that_there_is_not_is_an_error(self):
        for space, good, bad, value in (
            (spaces.Discrete(3), [0, 2], [1, 3], "3"),
            (spaces.Discrete(3), [0, 2], [1, -1], "-1"),
            (spaces.Discrete(3, start=5), [5, 7], [5, 4], "4"),
            (spaces.MultiDiscrete([3, 5]), [[2, 4], [0, 0]], [[2, 4], [3, 0]], "3"),
            (spaces.MultiBinary(2), [[0, 1], [1, 0]], [[0, 1], [0, 2]], "2"),
        ):
            with self.subTest(space=space):
                checks = StepChecks(space)
                checks.observation([np.array(good, space.dtype)], 1)
                message = f"1 gave the observation {value} in step 7 .*outside of its"
                for _ in range(2):
                    with self.assertRaisesRegex(EnvironmentFault, message):
                        checks.observation([np.array(bad, space.dtype)], 7)

    def test_beyond_the_bounds_of_a_box_is_said_once(self):
        inside = np.zeros([2, 2], np.float32)
        high = np.array([[0, 0], [0, 1.5]], np.float32)
        integer = np.array([[0, 0], [0, 9]], np.int32)
        for low, value, shown in (
            (-1, high, "1.5"),
            ([-np.inf, -1], high, "1.5"),
            (-1, integer, "9"),
        ):
            lows = np.broadcast_to(low, 2).astype(value.dtype)
            space = spaces.Box(lows, np.ones_like(lows), dtype=value.dtype.type)
            checks, printed = StepChecks(space), io.StringIO()
            with contextlib.redirect_stderr(printed):
                checks.observation([inside.astype(value.dtype)], 1)
                self.assertEqual(printed.getvalue(), "")
                checks.observation([value], 2, " at reset")
                checks.observation([value], 3)
            (line,) = printed.getvalue().splitlines()
            message = f"^Environment 1 gave the observation at reset {shown} in step 2"
            self.assertRegex(line, message)

    def test_what_is_no_number_is_an_error_within_any_bounds(self):
        for low, high in ((-1, 1), (-1, np.inf), (-np.inf, 1), (-np.inf, np.inf)):
            checks = StepChecks(spaces.Box(low, high, (2,)))
            checks.observation([np.zeros([2, 2], np.float32)], 1)
            for value in (np.nan, np.inf, -np.inf):
                leaf = np.array([[0, 0], [0, value]], np.float32)
                message = f"Environment 1 gave the observation {value} in step 3"
                with self.assertRaisesRegex(EnvironmentFault, message):
                    checks.observation([leaf], 3)

    def test_what_can_not_be_exceeded_is_not_looked_at(self):
        for space, value in (
            (spaces.Box(0, 255, (2,), np.uint8), 255),
            (spaces.Box(-np.inf, np.inf, (2,)), 1e38),
        ):
            printed = io.StringIO()
            with contextlib.redirect_stderr(printed):
                array = np.full([2, 2], value, space.dtype)
                StepChecks(space).observation([array], 1)
            self.assertEqual(printed.getvalue(), "")

    def test_leaves_of_a_nest_have_their_own_spaces(self):
        space = spaces.Dict(b=spaces.Discrete(2), a=spaces.Box(-1, 1, ()))
        checks = StepChecks(space)
        with self.assertRaisesRegex(EnvironmentFault, r"1 gave .* 5 .*Discrete\(2\)"):
            checks.observation([np.zeros(2, np.float32), np.array([0, 5])], 1)


class FiniteTest(unittest.TestCase):
    """Numbers of a batch."""

    def test_what_is_no_number_is_named_with_its_place(self):
        for value in (np.nan, np.inf, -np.inf):
            values = np.array([[0, 0], [0, value], [value, 0]], np.float32)
            message = f"^Environment 1 gave the reward {value} in step 4 after"
            with self.assertRaisesRegex(EnvironmentFault, message):
                check_finite("reward", values, 4)

    def test_others_pass(self):
        check_finite("reward", np.array([1e38], np.float32), 1)
        check_finite("observation", np.array([1]), 1)


if __name__ == "__main__":
    unittest.main()
