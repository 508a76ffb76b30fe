"""Two threads against one: each of heed's lines that arithmetic bounds, and the multiply-add probe.

  bench/run.sh threads [--only attention,train] [--type f32] [--threads 2]

Both run the same line in turns; the scaling is the median of the ratios of their times. Where the
probe, which does nothing but multiply-adds, does not double, neither can a line.
SPDX-License-Identifier: MIT
"""

import argparse
import statistics
import sys

import side
import turns
from turns import number, quarters

PROBES = ("f32", "bf16", "int8")
PAIRS = 5  # of probes


def probes(options):
    """Ceilings of one thread, of all, and how each probe scales: medians of pairs."""
    pairs = [
        [turns.ceilings(options, threads, only="none") for threads in (1, options.threads)]
        for _ in range(PAIRS)
    ]
    scaled = {
        kind: statistics.median(many[kind] / one[kind] for one, many in pairs)
        for kind in PROBES
        if pairs[0][0][kind]
    }
    return pairs[0][0], scaled


def by_arithmetic(top, kind, about):
    operations, memory = turns.least(top, kind, about)
    return operations > memory


def scale(line, kind, top, options):
    """A row; None where memory bounds the line."""
    sides = {}
    try:
        for threads in (1, options.threads):
            sides[threads] = turns.heed(line, kind, threads, options)
        one, many = sides.values()
        if not by_arithmetic(top, kind, one.about):
            return None
        turns.in_turns(sides, options)
    finally:
        for each in sides.values():
            each.close()
    return {
        "work": line,
        "type": kind,
        "threads": options.threads,
        "seconds": quarters(one.seconds)[0],
        "seconds_all": quarters(many.seconds)[0],
        "scaling": statistics.median(a / b for a, b in zip(one.seconds, many.seconds)),
    }


def show(row):
    print(
        f"| {row['work']} | {row['type']} | {number(row['seconds'] * 1e3)} "
        f"| {number(row['seconds_all'] * 1e3)} | {row['scaling']:.2f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(prog="bench/run.sh threads")
    turns.add_options(parser)
    options = turns.parsed(parser)
    if options.threads < 2:
        parser.error("--threads wants 2 or more")
    top, scaled = probes(options)
    print(f"| work | type | ms, 1 thread | ms, {options.threads} threads | scaling |")
    print("|---|---|--:|--:|--:|")
    for kind, ratio in scaled.items():
        print(f"| multiply-add probe | {kind} | | | {ratio:.2f} |", flush=True)
        turns.keep({"probe": kind, "threads": options.threads, "scaling": ratio}, options)
    for line, kind, _ in turns.listed(options.heed):
        if not turns.wanted(line, kind, options):
            continue
        try:
            row = scale(line, kind, top, options)
        except side.Missing as why:
            sys.exit(f"bench: line '{line}': {why}")
        if row:
            show(row)
            turns.keep(row, options)


if __name__ == "__main__":
    main()
