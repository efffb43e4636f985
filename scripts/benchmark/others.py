"""Rates of Stable-Baselines3, and of SBX, which has the same interface."""

import importlib
from typing import Any

from scripts.benchmark import turns
from scripts.benchmark.work import DISCOUNT, LEARNING_RATE, Work


def measure_stable_baselines(work: Work, threads: int, workers: bool = False) -> float:
    """Return the steps per second of Stable-Baselines3's PPO.

    Args:
        work: to be done.
        threads: of PyTorch.
        workers: whether each environment has a process of its own.
    """
    # pylint: disable=import-outside-toplevel, import-error
    import stable_baselines3
    import torch

    torch.set_num_threads(threads)
    return _measure(work, stable_baselines3.PPO, workers, warm_ups=1)


def measure_sbx(work: Work) -> float:
    """Return the steps per second of SBX's PPO, environments in this process."""
    # Once Stable-Baselines3 has imported TensorFlow (for TensorBoard), this package of
    # SBX's would ask for tf_keras.
    importlib.import_module("tensorflow_probability")
    # pylint: disable=import-outside-toplevel, import-error
    import gymnasium
    import sbx

    # The last of its functions is compiled where an episode reaches its limit.
    limit = gymnasium.spec(work.env).max_episode_steps or 0
    warm_ups = 2 + limit // work.horizon
    return _measure(work, sbx.PPO, workers=False, warm_ups=warm_ups)


def _measure(work: Work, algorithm: Any, workers: bool, warm_ups: int) -> float:
    # pylint: disable=import-outside-toplevel, import-error
    import gymnasium
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    class Turn(BaseCallback):
        """Takes the time from rollout to rollout, and ends the training."""

        rollouts, clock, rate = 0, None, None

        def _on_rollout_start(self) -> None:
            done = (self.rollouts - warm_ups) * work.steps_per_iteration
            self.rollouts += 1
            if done == 0:
                self.clock = turns.Clock(work)
            elif done > 0 and self.clock.is_over(done):
                self.rate = self.clock.rate(done)

        def _on_step(self) -> bool:
            return self.rate is None

    def make() -> gymnasium.Env:
        return gymnasium.make(work.env)

    envs = (SubprocVecEnv if workers else DummyVecEnv)([make] * work.num_envs)
    turn = Turn()
    model = algorithm(
        "MlpPolicy",
        envs,
        n_steps=work.horizon,
        n_epochs=work.epochs,
        batch_size=work.minibatch,
        gamma=DISCOUNT,
        learning_rate=LEARNING_RATE,
        policy_kwargs={"net_arch": {"pi": list(work.layers), "vf": list(work.layers)}},
        device="cpu",
        seed=0,
    )
    model.learn(10**12, callback=turn)
    envs.close()
    return turn.rate
