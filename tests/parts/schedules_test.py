"""Schedules at their ends and between them."""

import unittest

import tensorflow as tf

from agents.parts import schedules


def at(progress, share=1.0):
    """Return the value of a schedule from 1 to 0.2."""
    return round(float(schedules.linear(1.0, 0.2, tf.constant(progress), share)), 6)


class SchedulesTest(unittest.TestCase):
    """Straight lines."""

    def test_goes_from_first_to_last(self):
        self.assertEqual([at(0.0), at(0.5), at(1.0)], [1.0, 0.6, 0.2])

    def test_stays_once_its_share_is_over(self):
        self.assertEqual([at(0.25, 0.5), at(0.5, 0.5), at(0.9, 0.5)], [0.6, 0.2, 0.2])

    def test_learning_rates_fall_or_stay(self):
        half = tf.constant(0.5)
        self.assertEqual(float(schedules.learning_rate(0.5, "linear", half)), 0.25)
        self.assertEqual(float(schedules.learning_rate(0.5, "constant", half)), 0.5)


if __name__ == "__main__":
    unittest.main()
