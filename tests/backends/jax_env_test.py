"""Functions of JAX as environments."""

import subprocess
import sys
import tempfile
import unittest

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf

from agents.environments import jax_env
from agents.environments.jax_env import JaxTask
from agents.parts import nests

SEED = tf.constant([1, 2])
NUMBER = gymnasium.spaces.Box(0, np.inf, (1,))
TWO = gymnasium.spaces.Discrete(2)


def counter():
    """Make a task that counts its actions of 1: terminates at 3, truncates at 5.

    A start is a random number in [0, 1), which is observed together with the count.
    """

    def reset(key):
        state = {"count": jnp.int32(0), "start": jax.random.uniform(key)}
        return state, observe(state)

    def step(state, action, key):
        del key
        state = {**state, "count": state["count"] + 1 + 4 * (action == 0)}
        ends = [state["count"] == number for number in (3, 5)]
        return state, observe(state), 10 * state["count"], *ends

    def observe(state):
        return jnp.array([state["count"] + state["start"]])

    return JaxTask(reset, step, NUMBER, TWO, max_length=100)


def odd():
    """Make a task with a state of many dtypes, and a nest of observations."""
    space = gymnasium.spaces.Dict(
        {
            "pair": gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(9), NUMBER]),
            "image": gymnasium.spaces.Box(0, 255, (2, 2), np.uint8),
        }
    )

    def reset(key):
        state = {
            "key": key,
            "other": jax.random.key(3, impl="rbg"),
            "words": jnp.uint32([7, 2**32 - 1]),
            "half": jnp.bfloat16(0.5),
            "flag": np.True_,
            "nothing": np.zeros((2,), jax.dtypes.float0),
            "count": 0,
        }
        return state, observe(state)

    def step(state, action, key):
        del action, key
        drawn, kept = jax.random.split(state["key"])
        state = {**state, "key": kept, "count": state["count"] + 1}
        state["flag"] = ~state["flag"]
        reward = jax.random.uniform(drawn) + jax.random.uniform(state["other"])
        # Linear algebra is what TensorFlow's XLA has to do by itself.
        reward += jnp.linalg.cholesky(jnp.eye(2) * 4)[0, 0]
        return state, observe(state), reward, False, False

    def observe(state):
        image = jnp.full((2, 2), state["count"], jnp.uint8)
        return {"image": image, "pair": (state["count"] % 9, jnp.float32([1.5]))}

    return JaxTask(reset, step, space, gymnasium.spaces.Box(-1, 1, (2,)), 3)


def play(env, actions, seed=SEED):
    """Step through actions [T, N]; return the state and the time steps stacked."""
    state, _ = env.reset(seed)
    rows = []
    for action in actions:
        state, row = env.step(state, tf.constant(action))
        rows.append(row)
    return state, tf.nest.map_structure(lambda *leaves: np.stack(leaves), *rows)


class EpisodesTest(unittest.TestCase):
    """Ends, limits, starts."""

    def test_an_end_hands_over_the_last_and_the_next_first_observation(self):
        env = jax_env.make(counter, 2, None)
        _, first = env.reset(SEED)
        _, rows = play(env, np.ones([4, 2], np.int64))
        np.testing.assert_array_equal(
            rows.terminated.T, [[False, False, True, False]] * 2
        )
        self.assertFalse(rows.truncated.any())
        np.testing.assert_array_equal(rows.reward.T, [[10, 20, 30, 10]] * 2)
        self.assertEqual(rows.reward.dtype, np.float32)
        counts = np.float32([1, 2, 3])
        np.testing.assert_allclose(
            rows.final_observation[:3] - first, np.tile(counts, (2, 1)).T[..., None]
        )
        self.assertTrue((rows.observation[2] < 1).all())
        self.assertTrue((rows.observation[2] != first.numpy()).all())
        np.testing.assert_array_equal(rows.observation[:2], rows.final_observation[:2])

    def test_only_the_environment_that_ended_starts_anew(self):
        env = jax_env.make(counter, 2, None)
        _, first = env.reset(SEED)
        _, rows = play(env, [[0, 1]])
        np.testing.assert_array_equal(rows.truncated, [[True, False]])
        self.assertFalse(rows.terminated.any())
        self.assertLess(rows.observation[0, 0, 0], 1)
        np.testing.assert_allclose(rows.final_observation[0, 0], first[0] + 5)
        np.testing.assert_allclose(rows.observation[0, 1], first[1] + 1)

    def test_a_limit_truncates(self):
        _, rows = play(jax_env.make(counter, 1, 2), np.ones([5, 1], np.int64))
        np.testing.assert_array_equal(np.flatnonzero(rows.truncated), [1, 3])
        self.assertFalse(rows.terminated.any())

    def test_the_task_has_a_limit_of_its_own(self):
        _, rows = play(jax_env.make(odd, 1, None), np.zeros([4, 1, 2], np.float32))
        np.testing.assert_array_equal(np.flatnonzero(rows.truncated), [2])

    def test_the_seed_decides(self):
        env = jax_env.make(counter, 3, None)
        actions = np.ones([7, 3], np.int64)
        _, first = play(env, actions)
        _, again = play(env, actions)
        _, other = play(env, actions, [1, 3])
        np.testing.assert_array_equal(first.observation, again.observation)
        self.assertFalse((first.observation == other.observation).any())
        starts = [first.observation[step] % 1 for step in (0, 3, 6)]
        self.assertEqual(len(np.unique(np.round(starts, 4))), 9)

    def test_compiled_and_uncompiled_agree(self):
        env = jax_env.make(odd, 2, None)
        action = tf.zeros([2, 2])

        def run(seed):
            state, _ = env.reset(seed)
            for _ in range(4):
                state, row = env.step(state, action)
            return state, row

        results = [
            tf.function(run, jit_compile=jit, autograph=False)(SEED)
            for jit in (True, False)
        ]
        for first, second in zip(*map(tf.nest.flatten, results), strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-6)


class RepresentationTest(unittest.TestCase):
    """What becomes of states and observations in TensorFlow."""

    def test_observations_have_the_structure_and_dtypes_of_the_space(self):
        env = jax_env.make(odd, 2, None)
        _, rows = play(env, np.zeros([2, 2, 2], np.float32))
        for observation in (rows.observation, rows.final_observation):
            discrete, number = observation["pair"]
            np.testing.assert_array_equal(discrete, [[1, 1], [2, 2]])
            np.testing.assert_array_equal(number, np.full([2, 2, 1], 1.5))
            self.assertEqual(observation["image"].shape, (2, 2, 2, 2))
            leaves = nests.flatten(env.observation_space, observation)
            spaces = nests.leaf_spaces(env.observation_space)
            for leaf, space in zip(leaves, spaces, strict=True):
                self.assertEqual(leaf.dtype, nests.leaf_dtype(space))

    def test_any_state_is_plain_tensors_that_a_checkpoint_holds(self):
        env = jax_env.make(odd, 2, None)
        state, rows = play(env, np.zeros([1, 2, 2], np.float32))
        self.assertEqual(len(np.unique(rows.reward)), 2)
        variables = tf.nest.map_structure(tf.Variable, state)
        checkpoint = tf.train.Checkpoint(state=tf.nest.flatten(variables))
        path = checkpoint.write(
            f"{self.enterContext(tempfile.TemporaryDirectory())}/state"
        )
        expected = env.step(state, tf.zeros([2, 2]))
        for variable in tf.nest.flatten(variables):
            variable.assign(tf.zeros_like(variable))
        checkpoint.read(path).assert_consumed()
        restored = tf.nest.map_structure(lambda variable: variable.value(), variables)
        found = env.step(restored, tf.zeros([2, 2]))
        for first, second in zip(*map(tf.nest.flatten, (expected, found)), strict=True):
            np.testing.assert_array_equal(first, second)

    def test_its_module_imports_neither_tensorflow_nor_jax(self):
        code = (
            "import sys; from agents.environments.jax_env import JaxTask; "
            "sys.exit(bool({'jax', 'tensorflow'} & set(sys.modules)))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
