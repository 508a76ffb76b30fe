#!/bin/sh
# docs/tour.md leads through every source file, and to no file that is not there.
# SPDX-License-Identifier: MIT
set -eu
tour=docs/tour.md
if [ ! -f "$tour" ]; then
    echo "skipped: there is no $tour"
    exit 77
fi
bad=0
folders='src|cli|include|tests|tools|bench|lab|examples|recipes|docs'
for file in $(grep -oE "\`($folders)/[^\` ]*\`" "$tour" | tr -d '\`' | sort -u); do
    if [ ! -e "$file" ]; then
        echo "$tour names '$file', which is not there"
        bad=1
    fi
done
for file in $(find src cli include -name '*.[ch]' | sort); do
    if ! grep -qF "\`$file\`" "$tour"; then
        echo "$tour does not name '$file'"
        bad=1
    fi
done
exit $bad
