#!/bin/sh
# Each header compiles alone: public ones as C11 and as C++17, those of src/ and cli/ as C11; the
# words of a processor, only for it.
# SPDX-License-Identifier: MIT
set -eu
cc=${HEED_CC:-cc}
cxx=$(command -v c++ || command -v clang++ || true)
flags='-Iinclude -Isrc -I. -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
    -Wall -Wextra -Wpedantic -Werror -fsyntax-only'
alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
bad=0
case $($cc -dumpmachine) in
x86_64*) others='kernel/vec_neon.h kernel/vec_neon_ints.h' ;;
aarch64* | arm64*) others='kernel/vec_avx2.h kernel/vec_avx512.h kernel/simd_pairs.h' ;;
*) others='' ;;
esac

try() { # compiler, language, header
    printf '#include "%s"\nextern int heed_not_empty;\n' "$3" >"$alone/x.c"
    # shellcheck disable=SC2086 # flags are several words
    if ! $1 $flags $2 "$alone/x.c"; then
        echo "'$3' does not compile alone ($2)"
        bad=1
    fi
}

for header in $(find src cli include -name '*.h' | sort); do
    name=${header#src/}
    name=${name#include/}
    case " $others " in
    *" $name "*) continue ;;
    esac
    try "$cc" '-x c -std=c11' "$name"
    case $header in
    include/*) [ -z "$cxx" ] || try "$cxx" '-x c++ -std=c++17' "$name" ;;
    esac
done
exit $bad
