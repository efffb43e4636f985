#!/usr/bin/env bash
# Trains: scripts/train.sh --config=pendulum. Installs what it needs in .venv first.
source "$(dirname "$0")/setup.sh"
install_project ""
exec .venv/bin/python -m agents.scripts.train "$@"
