#!/bin/sh
# Installs the wheel and the archive in every way, as a user without rights, tries them, removes
# them and lists the files that are left. make check-wheel runs it, as root, by root.sh:
#
#   PACKAGES="python3-venv python3-pip" tests/systems/root.sh bullseye tests/systems/wheel.sh
#
# /out has the wheel, the archive, uv, ca-certificates.crt, and checkpoint.sha256: the checkpoint of the build tree after
# `train copy position=roper preset=smoke seed=1 steps=60 checkpoint_every=20 --threads 2`.
set -eu
if [ "$(id -u)" = 0 ]; then
  useradd --create-home student
  exec runuser -u student -- env -i HOME=/home/student \
    LANG=C.UTF-8 TERM=xterm PATH=/usr/bin:/bin sh "$0"
fi
tests=$(cd "$(dirname "$0")" && pwd)
export PIP_CACHE_DIR=/tmp/pip PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
export PIP_INDEX_URL=https://pypi.org/simple # Ubuntu 18.04 has the name of an older one
# Those of the host, since its network may have one of its own.
export PIP_CERT=/out/ca-certificates.crt SSL_CERT_FILE=/out/ca-certificates.crt
export UV_CACHE_DIR=/home/student/uv UV_NO_PROGRESS=1
wheel=$(echo /out/roper-*-py3-none-manylinux_*_"$(uname -m)".whl)
archive=$(echo /out/roper-*-linux-"$(uname -m)".tar.gz)
version=$(basename "$wheel" | cut -d - -f 2)
train="train copy position=roper preset=smoke seed=1 steps=60 checkpoint_every=20 --threads 2"

files() {
  find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /out -o -path /tmp \
    -o -path /home/student/runs \) -prune -o -type f -newer /tmp/start -print 2>/dev/null |
    LC_ALL=C sort
}

# Runs a command, and prints its output if it fails.
quietly() {
  if ! "$@" >/tmp/output 2>&1; then
    cat /tmp/output
    echo "failed: $*" >&2
    exit 1
  fi
}

# What every installation must do: start, compute, start workers and Python's part.
try() {
  [ "$("$roper" --version)" = "roper $version" ]
  [ "$("$roper" --lua -e 'print(1 + 1)')" = 2 ]
  rm -rf /home/student/runs && mkdir /home/student/runs && cd /home/student/runs
  quietly "$roper" sweep copy preset=smoke position=rope,roper seed=1,2 steps=10 --jobs 2
  quietly "$roper" report runs/copy --baseline rope
  grep -q '<svg' runs/copy/report.html
}

# The work of an evening.
use() {
  quietly "$roper" $train
  (cd runs/copy-roper-1 && sha256sum -c /out/checkpoint.sha256)
  mv runs/copy-roper-1 undisturbed
  # Killed after its first checkpoint, a run resumes to the same bits.
  "$roper" $train >/dev/null 2>&1 &
  until [ -e runs/copy-roper-1/checkpoint.safetensors ]; do :; done
  kill -9 $!
  quietly "$roper" train --resume runs/copy-roper-1
  (cd runs/copy-roper-1 && sha256sum -c /out/checkpoint.sha256)
  quietly "$roper" sample runs/copy-roper-1 'kqhzz>'
  quietly "$roper" eval runs/copy-roper-1 letters=12
  quietly "$roper" study substring_prefix preset=smoke steps=6 --seeds 2
  [ -s runs/study/substring_prefix/report.html ]
  quietly "$roper" lesson --html pages
  [ -s pages/rotation.html ]
  quietly python3 "$tests/terminal.py" "$roper"
  rm /home/student/.local/state/roper/history # all that a session writes by itself
  quietly "$roper" lesson --check
}

# add NAME: what it has installed as $roper is tried; then remove is called.
check() {
  touch /tmp/start
  add
  try
  for more in ${2-}; do "$more"; done
  remove
  files >/tmp/left
  if [ -s /tmp/left ]; then
    echo "$1: files left:" >&2
    cat /tmp/left >&2
    exit 1
  fi
  echo "$1: installed, tried and removed"
}

notebook() {
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
    echo "notebook: not tried, since kernels need Python 3.8"
    return
  fi
  quietly /home/student/venv/bin/pip install ipykernel nbclient
  /home/student/venv/bin/jupyter kernelspec list | grep -q '^ *roper '
  quietly /home/student/venv/bin/python "$tests/notebook.py"
  rm -r /home/student/.ipython # Jupyter's
}

python_finds_it() {
  [ "$(/home/student/venv/bin/python -m roper --version)" = "roper $version" ]
  [ "$(/home/student/venv/bin/python -c 'import roper; print(roper.find())')" = "$roper" ]
}

# Versions of pip before 20.3 know no wheels for a version of glibc.
quietly python3 -m pip install --user --upgrade pip

add() {
  python3 -m venv /home/student/venv
  quietly /home/student/venv/bin/pip install --upgrade pip
  quietly /home/student/venv/bin/pip install "$wheel"
  roper=/home/student/venv/bin/roper
}
remove() {
  quietly /home/student/venv/bin/pip uninstall --yes roper
  [ ! -e "$roper" ] && [ ! -e /home/student/venv/libexec/roper/bin ]
  rm -rf /home/student/venv
}
check "pip in a virtual environment" "python_finds_it notebook use"

add() {
  quietly python3 -m pip install --user "$wheel"
  roper=/home/student/.local/bin/roper
}
remove() {
  quietly python3 -m pip uninstall --yes roper
  [ ! -e "$roper" ]
}
check "pip install --user"

add() {
  quietly python3 -m pip install --target /home/student/target "$wheel"
  roper=/home/student/target/bin/roper
  [ "$(PYTHONPATH=/home/student/target python3 -m roper --version)" = "roper $version" ]
}
remove() { rm -r /home/student/target; }
check "pip install --target"

add() {
  quietly /out/uv tool install --python "$(command -v python3)" "$wheel"
  roper=/home/student/.local/bin/roper
}
remove() {
  quietly /out/uv tool uninstall roper
  [ ! -e "$roper" ]
  rm -rf /home/student/uv /home/student/.local/share/uv # its cache, and a lock
}
check "uv tool install"

add() {
  mkdir /home/student/programs
  tar -xzf "$archive" -C /home/student/programs
  ln -s "programs/roper-$version/bin/roper" /home/student/roper
  roper=/home/student/roper
}
remove() { rm -r "$roper" /home/student/programs; }
check "archive"
