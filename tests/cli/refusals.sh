#!/bin/sh
# Bad input of every kind: each case of refusals.txt has its status and the first line of error.
#
# Makes a tiny model, then damaged copies of it, in a folder of its own; cases run there, so that
# paths in errors are short. HEED is the command; REFUSALS=print shows what comes out instead.
# SPDX-License-Identifier: MIT
set -eu
heed=$(cd "$(dirname "${HEED:?the command}")" && pwd)/$(basename "$HEED")
root=$(pwd)
golden=$root/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset HEED_ISA HEED_DATA

# ---- A model, and what it learns from ----

printf '%s\t%s\n' 我爱你 'I love you' \
    我爱中国 'I love China' \
    你爱我 'you love me' \
    他爱茶 'he loves tea' \
    我喝茶 'I drink tea' \
    你喝水 'you drink water' \
    他喝水 'he drinks water' \
    我看书 'I read books' >pairs.tsv
cat >recipe.yaml <<'RECIPE'
model: {width: 16, heads: 2, feed_forward: 16, encoder_layers: 1, decoder_layers: 1}
tokenizer: {type: char, vocab: 292}
data: {train: pairs.tsv}
train: {steps: 2, batch_tokens: 64, warmup: 1}
translate: {beam: 2}
out: {folder: model}
RECIPE
"$heed" train recipe.yaml model.max_positions=24 data.max_source=24 data.max_target=24 \
    2>train.log || { cat train.log; exit 1; }
cut -f 1 pairs.tsv >zh.txt
cut -f 2 pairs.tsv >en.txt

# ---- Damage ----

copy() { # name
    cp -r model "$1"
    rm -rf "$1/checkpoints"
}
change() { # name, file of the model, expression of sed
    copy "$1"
    LC_ALL=C sed -i "$3" "$1/$2"
}
renamed() { # file, from, to (as long): a golden input under other names
    LC_ALL=C sed "s/\"$2\"/\"$3\"/" "$golden/marian-a/in.safetensors" >"$1"
}

head -n 7 en.txt >seven.txt
gzip -c zh.txt >zh.txt.gz
cp "$root/tests/fuzz/corpus/llama2c/legacy" small.bin
: >empty.txt
printf 'good\nb\377d\n' >latin.txt
printf 'good\n\303(' >cut_utf8.txt
printf '\037\213\010\000\000\000' >cut.txt.gz
printf 'one column\n' >one.tsv
printf 'a\tb\nno tab here\n' >ragged.tsv
mkdir folder
mkdir lr=1 && printf 'model: {width: wide}\n' >lr=1/recipe.yaml
change no_config config.json '' && rm no_config/config.json
change bad_json config.json 's/{/{,/'
change not_object config.json '1,$d' && echo '[1]' >not_object/config.json
change other_type config.json 's/"model_type": "[a-z]*"/"model_type": "perceptron"/'
change no_type config.json '/"model_type"/d'
change no_width config.json '/"d_model"/d'
change text_width config.json 's/"d_model": 16/"d_model": "16"/'
change other_width config.json 's/"d_model": 16/"d_model": 18/'
change odd_heads config.json 's/"encoder_attention_heads": 2/"encoder_attention_heads": 3/'
change strange_key config.json 's/"d_model"/"rope_theta": 1, "d_model"/'
change strange_act config.json 's/"activation_function": "[a-z]*"/"activation_function": "wave"/'
change far_pad config.json 's/"pad_token_id": [0-9]*/"pad_token_id": 9999/'
LC_ALL=C sed -i 's/"pad_token_id": [0-9]*/"pad_token_id": 9999/' far_pad/generation_config.json
change zero_layers config.json 's/"encoder_layers": 1/"encoder_layers": 0/'
change huge_positions config.json \
    's/"max_position_embeddings": 24/"max_position_embeddings": 999999999/'
change huge_width config.json 's/"d_model": 16/"d_model": 99999999999/'
change other_vocab config.json 's/"vocab_size": [0-9]*/"vocab_size": 7/'
copy no_weights && rm no_weights/model.safetensors
copy pickle && rm pickle/model.safetensors
cp "$golden/torch/evil.bin" pickle/pytorch_model.bin
head -c 400 "$golden/gguf/types.gguf" >cut.gguf
copy short_weights
head -c 3000 model/model.safetensors >short_weights/model.safetensors
copy empty_weights && : >empty_weights/model.safetensors
copy no_header && printf 'hello, I am no safetensors file' >no_header/model.safetensors
copy long_header
printf '\377\377\377\377\377\377\377\177{}' >long_header/model.safetensors
copy open_header
printf '\010\000\000\000\000\000\000\000{"a": 1 ' >open_header/model.safetensors
change missing_tensor model.safetensors 's/fc1.weight/fcX.weight/'
change bad_tokenizer tokenizer.json 's/"model"/"modul"/'
change open_tokenizer tokenizer.json '$d'
change strange_model tokenizer.json 's/"type": *"BPE"/"type": "WordPeace"/
    s/"type": *"WordLevel"/"type": "WordPeace"/'
copy no_tokenizer && rm no_tokenizer/tokenizer.json
copy strange_shard && rm strange_shard/model.safetensors
echo '{"weight_map": {"a": "../model.safetensors"}}' >strange_shard/model.safetensors.index.json
copy pipe_config && rm pipe_config/config.json && mkfifo pipe_config/config.json
copy pipe_weights && rm pipe_weights/model.safetensors && mkfifo pipe_weights/model.safetensors
mkfifo pipe
copy folder_weights && rm folder_weights/model.safetensors && mkdir folder_weights/model.safetensors
copy lost_weights && rm lost_weights/model.safetensors
ln -s nowhere lost_weights/model.safetensors
copy lost_generation && rm -f lost_generation/generation_config.json
ln -s nowhere lost_generation/generation_config.json
cp -r "$golden/embed/mean" lost_modules && rm lost_modules/modules.json
ln -s nowhere lost_modules/modules.json
cp -r "$golden/embed/mean" odd_pooling && printf '{"a\351": 1}' >odd_pooling/1_Pooling/config.json
iconv_16() { printf '\377\376' && sed 's/./&\000/g; s/$/\000/' "$1"; }
copy wide_config && iconv_16 model/config.json >wide_config/config.json
change many_layers config.json 's/"decoder_layers": 1/"decoder_layers": 1000000000/'
change huge_vocab config.json 's/"vocab_size": [0-9]*/"vocab_size": 1099511627776/'
echo '[[1, 2], [3' >open.json
echo '{"ids": [1]}' >object.json
echo '[[1, 2], 3]' >flat.json
echo '[[1, "two"]]' >words.json
echo '[[1, 2], [9999]]' >far.json
echo '[[1, -2]]' >negative.json
echo '[]' >no_lists.json
renamed no_ids.st input_ids input_idz
renamed no_target.st labels lebals
LC_ALL=C sed 's/"labels"/"lebals"/' "$golden/marian-b/in.safetensors" >no_labels.st
printf 'model: {width: 16\n' >open.yaml
printf 'model:\n\twidth: 16\n' >tab.yaml
printf 'model:\n  widht: 16\n' >unknown.yaml
printf 'modle:\n  width: 16\n' >section.yaml
printf 'model:\n  width: wide\n' >word.yaml
printf 'model:\n  width: 0\n' >zero.yaml
printf 'model:\n  width: 16\n  width: 32\n' >twice.yaml
printf 'model: &a {width: 16}\ndata: *a\n' >alias.yaml
printf 'model: {width: 16, heads: 3}\ndata: {train: pairs.tsv}\nout: {folder: new}\n' >heads.yaml
printf 'data: {train_source: zh.txt, train_target: seven.txt}\nout: {folder: new}\n' >lines.yaml
printf 'data: {train_source: zh.txt}\nout: {folder: new}\n' >half.yaml
printf 'data: {train: missing.tsv}\nout: {folder: new}\n' >gone.yaml
printf 'data: {train: empty.txt}\nout: {folder: new}\n' >nothing.yaml
printf 'data: {train: ragged.tsv}\nout: {folder: new}\n' >ragged.yaml
printf 'data: {train: latin.txt}\nout: {folder: new}\n' >latin.yaml
printf 'data: {train: "${HEED_DATA}/x.tsv"}\nout: {folder: new}\n' >variable.yaml
printf 'model: {family: marian, positions: rope}\ndata: {train: pairs.tsv}\n' >family.yaml
printf 'tokenizer: {vocab: 12}\ndata: {train: pairs.tsv}\nout: {folder: new}\n' >vocab.yaml
printf 'train: {schedule: sometimes}\ndata: {train: pairs.tsv}\n' >choice.yaml
printf 'train: {lr: -1}\ndata: {train: pairs.tsv}\n' >negative.yaml
printf '{"t": "a"}\n{"t": "b"\n' >torn.jsonl
printf '{"t": "a"}\n{"s": "b"}\n' >other.jsonl
lm() { # name, keys of data, more of the recipe
    printf 'data: {%s}\ntrain: {context: 8, batch_tokens: 16, steps: 2, warmup: 1}\n%s\n' \
        "$2" "$3" >"$1.yaml"
}
small='model: {width: 16, heads: 2, layers: 1}
tokenizer: {type: char, vocab: 40}
out: {folder: new}'
lm lm_gone 'text: missing.txt' "$small"
lm lm_empty 'text: empty.txt' "$small"
lm lm_latin 'text: latin.txt' "$small"
lm lm_torn 'text: torn.jsonl, text_column: t' "$small"
lm lm_member 'text: other.jsonl, text_column: t' "$small"
lm lm_match "text: en.txt, match: '(a'" "$small"
lm lm_short 'text: one.tsv, join: true' "$small"
lm lm_both 'text: en.txt, train: pairs.tsv' "$small"
lm lm_fine 'text: en.txt' "$small"
lm lm_from 'text: en.txt' 'model: {from: model}
out: {folder: new}'
printf 'train: {steps: 1.5}\ndata: {train: pairs.tsv}\n' >fraction.yaml

# ---- The cases ----

# The golden folder has another path everywhere, and how much memory it is does not matter here.
tidy() { sed "s#$golden#GOLDEN#g; s/[0-9.]* MiB/N MiB/g"; }

bad=0 count=0
run() { # arguments as one line
    status=0
    # shellcheck disable=SC2086 # the line is a command line
    eval "\"$heed\" $1" <zh.txt >out 2>err || status=$?
    tidy <err | head -n 1 >line
}
while IFS= read -r command; do
    case $command in
    '' | '#'*) continue ;;
    esac
    IFS= read -r wanted_status
    IFS= read -r wanted_line
    run "$command"
    count=$((count + 1))
    if [ "${REFUSALS:-}" = print ]; then
        printf '%s\n%s\n%s\n\n' "$command" "$status" "$(cat line)"
    elif [ "$status" != "$wanted_status" ] || [ "$(cat line)" != "$wanted_line" ]; then
        printf 'heed %s\n  wanted %s: %s\n  got    %s: %s\n' "$command" "$wanted_status" \
            "$wanted_line" "$status" "$(cat line)"
        bad=1
    fi
done <"$root/tests/cli/refusals.txt"
echo "$count cases"
[ "$count" -ge 60 ] || bad=1
exit $bad
