"""A module with a mistake."""

NUMBER = 1 / 0
