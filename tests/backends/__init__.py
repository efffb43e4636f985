"""Tests of backends that run environments of other libraries."""
