"""EnvPool's MuJoCo environments give what Gymnasium's give.

An episode of EnvPool is played again in Gymnasium's environment, which is put in the
state that the first observation tells; coordinates that are not observed do not matter
for rewards. Both have a MuJoCo of their own, so that after some dozen steps contacts
let small differences grow.
"""

import unittest

import gymnasium
import numpy as np

# The ant lands on its feet after 17.
STEPS = 16
# By then all of those that can fall have.
FALLING_STEPS = 120


def zeros_before(count, positions):
    """Return a function from an observation to the state, less `count` coordinates."""

    def state(observation, env):
        position = np.concatenate([np.zeros(count), observation[:positions]])
        velocities = env.unwrapped.model.nv
        return position, observation[positions : positions + velocities]

    return state


def double_pendulum(observation, env):
    """Angles come as sines and cosines."""
    del env
    angles = np.arctan2(observation[1:3], observation[3:5])
    return np.concatenate([observation[:1], angles]), observation[5:8]


def reacher(observation, env):
    """The goal stands still."""
    del env
    angles = np.arctan2(observation[2:4], observation[:2])
    velocity = np.concatenate([observation[6:8], np.zeros(2)])
    return np.concatenate([angles, observation[4:6]]), velocity


def pusher(observation, env):
    """The cylinder is seen where it is, which is its displacement and a constant."""
    env.unwrapped.set_state(np.zeros(11), np.zeros(11))
    origin = env.unwrapped.get_body_com("object")[:2]
    displacement = observation[17:19] - origin
    # Slides along y and then x.
    position = np.concatenate([observation[:7], displacement[::-1], np.zeros(2)])
    return position, np.concatenate([observation[7:14], np.zeros(4)])


TASKS = {
    "HalfCheetah-v5": zeros_before(1, 8),
    "Hopper-v5": zeros_before(1, 5),
    "Walker2d-v5": zeros_before(1, 8),
    "Swimmer-v5": zeros_before(2, 3),
    "Ant-v5": zeros_before(2, 13),
    "Humanoid-v5": zeros_before(2, 22),
    "InvertedPendulum-v5": zeros_before(0, 2),
    "InvertedDoublePendulum-v5": double_pendulum,
    "Reacher-v5": reacher,
    "Pusher-v5": pusher,
}


class SameAsGymnasiumTest(unittest.TestCase):
    """From the same state, by the same actions."""

    def play_both(self, name, steps):
        """Return outcomes of EnvPool and of Gymnasium, until the first end."""
        # pylint: disable-next=import-outside-toplevel, import-error
        import envpool

        pool = envpool.make_gymnasium(name, num_envs=1, seed=[7])
        env = gymnasium.make(name)
        self.addCleanup(env.close)
        env.reset(seed=0)
        env.action_space.seed(3)
        first, _ = pool.reset()
        env.unwrapped.set_state(*TASKS[name](first[0], env))
        theirs, gymnasiums = [], []
        for _ in range(steps):
            action = env.action_space.sample()
            observation, reward, terminated, _, _ = pool.step(action[None])
            theirs.append((observation[0], reward[0], terminated[0]))
            observation, reward, terminated, _, _ = env.step(action)
            gymnasiums.append((observation, reward, terminated))
            if terminated:
                break
        return [
            list(map(np.array, zip(*rows, strict=True)))
            for rows in (theirs, gymnasiums)
        ]

    def test_observations_and_rewards_agree(self):
        for name in TASKS:
            with self.subTest(name):
                (observation, reward, _), expected = self.play_both(name, STEPS)
                np.testing.assert_allclose(reward, expected[1], rtol=1e-3, atol=2e-3)
                scale = np.abs(expected[0]).max()
                np.testing.assert_allclose(
                    observation, expected[0], rtol=1e-2, atol=1e-3 * scale
                )

    def test_episodes_end_at_the_same_step(self):
        for name in ("Hopper-v5", "Walker2d-v5", "Humanoid-v5"):
            with self.subTest(name):
                (_, _, ends), (*_, expected) = self.play_both(name, FALLING_STEPS)
                np.testing.assert_array_equal(ends, expected)
                self.assertTrue(ends[-1])


if __name__ == "__main__":
    unittest.main()
