#!/bin/sh
# setup.sh: everything from a fresh clone, on a machine that may have nothing but a shell.
#
#   ./setup.sh build      the command, at build/release/heed
#   ./setup.sh demo       trains Chinese to English from nothing, translates, draws the attention
#   ./setup.sh test       every test: as released, under sanitizers, with the reference kernels
#   ./setup.sh test all   those, and what takes longer: other compilers, threads, complexity, Arm
#   ./setup.sh test arm   what is built for 64-bit Arm, run by qemu where this is another machine
#   ./setup.sh bench      what this machine reaches
#
# Installs what is missing where apt-get is (as root, or through sudo).

# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")"

# The one list of what is needed, by its Debian names.
BUILD='gcc libc6-dev cmake ninja-build pkg-config libjansson-dev libutf8proc-dev libpcre2-dev
    libyaml-dev zlib1g-dev'
TEST='g++ libcmocka-dev libsimde-dev'
TEST_ALL='clang clang-tidy libclang-rt-14-dev shellcheck'

ARM='gcc-aarch64-linux-gnu qemu-user libc6-dev:arm64 libcmocka-dev:arm64 zlib1g-dev:arm64
    libjansson-dev:arm64 libutf8proc-dev:arm64 libpcre2-dev:arm64 libyaml-dev:arm64'

HEED=build/release/heed
LOGS=build/logs

say() { printf '%s\n' "$*" >&2; }

# Runs a command with its output in build/logs/NAME; shows the end of it when the command fails.
quietly() { # name, command...
    log=$LOGS/$1
    shift
    mkdir -p "$LOGS"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        say "setup.sh: '$*' failed; all of its output is in $log"
        exit 1
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

need() { # package...
    if ! command -v apt-get >/dev/null; then
        say "setup.sh: there is no apt-get here; this needs what Debian calls $*"
        return
    fi
    missing=
    own=$(dpkg --print-architecture) # a package may be there for other machines too
    for package in "$@"; do
        dpkg-query -W -f '${Architecture} ${Status}\n' "$package" 2>/dev/null |
            grep -qE "^($own|all) install ok installed" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    say "installing:$missing"
    quietly apt-update as_root apt-get update
    # shellcheck disable=SC2086 # one argument for each package
    quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing
}

# Configures and builds a preset of CMakePresets.json.
build() { # preset, option of cmake...
    preset=$1
    shift
    say "building: $preset"
    quietly "configure-$preset" cmake --preset "$preset" "$@"
    quietly "build-$preset" cmake --build --preset "$preset"
}

build_command() {
    # shellcheck disable=SC2086
    need $BUILD
    build release -DHEED_TESTS=OFF
}

# Trains from nothing, then lets the model show sentences that it never saw.
demo() {
    build_command
    "$HEED" train recipes/zh-en.yaml
    mkdir -p out
    head -n 12 examples/zh-en/heldout.tsv >out/shown.tsv
    cut -f 1 out/shown.tsv | "$HEED" translate out/zh-en >out/shown.en
    "$HEED" view out/zh-en '我爱中国' --html out/attention.html
    echo
    echo 'sentences that were held out, with the reference in brackets:'
    paste out/shown.tsv out/shown.en | awk -F '\t' '{ printf "  %s → %s   (%s)\n", $1, $3, $2 }'
    echo
    echo 'what the model looks at while it translates: out/attention.html'
    printf '我爱中国 → '
    echo '我爱中国' | "$HEED" translate out/zh-en
}

run_tests() { # preset, argument of ctest...
    preset=$1
    shift
    say "testing: $preset $*"
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

test_all() { # nothing, or "all"
    # shellcheck disable=SC2086
    need $BUILD $TEST
    build release -DHEED_TESTS=ON "-DHEED_WERROR=${HEED_WERROR:-OFF}"
    run_tests release
    HEED_ISA=ref run_tests release -L 'kernel|op|graph|block|model|generate' -LE slow
    build dev "-DHEED_WERROR=${HEED_WERROR:-OFF}"
    run_tests dev -LE slow
    [ "${1:-}" = all ] || return 0
    # shellcheck disable=SC2086
    need $TEST_ALL
    build tsan
    run_tests tsan -L 'base|graph|data|train|whole' -LE slow
    build ref
    run_tests ref -LE 'slow|house'
    say 'building with clang'
    quietly configure-clang cmake -S . -B build/clang -G Ninja -DCMAKE_C_COMPILER=clang \
        "-DHEED_WERROR=${HEED_WERROR:-OFF}"
    quietly build-clang cmake --build build/clang
    run_tests clang -LE slow
    shellcheck -s sh setup.sh .ci/run tools/*.sh tests/*/*.sh
    if "${PYTHON:-python3}" -c 'import torch, transformers' 2>/dev/null; then
        say 'opening trained models in transformers'
        "${PYTHON:-python3}" tools/check_transformers.py --heed "$HEED"
    else
        say 'skipped tools/check_transformers.py: it wants the packages of bench/requirements.txt'
    fi
    test_arm
}

# The kernels, what stands on them and whole trainings, in the emulator. On Arm itself the other
# tests are these.
test_arm() {
    case $(uname -m) in
    aarch64 | arm64)
        say 'skipped the build for 64-bit Arm: this machine is one'
        return
        ;;
    esac
    if command -v dpkg >/dev/null && ! dpkg --print-foreign-architectures | grep -qx arm64; then
        as_root dpkg --add-architecture arm64
    fi
    # shellcheck disable=SC2086
    need $BUILD $ARM
    build arm "-DHEED_WERROR=${HEED_WERROR:-OFF}"
    run_tests arm -L 'kernel|op|graph|block|model|generate|look|whole' -LE slow
}

case ${1:-help} in
build) build_command && say "built: $HEED" ;;
demo) demo ;;
test)
    if [ "${2:-}" = arm ]; then test_arm; else test_all "${2:-}"; fi
    ;;
bench)
    build_command
    quietly build-bench cmake --build --preset release --target heed
    exec build/release/heed bench
    ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
    [ "${1:-help}" = help ] || exit 2
    ;;
esac
