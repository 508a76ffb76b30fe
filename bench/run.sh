#!/bin/sh
# What this machine reaches, and heed beside its peers.
#
#   bench/run.sh [OPTION ...]           `heed bench`: no Python
#   bench/run.sh peers [OPTION ...]     the same work on the peers, in turns; --help has the options
#   bench/run.sh threads [OPTION ...]   two threads against one, line by line
#   bench/run.sh growth [OPTION ...]    heed alone where one size grows, as JSON
#   bench/run.sh document               docs/performance.md and its pictures from docs/figures/
#   bench/run.sh all [OPTION ...]       the four of them: docs/performance.md made anew. Options are
#                                       those that peers and threads share (--seconds, --only ...)
#
# The peers live in a virtual environment: $HEED_VENV, or one that is made of
# requirements-peers.txt in $HEED_BENCH_CACHE (~/.cache/heed-bench).
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
figures=docs/figures
unset OPENBLAS_CORETYPE # a preset type halves OpenBLAS

build() {
    [ -f build/release/build.ninja ] || cmake --preset release -DHEED_TESTS=OFF >&2
    cmake --build build/release --target heed >&2
}
python() { # of the environment with the peers
    venv=${HEED_VENV:-${HEED_BENCH_CACHE:-$HOME/.cache/heed-bench}/venv}
    if [ ! -x "$venv/bin/python" ]; then
        python3 -m venv "$venv"
        "$venv/bin/pip" install -q -r bench/requirements-peers.txt >&2
    fi
    "$venv/bin/python" "$@"
}
growth() {
    build/release/heed bench --json --only grow "$@"
}

what=${1:-}
case $what in
peers | threads | growth | document | all) shift ;;
esac
case $what in
document) ;;
*) build ;;
esac
case $what in
peers) python bench/peers "$@" ;;
threads) python bench/peers/threads.py "$@" ;;
growth) growth "$@" ;;
document) exec python3 bench/report "$@" ;;
all)
    mkdir -p "$figures"
    rm -f "$figures"/*.json
    python bench/peers --json "$figures/rows.json" "$@"
    python bench/peers/threads.py --json "$figures/threads.json" "$@"
    growth >"$figures/growth.json"
    python3 bench/report
    ;;
*) exec build/release/heed bench "$@" ;;
esac
