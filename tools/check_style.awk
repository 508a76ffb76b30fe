# check_style.awk: what is true of every source file: at most 100 columns and `longest` lines,
# spaces only, a head with its licence, and nothing put off.  SPDX-License-Identifier: MIT

function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    bad = 1
}
function finish() {
    if (file != "" && lines > longest) {
        printf "%s: %d lines, at most %d\n", file, lines, longest
        bad = 1
    }
    if (file != "" && !licence) {
        printf "%s: no SPDX-License-Identifier in its first 30 lines\n", file
        bad = 1
    }
}

FNR == 1 { finish(); file = FILENAME; licence = 0; files++ }
{ lines = FNR }
FNR <= 30 && /SPDX-License-Identifier: MIT/ { licence = 1 }
/\t/ { complain("a tab") }
/[ \r]$/ { complain("space at the end") }
# The words are written so that this line is not one of them.
/T[O]DO|FIX[M]E/ { complain("something put off: do it or leave it out") }
{
    gsub(/[\200-\277]/, "") # in the C locale: what is left has one byte for each character
    if (length($0) > 100) complain(length($0) " columns, at most 100")
}
END { finish(); exit bad || files == 0 }
