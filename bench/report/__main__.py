"""docs/performance.md made anew from docs/figures/: what stands between its markers

  <!-- table: NAME --> ... <!-- end -->

and the pictures in docs/pictures/. Needs Python alone.

  bench/run.sh document [--docs FOLDER] [--check]    --check: only says what is not up to date
SPDX-License-Identifier: MIT
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))  # names of peers

import figures  # noqa: E402
import pictures  # noqa: E402
import tables  # noqa: E402

BETWEEN = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text, parts):
    """The page with its tables; a marker without a table, or a table without one, is an error."""
    named = {match[2] for match in BETWEEN.finditer(text)}
    if named != set(parts):
        sys.exit(f"docs/performance.md: markers and tables differ: {sorted(named ^ set(parts))}")
    return BETWEEN.sub(lambda m: f"{m[1]}\n{parts[m[2]]}\n{m[3]}", text)


def made(docs):
    """Every file that is made, with its text."""
    data = figures.Data(docs / "figures")
    page = docs / "performance.md"
    out = {page: filled(page.read_text(encoding="utf8"), tables.all_of(data))}
    for name, picture in pictures.all_of(data).items():
        out[docs / "pictures" / f"{name}.svg"] = str(picture)
    return data, out


def main():
    parser = argparse.ArgumentParser(prog="bench/run.sh document")
    parser.add_argument("--docs", type=pathlib.Path, default=HERE.parents[1] / "docs")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    data, files = made(options.docs)
    stale = [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf8") != text
    ]
    if options.check:
        for path in stale:
            print(f"{path}: not up to date; `bench/run.sh document` makes it")
        sys.exit(bool(stale))
    data.compact(options.docs / "figures")
    (options.docs / "pictures").mkdir(exist_ok=True)
    for path in stale:
        path.write_text(files[path], encoding="utf8")
        print(path)


if __name__ == "__main__":
    main()
