#!/bin/sh
# What is promised of examples/zh-en holds.  SPDX-License-Identifier: MIT
set -eu
command -v python3 >/dev/null || {
    echo "skipped: there is no python3"
    exit 77
}
PYTHONDONTWRITEBYTECODE=1 python3 examples/zh-en/check.py
