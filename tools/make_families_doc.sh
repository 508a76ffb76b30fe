#!/bin/sh
# docs/families.md from the list of families, their sources and the goldens:
#   sh tools/make_families_doc.sh > docs/families.md
#
# A family's classes are the rows of its table of architectures. A class counts as compared where a
# golden folder's config.json names it: forward and gradients by what out.safetensors holds,
# generation by generate.json.
# SPDX-License-Identifier: MIT
set -eu
cat <<'END'
# Families

What opens, and what of it the tests compare with transformers 5.24, number by number. Made by
`tools/make_families_doc.sh` from `src/model/families.def`, the families' files and the goldens;
change those. How to add one: [adding.md](adding.md).

- **forward**: models whose logits or last rows, hidden states and attention weights are compared,
  within 1e-4
- **gradients**: models whose gradients are compared, for every weight, within 1e-3 of the largest
  in its tensor
- **generation**: models whose greedy and beam searches give the ids of `generate`

Every key of `config.json` and `generation_config.json` is used, harmless, or refused by its name.

| family | class in transformers | forward | gradients | generation |
|---|---|---|---|---|
END
list=$(sed -n 's/^HEED_FAMILY(\(.*\))$/\1/p' src/model/families.def)
goldens=$(ls tests/golden/families/*/config.json tests/golden/*/config.json 2>/dev/null)
# shellcheck disable=SC2086
for family in $list; do
    # Names of the quotes behind "architectures[] = {" up to the next "{0}".
    classes=$(awk '/heed_architecture [a-z_]*\[\] =/ { on = 1 }
                   on { line = $0
                        while (match(line, /\{"[A-Za-z0-9]+"/)) {
                            print substr(line, RSTART + 2, RLENGTH - 3)
                            line = substr(line, RSTART + RLENGTH) } }
                   on && /\{0\}/ { exit }' "src/model/$family.c")
    for class in $classes; do
        forward=0 gradients=0 generation=0
        for config in $(grep -lE "^ *\"$class\",?\$" $goldens); do
            folder=${config%/config.json}
            if [ -f "$folder/out.safetensors" ]; then
                forward=$((forward + 1))
                if grep -qa '"grad\.' "$folder/out.safetensors"; then
                    gradients=$((gradients + 1))
                fi
            fi
            if [ -f "$folder/generate.json" ]; then
                generation=$((generation + 1))
            fi
        done
        echo "| \`$family\` | $class | $forward | $gradients | $generation |"
    done
done | sed 's/ 0 |/ – |/g'
cat <<'END'

What each is, from the head of its file:

END
for family in $list; do
    awk -v family="$family" '/SPDX/ { exit }
         { sub(/^\/\* [a-z0-9_]*\.c: /, ""); sub(/^ \* ?/, ""); text = text (NR > 1 ? " " : "") $0 }
         END { print "- `" family "`: " text }' "src/model/$family.c"
done
cat <<'END'

## Translating

`heed translate` takes encoder-decoders. Where the model's files do not say in which language to
answer, the command does, by a token of the model's vocabulary:

```sh
# NLLB, M2M-100, mBART-50: the first token behind the start
heed translate nllb --first fra_Latn text.txt
# mBART: the start itself
heed translate mbart-en-ro --start ro_RO text.txt
```

`bad_words_ids` and `suppress_tokens` may ban up to 16 single tokens, `begin_suppress_tokens` as
many at the beginning. Words of several tokens, groups of beams, and constraints are refused by
name. What only sampling reads is harmless to a search.
END
