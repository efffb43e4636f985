"""Names of variables."""

import unittest

import keras
import tensorflow as tf

from agents.parts.variables import named_variables


class NamedVariablesTest(unittest.TestCase):
    """Of nested objects."""

    def test_each_has_the_shortest_path_that_leads_to_it(self):
        inner, outer = tf.Module(), tf.Module()
        inner.weight = tf.Variable(1.0)
        outer.parts = [inner, {"again": inner.weight, "own": tf.Variable(2)}]
        found = named_variables(first=outer, second=tf.Variable(3))
        self.assertEqual(
            sorted(found), ["first/parts/0/weight", "first/parts/1/own", "second"]
        )
        self.assertIs(found["first/parts/0/weight"], inner.weight)

    def test_variables_of_keras_count_also_those_that_are_not_trained(self):
        layer = keras.layers.BatchNormalization()
        layer.build((None, 2))
        module = tf.Module()
        module.layers = [layer]
        found = named_variables(module=module)
        self.assertEqual(
            {id(variable) for variable in found.values()},
            {id(variable.value) for variable in layer.variables},
        )
        self.assertEqual(len(found), 4)
        for variable in found.values():
            self.assertIsInstance(variable, tf.Variable)


if __name__ == "__main__":
    unittest.main()
