"""One run of Stable-Baselines3 by the settings of the RL Zoo, in a process of its own.

`python -m scripts.returns.zoo TASK SEED STEPS` prints a record as JSON.
"""

import dataclasses
import json
import sys
import time
from typing import Any

import gymnasium

from scripts.returns import runs
from scripts.returns.records import Record
from scripts.returns.tasks import TASKS

TRAINER = "stable-baselines3"


def train(task: str, seed: int, steps: int) -> Record:
    """Train in a process of its own.

    Raises:
        RunFault: It failed; with what it printed.
    """
    text = runs.run("scripts.returns.zoo", task, str(seed), str(steps))
    return Record(**json.loads(text.splitlines()[-1]))


def main(task: str, seed: int, steps: int) -> None:
    """Train in this process, and print the record."""
    # pylint: disable=import-outside-toplevel, import-error
    import stable_baselines3
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    began = time.monotonic()
    env_id = runs.env_of(task)
    settings = dict(TASKS[task].zoo)
    policy = dict(settings.pop("policy_kwargs", {}))
    if "activation_fn" in policy:
        policy["activation_fn"] = getattr(torch.nn, policy["activation_fn"])
    envs = VecNormalize(
        DummyVecEnv([lambda: gymnasium.make(env_id)]), gamma=settings["gamma"]
    )
    model = stable_baselines3.PPO(
        "MlpPolicy",
        envs,
        policy_kwargs=policy,
        device="cpu",
        seed=seed,
        **settings,
    )
    scores, last = [], []
    for step in range(runs.EVERY, steps + 1, runs.EVERY):
        model.learn(step - model.num_timesteps, reset_num_timesteps=step == runs.EVERY)
        last = _evaluate(model, envs, env_id, [seed, step])
        scores.append((model.num_timesteps, float(last.mean())))
    record = Record(
        trainer=TRAINER,
        task=task,
        env=env_id,
        seed=seed,
        steps=steps,
        settings={},
        scores=scores,
        deviation=float(last.std()),
        episodes=len(last),
        seconds=time.monotonic() - began,
        revision=f"{TRAINER} {stable_baselines3.__version__}",
    )
    print(json.dumps(dataclasses.asdict(record)))


def _evaluate(model: Any, envs: Any, env_id: str, seed: list[int]) -> Any:
    """Return the scores of whole episodes by the policy's mode."""
    # pylint: disable-next=import-outside-toplevel
    import numpy as np

    env, scores = gymnasium.make(env_id), []
    seeds = np.random.SeedSequence(seed).generate_state(runs.EPISODES)
    for episode_seed in seeds:
        observation, _ = env.reset(seed=int(episode_seed))
        score, ended = 0.0, False
        while not ended:
            action, _ = model.predict(envs.normalize_obs(observation), None, None, True)
            observation, reward, terminated, truncated, _ = env.step(action)
            score += float(reward)
            ended = terminated or truncated
        scores.append(score)
    return np.array(scores)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
