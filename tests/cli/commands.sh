#!/bin/sh
# What the commands print on good input. HEED is the command.
# SPDX-License-Identifier: MIT
set -eu
heed=$(cd "$(dirname "${HEED:?the command}")" && pwd)/$(basename "$HEED")
golden=$(pwd)/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset HEED_ISA HEED_DATA
bad=0

expect() { # what, wanted, got
    if [ "$2" != "$3" ]; then
        printf '%s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        bad=1
    fi
}
holds() { # what, part, text
    case $3 in
    *"$2"*) ;;
    *)
        printf '%s\n  wanted: ...%s...\n  got:    %s\n' "$1" "$2" "$3"
        bad=1
        ;;
    esac
}

# ---- Help ----

for command in $("$heed" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    holds "help of $command" "usage: heed $command" "$("$heed" "$command" --help)"
    expect "two helps of $command" "$("$heed" "$command" -h)" "$("$heed" help "$command")"
    expect "width of the help of $command" '' "$("$heed" help "$command" | awk 'length > 110')"
done
holds 'the list of commands' translate "$("$heed" help)"
expect 'the version' 'heed 0.1.0' "$("$heed" --version)"
holds 'a command is wanted' usage "$("$heed" 2>&1 || true)"
holds 'the processor' '* ' "$("$heed" cpu --isa ref)"
holds 'the processor as JSON' '"chosen": "ref"' "$(HEED_ISA=ref "$heed" cpu --json)"

# ---- Training ----

printf '%s\t%s\n' 我爱你 'I love you' 我爱中国 'I love China' 你爱我 'you love me' \
    我喝茶 'I drink tea' 你喝水 'you drink water' >pairs.tsv
cat >recipe.yaml <<'RECIPE'
model: {width: 32, heads: 4, feed_forward: 64, encoder_layers: 1, decoder_layers: 1, dropout: 0.0}
tokenizer: {type: char, vocab: 287}
data: {train: pairs.tsv}
train: {steps: 60, batch_tokens: 200, lr: 0.01, warmup: 10, label_smoothing: 0.0}
out: {folder: model}
RECIPE
"$heed" train recipe.yaml --json >train.json 2>train.err || { cat train.err; exit 1; }
holds 'the outlook' '5 pairs' "$(cat train.err)"
holds 'where the model is' "the model is in 'model'" "$(cat train.err)"
expect 'an object for each update' 60 "$(grep -c '"kind": "step"' train.json)"
"$heed" train recipe.yaml --resume 2>again.err || { cat again.err; exit 1; }
holds 'nothing is left to do' 'resumed behind update 60' "$(cat again.err)"

# ---- Translating ----

cut -f 1 pairs.tsv >zh.txt
cut -f 2 pairs.tsv >en.txt
"$heed" translate model zh.txt >out.txt
expect 'what was learnt' "$(cat en.txt)" "$(cat out.txt)"
expect 'from standard input' "$(cat en.txt)" "$("$heed" translate model <zh.txt)"
expect 'three threads' "$(cat en.txt)" "$("$heed" translate model -j 3 - <zh.txt)"
sed 's/$/\r/' zh.txt >windows.txt
expect 'lines that end as on Windows' "$(cat en.txt)" "$("$heed" translate model windows.txt)"
gzip -k zh.txt
expect 'gz' "$(cat en.txt)" "$("$heed" translate model zh.txt.gz)"
printf '\n我爱你\n\n  \n你爱我' | "$heed" translate model >gaps.txt 2>gaps.err
expect 'a line for each line' "$(printf '\nI love you\n\n\nyou love me')" "$(cat gaps.txt)"
holds 'empty lines are told' 'line 1 is empty' "$(cat gaps.err)"
expect 'no input, no output' '' "$("$heed" translate model </dev/null)"
"$heed" translate model zh.txt -b 4 -n 3 --scores >best.txt
expect 'n-best: n lines' 15 "$(grep -c '^-[0-9][.][0-9]' best.txt)"
holds 'JSON' '{"line": 1, "source": "fine", "translations": [{"ids": [' \
    "$("$heed" translate model zh.txt --json)"

if [ -w /dev/full ]; then
    status=0
    "$heed" translate model zh.txt >/dev/full 2>full.err || status=$?
    expect 'results that nobody gets are a failure' 1 "$status"
    holds 'and are told' 'cannot write to standard output' "$(cat full.err)"
    expect 'without success' '' "$(grep -i success full.err || true)"
fi
# On a terminal, which `script` makes: an answer has its line for itself, progress fits one line.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    printf '我爱你\n' | script -qec "\"$heed\" translate model" /dev/null >typed.txt 2>&1 || true
    expect 'an answer to what is typed' 'I love you' "$(tr -d '\r' <typed.txt | grep love)"
    script -qec "stty cols 40; \"$heed\" train recipe.yaml --over >/dev/null" /dev/null \
        </dev/null >wide.txt 2>&1 || true
    holds 'progress' 'update 1/60' "$(cat wide.txt)"
    expect 'progress in 39 columns' '' \
        "$(tr '\r' '\n' <wide.txt | grep '^update [0-9]*/60' | grep -v valid | awk 'length > 39')"
fi

# ---- Tokens that are given ----

printf '[[5, 9, 4, 7, 2], [11, 3, 2]]' >m2m.json
m2m() { "$heed" translate "$golden/m2m_100-beam" --ids m2m.json "$@"; }
expect "the model's first token" '15 15' "$(m2m | cut -d ' ' -f 1 | xargs)"
expect 'another first token' '14 14' "$(m2m --first 14 | cut -d ' ' -f 1 | xargs)"
mbart() { "$heed" translate "$golden/mbart-beam" --ids m2m.json "$@"; }
[ "$(mbart --start 9)" != "$(mbart)" ] || { echo 'the start token changes nothing'; bad=1; }
expect 'no token twice' '' "$(m2m --no-repeat 1 | awk '{ for (i = 1; i <= NF; i++)
    if (seen[NR, $i]++) print }')"

# ---- Token ids ----

"$heed" tokenize model zh.txt --ids >ids.txt
{
    printf '['
    sed 's/ /, /g; s/.*/[&]/' ids.txt | paste -s -d ,
    printf ']'
} >ids.json
expect 'ids in' "$(cat en.txt)" "$("$heed" translate model --ids ids.json)"
expect 'there and back' "$(cat zh.txt)" "$("$heed" tokenize model --decode --no-special <ids.txt)"
holds 'tokens' '▁ 我 爱 你 </s>' "$("$heed" tokenize model zh.txt)"
holds 'offsets' '"offsets": [[0, 3], [0, 3], [3, 6], [6, 9], [0, 0]]' \
    "$("$heed" tokenize model/tokenizer.json --json zh.txt)"
printf '{"id": 7, "text": "\\u6211", "pair": "爱\\n你"}\n' >pair.jsonl
holds 'a pair' '"pair": "爱\n你"' "$("$heed" tokenize model --jsonl --json pair.jsonl)"
holds 'types' '"types": [0, 0, ' "$("$heed" tokenize model --jsonl --json pair.jsonl)"
holds 'stages' 'pre_tokenizer Metaspace: "▁我爱你"' "$("$heed" tokenize model --explain zh.txt)"
printf '{"text": 7}\n' >number.jsonl
holds 'no string' 'line 1: "text" or "pair" is no string' \
    "$("$heed" tokenize model --jsonl number.jsonl 2>&1 || true)"

# ---- Measuring ----

holds 'BLEU' 'BLEU|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0 = ' \
    "$("$heed" eval model --source zh.txt --target en.txt -lc -o hyp.txt --loss 2>/dev/null)"
expect 'the translations' "$(cat en.txt)" "$(cat hyp.txt)"
holds 'chrF' 'chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 100.00' \
    "$("$heed" eval --hyp hyp.txt --ref en.txt)"
holds 'a comparison' '"bleu_against": {"score":' \
    "$("$heed" eval --hyp hyp.txt --ref en.txt --against zh.txt --json)"

# ---- Continuing ----

gguf=$golden/gguf-models/llama.gguf
echo '[[1], [1, 5, 9]]' >prompts.json
first=$("$heed" generate "$golden/families/llama" --ids prompts.json --json -n 3 | head -1)
holds 'a continuation' '{"prompt_ids": [1], "ids": [' "$first"
holds 'how it ended' '"ended": "length"}' "$first"
# Sums in another order: q and k lie otherwise in GGUF.
expect 'the same ids from GGUF' "${first%%, \"log_prob*}" "$("$heed" generate "$gguf" \
    --ids prompts.json --json -n 3 | sed -n '1s/, "log_prob.*//p')"
expect 'ids, one a line' 6 "$("$heed" generate "$gguf" --ids prompts.json -n 3 | wc -l)"
expect 'without a prompt it begins with the first token' "$first" \
    "$("$heed" generate "$golden/families/llama" --json -n 3)"
echo '[[1, 5, 9, 3]]' >one.json
holds 'no difference' 'the same within 0.0001: ' \
    "$("$heed" diff "$golden/families/llama" "$gguf" --ids one.json)"
holds 'the first difference' 'decoder.hidden.0 (4,16): ' \
    "$("$heed" diff "$golden/families/llama" "$golden/families/qwen3" --ids one.json || true)"
holds 'a difference as JSON' '{"same": false, "first": {"path": "decoder.hidden.0", ' \
    "$("$heed" diff --json "$golden/families/llama" "$golden/families/qwen3" --ids one.json ||
        true)"
status=0
"$heed" diff "$golden/families/llama" "$golden/families/bert-model" --ids one.json >other.txt ||
    status=$?
expect 'nothing in common is not the same' 1 "$status"
holds 'nothing in common' 'nothing to compare' "$(cat other.txt)"

# ---- A text's perplexity; a model of llama2.c ----

cp -r "$golden/families/llama" decoder
cp "$golden/embed/last/tokenizer.json" decoder
yes 'the sun sings and we walk home' | head -n 20 >long.txt
"$heed" eval decoder --text long.txt >likely.txt 2>likely.err
holds 'a perplexity' 'perplexity = ' "$(cat likely.txt)"
expect 'in windows of what the model has' "$(cat likely.txt)" \
    "$("$heed" eval decoder --text long.txt --window 32 2>>likely.err)"
expect 'nothing to say of them' 0 "$(grep -c heed: likely.err || true)"
"$heed" eval decoder --text long.txt --window 64 >/dev/null 2>likely.err
holds 'more than it was made for' 'a window of 64 is more than the 32 positions' "$(cat likely.err)"
mkdir stories
cp "$golden/../fuzz/corpus/llama2c/legacy" stories/small.bin
cp "$golden/vocab/folders/llama2c/tokenizer.bin" stories
expect 'the vocabulary beside a model' "$("$heed" tokenize stories/tokenizer.bin long.txt)" \
    "$("$heed" tokenize stories/small.bin long.txt)"

# ---- Converting ----

"$heed" convert "$golden/families/llama" llama.gguf 2>convert.log
holds 'what is left out' 'there is no tokenizer' "$(cat convert.log)"
"$heed" convert llama.gguf llama --type bf16
holds 'a type' '"dtype": "bfloat16"' "$(cat llama/config.json)"
expect 'what is there is left alone' 1 \
    "$("$heed" convert llama.gguf llama --to safetensors 2>there.err || echo $?)"
holds 'what to do' "'llama' holds files of a model already" "$(cat there.err)"
echo 'of another model' >llama/merges.txt
"$heed" convert llama.gguf llama --to safetensors --over
expect 'nothing of the old one' no "$(test -e llama/merges.txt && echo yes || echo no)"
expect 'there and back' "$first" \
    "$("$heed" generate llama --ids prompts.json --json -n 3 | head -1)"
mkdir alone
cp llama.gguf alone
holds 'a token that is not there' 'tokens.unk                   none' "$("$heed" info llama)"
holds 'a folder of one GGUF file' "'alone/llama.gguf': the file has no vocabulary" \
    "$("$heed" tokenize alone zh.txt 2>&1 || true)"
cp -r "$golden/families/llama" chatty
printf '{"chat_template": [%s, %s]}' '{"name": "tool_use", "template": "A"}' \
    '{"name": "default", "template": "B"}' >chatty/tokenizer_config.json
"$heed" convert chatty chatty.gguf 2>/dev/null
holds 'a chat template of several' 'settings.tokenizer.chat_template             B' \
    "$("$heed" info chatty.gguf)"
"$heed" convert model copy
expect 'a folder stays what it is' "$(cat model/tokenizer.json)" "$(cat copy/tokenizer.json)"
expect 'bit for bit' "$(cksum <model/model.safetensors)" "$(cksum <copy/model.safetensors)"
printf 'the sun sings\nwe walk home\n' >walk.txt
"$heed" convert "$golden/embed/t5-dense" dense
expect 'modules go with it' "$("$heed" embed "$golden/embed/t5-dense" walk.txt)" \
    "$("$heed" embed dense walk.txt)"

# ---- Looking ----

holds 'what a model is' 'encoder.width                32' "$("$heed" info model)"
holds 'what a GGUF file is' 'settings.a.text                              我爱中国' \
    "$("$heed" info "$golden/gguf/types.gguf")"
holds 'its tensors' ' F32 (2,3,5)' "$("$heed" info "$golden/gguf/types.gguf")"
holds 'what a safetensors file is' 'I64 (2,2)' "$("$heed" info "$golden/torch/same.safetensors")"
holds 'what torch.save wrote' '"format": "torch"' "$("$heed" info "$golden/torch/zip.bin" --json)"
holds 'what a model in GGUF is' '"positions": "rope_interleaved"' \
    "$(mkdir -p gguf && cp "$gguf" gguf && "$heed" info gguf --json)"
holds 'what a model is, as JSON' '"width": 32' "$("$heed" info model --json)"
holds 'memory of a translation' 'together' "$("$heed" plan model)"
holds 'memory of a training' '"moments": ' "$("$heed" plan recipe.yaml --json)"
holds 'a heat map' '我爱你 → I love you' "$("$heed" view model 我爱你)"
"$heed" view model 我爱你 --html page.html
holds 'a page' '<h1>我爱你</h1>' "$(cat page.html)"
"$heed" trace "$golden/marian-a" --input "$golden/marian-a/in.safetensors" --output trace.st
holds 'a trace' '"logits":{"dtype":"F32","shape":[3,6,50]' \
    "$(LC_ALL=C head -c 2000 trace.st | tr -d '\0')"

# ---- Embedding ----

printf 'the sun sings\nwe walk home\nthe sun sings\n' >say.txt
"$heed" embed "$golden/embed/max" say.txt --similarity >cosines.txt
expect 'a row for each line' 4 "$(grep -c . cosines.txt)"
holds 'the same line' '1.0000' "$(sed -n 2p cosines.txt | cut -c 24-31)"
"$heed" embed "$golden/embed/max" say.txt >vectors.txt
expect 'numbers' '8 8 8' "$(awk '{ print NF }' vectors.txt | xargs)"
expect 'the same vector' "$(sed -n 1p vectors.txt)" "$(sed -n 3p vectors.txt)"
holds 'JSON' '{"line": 2, "tokens": 5, "dropped": 0, "windows": 1, "embedding": [' \
    "$("$heed" embed "$golden/embed/max" say.txt --json | sed -n 2p)"
"$heed" embed "$golden/embed/max" say.txt -o vectors.npy
expect 'bytes of a matrix' 224 "$(wc -c <vectors.npy | tr -d ' ')"
holds 'its head' "'shape': (3, 8)" "$(head -n 1 vectors.npy | LC_ALL=C tr -d '\0\1\223')"
"$heed" embed "$golden/embed/max" say.txt --max-tokens 4 >/dev/null 2>cut.err
holds 'what was cut' 'in all 3 tokens of 3 lines were dropped' "$(cat cut.err)"

# ---- Measuring ----

"$heed" bench --only product/1x,forward-causal --type f32 --seconds 0 -j 2 >bench.txt
holds 'the ceilings' 'multiply-adds, Gop/s: f32' "$(sed -n 1p bench.txt)"
holds 'a line' 'product/1x3072x768' "$(sed -n 4p bench.txt)"
holds 'the same as JSON' '{"line": "ceiling", "isa": "' \
    "$("$heed" bench --only train/char-128 --seconds 0 --json)"
expect 'the lines of a word' 2 "$("$heed" bench --list --only prefill --type f32 | grep -c .)"
expect 'a line where a size grows' 'grow/batch/4 f32 ms' \
    "$("$heed" bench --list --only grow/batch/4 | xargs)"
holds 'what attention takes' '"kept": 7342096' \
    "$(: | "$heed" bench --serve grow/attention-both/512 | sed 's/.*"memory"/"memory"/')"
served=$(printf 'run\nrun\n' | "$heed" bench --serve train/char-128/12x64)
holds 'what a run costs' '{"operations": ' "$(printf '%s\n' "$served" | sed -n 1p)"
expect 'seconds, one for each request' 3 "$(printf '%s\n' "$served" | grep -c .)"

exit $bad
