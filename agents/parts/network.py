"""Networks: policy and value of an observation, composed of layers."""

from collections.abc import Callable, Sequence

import gymnasium
import keras
import tensorflow as tf

from agents.parts import nests, observations
from agents.parts.distributions import Distribution
from agents.parts.layers import apply, variables_of
from agents.parts.trajectory import Nest

Output = tuple[Distribution, tf.Tensor, Nest]
Layers = Sequence[Callable]


class Network(tf.Module):
    """What an algorithm expects of a network.

    Attributes:
        recurrent: whether it has a state, and must see its samples in sequences.
    """

    recurrent: bool

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights, those of Keras layers as TensorFlow variables."""
        raise NotImplementedError

    def initial_state(self, batch_size: int) -> Nest:
        """Return the state at the start of an episode, nest of [batch, ...]."""
        raise NotImplementedError

    def __call__(self, observation: Nest, state: Nest) -> Output:
        """Look at one encoded observation.

        Args:
            observation: nest of [..., *shape] float32.
            state: nest of [..., size].

        Returns:
            The policy, the value [...], and the state after the step.
        """
        raise NotImplementedError

    def unroll(self, observation: Nest, state: Nest, reset: tf.Tensor) -> Output:
        """Look at sequences of encoded observations.

        Args:
            observation: nest of [sequences, length, *shape] float32.
            state: nest of [sequences, size], before the first step.
            reset: [sequences, length] bool, whether the state starts anew after a step.

        Returns:
            As for a call, each [sequences, length, ...]; the states before a reset.
        """
        raise NotImplementedError


class FeedForward(Network):
    """Layers that policy and value share, and layers of their own."""

    recurrent = False

    def __init__(
        self,
        observation_space: gymnasium.Space,
        shared: Layers,
        policy: Layers,
        value: Layers,
    ):
        """Build the layers.

        Args:
            observation_space: what is observed, before it is encoded.
            shared: the first takes a nest of observations, without an action mask.
            policy: the last is a head, which takes features and a mask or None.
            value: the last returns [..., 1].
        """
        super().__init__()
        self._space = observation_space
        self.shared = list(shared)
        self.readout = Readout(policy, value)
        self(zero_observation(observation_space), ())

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([*self.shared, self.readout])

    def initial_state(self, batch_size: int) -> Nest:
        """Return nothing."""
        return ()

    def __call__(self, observation: Nest, state: Nest) -> Output:
        """Look at observations with any leading dimensions."""
        observation, mask = observations.split_mask(self._space, observation)
        return *self.readout(apply(self.shared, observation), mask), state

    def unroll(self, observation: Nest, state: Nest, reset: tf.Tensor) -> Output:
        """Look at sequences, each observation by itself."""
        return self(observation, state)


class Recurrent(Network):
    """Shared layers, a recurrent cell, and layers for the policy and the value."""

    recurrent = True

    def __init__(
        self,
        observation_space: gymnasium.Space,
        shared: Layers,
        cell: keras.layers.GRUCell,
        policy: Layers,
        value: Layers,
    ):
        """Build the layers; see `FeedForward`. The cell stands behind `shared`."""
        super().__init__()
        self._space = observation_space
        self.shared = list(shared)
        self.cell = cell
        self.readout = Readout(policy, value)
        self(zero_observation(observation_space), self.initial_state(1))

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([*self.shared, self.cell, self.readout])

    def initial_state(self, batch_size: int) -> Nest:
        """Return zeros [batch, units]."""
        return tf.zeros([batch_size, self.cell.units])

    def __call__(self, observation: Nest, state: Nest) -> Output:
        """Take one step from states with the leading dimensions of the observations."""
        observation, mask = observations.split_mask(self._space, observation)
        features = apply(self.shared, observation)
        flat = tf.reshape(features, [-1, features.shape[-1]])
        _, (after,) = self.cell(flat, [tf.reshape(state, [-1, self.cell.units])])
        after = tf.reshape(after, tf.shape(state))
        return *self.readout(after, mask), after

    def unroll(self, observation: Nest, state: Nest, reset: tf.Tensor) -> Output:
        """Take the steps of each sequence in turn."""
        observation, mask = observations.split_mask(self._space, observation)
        by_time = tf.transpose(apply(self.shared, observation), [1, 0, 2])

        def step(carry, inputs):
            before, _ = carry
            features, ends = inputs
            _, (after,) = self.cell(features, [before])
            return tf.where(ends[:, None], 0.0, after), after

        inputs = (by_time, tf.transpose(reset))
        _, states = tf.scan(step, inputs, (state, tf.zeros_like(state)))
        states = tf.transpose(states, [1, 0, 2])
        return *self.readout(states, mask), states


class Readout(tf.Module):
    """From features to policy and value."""

    def __init__(self, policy: Layers, value: Layers):
        """Put the layers together; the last one of the policy is its head."""
        super().__init__()
        *self.policy, self.head = policy
        self.value = list(value)

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([*self.policy, self.head, *self.value])

    def __call__(
        self, features: tf.Tensor, mask: tf.Tensor | None
    ) -> tuple[Distribution, tf.Tensor]:
        """Return the policy and the value [...] for features [..., size]."""
        policy = self.head(apply(self.policy, features), mask)
        return policy, apply(self.value, features)[..., 0]


def zero_observation(space: gymnasium.Space) -> Nest:
    """Return one encoded observation of zeros, [1, *shape], to build layers with."""
    return nests.map_space(
        lambda leaf: tf.zeros([1, *observations.encoded_shape(leaf)]), space
    )
