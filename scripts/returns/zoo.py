"""One run of Stable-Baselines3 by the settings of the RL Zoo, in a process of its own.

`python -m scripts.returns.zoo TASK SEED STEPS` prints a record as JSON.
"""

import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np

from scripts.returns import runs
from scripts.returns.records import Record, Run
from scripts.returns.tasks import TASKS

TRAINER = "stable-baselines3"


def plan(task: str, seed: int, steps: int) -> Run:
    """Return a run by the settings of the RL Zoo."""
    return Run(TRAINER, task, runs.preset(task).env, seed, steps, TASKS[task].zoo)


def train(run: Run) -> Record:
    """Train in a process of its own.

    Raises:
        RunFault: It failed; with what it printed.
    """
    arguments = (run.task, str(run.seed), str(run.steps))
    text = runs.call("scripts.returns.zoo", *arguments)
    return Record(run, **json.loads(text.splitlines()[-1]))


def main(task: str, seed: int, steps: int) -> None:
    """Train in this process, and print what came of it."""
    # pylint: disable-next=import-outside-toplevel, import-error
    import stable_baselines3

    began, every = time.monotonic(), min(runs.EVERY, steps)
    env_id = runs.preset(task).env
    model = _model(env_id, seed, TASKS[task].zoo)
    scores, last = [], np.zeros(0)
    for step in range(every, steps + 1, every):
        model.learn(step - model.num_timesteps, reset_num_timesteps=step == every)
        last = evaluate(model, env_id, [seed, step])
        scores.append((model.num_timesteps, float(last.mean())))
    outcome = {
        "scores": scores,
        "deviation": float(last.std()),
        "episodes": len(last),
        "seconds": time.monotonic() - began,
        "revision": f"{TRAINER} {stable_baselines3.__version__}",
    }
    print(json.dumps(outcome))


def _model(env_id: str, seed: int, settings: dict[str, Any]) -> Any:
    """Return a model of Stable-Baselines3 with normalized environments."""
    # pylint: disable=import-outside-toplevel, import-error
    import stable_baselines3
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    settings = dict(settings)
    policy = dict(settings.pop("policy_kwargs", {}))
    if "activation_fn" in policy:
        policy["activation_fn"] = getattr(torch.nn, policy["activation_fn"])
    envs = DummyVecEnv([lambda: gymnasium.make(env_id)])
    return stable_baselines3.PPO(
        "MlpPolicy",
        VecNormalize(envs, gamma=settings["gamma"]),
        policy_kwargs=policy,
        device="cpu",
        seed=seed,
        **settings,
    )


def evaluate(model: Any, env_id: str, seed: list[int]) -> np.ndarray:
    """Return the scores of whole episodes by the policy's mode, as [episodes]."""
    env, scores = gymnasium.make(env_id), []
    normalize = model.get_vec_normalize_env().normalize_obs
    for episode_seed in np.random.SeedSequence(seed).generate_state(runs.EPISODES):
        observation, _ = env.reset(seed=int(episode_seed))
        score, ended = 0.0, False
        while not ended:
            action, _ = model.predict(normalize(observation), deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(action)
            score += float(reward)
            ended = terminated or truncated
        scores.append(score)
    env.close()
    return np.array(scores)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
