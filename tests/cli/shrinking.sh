#!/bin/sh
# A model's file that is cut while the command reads from it: one line, status 1, no output.
#
# The command waits for its text from a pipe; what is mapped stands in /proc, without which the test
# is skipped. HEED is the command.
# SPDX-License-Identifier: MIT
set -eu
heed=$(cd "$(dirname "${HEED:?the command}")" && pwd)/$(basename "$HEED")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -r /proc/self/maps ] || { echo 'skipped: there is no /proc'; exit 77; }
cp -r tests/golden/embed/mean "$work/model"
cd "$work"
mkfifo text
"$heed" embed model --threads 1 <text >out 2>err &
pid=$!
exec 3>text
tries=0
until grep -q model.safetensors "/proc/$pid/maps"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo 'the model was never mapped'; exit 1; }
    sleep 0.1
done
: >model/model.safetensors
echo 'hello world' >&3
exec 3>&-
status=0
wait "$pid" || status=$?
if [ "$status" != 1 ] || [ -s out ] ||
    [ "$(cat err)" != 'heed: a file became shorter while it was in use' ]; then
    echo "status $status, $(wc -c <out) bytes of output, error: $(cat err)"
    exit 1
fi
