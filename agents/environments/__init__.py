"""Environments that live in the graph."""
