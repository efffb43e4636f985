"""Layers that networks are composed of: Keras's, and heads that make distributions.

A layer is anything that can be called with features [..., size]; if it has weights,
they are its `trainable_variables`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import keras
import tensorflow as tf

from agents.parts import actions, nests, observations, randomness
from agents.parts.convolution import LoopConv2D
from agents.parts.distributions import IMPOSSIBLE, Categorical, Gaussian
from agents.parts.nests import UnsupportedSpace
from agents.parts.settings import SettingError
from agents.parts.trajectory import Nest

# Beyond these the logarithm of a standard deviation that is learned as a function of
# the observation would make densities overflow.
_LOG_STD_RANGE = (-10.0, 2.0)
_MOST_SEEDS = 1000


class Seeds:
    """Hands out a seed for each initializer: Keras does not listen to TensorFlow's."""

    def __init__(self, seed: int):
        """Start from the seed of the network."""
        self._seeds = iter(randomness.integers(seed, _MOST_SEEDS))

    def next(self) -> int:
        """Return the next seed."""
        return next(self._seeds)


def dense_layers(
    sizes: Sequence[int], settings: Any, seeds: Seeds
) -> list[keras.layers.Layer]:
    """Return hidden layers with orthogonal weights."""
    return [dense(size, math.sqrt(2.0), seeds, settings.activation) for size in sizes]


def value_head(seeds: Seeds) -> keras.layers.Layer:
    """Return a layer of one linear unit."""
    return dense(1, 1.0, seeds)


def policy_head(
    action_space: gymnasium.Space, settings: Any, seeds: Seeds
) -> "GaussianHead | CategoricalHead":
    """Return the head for a kind of actions: Gaussian for a Box, else categorical.

    Raises:
        UnsupportedSpace: There is no distribution for such actions.
    """
    if isinstance(action_space, gymnasium.spaces.Box):
        return GaussianHead(action_space, settings, seeds)
    return CategoricalHead(action_space, settings, seeds)


def dense(
    size: int, gain: float, seeds: Seeds, activation: str | None = None
) -> keras.layers.Layer:
    """Return a dense layer with orthogonal weights of a gain."""
    initializer = keras.initializers.Orthogonal(gain, seeds.next())
    return keras.layers.Dense(size, activation, kernel_initializer=initializer)


class Flatten(tf.Module):
    """All leaves of an observation as one vector; it has no weights."""

    def __init__(self, observation_space: gymnasium.Space):
        """Fit the layer to a space; its action mask, if any, is left out."""
        super().__init__()
        self._spaces = nests.leaf_spaces(observations.without_mask(observation_space))

    def __call__(self, observation: Nest) -> tf.Tensor:
        """Return [..., size] for a nest of [..., *shape] float32."""
        return observations.concatenate(tf.nest.flatten(observation), self._spaces)


class ForEach(tf.Module):
    """A Keras model that knows one batch dimension, for observations with several."""

    def __init__(self, model: Callable[..., Any], observation_space: gymnasium.Space):
        """Fit a model to the space that its inputs are encoded from.

        Raises:
            SettingError: It is no Keras model or layer, or does not take such inputs.
        """
        super().__init__()
        if not isinstance(model, keras.layers.Layer):
            raise SettingError(f"{model!r} must be a Keras model or layer.")
        self._model = model
        shown = observations.without_mask(observation_space)
        spaces = nests.leaf_spaces(shown)
        self._shapes = [observations.encoded_shape(space) for space in spaces]
        inputs = nests.pack(shown, [tf.zeros([1, *shape]) for shape in self._shapes])
        try:
            rank = self._model(inputs).shape.rank
        except Exception as error:  # Of all kinds, by what a model is made of.
            shapes = nests.pack(shown, [(None, *shape) for shape in self._shapes])
            raise SettingError(
                f"The Keras model {model.name} can't take observations of the shapes "
                f"{shapes}, which {observation_space} has once encoded: "
                f"{type(error).__name__}: {error}"
            ) from error
        if rank != 2:
            raise SettingError(
                f"The Keras model {model.name} must return [batch, size], but returns "
                f"{rank} dimensions: end it with Flatten, say."
            )

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([self._model])

    def __call__(self, observation: Nest) -> tf.Tensor:
        """Return [..., size] for a nest of [..., *shape] float32."""
        leaves = tf.nest.flatten(observation)
        leading = tf.shape(leaves[0])[: leaves[0].shape.rank - len(self._shapes[0])]
        batch = [
            tf.reshape(leaf, [-1, *shape])
            for leaf, shape in zip(leaves, self._shapes, strict=True)
        ]
        features = self._model(tf.nest.pack_sequence_as(observation, batch))
        return tf.reshape(features, tf.concat([leading, features.shape[1:]], 0))


class Convolution(tf.Module):
    """Convolutions over each image of an observation, beside the rest as one vector."""

    def __init__(self, observation_space: gymnasium.Space, settings: Any, seeds: Seeds):
        """Fit the layer to a space.

        Raises:
            SettingError: `conv_layers` leave nothing of an image.
            UnsupportedSpace: There is no image.
        """
        super().__init__()
        self._spaces = nests.leaf_spaces(observations.without_mask(observation_space))
        images = [observations.is_image(space) for space in self._spaces]
        if not any(images):
            raise UnsupportedSpace(
                f"The observation space {observation_space} has no image, a Box of "
                "shape [height, width, channels], [channels, height, width] or [height,"
                " width]: use the network feed_forward."
            )
        self._stacks = [
            _convolutions(space, settings, seeds) if image else []
            for space, image in zip(self._spaces, images, strict=True)
        ]

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([layer for stack in self._stacks for layer in stack])

    def __call__(self, observation: Nest) -> tf.Tensor:
        """Return [..., size] for a nest of [..., *shape] float32."""
        leaves = []
        for leaf, space, stack in zip(
            tf.nest.flatten(observation), self._spaces, self._stacks, strict=True
        ):
            if stack:
                leading = tf.shape(leaf)[: leaf.shape.rank - len(space.shape)]
                images = tf.reshape(leaf, [-1, *space.shape])
                features = apply(stack, observations.channels_last(space, images))
                size = math.prod(features.shape[1:])
                leaves.append(tf.reshape(features, tf.concat([leading, [size]], 0)))
            else:
                leaves.append(observations.concatenate([leaf], [space]))
        return tf.concat(leaves, -1)


class GaussianHead(tf.Module):
    """A Gaussian; by default its deviation does not depend on the observation."""

    def __init__(self, action_space: gymnasium.Space, settings: Any, seeds: Seeds):
        """Fit the head to a Box action space.

        Raises:
            SettingError: The deviation can't start at `init_std`.
            UnsupportedSpace: It is no Box of floats.
        """
        super().__init__()
        size = actions.dimensions(action_space)
        self.mean = dense(size, settings.init_output_factor, seeds)
        log_std = math.log(settings.init_std)
        self.log_std: Any = tf.Variable(tf.fill([size], log_std))
        if settings.state_dependent_std:
            _check_log_std(log_std)
            self.log_std = dense(size, settings.init_output_factor, seeds)
            self.log_std.bias_initializer = keras.initializers.Constant(log_std)

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        if isinstance(self.log_std, tf.Variable):
            return (*variables_of([self.mean]), self.log_std)
        return variables_of([self.mean, self.log_std])

    def __call__(self, features: tf.Tensor, mask: tf.Tensor | None = None) -> Gaussian:
        """Return the policy for features [..., size].

        Raises:
            UnsupportedSpace: There is a mask, which needs discrete actions.
        """
        if mask is not None:
            raise UnsupportedSpace(
                f"Observations have an entry {observations.MASK!r}, but only discrete "
                "actions can be masked."
            )
        mean = self.mean(features)
        if isinstance(self.log_std, tf.Variable):
            return Gaussian(mean, tf.broadcast_to(self.log_std, tf.shape(mean)))
        return Gaussian(mean, tf.clip_by_value(self.log_std(features), *_LOG_STD_RANGE))


class CategoricalHead(tf.Module):
    """A choice, or several independent ones."""

    def __init__(self, action_space: gymnasium.Space, settings: Any, seeds: Seeds):
        """Fit the head to a discrete action space.

        Raises:
            UnsupportedSpace: It is not discrete.
        """
        super().__init__()
        self._counts = actions.choice_counts(action_space)
        self.logits = dense(sum(self._counts), settings.init_output_factor, seeds)

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The weights."""
        return variables_of([self.logits])

    def __call__(
        self, features: tf.Tensor, mask: tf.Tensor | None = None
    ) -> Categorical:
        """Return the policy for features [..., size].

        Args:
            features: float32.
            mask: [..., categories of all choices], above 0 where one is allowed; where
                a choice has nothing that is, all of it counts as allowed.

        Raises:
            UnsupportedSpace: The mask has another size.
        """
        logits = self.logits(features)
        if mask is not None:
            if mask.shape[-1] != logits.shape[-1]:
                raise UnsupportedSpace(
                    f"The entry {observations.MASK!r} of observations has "
                    f"{mask.shape[-1]} numbers, but the actions have "
                    f"{logits.shape[-1]} categories to be allowed or not."
                )
            # Still far above what pads a choice that has fewer categories than others.
            logits = tf.where(mask > 0, logits, IMPOSSIBLE / 2)
        return Categorical.from_flat(logits, self._counts)


def apply(layers: Sequence[Callable], features: Any) -> Any:
    """Apply layers in turn."""
    for layer in layers:
        features = layer(features)
    return features


def variables_of(layers: Sequence[Any]) -> tuple[tf.Variable, ...]:
    """Return the weights of Keras layers and heads as TensorFlow variables."""
    found = [
        variable
        for layer in layers
        for variable in getattr(layer, "trainable_variables", ())
    ]
    return tuple(v.value if isinstance(v, keras.Variable) else v for v in found)


def _check_log_std(log_std: float) -> None:
    low, high = _LOG_STD_RANGE
    if not low < log_std < high:
        raise SettingError(
            f"init_std must be between {math.exp(low):.1e} and {math.exp(high):.1f} "
            f"with state_dependent_std, but is {math.exp(log_std):g}."
        )


def _convolutions(
    space: gymnasium.Space, settings: Any, seeds: Seeds
) -> list[keras.layers.Layer]:
    sides, layers = observations.image_size(space), []
    for filters, kernel, stride in settings.conv_layers:
        sides = [(side - kernel) // stride + 1 for side in sides]
        if min(sides) < 1:
            raise SettingError(
                f"conv_layers {list(settings.conv_layers)} leave nothing of an image "
                f"of shape {list(space.shape)}: use smaller kernels, such as "
                "[[16, 3, 1]]."
            )
        initializer = keras.initializers.Orthogonal(math.sqrt(2.0), seeds.next())
        layers.append(
            LoopConv2D(
                filters,
                kernel,
                stride,
                data_format="channels_last",
                activation=settings.activation,
                kernel_initializer=initializer,
            )
        )
    return layers
