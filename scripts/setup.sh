# Sourced by the other scripts: makes .venv and installs the project with some extras.
#
#   install_project EXTRAS    for example: install_project mujoco,bullet,test; empty: none
#   install_example           after that: the package in examples/

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_python() {
  local name
  for name in "${PYTHON:-}" python3.11 python3.12 python3.13 python3 python; do
    if [ -n "$name" ] && "$name" -c \
      'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
      >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
  echo "Python 3.11, 3.12 or 3.13 with venv is needed; set PYTHON to one of them." >&2
  return 1
}

# Debian keeps venv in a package of its own.
install_venv() {
  if ! find_python >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
  then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq python3-venv >/dev/null
  fi
}

# Rendering MuJoCo without a screen needs Debian's EGL.
install_egl() {
  if ldconfig -p | grep -q libEGL.so && ls /usr/lib/*/dri/swrast_dri.so >/dev/null 2>&1
  then
    return
  fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq libegl1 libgl1-mesa-dri >/dev/null
  else
    echo "Videos of MuJoCo need: apt-get install libegl1 libgl1-mesa-dri" >&2
  fi
}

install_project() {
  local extras=$1 stamp=".venv/installed-${1:-none}"
  if [ ! -x .venv/bin/python ]; then
    local python
    install_venv
    python=$(find_python)
    echo "Making .venv with $("$python" --version) ..." >&2
    "$python" -m venv .venv
  fi
  if [ ! -e "$stamp" ] || [ setup.py -nt "$stamp" ]; then
    echo "Installing batch-ppo${extras:+[$extras]} in .venv ..." >&2
    .venv/bin/python -m pip install --quiet --editable ".${extras:+[$extras]}"
    touch "$stamp"
  fi
}

# The package with the example's trainers, which the tests train with.
install_example() {
  local folder=examples/agents-trainer-plugin stamp=.venv/installed-example
  if [ ! -e "$stamp" ] || [ "$folder/setup.py" -nt "$stamp" ]; then
    .venv/bin/python -m pip install --quiet --editable "$folder"
    touch "$stamp"
  fi
}
