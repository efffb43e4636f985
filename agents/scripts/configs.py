"""Experiments: each function is a config that `train` knows by its name.

A preset overrides `default()`; every name stands for a field of `Config` or of the
algorithm's settings (`PPOSettings`). This module does not import TensorFlow.
"""

from agents.scripts.config import Config


def default() -> Config:
    """PPO with the settings that most tasks share."""
    return Config()


def pendulum() -> Config:
    """Swing up a pendulum and hold it: solved at -200."""
    return default().replace(
        env="Pendulum-v1",
        steps=150_000,
        num_agents=32,
        eval_every=50_000,
        eval_episodes=128,
        checkpoint_steps=25_000,
        horizon=128,
        learning_rate=1e-3,
        discount=0.97,
        gae_lambda=0.9,
        init_std=1.0,
    )


def cartpole() -> Config:
    """Balance a pole on a cart: solved at 475 of 500."""
    return default().replace(
        env="CartPole-v1",
        network="feed_forward_categorical",
        steps=150_000,
        num_agents=32,
        eval_every=50_000,
        eval_episodes=32,
        checkpoint_steps=25_000,
        horizon=64,
        batch_size=256,
        learning_rate=1e-3,
        discount=0.99,
        normalize_rewards=False,
    )


def _mujoco() -> Config:
    return default().replace(gae_lambda=0.9)


def reacher() -> Config:
    """Reach a random point with an arm of two joints."""
    return _mujoco().replace(env="Reacher-v5")


def cheetah() -> Config:
    """Run forward on two legs, in the plane."""
    return _mujoco().replace(env="HalfCheetah-v5")


def walker() -> Config:
    """Walk forward on two legs without falling, in the plane."""
    return _mujoco().replace(env="Walker2d-v5")


def hopper() -> Config:
    """Hop forward on one leg without falling, in the plane."""
    return _mujoco().replace(env="Hopper-v5")


def ant() -> Config:
    """Run forward on four legs."""
    return _mujoco().replace(env="Ant-v5")


def humanoid() -> Config:
    """Run forward on two legs without falling."""
    return _mujoco().replace(env="Humanoid-v5")


def bullet_ant() -> Config:
    """Run forward on four legs, simulated by PyBullet."""
    return _mujoco().replace(env="AntBulletEnv-v0")
