#!/bin/sh
# No function is harder to follow than 15 (cognitive complexity, Campbell 2018), by clang-tidy.
# SPDX-License-Identifier: MIT
set -eu
build=${HEED_BUILD:?a build folder, which holds compile_commands.json}
if ! command -v clang-tidy >/dev/null; then
    echo 'skipped: there is no clang-tidy'
    exit 77
fi
rule=readability-function-cognitive-complexity
found=$(find src cli -name '*.c' | sort | xargs -P 2 -n 8 clang-tidy --quiet -p "$build" \
    --config="{Checks: '-*,$rule', CheckOptions: [{key: $rule.Threshold, value: 15}]}" 2>/dev/null |
    sed -n "s/^\(.*: \)warning: \(function .*\) (threshold 15).*/\1\2, at most 15/p")
[ -z "$found" ] || { printf '%s\n' "$found" && exit 1; }
