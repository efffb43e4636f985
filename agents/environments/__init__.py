"""Environments of other backends than Gymnasium."""
