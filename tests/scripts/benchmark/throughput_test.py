"""Side by side: what is computed from rates, and how a turn is taken."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from agents.parts.settings import SettingError
from agents.tools.faults import RunFault
from scripts.benchmark import arithmetic, peers, report, throughput, turns
from scripts.benchmark.work import Work

RATES = {
    "agents:in-process": [900.0, 1000.0, 800.0],
    "sb3:1-thread": [300.0, 310.0, 250.0],
    "sb3:2-threads": [200.0, 100.0, 210.0],
    "bare:in-process": [3000.0, 2900.0, 3300.0],
    "update": [1500.0, 1400.0, 1600.0],
}
TINY = Work(
    env="CartPole-v1",
    num_envs=2,
    horizon=8,
    epochs=1,
    minibatch=8,
    layers=(8,),
    seconds=0.1,
)


def cells(table):
    """Return the rows of a table of rich."""
    columns = (column.cells for column in table.columns)
    return [list(row) for row in zip(*columns, strict=True)]


class ArithmeticTest(unittest.TestCase):
    """Medians, bounds, shares."""

    def test_the_median_is_between_the_least_and_the_most(self):
        summary = arithmetic.Summary.of([900.0, 1000.0, 800.0])
        self.assertEqual(summary, (900, 800, 1000))
        self.assertAlmostEqual(summary.spread, 200 / 900)

    def test_the_bound_spends_time_on_both(self):
        self.assertAlmostEqual(arithmetic.bound(3000, 1500), 1000)

    def test_a_share_needs_all_three_rates(self):
        medians = {"a": 900, "bare": 3000, "update": 1500, "b": 1}
        shares = arithmetic.shares(medians, {"a": "bare", "b": "absent"}, "update")
        self.assertEqual(list(shares), ["a"])
        self.assertAlmostEqual(shares["a"].share, 0.9)
        self.assertEqual(arithmetic.shares(medians, {"a": "bare"}, "absent"), {})

    def test_the_reference_is_the_fastest_of_its_kind(self):
        medians = {"a": 9, "b:x": 1, "b:y": 2, "c": 0.5}
        self.assertEqual(arithmetic.reference(medians, "b:"), "b:y")
        self.assertEqual(arithmetic.reference(medians, "d:"), "c")


class ReportTest(unittest.TestCase):
    """Tables and files."""

    def test_rows_of_all_tables(self):
        tables = throughput.tables(RATES, None, "CartPole-v1")
        rows = [cells(table) for table in tables]
        first = ["agents:in-process", "900", "800", "1,000", "22%", "3.0x"]
        self.assertEqual(rows[0][0], first)
        self.assertIn("sb3:1-thread, the fastest Stable-B", tables[0].caption)
        self.assertEqual([row[0] for row in rows[1]], list(RATES)[3:])
        self.assertEqual(rows[2], [["agents:in-process", "900", "1,000", "90%"]])

    def test_ratios_against_a_chosen_peer(self):
        training = throughput.tables(RATES, "sb3:2-threads", "CartPole-v1")[0]
        self.assertEqual(cells(training)[0][-1], "4.5x")
        self.assertEqual(training.caption, "ratios: against sb3:2-threads")

    def test_files(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        report.write(folder / "a.json", {"work": TINY, **throughput.results(RATES)})
        stored = json.loads((folder / "a.json").read_text(encoding="utf-8"))
        self.assertEqual(stored["work"]["num_envs"], 2)
        self.assertAlmostEqual(stored["shares"]["agents:in-process"], 0.9)
        self.assertIn("tensorflow", stored["versions"])
        self.assertGreaterEqual(stored["machine"]["cores"], 1)
        report.draw_bars(folder / "a.png", RATES, "rates")
        self.assertEqual((folder / "a.png").read_bytes()[:4], b"\x89PNG")


class OptionsTest(unittest.TestCase):
    """From the command line to peers and work."""

    def test_options_become_the_work(self):
        line = "--env=CartPole-v1 --num_envs=2 --horizon=8 --epochs=1 --minibatch=8 "
        line += "--layers 8 --seconds=0.1"
        work = Work.of(throughput.parse(line.split()))
        self.assertEqual(work, TINY)
        self.assertEqual(Work.from_json(work.to_json()), work)
        self.assertEqual(Work.of(throughput.parse([])), Work())

    def test_an_unknown_peer_is_named_with_those_there_are(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as end:
            throughput.parse(["--peers", "sb4"])
        self.assertEqual(end.exception.code, 2)
        self.assertRegex(errors.getvalue(), "sb4.*sb3:1-thread")

    def test_a_missing_package_is_named_with_its_extra(self):
        absent = mock.patch("importlib.util.find_spec", return_value=None)
        with absent, self.assertRaisesRegex(SettingError, r"sbx.*'\.\[bench\]'"):
            peers.choose(["sbx"], TINY)

    def test_a_peer_that_lacks_the_environment(self):
        hopper = Work(env="Hopper-v5")
        with self.assertRaisesRegex(SettingError, "Hopper-v5"):
            peers.choose(["agents:tensorflow"], hopper)
        with self.assertRaisesRegex(SettingError, "backend jax"):
            peers.choose(["agents:workers"], Work(env="brax:ant"))

    def test_environments_of_jax_by_the_ids_of_gymnasium(self):
        self.assertEqual(TINY.config("jax").env, "gymnax:CartPole-v1")
        self.assertEqual(Work(env="brax:ant").config("jax").env, "brax:ant")
        self.assertTrue(Work(env="brax:ant").suits("jax"))
        self.assertFalse(Work(env="brax:ant").suits("gymnasium"))

    def test_every_backend_has_its_bare_peer(self):
        self.assertLessEqual(
            set(peers.BARE) | set(peers.BARE.values()), set(peers.PEERS)
        )


class TurnTest(unittest.TestCase):
    """What is counted, and where."""

    def test_whole_iterations_after_the_warm_up(self):
        calls = []

        def iterate():
            calls.append(len(calls))
            return 10

        rate = turns.rate_of(iterate, Work(seconds=0, steps=25), warm_ups=2)
        self.assertEqual(len(calls), 2 + 3)
        self.assertGreater(rate, 0)

    def test_peers_alternate(self):
        order = []

        def take(name, work):
            order.append((name, work))
            return float(len(order))

        quiet = contextlib.redirect_stderr(io.StringIO())
        with quiet, mock.patch.object(turns, "take", take):
            rates = turns.take_all({"A": ("a", TINY), "B": ("b", TINY)}, 2)
        self.assertEqual(order, [("a", TINY), ("b", TINY)] * 2)
        self.assertEqual(rates, {"A": [1, 3], "B": [2, 4]})

    def test_a_turn_from_end_to_end(self):
        self.assertGreater(turns.take("agents:in-process", TINY), 0)

    def test_environments_and_update_alone(self):
        for name in ("bare:in-process", "bare:workers", "bare:tensorflow", "update"):
            with self.subTest(name):
                self.assertGreater(peers.PEERS[name].measure(TINY), 0)

    def test_a_turn_that_fails_tells_why(self):
        with self.assertRaisesRegex(RunFault, "agents:in-process failed(.|\n)*NoEnv"):
            turns.take("agents:in-process", Work(env="NoEnv-v0"))


if __name__ == "__main__":
    unittest.main()
