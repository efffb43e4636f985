"""Runs under everything that happens to runs: faults, kills, full disks, long times."""
