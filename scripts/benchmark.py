"""Throughput side by side: `python -m scripts.benchmark`.

Every peer does the same work: Pendulum-v1, 32 environments, 64 steps of each between
updates, 10 epochs, minibatches of 64, two networks of 2 x 64 tanh units. They take
turns (A B A B ...), each turn in a process of its own; a turn's rate counts environment
steps, training included, after a first iteration that pays for start and compilation.
Stable-Baselines3 comes with the extra `bench`.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import rich.console
import rich.table

NUM_ENVS, HORIZON, EPOCHS, MINIBATCH, LAYERS = 32, 64, 10, 64, (64, 64)
DISCOUNT, LEARNING_RATE = 0.95, 1e-3


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all peers in turns, and print a table."""
    options = _parse(arguments)
    if options.turn:
        print(json.dumps(PEERS[options.turn](options.env, options.steps)))
        return
    rates: dict[str, list[float]] = {name: [] for name in options.peers}
    for _ in range(options.turns):
        for name in options.peers:
            rates[name].append(_take_turn(name, options))
    base = statistics.median(rates[options.peers[-1]])
    table = rich.table.Table(title=f"{options.env}: environment steps per second")
    for column in ("peer", "median", "least", "most", f"against {options.peers[-1]}"):
        table.add_column(column, justify="left" if column == "peer" else "right")
    for name, values in rates.items():
        median = statistics.median(values)
        numbers = [f"{x:,.0f}" for x in (median, min(values), max(values))]
        table.add_row(name, *numbers, f"{median / base:.1f}x")
    rich.console.Console(width=88).print(table)
    if options.json:
        options.json.write_text(json.dumps({"env": options.env, "rates": rates}))


def measure_agents(
    env_id: str, steps: int, workers: int | None, backend: str = "gymnasium"
) -> float:
    """Return the steps per second of this project."""
    # pylint: disable=import-outside-toplevel
    from agents.scripts import configs, environments

    config = configs.default().replace(
        env=env_id,
        network=_network(env_id),
        workers=workers,
        backend=backend,
        num_agents=NUM_ENVS,
        horizon=HORIZON,
        update_epochs=EPOCHS,
        batch_size=MINIBATCH,
        policy_layers=LAYERS,
        value_layers=LAYERS,
        discount=DISCOUNT,
        learning_rate=LEARNING_RATE,
    )
    with environments.started(config) as started:
        import tensorflow as tf

        from agents.scripts import training
        from agents.tools.training_graph import TrainingGraph

        env = started.training()
        graph = TrainingGraph(env, training.build_algorithm(config, env))
        seed = tf.constant([0, 0])
        carry = graph.start(seed)
        done, began = 0, 0.0
        while done < steps:
            carry, _, metrics = graph.iterate(carry, seed, done / steps, last=False)
            float(metrics["policy_loss"])
            if not began:
                began = time.perf_counter()
            else:
                done += graph.steps_per_iteration
        return done / (time.perf_counter() - began)


def measure_stable_baselines(env_id: str, steps: int, threads: int) -> float:
    """Return the steps per second of Stable-Baselines3's PPO, in this process."""
    # pylint: disable=import-outside-toplevel, import-error
    import gymnasium
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(threads)

    class Clock(BaseCallback):
        """Takes the time at the start of the second rollout."""

        rollouts, began = 0, 0.0

        def _on_rollout_start(self) -> None:
            self.rollouts += 1
            if self.rollouts == 2:
                self.began = time.perf_counter()

        def _on_step(self) -> bool:
            return True

    model = stable_baselines3.PPO(
        "MlpPolicy",
        DummyVecEnv([lambda: gymnasium.make(env_id)] * NUM_ENVS),
        n_steps=HORIZON,
        n_epochs=EPOCHS,
        batch_size=MINIBATCH,
        gamma=DISCOUNT,
        learning_rate=LEARNING_RATE,
        policy_kwargs={"net_arch": {"pi": list(LAYERS), "vf": list(LAYERS)}},
        device="cpu",
        seed=0,
    )
    clock = Clock()
    model.learn(steps + NUM_ENVS * HORIZON, callback=clock)
    seconds = time.perf_counter() - clock.began
    return (model.num_timesteps - NUM_ENVS * HORIZON) / seconds


PEERS: dict[str, Callable[[str, int], float]] = {
    "agents, tensorflow": lambda env, steps: measure_agents(
        env, steps, None, "tensorflow"
    ),
    "agents, worker processes": lambda env, steps: measure_agents(env, steps, 2),
    "agents, in-process": lambda env, steps: measure_agents(env, steps, 0),
    "sb3, 1 thread": lambda env, steps: measure_stable_baselines(env, steps, 1),
    "sb3": lambda env, steps: measure_stable_baselines(env, steps, 2),
}


def _network(env_id: str) -> str:
    # pylint: disable=import-outside-toplevel
    import gymnasium

    with gymnasium.make(env_id) as env:
        continuous = isinstance(env.action_space, gymnasium.spaces.Box)
    return "feed_forward_gaussian" if continuous else "feed_forward_categorical"


def _take_turn(name: str, options: argparse.Namespace) -> float:
    command = [sys.executable, "-m", "scripts.benchmark", "--turn", name]
    command += ["--env", options.env, "--steps", str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    return float(done.stdout.splitlines()[-1])


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Pendulum-v1", help="environment id")
    parser.add_argument("--steps", type=int, default=40_960, help="steps in a turn")
    parser.add_argument("--turns", type=int, default=3, help="turns of each peer")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", type=pathlib.Path, help="file for all rates")
    parser.add_argument("--turn", choices=PEERS, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
