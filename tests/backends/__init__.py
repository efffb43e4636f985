"""Environments that other libraries run."""
