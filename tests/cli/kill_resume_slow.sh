#!/bin/sh
# A training killed (kill -9) at 20 random moments and resumed each time ends with the weights and
# the metrics of the one that was left alone, bit for bit. HEED is the command; KILLS and SEED may
# be given.
#
# The recipe has all that a resume could forget: dropout, accumulation, warm-up, validation by
# chrF, a best checkpoint, an average of the last. Moments are even over what is left of the run,
# so that some fall into reading, some into writing, some behind the last update.
# SPDX-License-Identifier: MIT
set -eu
heed=$(cd "$(dirname "${HEED:?the command}")" && pwd)/$(basename "$HEED")
examples=$(pwd)/examples/zh-en
kills=${KILLS:-20}
seed=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset HEED_ISA HEED_DATA

awk 'NR % 13 == 0' "$examples/train.tsv" >pairs.tsv
cat >recipe.yaml <<'RECIPE'
model: {width: 16, heads: 2, feed_forward: 32, encoder_layers: 1, decoder_layers: 1, dropout: 0.1,
        attention_dropout: 0.1, max_positions: 48}
tokenizer: {vocab: 600}
data: {train: pairs.tsv, split_valid: 0.04}
train: {steps: 900, accumulate: 2, batch_tokens: 200, warmup: 100, lr: 0.004, clip: 1,
        valid_every: 120, save_every: 7, log_every: 9, average_last: 3, metric: chrf}
translate: {beam: 2, max_length_extra: 8}
out: {weights: average}
RECIPE

now() { # milliseconds
    echo $(($(date +%s%N) / 1000000))
}
train() { # folder
    exec "$heed" train recipe.yaml "out.folder=$1" --resume -j 2 2>>"$1.log"
}

started=$(now)
(train straight) || { cat straight.log; exit 1; }
whole=$(($(now) - started))
echo "seed $seed; the straight run took $whole ms"

bad=0
compare() { # the killed one with the straight one: weights, metrics, the names of all files
    echo "resumed behind updates$(sed -n 's/^resumed behind update/ /p' killed.log | tr -d '\n')"
    for file in model.safetensors config.json generation_config.json tokenizer.json; do
        cmp "straight/$file" "killed/$file" || bad=1
    done
    for folder in straight killed; do
        grep -v '"speed"' $folder/metrics.jsonl >$folder.metrics
        (cd $folder && find . -type f | sort) >$folder.files
    done
    cmp straight.metrics killed.metrics || bad=1
    diff straight.files killed.files || bad=1
    rm -rf killed killed.log
}

# A leg is killed after a random time of at most twice its share. Where a training gets to its end
# in spite of that, the next leg begins another one.
moments=$(awk -v seed="$seed" -v n=$((20 * kills)) -v most=$((2 * whole / kills)) \
    'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%.3f\n", rand() * (most + 60) / 1000 }')
killed=0
for moment in $moments; do
    (train killed) &
    leg=$!
    sleep "$moment"
    kill -9 $leg 2>/dev/null || true
    status=0
    wait $leg 2>/dev/null || status=$?
    case $status in
    137) killed=$((killed + 1)) ;;
    0) compare ;;
    *)
        echo "status $status:"
        tail -n 3 killed.log
        exit 1
        ;;
    esac
    [ $killed -lt "$kills" ] || break
done
(train killed) || { tail -n 3 killed.log; exit 1; }
compare
echo "$killed kills"
[ $killed -ge "$kills" ] || bad=1
exit $bad
