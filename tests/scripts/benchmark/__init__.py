"""Tests of scripts/benchmark."""
