#!/bin/sh
# docs/performance.md and its pictures are what bench/report makes of docs/figures/; a figure that
# is changed is noticed, and the pictures are XML. heed and its peers have sentences of the same
# lengths.
# SPDX-License-Identifier: MIT
set -eu
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: there is no Python 3.9"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1

# What a pass over the sentences costs, by the lengths that the peers have: 6 layers of width 384.
python3 - "$(: | "${HEED_BUILD:?build folder}/heed" bench --serve sentences/minilm-l6/1000)" <<'END'
import json
import sys

sys.path.insert(0, "bench/peers")
import models

lengths = models.lengths(1000)
assert lengths == sorted(lengths, reverse=True) and (lengths[0], lengths[-1]) == (59, 5), lengths
weights = 6 * (4 * 384 * 384 + 2 * 384 * 1536)
want = sum(2 * weights * n + 6 * 4 * 384 * n * n for n in lengths)
said = json.loads(sys.argv[1])["operations"]
if abs(said / want - 1) > 1e-5:
    sys.exit(f"sentences: heed says {said:.6g} operations, the peers' lengths make {want:.6g}")
END
python3 bench/report --check
for picture in docs/pictures/*.svg; do
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$picture"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R docs/figures docs/pictures docs/performance.md "$work"
sed '2s/"ratio": [0-9.]*/"ratio": 99.5/' docs/figures/rows.json >"$work/figures/rows.json"
if said=$(python3 bench/report --docs "$work" --check); then
    echo 'a changed ratio was not noticed'
    exit 1
fi
[ "$said" = "$work/performance.md: not up to date; \`bench/run.sh document\` makes it" ] ||
    { echo "$said" && exit 1; }
python3 bench/report --docs "$work" >/dev/null
grep -qF '99.50' "$work/performance.md" || { echo 'the new ratio is not in the page' && exit 1; }
sed 's/<!-- table: start -->//' docs/performance.md >"$work/performance.md"
if python3 bench/report --docs "$work" 2>"$work/err"; then
    echo 'a table without a place was not noticed'
    exit 1
fi
grep -qF "['start']" "$work/err" || { cat "$work/err" && exit 1; }
