#!/usr/bin/env bash
# Runs the tests and pylint. Installs what they need in .venv first; arguments go to pytest.
source "$(dirname "$0")/setup.sh"
install_egl
install_project "bullet,envpool,jax,minari,mujoco,test"
install_example
.venv/bin/python -m pytest "$@"
.venv/bin/python -m ruff format --check .
.venv/bin/python -m ruff check .
.venv/bin/python -m pylint agents scripts tests setup.py
cd examples/agents-trainer-plugin
../../.venv/bin/python -m pylint --rcfile=../../.pylintrc agents_trainer_plugin tests setup.py
