"""Tests of the measuring of returns."""
