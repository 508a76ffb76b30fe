#!/bin/sh
# Lays out C files as .clang-format says: tools/format.sh FILE... (all of ours when none is named).
# SPDX-License-Identifier: MIT
set -eu
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names of sources hold no spaces
    set -- $(find src cli include tests examples -name '*.[ch]' | sort)
fi
clang-format -i "$@"
