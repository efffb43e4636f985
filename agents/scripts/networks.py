"""Networks: policy and value of an observation, from Keras layers.

A network is made by a function `(settings, observation_space, action_space, seed)` that
stands here, or elsewhere and is named `module:function`. To write another, compose
`FeedForward` or `Recurrent` from layers, or write an object with the same methods.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import keras
import tensorflow as tf

from agents.parts import actions, nests, observations, randomness
from agents.parts.distributions import Categorical, Distribution, Gaussian
from agents.parts.trajectory import Nest

Output = tuple[Distribution, tf.Tensor, Nest]


def feed_forward_gaussian(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> "FeedForward":
    """Separate dense networks for a Gaussian policy and the value.

    Raises:
        UnsupportedSpace: The action space is no Box of floats.
    """
    seeds = Seeds(seed)
    policy = [
        *dense_layers(settings.policy_layers, seeds),
        GaussianHead(action_space, settings, seeds),
    ]
    value = [*dense_layers(settings.value_layers, seeds), value_head(seeds)]
    return FeedForward(observation_space, policy, value)


def feed_forward_categorical(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> "FeedForward":
    """Separate dense networks for a categorical policy and the value.

    Raises:
        UnsupportedSpace: The action space is not discrete.
    """
    seeds = Seeds(seed)
    policy = [
        *dense_layers(settings.policy_layers, seeds),
        CategoricalHead(action_space, settings, seeds),
    ]
    value = [*dense_layers(settings.value_layers, seeds), value_head(seeds)]
    return FeedForward(observation_space, policy, value)


def recurrent_gaussian(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> "Recurrent":
    """A dense layer and a GRU, read by a Gaussian policy and the value.

    The last of `policy_layers` is the size of the GRU, those before are dense;
    `value_layers` stand between the GRU and the value.

    Raises:
        UnsupportedSpace: The action space is no Box of floats.
    """
    seeds = Seeds(seed)
    *dense, units = settings.policy_layers
    cell = keras.layers.GRUCell(
        units,
        kernel_initializer=keras.initializers.GlorotUniform(seeds.next()),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seeds.next()),
    )
    policy = [GaussianHead(action_space, settings, seeds)]
    value = [*dense_layers(settings.value_layers, seeds), value_head(seeds)]
    trunk = dense_layers(dense, seeds)
    return Recurrent(observation_space, trunk, cell, policy, value)


class Seeds:
    """Hands out a seed for each initializer: Keras does not listen to TensorFlow's."""

    def __init__(self, seed: int):
        """Start from the seed of the network."""
        self._seeds = iter(randomness.integers(seed, 64))

    def next(self) -> int:
        """Return the next seed."""
        return next(self._seeds)


def dense_layers(sizes: Sequence[int], seeds: Seeds) -> list[keras.layers.Layer]:
    """Return tanh layers with orthogonal weights."""
    return [_dense(size, math.sqrt(2.0), seeds, "tanh") for size in sizes]


def value_head(seeds: Seeds) -> keras.layers.Layer:
    """Return a layer of one linear unit."""
    return _dense(1, 1.0, seeds)


def _dense(
    size: int, gain: float, seeds: Seeds, activation: str | None = None
) -> keras.layers.Layer:
    initializer = keras.initializers.Orthogonal(gain, seeds.next())
    return keras.layers.Dense(size, activation, kernel_initializer=initializer)


class Network(tf.Module):
    """What an algorithm expects of a network.

    Attributes:
        recurrent: whether it has a state, and must see its samples in sequences.
    """

    recurrent: bool

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
    """Layers for the policy and layers for the value."""

    recurrent = False

    def __init__(
        self,
        observation_space: gymnasium.Space,
        policy: Sequence[Callable],
        value: Sequence[Callable],
    ):
        """Build the layers; the last of `policy` makes a distribution."""
        super().__init__()
        self._spaces = nests.leaf_spaces(observation_space)
        self.policy = list(policy)
        self.value = list(value)
        self(zero_observation(observation_space), ())

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([*self.policy, *self.value])

    def initial_state(self, batch_size: int) -> Nest:
        """Return nothing."""
        return ()

    def __call__(self, observation: Nest, state: Nest) -> Output:
        """Look at observations with any leading dimensions."""
        features = observations.concatenate(tf.nest.flatten(observation), self._spaces)
        value = apply(self.value, features)
        return apply(self.policy, features), value[..., 0], state

    def unroll(self, observation: Nest, state: Nest, reset: tf.Tensor) -> Output:
        """Look at sequences, each observation by itself."""
        return self(observation, state)


class Recurrent(Network):
    """A trunk with a recurrent cell, read by layers for the policy and the value."""

    recurrent = True

    def __init__(
        self,
        observation_space: gymnasium.Space,
        trunk: Sequence[Callable],
        cell: keras.layers.GRUCell,
        policy: Sequence[Callable],
        value: Sequence[Callable],
    ):
        """Build the layers; the last of `policy` makes a distribution."""
        super().__init__()
        self._spaces = nests.leaf_spaces(observation_space)
        self.trunk = list(trunk)
        self.cell = cell
        self.policy = list(policy)
        self.value = list(value)
        self(zero_observation(observation_space), self.initial_state(1))

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([*self.trunk, self.cell, *self.policy, *self.value])

    def initial_state(self, batch_size: int) -> Nest:
        """Return zeros [batch, units]."""
        return tf.zeros([batch_size, self.cell.units])

    def __call__(self, observation: Nest, state: Nest) -> Output:
        """Take one step from states with the leading dimensions of the observations."""
        features = self._features(observation)
        flat = tf.reshape(features, [-1, features.shape[-1]])
        _, (after,) = self.cell(flat, [tf.reshape(state, [-1, self.cell.units])])
        after = tf.reshape(after, tf.shape(state))
        return *self._read(after), after

    def unroll(self, observation: Nest, state: Nest, reset: tf.Tensor) -> Output:
        """Take the steps of each sequence in turn."""
        by_time = tf.transpose(self._features(observation), [1, 0, 2])

        def step(carry, inputs):
            before, _ = carry
            features, ends = inputs
            _, (after,) = self.cell(features, [before])
            return tf.where(ends[:, None], 0.0, after), after

        inputs = (by_time, tf.transpose(reset))
        _, states = tf.scan(step, inputs, (state, tf.zeros_like(state)))
        states = tf.transpose(states, [1, 0, 2])
        return *self._read(states), states

    def _features(self, observation: Nest) -> tf.Tensor:
        leaves = tf.nest.flatten(observation)
        return apply(self.trunk, observations.concatenate(leaves, self._spaces))

    def _read(self, features: tf.Tensor) -> tuple[Distribution, tf.Tensor]:
        value = apply(self.value, features)
        return apply(self.policy, features), value[..., 0]


class GaussianHead(tf.Module):
    """A Gaussian whose standard deviation does not depend on the observation."""

    def __init__(self, action_space: gymnasium.Space, settings: Any, seeds: Seeds):
        """Fit the head to a Box action space.

        Raises:
            UnsupportedSpace: It is no Box of floats.
        """
        super().__init__()
        size = actions.dimensions(action_space)
        self.mean = _dense(size, settings.init_output_factor, seeds)
        self.log_std = tf.Variable(tf.fill([size], math.log(settings.init_std)))

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return (*variables_of([self.mean]), self.log_std)

    def __call__(self, features: tf.Tensor) -> Gaussian:
        """Return the policy for features [..., size]."""
        mean = self.mean(features)
        return Gaussian(mean, tf.broadcast_to(self.log_std, tf.shape(mean)))


class CategoricalHead(tf.Module):
    """A choice, or several independent ones."""

    def __init__(self, action_space: gymnasium.Space, settings: Any, seeds: Seeds):
        """Fit the head to a discrete action space.

        Raises:
            UnsupportedSpace: It is not discrete.
        """
        super().__init__()
        self._counts = actions.choice_counts(action_space)
        self.logits = _dense(sum(self._counts), settings.init_output_factor, seeds)

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([self.logits])

    def __call__(self, features: tf.Tensor) -> Categorical:
        """Return the policy for features [..., size]."""
        return Categorical.from_flat(self.logits(features), self._counts)


def apply(layers: Sequence[Callable], features: Any) -> Any:
    """Apply layers in turn."""
    for layer in layers:
        features = layer(features)
    return features


def variables_of(layers: Sequence[Any]) -> tuple[tf.Variable, ...]:
    """Return the weights of Keras layers and heads as TensorFlow variables."""
    found = [variable for layer in layers for variable in layer.trainable_variables]
    return tuple(v.value if isinstance(v, keras.Variable) else v for v in found)


def zero_observation(space: gymnasium.Space) -> Nest:
    """Return one encoded observation of zeros, [1, *shape], to build layers with."""
    return nests.map_space(
        lambda leaf: tf.zeros([1, *observations.encoded_shape(leaf)]), space
    )
