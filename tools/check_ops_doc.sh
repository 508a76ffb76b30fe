#!/bin/sh
# docs/ops.md is what tools/make_ops_doc.awk makes of include/heed_ops.h.
# SPDX-License-Identifier: MIT
set -eu
if ! awk -f tools/make_ops_doc.awk include/heed_ops.h | diff - docs/ops.md; then
    echo "docs/ops.md: not up to date; its first lines say how it is made"
    exit 1
fi
