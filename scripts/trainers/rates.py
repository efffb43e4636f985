"""Steps per second of DQN, beside Stable-Baselines3's, in turns and by equal settings.

Both have eight environments, 32 steps of each between updates, 128 gradient steps on 64
transitions in an update, networks of 2 x 64 units, and neither a second network that
chooses actions nor priorities.
"""

import argparse
import statistics
import subprocess
import sys

from agents.scripts import command_line
from agents.tools.faults import RunFault
from scripts.trainers.training import DQN, train

_STEPS, _INTERVAL = 40_960, 8_192


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--turns", type=command_line.positive, default=3)
    parser.add_argument(
        "--alone", action="store_true", help="one turn of Stable-Baselines3, in here"
    )


def run(options: argparse.Namespace) -> None:
    """Let all take turns, and print a table."""
    if options.alone:
        print(_stable_baselines())
        return
    peers = {
        "stable-baselines3": _apart,
        "gymnasium, worker processes": lambda: _ours("gymnasium"),
        "gymnasium, in one process": lambda: _ours("gymnasium", "--set=workers=0"),
        "tensorflow": lambda: _ours("tensorflow", steps=10 * _STEPS),
    }
    rates: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(options.turns):
        for name, measure in peers.items():
            rates[name].append(measure())
            print(f"{name}: {rates[name][-1]:,.0f}", file=sys.stderr, flush=True)
    base = statistics.median(rates["stable-baselines3"])
    print("| DQN on CartPole | steps per second | least to greatest | ratio |")
    print("| --- | --- | --- | --- |")
    for name, values in rates.items():
        median = statistics.median(values)
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"| {name} | {median:,.0f} | {spread} | {median / base:.1f}x |")


def _ours(backend: str, *options: str, steps: int = _STEPS) -> float:
    return train(
        DQN,
        f"--backend={backend}",
        f"--set=steps={steps}",
        f"--set=checkpoint_steps={_INTERVAL * steps // _STEPS}",
        f"--set=eval_every={steps}",
        "--set=eval_episodes=1",
        "--set=double=false",
        *options,
    ).rate()


def _apart() -> float:
    command = [sys.executable, "-m", "scripts.trainers", "rates", "--alone"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFault(f"Stable-Baselines3 failed:\n{done.stderr.rstrip()}")
    return float(done.stdout.splitlines()[-1])


def _stable_baselines() -> float:
    """Return its steps per second once it learns."""
    # pylint: disable=import-outside-toplevel, import-error
    import time

    import gymnasium
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(1)

    class Clock(BaseCallback):
        """Notes when the first update is over, and how much has been done since."""

        began, first, last = 0.0, 0, 0.0

        def _on_rollout_start(self) -> None:
            self.last = time.perf_counter()
            if self.num_timesteps > 2_048 and not self.began:
                self.began, self.first = self.last, self.num_timesteps

        def _on_step(self) -> bool:
            return True

    envs = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 8)
    clock = Clock()
    model = stable_baselines3.DQN(
        "MlpPolicy",
        envs,
        learning_rate=1e-3,
        buffer_size=100_000,
        learning_starts=1_000,
        batch_size=64,
        train_freq=(32, "step"),
        gradient_steps=128,
        target_update_interval=512,
        n_steps=10,
        exploration_fraction=0.16,
        exploration_final_eps=0.04,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
        seed=0,
    )
    model.learn(_STEPS // 2, callback=clock)
    return (model.num_timesteps - clock.first) / (time.perf_counter() - clock.began)
