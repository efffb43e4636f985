"""Tasks that only a policy with a memory can solve, for `--set=env=MODULE:FUNCTION`."""

from typing import Any

import gymnasium
import numpy as np

RECALL_STEPS = 50


def cart_pole_without_velocities(render_mode: str | None = None) -> gymnasium.Env:
    """Make CartPole-v1 that shows where cart and pole are, not how fast they move."""
    env = gymnasium.make("CartPole-v1", render_mode=render_mode)
    shown = [0, 2]
    space = gymnasium.spaces.Box(
        env.observation_space.low[shown], env.observation_space.high[shown]
    )
    return gymnasium.wrappers.TransformObservation(
        env, lambda observation: observation[shown], space
    )


def recall(render_mode: str | None = None) -> gymnasium.Env:
    """Make `Recall`, with a limit that it never reaches."""
    return gymnasium.wrappers.TimeLimit(Recall(render_mode), RECALL_STEPS + 2)


class Recall(gymnasium.Env):
    """Shows a 1 or a -1 first, and asks for it 50 steps later.

    Observes [cue, asked]: all zeros in between. The last action earns 1 where it is 1
    after a 1, or 0 after a -1, and otherwise -1; all others earn nothing.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None):
        """Make the environment."""
        self.render_mode = render_mode
        self._cue, self._step = 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Draw a cue and show it."""
        super().reset(seed=seed)
        self._cue, self._step = int(self.np_random.integers(2)), 0
        return np.array([2 * self._cue - 1, 0], np.float32), {}

    def render(self) -> np.ndarray:
        """Return an image: white or black is the cue, red the question, else gray."""
        shown = {0: [255 * self._cue] * 3, RECALL_STEPS: [255, 0, 0]}
        color = shown.get(self._step, [128] * 3)
        return np.broadcast_to(np.uint8(color), (64, 64, 3)).copy()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Wait, or judge the answer."""
        if self._step == RECALL_STEPS:
            reward = 1.0 if action == self._cue else -1.0
            return np.zeros(2, np.float32), reward, True, False, {}
        self._step += 1
        asked = self._step == RECALL_STEPS
        return np.array([0, asked], np.float32), 0.0, False, False, {}
