#!/bin/sh
# The library keeps no state: no writable byte in its objects, whatever the section (data, bss,
# common, thread-local). Constant tables of pointers lie in .data.rel.ro and pass.
# SPDX-License-Identifier: MIT
set -eu
objdump -t "${HEED_LIBRARY:?path of libheed.a}" | awk '
    /file format/ { object = $1; objects++ }
    $NF ~ /^\./ { next } # the symbol of a section itself
    {
        for (i = 2; i < NF; i++) {
            if ($i ~ /^(\.(data|bss|tdata|tbss)(\..*)?|\*COM\*)$/ && $i !~ /^\.data\.rel\.ro/) {
                print object " keeps \"" $NF "\" writable, in " $i
                bad = 1
            }
        }
    }
    END { exit bad || objects < 5 }'
