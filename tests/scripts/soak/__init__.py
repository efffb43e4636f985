"""Tests of what happens to runs."""
