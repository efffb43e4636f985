"""What a worker process and its owner say to each other.

Owner to worker: `STEP`, `CLOSE`, or a pickled request `(method, args, kwargs)`.
Worker to owner: `DONE`, or a letter and a pickled value: an answer, or a fault.
"""

import pickle
from typing import Any, NamedTuple

import cloudpickle
import gymnasium

STEP = b"s"
CLOSE = b"c"
DONE = b"."
ANSWER = b"a"
FAULT = b"f"


class Description(NamedTuple):
    """What a worker hosts; `num_envs` is None for a single environment."""

    observation_space: gymnasium.Space
    action_space: gymnasium.Space
    num_envs: int | None


def request(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Return the message that asks for a method call."""
    return cloudpickle.dumps((method, args, kwargs))


def reply(kind: bytes, value: Any) -> bytes:
    """Return the message that carries an answer or a fault."""
    return kind + cloudpickle.dumps(value)


def parse_reply(message: bytes) -> tuple[bytes, Any]:
    """Return the kind of a reply and its value, None for `DONE`."""
    if message == DONE:
        return DONE, None
    return message[:1], pickle.loads(message[1:])
