"""src/text/unicode_letters.c and unicode_scripts.c: sets as the `tokenizers` library has them.

Letters and numbers are those of the regular expressions of that library (Oniguruma), scripts those
of its pre-tokenizer UnicodeScripts; each is found by asking it about every code point.
Needs: tokenizers==0.23.3
SPDX-License-Identifier: MIT
"""

import pathlib

import tokenizers
from tokenizers import Regex, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "src/text"
BLOCK = 0x1000
WIDTH = 100

HEAD = """/* {file}: {what}, made by tools/make_unicode_tables.py.
 *
 * They are the `tokenizers` library's, whatever version of Unicode the system has: a letter more
 * would be another word, and other ids.
 * SPDX-License-Identifier: MIT
 */
#include "text/unicode_tables.h"
"""


def scalars(first, last):
    return [cp for cp in range(first, last) if not 0xD800 <= cp < 0xE000]


def grow(ranges, cp, *value):
    if ranges and ranges[-1][1] == cp - 1 and ranges[-1][2:] == list(value):
        ranges[-1][1] = cp
    else:
        ranges.append([cp, cp, *value])


def regex(expression):
    """Ranges of what matches an expression for single code points."""
    matches = pre_tokenizers.Split(Regex(expression), "removed", invert=True)
    out = []
    for block in range(0, 0x110000, BLOCK):
        points = scalars(block, block + BLOCK)
        if not points:
            continue
        for _, (begin, end) in matches.pre_tokenize_str("".join(map(chr, points))):
            for place in range(begin, end):
                grow(out, points[place])
    return out


def scripts():
    """Ranges with the number of their script; what goes with every script has none."""
    cut = pre_tokenizers.UnicodeScripts()

    def differ(a, b):
        return len(cut.pre_tokenize_str(a + b)) > 1

    known, out = [], []
    for cp in scalars(0, 0x110000):
        c = chr(cp)
        if not differ("a", c) and not differ("α", c):
            continue
        if out and out[-1][1] == cp - 1 and not differ(chr(cp - 1), c):
            grow(out, cp, out[-1][2])
            continue
        number = next((i for i, other in enumerate(known) if not differ(other, c)), len(known))
        if number == len(known):
            known.append(c)
        grow(out, cp, number)
    assert len(known) < 256
    return out


def table(kind, name, ranges):
    lines, line = [], "   "
    for item in ranges:
        numbers = [f"{item[0]:#x}", f"{item[1]:#x}", *map(str, item[2:])]
        text = " {" + ", ".join(numbers) + "},"
        if len(line + text) > WIDTH:
            lines.append(line)
            line = "   "
        line += text
    body = "\n".join([*lines, line.rstrip(",")])
    count = f"const size_t {name}_n = sizeof {name} / sizeof {name}[0];"
    items = f"const {kind} {name}[] = {{\n{body}}};"
    return f"\n/* clang-format off */\n{items}\n/* clang-format on */\n{count}\n"


def write(file, what, tables):
    head = HEAD.replace("{file}", file).replace("{what}", what)
    (OUT / file).write_text(head + tables, encoding="utf8")


def main():
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    letters = table("heed_range", "heed_letter_ranges", regex(r"\p{L}"))
    numbers = table("heed_range", "heed_number_ranges", regex(r"\p{N}"))
    write("unicode_letters.c", "letters and numbers", letters + numbers)
    ranges = table("heed_script_range", "heed_script_ranges", scripts())
    write("unicode_scripts.c", "scripts", ranges)


if __name__ == "__main__":
    main()
