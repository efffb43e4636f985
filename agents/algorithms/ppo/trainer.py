"""The entry point by which PPO is registered, free of TensorFlow."""

from agents.algorithms.ppo.settings import PPOSettings


def trainers() -> tuple[dict[str, str], dict[str, type]]:
    """Return the path of the algorithm and its settings, by name."""
    return {"ppo": "agents.algorithms.ppo.ppo:PPO"}, {"ppo": PPOSettings}
