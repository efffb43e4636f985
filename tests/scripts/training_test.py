"""From a config to learning, for each kind of space."""

import functools
import unittest

import gymnasium
import numpy as np

from agents.scripts import configs, environments, training
from agents.tools.training_graph import TrainingGraph
from tests.environments import Counter, Nested

SEED = [1, 2]


def with_actions(space, **kwargs):
    """Make a counter with an action space of choice."""
    return Counter(5, action_space=space, **kwargs)


class SpacesTest(unittest.TestCase):
    """One iteration of PPO, environments in this process."""

    def learn(self, env, network="feed_forward", **changes):
        """Learn once: the weights must move and stay finite."""
        config = configs.default().replace(
            env=env,
            network=network,
            workers=None if "backend" in changes else 0,
            num_agents=2,
            horizon=8,
            batch_size=8,
            update_epochs=1,
            max_length=20,
            policy_layers=(8,),
            value_layers=(8,),
            **changes,
        )
        with environments.started(config) as started:
            in_graph = started.training()
            algorithm = training.build_algorithm(config, in_graph)
            graph = TrainingGraph(in_graph, algorithm)
            graph.warm_up(SEED)
            variables = algorithm.network.trainable_variables
            before = [variable.numpy() for variable in variables]
            graph.iterate(graph.start(SEED), [SEED], [0.0], last=False)
        after = [variable.numpy() for variable in variables]
        self.assertTrue(all(np.isfinite(weight).all() for weight in after))
        self.assertFalse(all(map(np.array_equal, before, after)))

    def test_discrete_observations(self):
        self.learn("FrozenLake-v1")

    def test_nested_observations_with_an_image_and_a_scalar(self):
        self.learn(Nested)

    def test_multi_discrete_and_multi_binary_actions(self):
        for space in (
            gymnasium.spaces.MultiDiscrete([3, 5]),
            gymnasium.spaces.MultiBinary(4),
        ):
            self.learn(functools.partial(with_actions, space))

    def test_half_infinite_actions(self):
        low, high = np.float32([-1, -np.inf, 0]), np.float32([1, 1, np.inf])
        make = functools.partial(with_actions, gymnasium.spaces.Box(low, high))
        self.learn(make, "feed_forward")

    def test_compiled_environments(self):
        self.learn("CartPole-v1", backend="tensorflow")

    def test_environments_of_jax(self):
        self.learn("gymnax:CartPole-v1", backend="jax")

    def test_a_recurrent_policy(self):
        self.learn("Pendulum-v1", "recurrent", chunk_length=4)
        self.learn("CartPole-v1", "recurrent", chunk_length=4)

    def test_images_beside_numbers(self):
        layers = ((3, 2, 1),)
        self.learn(Nested, "convolutional", conv_layers=layers)
        network = "convolutional_recurrent"
        self.learn(Nested, network, conv_layers=layers, chunk_length=4)

    def test_images_of_atari(self):
        self.learn("Pong-v5", "convolutional", backend="envpool", activation="relu")

    def test_a_deviation_that_depends_on_the_observation(self):
        self.learn("Pendulum-v1", state_dependent_std=True, shared_layers=(7,))


if __name__ == "__main__":
    unittest.main()
