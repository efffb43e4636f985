"""Measurements: `python -m scripts.benchmark throughput|scaling|memory|startup`."""
