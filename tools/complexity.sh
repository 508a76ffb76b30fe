#!/bin/sh
# No function is harder to follow than 15 (cognitive complexity, by clang-tidy).
#   tools/complexity.sh BUILD-FOLDER   which holds compile_commands.json
# SPDX-License-Identifier: MIT
set -eu
build=${1:?a build folder}
config='{Checks: "-*,readability-function-cognitive-complexity", WarningsAsErrors: "*",
    CheckOptions: [{key: readability-function-cognitive-complexity.Threshold, value: 15}]}'
find src cli -name '*.c' | sort | xargs -P "$(nproc)" -n 8 \
    clang-tidy --quiet -p "$build" --config="$config" 2>/dev/null
