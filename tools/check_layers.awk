# check_layers.awk: who may include whom.
#   awk -f tools/check_layers.awk layers.txt FILE...
# A file belongs to the floor of its folder: src/<floor>/x.c, or cli/x.c. Files right under src/
# stand on top of all floors. Every quoted include is a public header ("heed*.h"), or names a floor
# and a file of it. Prints what is wrong and fails, also when it was given no file to look at.
# SPDX-License-Identifier: MIT

function complain(text) {
    printf "%s:%d: %s (layers.txt)\n", FILENAME, FNR, text
    bad = 1
}

FILENAME == ARGV[1] {
    sub(/#.*/, "")
    if (split($0, side, ":") == 2) {
        floor = side[1]
        gsub(/[ \t]/, "", floor)
        known[floor] = 1
        may[floor, floor] = 1
        count = split(side[2], below, " ")
        for (i = 1; i <= count; i++) may[floor, below[i]] = 1
    }
    next
}

FNR == 1 {
    count = split(FILENAME, part, "/")
    floor = part[1] == "src" ? (count > 2 ? part[2] : "") : part[1]
    files++
    if (floor != "" && !(floor in known)) complain("floor '" floor "' is unknown")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quote, "\"")
    name = quote[2]
    if (name ~ /^heed[a-z_]*\.h$/) next
    if (split(name, part, "/") != 2) complain("\"" name "\" does not name its folder")
    else if (!(part[1] in known)) complain("floor '" part[1] "' is unknown")
    else if (floor != "" && !((floor, part[1]) in may)) complain(floor " may not include " name)
}

END { exit bad || files == 0 }
