#!/bin/sh
# What is installed is enough: a C program outside the tree builds and runs with pkg-config and with
# find_package, against the shared library and against the static one.
# SPDX-License-Identifier: MIT
set -eu
build=${HEED_BUILD:?build folder}
cc=${HEED_CC:-cc}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root/usr" >/dev/null
libdir=$(dirname "$(find "$root/usr" -name libheed.a)")

cat >"$root/main.c" <<'END'
#include <heed.h>
#include <heed_build.h>
#include <heed_ops.h>
#include <stdio.h>

int main(void) {
    heed_error err = {0};
    heed_weights *w = heed_weights_new(NULL, &err);
    printf("%s\n", w ? heed_code_name(err.code) : err.text);
    heed_weights_free(w);
    return 0;
}
END

expect_ok() { # what, program
    said=$(LD_LIBRARY_PATH=$libdir "$2")
    [ "$said" = OK ] || { echo "$1: '$2' said '$said'" && exit 1; }
}

# The file names the prefix it was configured for; the sysroot takes us to where it lies now.
export PKG_CONFIG_PATH="$libdir/pkgconfig"
prefix="--define-variable=includedir=$root/usr/include --define-variable=libdir=$libdir"
# shellcheck disable=SC2046,SC2086 # flags are several words
"$cc" "$root/main.c" $(pkg-config $prefix --cflags --libs heed) -o "$root/by_pkg_config"
expect_ok pkg-config "$root/by_pkg_config"
# shellcheck disable=SC2046,SC2086
"$cc" "$root/main.c" $(pkg-config $prefix --cflags heed) "$libdir/libheed.a" \
    $(pkg-config $prefix --static --libs heed | sed 's/-lheed//') -o "$root/by_archive"
expect_ok 'pkg-config --static' "$root/by_archive"

cat >"$root/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(outside C)
find_package(heed REQUIRED)
add_executable(by_cmake main.c)
target_link_libraries(by_cmake heed::heed)
add_executable(by_cmake_static main.c)
target_link_libraries(by_cmake_static heed::static)
END
{ cmake -S "$root" -B "$root/b" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_C_COMPILER="$cc" &&
    cmake --build "$root/b"; } >"$root/log" 2>&1 || { cat "$root/log" && exit 1; }
expect_ok find_package "$root/b/by_cmake"
expect_ok 'find_package, static' "$root/b/by_cmake_static"
