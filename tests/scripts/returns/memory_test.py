"""Tasks that need a memory."""

import unittest

import numpy as np

from scripts.returns.memory import RECALL_STEPS, Recall, cart_pole_without_velocities


class RecallTest(unittest.TestCase):
    """The cue is shown once, and asked for later."""

    def play(self, seed, answer):
        """Return the observations and rewards of an episode with one answer."""
        env = Recall()
        observations, rewards, ended = [env.reset(seed=seed)[0]], [], False
        while not ended:
            observation, reward, ended, truncated, _ = env.step(answer)
            self.assertFalse(truncated)
            self.assertTrue(env.observation_space.contains(observation))
            observations.append(observation)
            rewards.append(reward)
        return np.array(observations), rewards

    def test_only_the_last_answer_counts(self):
        cues = set()
        for seed in range(8):
            for answer in (0, 1):
                observations, rewards = self.play(seed, answer)
                cue = observations[0, 0]
                cues.add(cue)
                self.assertEqual(len(rewards), RECALL_STEPS + 1)
                self.assertEqual(rewards[:-1], [0.0] * RECALL_STEPS)
                self.assertEqual(rewards[-1], cue * (2 * answer - 1))
        self.assertEqual(cues, {-1, 1})

    def test_nothing_is_shown_between_cue_and_question(self):
        observations, _ = self.play(0, 0)
        self.assertFalse(observations[1:RECALL_STEPS].any())
        np.testing.assert_array_equal(observations[RECALL_STEPS], [0, 1])


class CartPoleTest(unittest.TestCase):
    """Where things are, not how fast they move."""

    def test_shows_position_and_angle(self):
        env = cart_pole_without_velocities()
        self.addCleanup(env.close)
        observation, _ = env.reset(seed=1)
        inner = env.unwrapped.state
        np.testing.assert_allclose(observation, np.float32([inner[0], inner[2]]))
        self.assertEqual(env.observation_space.shape, (2,))


if __name__ == "__main__":
    unittest.main()
