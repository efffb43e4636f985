"""Memory over a run."""

import contextlib
import io
import unittest

from scripts.benchmark import memory


class MemoryTest(unittest.TestCase):
    """Samples, and what follows from them."""

    def test_growth_is_counted_from_a_tenth_on(self):
        held = memory.Memory([(50, 1), (100, 200), (1000, 210)], {"iterate": 1}, 10)
        self.assertEqual((held.early, held.late), (200, 210))
        self.assertAlmostEqual(held.growth, 0.05)
        rows = dict(memory.rows(held))
        self.assertEqual(rows["growth"], "+5.00%")
        self.assertEqual(rows["traces of iterate"], "1")

    def test_a_short_run(self):
        config = memory.config_for(512).replace(
            num_agents=2, horizon=16, batch_size=16, eval_episodes=2, max_length=20
        )
        with contextlib.redirect_stdout(io.StringIO()):
            held = memory.watch(config)
        self.assertEqual(held.iterations, 16)
        self.assertEqual(held.samples[-1][0], 512)
        self.assertGreater(held.early, 10_000_000)
        self.assertEqual(set(held.traces.values()), {1}, held.traces)

    def test_options(self):
        self.assertEqual(memory.parse(["--steps=5e6"]).steps, 5_000_000)
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit):
            memory.parse(["--steps=1000"])
        self.assertIn("--steps must be at least", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
