#!/bin/sh
# The table of codes in docs/errors.md is the list HEED_CODES of include/heed.h.
# SPDX-License-Identifier: MIT
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^ *X(\([A-Z]*\), "\(.*\)").*/| `HEED_\1` | \2 |/p' include/heed.h >"$work/header"
grep '^| `HEED_' docs/errors.md >"$work/page"
[ -s "$work/header" ] || { echo "found no codes in include/heed.h" && exit 1; }
diff "$work/header" "$work/page"
