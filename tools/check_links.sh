#!/bin/sh
# Every link of a page leads to a file of this tree, and to a heading where it names one.
# SPDX-License-Identifier: MIT
set -eu
bad=0

headings() { # page: what its headings are called in links
    sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^[:alnum:]_-]//g'
}
for page in *.md docs/*.md; do
    for link in $(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//'); do
        case $link in
        *://*) continue ;;
        \#*) file=$page ;;
        *) file=$(dirname "$page")/${link%%#*} ;;
        esac
        if [ ! -e "$file" ]; then
            echo "$page: the link '$link' leads nowhere"
            bad=1
            continue
        fi
        case $link in
        *\#*)
            if ! headings "$file" | grep -qxF -- "${link#*#}"; then
                echo "$page: '$link' names no heading of $file"
                bad=1
            fi
            ;;
        esac
    done
done
exit $bad
