#!/bin/sh
# What this machine reaches, and heed beside its peers.
#
#   bench/run.sh [OPTION ...]         `heed bench`: no Python
#   bench/run.sh peers [OPTION ...]   the same work on the peers, in turns; --help tells the options
#
# The peers live in a virtual environment: $HEED_VENV, or one that is made of
# requirements-peers.txt in $HEED_BENCH_CACHE (~/.cache/heed-bench).
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
[ -f build/release/build.ninja ] || cmake --preset release -DHEED_TESTS=OFF >&2
cmake --build build/release --target heed >&2
if [ "${1:-}" != peers ]; then
    exec build/release/heed bench "$@"
fi
shift
venv=${HEED_VENV:-${HEED_BENCH_CACHE:-$HOME/.cache/heed-bench}/venv}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q -r bench/requirements-peers.txt >&2
fi
unset OPENBLAS_CORETYPE # a preset type halves OpenBLAS
exec "$venv/bin/python" bench/peers "$@"
