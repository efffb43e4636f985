"""For people who work on the project: set-up, tests, benchmarks."""
