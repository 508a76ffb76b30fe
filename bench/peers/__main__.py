"""heed beside its peers: the same work in turns (A B C A B C ...), one table.

  bench/run.sh peers [--only decode,train/char] [--type f32] [--quick] [--threads 2]

A figure is the median; its spread, in percent, goes from quarter to quarter. The ratio is heed's
speed over the peer's, of times taken in turns. Percent is of the least time that the ceilings of
`heed bench` allow. Memory is the most that a process had resident, less what it had when all its
code was in and the work was not yet made. A peer that cannot run is named with its reason.
SPDX-License-Identifier: MIT
"""

import argparse
import datetime
import statistics
import sys

import lines
import models
import side
import start as start_line
import turns
from turns import number, quarters

HEAD = (
    "| work | type | peer | peer's figure | heed's figure | ratio | of the ceiling "
    "| MiB, peer | MiB, heed |"
)
MIB = 2**20


def start(line, kind, options):
    """All sides of a line, heed first; and what is missing, with the reason."""
    work, _ = lines.split(line)
    sides, missing = {"heed": turns.heed(line, kind, options.threads, options)}, {}
    for peer in lines.PEERS.get((work, kind), []):
        if options.peers and not any(word in peer for word in options.peers.split(",")):
            continue
        try:
            sides[peer] = side.peer(peer, line, kind, options.threads, models.cache())
        except side.Missing as why:
            missing[peer] = str(why)
    return sides, missing


def figure(about, seconds):
    return about["units"] / seconds if about["units"] else seconds * 1e3


def against(name, one, heed):
    """What a row says of one side: heed's own where it stands alone."""
    middle, width = quarters(one.seconds)
    return {
        "peer": name,
        "figure": figure(heed.about, middle),
        "spread": width,
        "ratio": statistics.median(a / b for a, b in zip(one.seconds, heed.seconds)),
        "memory": one.peak() / MIB,
    }


def compare(line, kind, unit, top, options):
    sides, missing = start(line, kind, options)
    turns.in_turns(sides, options)
    heed = sides["heed"]
    own, spread = quarters(heed.seconds)
    common = {
        "work": line,
        "type": kind,
        "unit": unit,
        "seconds": own,
        "heed": figure(heed.about, own),
        "heed_spread": spread,
        "percent": max(turns.least(top, kind, heed.about)) / own * 100,
        "operations": heed.about["operations"],
        "traffic": heed.about["traffic"],
        "heed_memory": heed.peak() / MIB,
        "planned": heed.about["memory"] / MIB,
        "kept": heed.about["kept"] / MIB,
        "load": turns.loaded(),
    }
    rows = [{**common, **against(name, one, heed)} for name, one in sides.items()]
    for one in sides.values():
        one.close()
    return (rows[1:] or rows) + absent(line, kind, missing)


def absent(line, kind, missing):
    return [
        {"work": line, "type": kind, "peer": name, "missing": why} for name, why in missing.items()
    ]


def from_start(line, kind, options):
    rows, missing = start_line.compare(line, kind, options)
    own, spread = quarters(rows[0]["seconds"])
    out = []
    for row in rows[1:]:
        seconds, width = quarters(row["seconds"])
        out.append(
            {
                "work": line,
                "type": kind,
                "unit": "ms",
                "peer": row["peer"],
                "figure": seconds * 1e3,
                "spread": width,
                "heed": own * 1e3,
                "heed_spread": spread,
                "ratio": row["ratio"],
                "percent": None,
                "memory": row["memory"],
                "heed_memory": rows[0]["memory"],
                "load": turns.loaded(),
            }
        )
    return out + absent(line, kind, missing)


def markdown(row):
    if "missing" in row:
        name, why = lines.name_of(row["peer"]), row["missing"].replace("|", "/")
        return f"| {row['work']} | {row['type']} | {name} | missing: {why} ||||||"
    alone = row["peer"] == "heed"
    cells = [
        row["work"],
        row["type"],
        "" if alone else lines.name_of(row["peer"]),
        "" if alone else f"{number(row['figure'])} {row['unit']} ±{row['spread'] / 2:.0f} %",
        f"{number(row['heed'])} {row['unit']} ±{row['heed_spread'] / 2:.0f} %",
        "" if alone else f"{row['ratio']:.2f}",
        "" if row["percent"] is None else f"{row['percent']:.0f} %",
        "" if alone else f"{row['memory']:,.0f}",
        f"{row['heed_memory']:,.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def parse():
    parser = argparse.ArgumentParser(prog="bench/run.sh peers")
    turns.add_options(parser)
    parser.add_argument("--peers", default="", help="words of peers' names, with commas")
    return turns.parsed(parser)


def show_machine(top, options):
    print(
        f"{turns.processor()}; heed on {top['isa']}, {top['threads']} threads. Gop/s: "
        f"f32 {top['f32'] / 1e9:.0f}, bf16 {top['bf16'] / 1e9:.0f}, int8 {top['int8'] / 1e9:.0f}; "
        f"memory {top['read'] / 1e9:.1f} GB/s; fork and join {top['fork'] * 1e6:.2f} us; "
        f"load before: {turns.loaded():.2f}\n\n{HEAD}\n|---|---|---|--:|--:|--:|--:|--:|--:|",
        flush=True,
    )
    day = datetime.date.today().isoformat()
    turns.keep({**top, "machine": turns.processor(), "day": day}, options)


def main():
    options = parse()
    top = turns.ceilings(options, options.threads)
    show_machine(top, options)
    from_nothing = [(*line, None) for line in start_line.LINES]
    for line, kind, unit in turns.listed(options.heed) + from_nothing:
        if not turns.wanted(line, kind, options):
            continue
        try:
            if unit:
                rows = compare(line, kind, unit, top, options)
            else:
                rows = from_start(line, kind, options)
        except side.Missing as why:
            sys.exit(f"bench: line '{line}': {why}")
        for row in rows:
            print(markdown(row), flush=True)
            turns.keep(row, options)


if __name__ == "__main__":
    main()
