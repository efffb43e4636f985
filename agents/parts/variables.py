"""The variables of nested objects, by name."""

import keras
import tensorflow as tf


def named_variables(**objects: tf.Module | tf.Variable) -> dict[str, tf.Variable]:
    """Return all variables by the shortest path of attributes that leads to each.

    Args:
        objects: where to look, by the name that begins their paths.
    """
    root = tf.Module()
    for name, value in objects.items():
        setattr(root, name, value)
    view, found, seen = tf.train.TrackableView(root), {}, set()
    waiting = [((), root)]
    for path, node in waiting:
        if isinstance(node, keras.Variable):
            node = node.value
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, tf.Variable):
            found["/".join(path)] = node
        else:
            children = view.children(node).items()
            waiting += [((*path, name), child) for name, child in children]
    return found
