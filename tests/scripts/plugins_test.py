"""Packages with trainers and writers, through the command, as a person meets them."""

import json
import pathlib
import tempfile
import unittest

from agents.algorithms import trainers
from agents.tools import writers
from tests import plugins

SETTINGS = """
import dataclasses
from agents.algorithms.settings import OnPolicySettings
from agents.parts.settings import setting


@dataclasses.dataclass(frozen=True)
class Settings(OnPolicySettings):
    sharpness: float = setting(1.0, "of nothing", above=0)


def trainers():
    return {"gradient": "agents.algorithms.ppo.ppo:PPO"}, {"gradient": Settings}
"""
# Its class is given as such, not by a path.
TRAINER = f"""{SETTINGS}
def real_trainers():
    from agents.algorithms.on_policy import OnPolicyAlgorithm
    from agents.parts.losses import squared_error, weighted_mean

    class Gradient(OnPolicyAlgorithm):
        def loss(self, batch):
            policy, value, _ = self.unroll(batch.observation, batch.state, batch.reset)
            loss = -policy.log_prob(batch.behavior.sample) * batch.advantage
            loss += self.settings.sharpness * squared_error(value, batch.value_target)
            return weighted_mean(loss, batch.weight), {{}}

    return {{"gradient": Gradient}}, {{"gradient": Settings}}
"""
CONFIG = """\
trainer_type: gradient
env: Pendulum-v1
backend: tensorflow
num_agents: 4
steps: 2048
checkpoint_steps: 512
eval_every: 1024
eval_episodes: 4
max_length: 20
hyperparameters:
  horizon: 32
  sharpness: 2
  policy_layers: [8]
"""
WRITER = '''
"""Writes the names of phases to a file beside the metrics."""


class Phases:
    def begin(self, path, lines):
        self.path = path / "phases"
        self.path.write_text("".join(line["phase"] + "\\n" for line in lines))

    def write(self, phase, metrics, step):
        assert step <= 2048, metrics
        with self.path.open("a") as file:
            file.write(phase + "\\n")


class Clumsy:
    def write(self, phase, metrics, step):
        metrics.clear()
        raise OSError("the cable is out")


def phases(config):
    return [Phases()] if config.num_agents == 4 else []


def clumsy(config):
    return [Clumsy()]


def typeless(config):
    return "a writer"
'''
QUICK = [
    "--config=pendulum",
    "--backend=tensorflow",
    "--set=steps=512",
    "--set=checkpoint_steps=512",
    "--set=num_agents=4",
    "--set=horizon=32",
    "--set=update_epochs=1",
    "--set=eval_episodes=4",
    "--set=max_length=20",
]


class PluginsTest(unittest.TestCase):
    """Packages in a temporary folder."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.packages, self.logdir = folder / "packages", folder / "runs"
        self.packages.mkdir()

    def install(self, package, code, group, *points):
        """Install a package."""
        plugins.install(self.packages, package, code, group, *points)

    def train(self, *arguments, code=0):
        """Run the command; return what it printed, with errors last."""
        command = ["-m", "agents.scripts.train", f"--logdir={self.logdir}", *arguments]
        done = plugins.run(self.packages, *command)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def run_directory(self):
        """Return the only run there is."""
        (path,) = self.logdir.iterdir()
        return path

    def metrics(self):
        """Return the lines of the metrics file."""
        text = (self.run_directory() / "metrics.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


class TrainersTest(PluginsTest):
    """The group `agents.trainer_type`."""

    def test_one_trains_from_a_file_and_goes_on_by_timestamp(self):
        self.install("gradient", TRAINER, trainers.GROUP, "gradient = real_trainers")
        path = self.packages / "mine.yaml"
        path.write_text(CONFIG, encoding="utf-8")
        self.train(f"--config={path}", "--set=steps=1024")
        run = self.run_directory()
        self.assertTrue(run.name.endswith("-mine"))
        stored = (run / "config.yaml").read_text(encoding="utf-8")
        self.assertTrue(stored.startswith("trainer_type: gradient\n"))
        self.assertIn("\n  sharpness: 2.0\n", stored)
        timestamp = run.name.partition("-")[0]
        self.train(f"--timestamp={timestamp}", "--set=steps=2048")
        evaluated = [x["step"] for x in self.metrics() if x["phase"] == "eval"]
        self.assertEqual(evaluated, [1024, 2048])

    def test_an_option_that_its_file_misspells_is_named_with_line_and_trainer(self):
        self.install("gradient", SETTINGS, trainers.GROUP, "gradient = trainers")
        path = self.packages / "mine.yaml"
        path.write_text(CONFIG.replace("sharpness", "sharpnes"), encoding="utf-8")
        self.assertIn(
            f"{path}, line 12: The hyperparameter 'sharpnes' is unknown: did you mean "
            "sharpness? (hyperparameters of the trainer gradient)\n",
            self.train(f"--config={path}", code=2),
        )
        self.assertFalse(self.logdir.exists())

    def test_broken_ones_are_named_where_they_are_asked_for(self):
        cases = {
            "syntactic": (
                "def trainers(: pass",
                "SyntaxError: invalid syntax (syntactic.py, line 1).",
            ),
            "raising": (
                "def trainers(): raise OSError('no licence')",
                "OSError: no licence.",
            ),
            "mistyped": (
                "def trainers(): return 3",
                "TypeError: it must return two dictionaries, of algorithms and of "
                "settings dataclasses, but returned 3.",
            ),
        }
        for name, (code, _) in cases.items():
            self.install(name, code, trainers.GROUP, f"{name} = trainers")
        for name, (_, sentence) in cases.items():
            printed = self.train("--config=pendulum", f"--set=algorithm={name}", code=2)
            self.assertIn(
                f"There is no trainer {name}. The plugin {name} of the package {name} "
                f"({name}:trainers) failed to load: {sentence}\n",
                printed,
            )
        listed = self.train("--list")
        self.assertRegex(listed, r"\n  ppo +batch-ppo\n")
        self.assertEqual(listed.count("failed to load"), 3)
        self.train(*QUICK)

    def test_one_that_shadows_ppo_is_named_beside_the_other(self):
        code = SETTINGS.replace('"gradient"', '"ppo"')
        self.install("usurper", code, trainers.GROUP, "usurper = trainers")
        self.assertIn(
            "The trainer ppo is brought by batch-ppo and usurper: uninstall one of "
            "them, or rename its trainer.\n",
            self.train("--config=pendulum", code=2),
        )

    def test_settings_that_are_called_like_those_of_the_run_are_named(self):
        code = SETTINGS.replace("sharpness", "steps")
        self.install("gradient", code, trainers.GROUP, "gradient = trainers")
        self.assertIn(
            "The settings of the trainer gradient can't be used: Settings has steps, "
            "which is a setting of the run.\n",
            self.train("--config=pendulum", "--set=algorithm=gradient", code=2),
        )


class WritersTest(PluginsTest):
    """The group `agents.stats_writer`."""

    def test_one_gets_each_phase_and_what_was_before_a_run_was_resumed(self):
        self.install("phases", WRITER, writers.GROUP, "phases = phases")
        self.train(*QUICK, "--set=eval_every=512")
        timestamp = self.run_directory().name.partition("-")[0]
        self.train(f"--timestamp={timestamp}", "--set=steps=1024")
        written = (self.run_directory() / "phases").read_text(encoding="utf-8")
        phases = [line["phase"] for line in self.metrics()]
        self.assertEqual(phases.count("eval"), 2)
        self.assertEqual(written.split(), phases)

    def test_those_that_fail_are_named_and_the_run_goes_on_without_them(self):
        points = ("phases = phases", "clumsy = clumsy", "typeless = typeless")
        self.install("mixed", WRITER, writers.GROUP, *points)
        printed = self.train(*QUICK)
        self.assertEqual(
            printed.count(
                "The stats writer Clumsy of the package mixed failed, and is left out "
                "from now on: OSError: the cable is out.\n"
            ),
            1,
        )
        self.assertIn(
            "The plugin typeless of the package mixed (mixed:typeless) failed to load: "
            "TypeError: it must return a list of objects with a method write, not "
            "'a writer'.\n",
            printed,
        )
        written = (self.run_directory() / "phases").read_text(encoding="utf-8")
        self.assertEqual(written.split(), [line["phase"] for line in self.metrics()])
        self.assertIn("mean_score", self.metrics()[-1])
        self.assertTrue(list(self.run_directory().glob("eval/events*")))


if __name__ == "__main__":
    unittest.main()
