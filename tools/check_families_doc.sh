#!/bin/sh
# docs/families.md is what tools/make_families_doc.sh makes of the families and the goldens.
# SPDX-License-Identifier: MIT
set -eu
if ! sh tools/make_families_doc.sh | diff - docs/families.md; then
    echo "docs/families.md: not up to date; its first lines say how it is made"
    exit 1
fi
