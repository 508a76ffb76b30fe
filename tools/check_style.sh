#!/bin/sh
# Width, length, head and licence of every source file.  SPDX-License-Identifier: MIT
set -eu
files=$(find src cli include tests tools bench lab examples setup.sh .ci CMakeLists.txt \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.awk' -o -name '*.py' -o -name '*.cmake' \
    -o -name CMakeLists.txt -o -path '.ci/run' \) \
    -not -path 'tests/golden/*' -not -path '*/__pycache__/*' 2>/dev/null | sort)
# shellcheck disable=SC2086 # names of sources hold no spaces
LC_ALL=C awk -v longest=400 -f tools/check_style.awk $files
