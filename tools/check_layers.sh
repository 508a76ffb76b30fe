#!/bin/sh
# The floors of layers.txt hold for every include.  SPDX-License-Identifier: MIT
set -eu
# shellcheck disable=SC2046 # names of sources hold no spaces
awk -f tools/check_layers.awk layers.txt $(find src cli -name '*.[ch]' | sort)
