#!/bin/sh
# What `heed plan` says against what the process really takes (VmHWM of Linux, polled), for some
# trainings and translations. The process alone, with its libraries, is shown first: a plan does not
# count it.
#   sh bench/memory.sh [HEED]
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
heed=${1:-build/release/heed}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cut -f 1 examples/zh-en/train.tsv | head -n 600 >"$work/zh"

peak() { # command...: its VmHWM in kB
    "$@" >"$work/out" 2>"$work/err" &
    process=$!
    most=0
    while line=$(grep VmHWM "/proc/$process/status" 2>/dev/null); do
        line=${line%kB}
        most=${line##*[!0-9 ]}
        sleep 0.01
    done
    wait $process || { cat "$work/err" >&2; exit 1; }
    echo $((most))
}
alone=$(peak "$heed" cpu)
printf '%-44s %9s MiB\n' 'the process alone' "$(awk "BEGIN { printf \"%.1f\", $alone / 1024 }")"

compare() { # what, bytes said, kB taken
    awk -v what="$1" -v said="$2" -v took="$3" -v alone="$alone" 'BEGIN {
        said /= 1048576; took /= 1024; alone /= 1024
        printf "%-44s said %7.1f MiB, took %7.1f: %+.1f %%, without the process alone %+.1f %%\n",
            what, said, took, 100 * (took / said - 1), 100 * ((took - alone) / said - 1)
    }'
}
total() {
    "$heed" plan "$@" --json 2>/dev/null | sed 's/.*"total": \([0-9]*\).*/\1/'
}
training() { # what, setting...
    what=$1
    shift
    set -- recipes/zh-en.yaml "out.folder=$work/model" train.steps=4 train.warmup=2 "$@"
    compare "$what" "$(total "$@")" "$(peak "$heed" train "$@" --over)"
}
translating() { # what, option...
    what=$1
    shift
    compare "$what" "$(total "$work/model" "$@")" \
        "$(peak "$heed" translate "$work/model" "$work/zh" "$@")"
}

training 'training as recipes/zh-en.yaml'
translating '  translating with it, beam 4'
training 'training, width 256, 4096 tokens' model.width=256 model.feed_forward=1024 \
    train.batch_tokens=4096
translating '  translating with it, beam 5' --beam 5
translating '  translating with it, greedy' --beam 1
training 'training, width 256, values computed again' model.width=256 model.feed_forward=1024 \
    train.batch_tokens=4096 train.recompute=true
training 'training, width 512, 6 + 6 layers' model.width=512 model.heads=8 model.feed_forward=2048 \
    model.encoder_layers=6 model.decoder_layers=6 train.batch_tokens=512
