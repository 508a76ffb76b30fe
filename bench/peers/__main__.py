"""heed beside its peers: the same work in turns (A B C A B C ...), one table.

  bench/run.sh peers [--only decode,train/char] [--type f32] [--quick] [--threads 2]

A figure is the median; its spread, in percent, goes from quarter to quarter. The ratio is heed's
speed over the peer's, of times taken in turns. Percent is of the least time that the ceilings of
`heed bench` allow. A peer that cannot run is named with its reason.
SPDX-License-Identifier: MIT
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import lines
import models
import side
import start as start_line

HEAD = (
    "| work | type | peer | peer's figure | heed's figure | ratio | of the ceiling "
    "| MiB, peer | MiB, heed |"
)


def quarters(values):
    """Median, and the distance between the quarters in percent of it."""
    ordered = sorted(values)
    n = len(ordered)
    middle = statistics.median(ordered)
    return middle, (ordered[n - 1 - n // 4] - ordered[n // 4]) / middle * 100


def loaded():
    """What others take of the machine, as a number of threads."""
    with open("/proc/loadavg", encoding="ascii") as text:
        return float(text.read().split()[0])


def listed(command):
    text = subprocess.run([command, "bench", "--list"], check=True, capture_output=True, text=True)
    return [line.split() for line in text.stdout.splitlines()]


def ceiling(options):
    words = [options.heed, "bench", "--json", "--only", "product", "--type", "f32"]
    words += ["--seconds", "1", "--threads", str(options.threads)]
    words += ["--isa", options.isa] if options.isa else []
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    all_lines = [json.loads(line) for line in text.splitlines()]
    top = all_lines[0]
    top["f32"] = max([top["f32"]] + [line["figure"] * 1e9 for line in all_lines[1:]])
    return top


def start(line, kind, options):
    """All sides of a line, heed first; and what is missing, with the reason."""
    work, model = lines.split(line)
    sides, missing = {}, {}
    folder = models.opened(model, kind) if work in lines.OPENED else None
    sides["heed"] = side.heed(options.heed, line, kind, options.threads, options.isa, folder)
    for peer in lines.PEERS.get((work, kind), []):
        if options.peers and not any(word in peer for word in options.peers.split(",")):
            continue
        try:
            sides[peer] = side.peer(peer, line, kind, options.threads, models.cache())
        except side.Missing as why:
            missing[peer] = str(why)
    return sides, missing


def in_turns(sides, options):
    begun, rounds = time.monotonic(), 0
    while rounds < options.least or time.monotonic() - begun < options.seconds * len(sides):
        for one in sides.values():
            one.run()
        rounds += 1


def least(top, kind, about):
    peak = top[{"f32": "f32", "f16": "f32", "bf16": "bf16"}.get(kind, "int8")]
    return max(about["operations"] / peak if peak else 0, about["bytes"] / top["read"])


def compare(line, kind, unit, top, options):
    sides, missing = start(line, kind, options)
    in_turns(sides, options)
    about = sides["heed"].about
    rows = []
    own, spread = quarters(sides["heed"].seconds)
    for name, one in sides.items():
        seconds, width = quarters(one.seconds)
        ratios = [a / b for a, b in zip(one.seconds, sides["heed"].seconds)]
        rows.append(
            {
                "work": line,
                "type": kind,
                "unit": unit,
                "peer": name,
                "figure": about["units"] / seconds if about["units"] else seconds * 1e3,
                "spread": width,
                "heed": about["units"] / own if about["units"] else own * 1e3,
                "heed_spread": spread,
                "ratio": statistics.median(ratios),
                "percent": least(top, kind, about) / own * 100,
                "memory": one.peak() / 2**20,
                "heed_memory": sides["heed"].peak() / 2**20,
                "load": loaded(),
            }
        )
    for one in sides.values():
        one.close()
    rows = rows[1:] or rows
    rows += [
        {"work": line, "type": kind, "peer": name, "missing": why} for name, why in missing.items()
    ]
    return rows


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
                "load": loaded(),
            }
        )
    return out + [
        {"work": line, "type": kind, "peer": name, "missing": why} for name, why in missing.items()
    ]


def number(x):
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


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


def processor():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
        names = [line.split(":")[1].strip() for line in text if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def parse():
    parser = argparse.ArgumentParser(prog="bench/run.sh peers")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--heed", default=os.environ.get("HEED", root / "build/release/heed"))
    parser.add_argument("--only", default="", help="words of names, with commas")
    parser.add_argument("--peers", default="", help="words of peers' names, with commas")
    parser.add_argument("--type", default="", help="lines of this type")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", default="")
    parser.add_argument("--seconds", type=float, default=8, help="for each side of a line")
    parser.add_argument("--least", type=int, default=3, help="turns, however long they take")
    parser.add_argument("--quick", action="store_true", help="few lines, short")
    parser.add_argument("--json", help="a file that gets each row too")
    options = parser.parse_args()
    if options.quick:
        options.seconds = 1
    return options


def wanted(line, kind, options):
    return (
        (not options.only or any(word in line for word in options.only.split(",")))
        and (not options.type or options.type == kind)
        and (not options.quick or any(word in line for word in lines.QUICK))
    )


def main():
    options = parse()
    top = ceiling(options)
    print(
        f"{processor()}; heed on {top['isa']}, {top['threads']} threads. Gop/s: "
        f"f32 {top['f32'] / 1e9:.0f}, bf16 {top['bf16'] / 1e9:.0f}, int8 {top['int8'] / 1e9:.0f}; "
        f"memory {top['read'] / 1e9:.1f} GB/s; fork and join {top['fork'] * 1e6:.2f} us; "
        f"load before: {loaded():.2f}\n\n{HEAD}\n|---|---|---|--:|--:|--:|--:|--:|--:|",
        flush=True,
    )
    from_nothing = [(*line, None) for line in start_line.LINES]
    for line, kind, unit in listed(options.heed) + from_nothing:
        if not wanted(line, kind, options):
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
            if options.json:
                with open(options.json, "a", encoding="utf8") as out:
                    print(json.dumps(row), file=out)


if __name__ == "__main__":
    main()
