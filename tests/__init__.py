"""Mirrors the package."""

import os

# Importing JAX would set it to a level at which TensorFlow is loud, in processes that
# tests start as well.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
