"""The convolution and its gradient, against TensorFlow's."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.convolution import LoopConv2D, convolve


def gradients(function, *arguments):
    """Return the gradients of a sum of squares."""
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        loss = tf.reduce_sum(function(*arguments) ** 2)
    return tape.gradient(loss, arguments)


class ConvolveTest(unittest.TestCase):
    """Kernels and strides, also where they leave a margin of the image over."""

    def test_equals_the_operation_of_tensorflow(self):
        for size, stride, height, width in ((3, 1, 5, 6), (4, 2, 9, 8), (2, 3, 7, 6)):
            images = tf.random.stateless_normal([2, height, width, 3], [1, size])
            kernel = tf.random.stateless_normal([size, size, 3, 4], [2, size])

            def ours(images, kernel, stride=stride):
                return convolve(images, kernel, stride)

            def theirs(images, kernel, stride=stride):
                return tf.nn.conv2d(images, kernel, stride, "VALID")

            np.testing.assert_allclose(
                ours(images, kernel), theirs(images, kernel), atol=1e-5
            )
            compiled = tf.function(ours, jit_compile=True, autograph=False)
            for function in (ours, compiled):
                for mine, other in zip(
                    gradients(function, images, kernel),
                    gradients(theirs, images, kernel),
                    strict=True,
                ):
                    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-3)

    def test_one_weight_by_hand(self):
        """Of [[1, 2], [3, 4]] times 5, squared: twice the sum of 5, 20, 45 and 80."""
        images = tf.reshape(tf.constant([1.0, 2, 3, 4]), [1, 2, 2, 1])
        kernel = tf.fill([1, 1, 1, 1], 5.0)
        of_images, of_kernel = gradients(lambda a, b: convolve(a, b, 1), images, kernel)
        self.assertEqual(float(of_kernel[0, 0, 0, 0]), 300.0)
        self.assertEqual(of_images.numpy().ravel().tolist(), [50, 100, 150, 200])


class LoopConv2DTest(unittest.TestCase):
    """The layer of Keras around it."""

    def test_has_bias_and_activation(self):
        layer = LoopConv2D(2, 3, 2, activation="relu", bias_initializer="ones")
        images = tf.random.stateless_normal([2, 7, 7, 3], [1, 2])
        features = layer(images)
        expected = tf.nn.conv2d(images, layer.kernel.value, 2, "VALID") + 1.0
        np.testing.assert_allclose(features, tf.nn.relu(expected), atol=1e-5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(images))
        kernel, bias = tape.gradient(loss, [v.value for v in layer.trainable_variables])
        self.assertEqual(kernel.shape, [3, 3, 3, 2])
        self.assertEqual(bias.shape, [2])


if __name__ == "__main__":
    unittest.main()
