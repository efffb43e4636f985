"""Episodes that start in varied states."""

from typing import Any

import gymnasium


class RandomStart(gymnasium.Wrapper):
    """Takes up to `max_steps` random actions before an episode is handed over.

    The number and the actions are drawn from the environment's own generator, so that
    they follow from the seed of its reset.
    """

    def __init__(self, env: gymnasium.Env, max_steps: int):
        """Wrap an environment.

        Args:
            env: to be wrapped.
            max_steps: at least 1; the number of actions is uniform in [0, max_steps].

        Raises:
            ValueError: `max_steps` is below 1.
        """
        super().__init__(env)
        if max_steps < 1:
            raise ValueError(
                f"RandomStart needs max_steps of at least 1, got {max_steps}."
            )
        self._max_steps = max_steps

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and take the random actions; start over where it ends."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self.action_space.seed(seed)
        steps = int(self.unwrapped.np_random.integers(self._max_steps + 1))
        for _ in range(steps):
            action = self.action_space.sample()
            observation, _, terminated, truncated, info = self.env.step(action)
            if terminated or truncated:
                observation, info = self.env.reset(options=options)
        return observation, info
