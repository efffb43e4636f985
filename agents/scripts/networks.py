"""Networks by name: functions `(settings, observation_space, action_space, seed)`.

The action space decides between a Gaussian and a categorical policy. To write another
network, compose `FeedForward` or `Recurrent` from layers, in a function that stands
here or elsewhere and is named `module:function`; `docs/networks.md` shows how.
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import keras

from agents.parts import layers
from agents.parts.layers import Convolution, Flatten, ForEach, Seeds
from agents.parts.network import FeedForward, Recurrent


def feed_forward(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> FeedForward:
    """Dense layers: `shared_layers`, then `policy_layers` and `value_layers`.

    Raises:
        UnsupportedSpace: There is no distribution for such actions.
    """
    seeds = Seeds(seed)
    first = Flatten(observation_space)
    return _feed_forward(first, settings, observation_space, action_space, seeds)


def convolutional(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> FeedForward:
    """`feed_forward` behind `conv_layers`, which images of an observation go through.

    Raises:
        SettingError: `conv_layers` leave nothing of an image.
        UnsupportedSpace: There is no image, or no distribution for such actions.
    """
    seeds = Seeds(seed)
    first = Convolution(observation_space, settings, seeds)
    return _feed_forward(first, settings, observation_space, action_space, seeds)


def recurrent(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> Recurrent:
    """A GRU behind `shared_layers`, before `policy_layers` and `value_layers`.

    Raises:
        UnsupportedSpace: There is no distribution for such actions.
    """
    seeds = Seeds(seed)
    first = Flatten(observation_space)
    return _recurrent(first, settings, observation_space, action_space, seeds)


def convolutional_recurrent(
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> Recurrent:
    """`recurrent` behind `conv_layers`, which images of an observation go through.

    Raises:
        SettingError: `conv_layers` leave nothing of an image.
        UnsupportedSpace: There is no image, or no distribution for such actions.
    """
    seeds = Seeds(seed)
    first = Convolution(observation_space, settings, seeds)
    return _recurrent(first, settings, observation_space, action_space, seeds)


def from_keras(
    model: Callable[..., Any],
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seed: int,
) -> FeedForward:
    """`feed_forward` behind a model of one's own, in place of flattening.

    Args:
        model: a Keras model or layer. It takes encoded observations [batch, *shape]
            float32, a nest like the space (one-hot where that is Discrete; without an
            action mask), and returns features [batch, size].
        settings: of the algorithm.
        observation_space: of one environment.
        action_space: of one environment.
        seed: of all other layers; the model has its own.

    Raises:
        UnsupportedSpace: There is no distribution for such actions.
    """
    first = ForEach(model, observation_space)
    spaces = observation_space, action_space
    return _feed_forward(first, settings, *spaces, Seeds(seed))


def _feed_forward(
    first: Callable[..., Any],
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seeds: Seeds,
) -> FeedForward:
    shared = [first, *layers.dense_layers(settings.shared_layers, settings, seeds)]
    policy, value = _ends(settings, action_space, seeds)
    return FeedForward(observation_space, shared, policy, value)


def _recurrent(
    first: Callable[..., Any],
    settings: Any,
    observation_space: gymnasium.Space,
    action_space: gymnasium.Space,
    seeds: Seeds,
) -> Recurrent:
    shared = [first, *layers.dense_layers(settings.shared_layers, settings, seeds)]
    cell = keras.layers.GRUCell(
        settings.recurrent_units,
        kernel_initializer=keras.initializers.GlorotUniform(seeds.next()),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seeds.next()),
    )
    policy, value = _ends(settings, action_space, seeds)
    return Recurrent(observation_space, shared, cell, policy, value)


def _ends(
    settings: Any, action_space: gymnasium.Space, seeds: Seeds
) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
    """Return the layers of policy and value, each with its head."""
    policy = layers.dense_layers(settings.policy_layers, settings, seeds)
    value = layers.dense_layers(settings.value_layers, settings, seeds)
    head = layers.policy_head(action_space, settings, seeds)
    return [*policy, head], [*value, layers.value_head(seeds)]
