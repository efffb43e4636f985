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
    # Once nearly all steps are near the optimum, normalizing their advantages would
    # blow up noise until it outweighs the few that tell something (docs/study.md).
    return default().replace(
        eval_episodes=30, gae_lambda=0.9, normalize_advantages=False
    )


def reacher() -> Config:
    """Reach a random point with an arm of two joints."""
    return _mujoco().replace(env="Reacher-v5")


def cheetah() -> Config:
    """Run forward on two legs, in the plane."""
    return _mujoco().replace(env="HalfCheetah-v5", learning_rate=5e-4)


def walker() -> Config:
    """Walk forward on two legs without falling, in the plane."""
    return _mujoco().replace(env="Walker2d-v5", learning_rate=5e-4)


def hopper() -> Config:
    """Hop forward on one leg without falling, in the plane."""
    return _mujoco().replace(env="Hopper-v5")


def ant() -> Config:
    """Run forward on four legs."""
    return _mujoco().replace(env="Ant-v5")


def humanoid() -> Config:
    """Run forward on two legs without falling."""
    return _mujoco().replace(env="Humanoid-v5")


def swimmer() -> Config:
    """Swim forward with a body of three links."""
    # What an action is worth shows after hundreds of steps, and is small for each.
    return _mujoco().replace(
        env="Swimmer-v5",
        discount=0.9999,
        gae_lambda=0.95,
        learning_rate=1e-3,
        normalize_advantages=True,
    )


def inverted_pendulum() -> Config:
    """Balance a pole on a cart by continuous forces."""
    return _mujoco().replace(env="InvertedPendulum-v5")


def inverted_double_pendulum() -> Config:
    """Balance two poles, one on top of the other, on a cart."""
    # More epochs go on learning from noise once it is solved, and unlearn some starts.
    return _mujoco().replace(
        env="InvertedDoublePendulum-v5",
        gae_lambda=0.95,
        learning_rate=5e-4,
        update_epochs=2,
    )


def pusher() -> Config:
    """Push a cylinder to a goal with an arm of seven joints."""
    return _mujoco().replace(env="Pusher-v5")


def _atari() -> Config:
    """What is usual for Atari, on EnvPool's environments."""
    return default().replace(
        backend="envpool",
        num_agents=8,
        steps=10_000_000,
        eval_every=1_000_000,
        eval_episodes=8,
        checkpoint_steps=250_000,
        network="convolutional",
        activation="relu",
        shared_layers=(512,),
        policy_layers=(),
        value_layers=(),
        batch_size=256,
        update_epochs=4,
        learning_rate=2.5e-4,
        clip_range=0.1,
        entropy_coef=0.01,
        value_coef=0.5,
    )


def pong() -> Config:
    """Beat the opponent at Atari's Pong, from pixels."""
    return _atari().replace(env="Pong-v5")


def breakout() -> Config:
    """Clear the wall in Atari's Breakout, from pixels."""
    return _atari().replace(env="Breakout-v5")


def minatar_breakout() -> Config:
    """Clear the wall in a Breakout of 10 x 10 pixels, from gymnax."""
    return default().replace(
        env="gymnax:Breakout-MinAtar",
        backend="jax",
        num_agents=128,
        steps=1_000_000,
        eval_every=250_000,
        eval_episodes=128,
        network="convolutional",
        conv_layers=((16, 3, 1),),
        activation="relu",
        shared_layers=(128,),
        policy_layers=(),
        value_layers=(),
        batch_size=1024,
        learning_rate=2.5e-3,
        entropy_coef=0.01,
    )


def bullet_ant() -> Config:
    """Run forward on four legs, simulated by PyBullet."""
    return _mujoco().replace(env="AntBulletEnv-v0")
