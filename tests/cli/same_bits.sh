#!/bin/sh
# The same bits, on each instruction set: a training and its translations for one, two and three
# threads; a sentence alone, among others in any order, in batches of any size. HEED is the command.
# (That the cache changes no bit is shown in tests/generate/same_bits.c.)
# SPDX-License-Identifier: MIT
set -eu
heed=$(cd "$(dirname "${HEED:?the command}")" && pwd)/$(basename "$HEED")
examples=$(pwd)/examples/zh-en
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset HEED_ISA HEED_DATA
bad=0

same() { # what, file, other
    if ! cmp -s "$2" "$3"; then
        echo "$1: '$2' and '$3' differ"
        bad=1
    fi
}

# Long enough for several batches, wide enough for work to be shared out; columns that no vector
# fills.
head -n 400 "$examples/train.tsv" >pairs.tsv
cut -f 1 "$examples/heldout.tsv" | head -n 12 >zh.txt
cat >recipe.yaml <<'RECIPE'
model: {width: 60, heads: 5, feed_forward: 108, encoder_layers: 1, decoder_layers: 1,
        attention_dropout: 0.1, activation_dropout: 0.1, max_positions: 64}
tokenizer: {vocab: 597}
data: {train: pairs.tsv, split_valid: 0.05}
train: {steps: 4, accumulate: 2, batch_tokens: 400, warmup: 2, lr: 0.004, clip: 1, log_every: 1}
out: {weights: last}
RECIPE

train() { # folder, argument...
    folder=$1
    shift
    "$heed" train recipe.yaml "out.folder=$folder" "$@" 2>"$folder.log" || {
        cat "$folder.log"
        exit 1
    }
    grep -v '"speed"' "$folder/metrics.jsonl" >"$folder.metrics"
}
translate() { # output, argument...
    output=$1
    shift
    "$heed" translate "$model" --json --beam 3 --n-best 2 --max-length 16 "$@" >"$output"
}

for isa in ref avx2 avx512 neon; do
    "$heed" cpu | grep -q "$isa  *\\(usable\\|chosen\\)" || continue
    export HEED_ISA=$isa
    positions='pre post'
    [ $isa != ref ] || positions=post # it is slow, under a sanitizer very much so
    for position in $positions; do
        model=$isa-$position-1
        for threads in 1 2 3; do
            train "$isa-$position-$threads" -j $threads "model.norm_position=$position"
        done
        for threads in 2 3; do
            same "training on $isa, threads" "$model/model.safetensors" \
                "$isa-$position-$threads/model.safetensors"
            same "metrics on $isa, threads" "$model.metrics" "$isa-$position-$threads.metrics"
        done
        translate all.json -j 1 zh.txt
        for threads in 2 3; do
            translate threads.json -j $threads zh.txt
            same "translating on $isa with $threads threads" all.json threads.json
        done
        for tokens in 1 33; do
            translate batch.json --batch-tokens $tokens zh.txt
            same "translating on $isa, $tokens tokens at once" all.json batch.json
        done
        sed 's/^{"line": [0-9]*, //' all.json >answers.txt
        sed '1!G;h;$!d' zh.txt >turned.txt
        translate turned.json turned.txt
        sed 's/^{"line": [0-9]*, //; 1!G; h; $!d' turned.json >answers-turned.txt
        same "translating on $isa, the other way round" answers.txt answers-turned.txt
        for line in 1 7; do
            sed -n "${line}p" zh.txt >one.txt
            translate one.json one.txt
            sed 's/^{"line": [0-9]*, //' one.json >one-answer.txt
            sed -n "${line}p" answers.txt >its-answer.txt
            same "line $line alone on $isa" its-answer.txt one-answer.txt
        done
    done
    echo "compared on $isa"
done
[ "$(sort -u answers.txt | wc -l)" -gt 3 ] || { echo 'all answers are the same one'; bad=1; }
exit $bad
