#!/bin/sh
# What this machine reaches: the kernels beside a probe of the processor.
# Arguments go to the program.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
cmake --build build/release --target bench_kernels >&2
exec build/release/bench_kernels "$@"
