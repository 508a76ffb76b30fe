"""What bench/peers and threads.py share: heed's side of a line, the lines there are, runs in turns,
medians and quarters.
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import platform
import statistics
import subprocess
import time

import lines
import models
import side


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


def processor():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
        names = [line.split(":")[1].strip() for line in text if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def listed(command):
    """Name, type and unit of every line."""
    text = subprocess.run([command, "bench", "--list"], check=True, capture_output=True, text=True)
    return [line.split() for line in text.stdout.splitlines()]


def ceilings(options, threads, only="product/1024,product/512"):
    """The machine's, or the best product's: no probe is quite without waiting."""
    words = [options.heed, "bench", "--json", "--only", only]
    words += ["--seconds", "1", "--threads", str(threads)]
    words += ["--isa", options.isa] if options.isa else []
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    top, *products = (json.loads(line) for line in text.splitlines())
    for line in products:
        top[line["type"]] = max(top[line["type"]], line["figure"] * 1e9)
    return top


def peak_of(top, kind):
    """Operations a second of what a type's products are made of."""
    return top[{"f32": "f32", "f16": "f32", "bf16": "bf16"}.get(kind, "int8")]


def least(top, kind, about):
    """Seconds by the operations, and by the bytes that come out of memory."""
    peak = peak_of(top, kind)
    return about["operations"] / peak if peak else 0, about["bytes"] / top["read"]


def heed(line, kind, threads, options):
    work, model = lines.split(line)
    path = models.opened(model, kind, work) if work in lines.OPENED else None
    return side.heed(options.heed, line, kind, threads, options.isa, path)


def in_turns(sides, options):
    begun, rounds = time.monotonic(), 0
    while rounds < options.least or time.monotonic() - begun < options.seconds * len(sides):
        for one in sides.values():
            one.run()
        rounds += 1


def number(x):
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def wanted(line, kind, options):
    growth = line.startswith(lines.GROWTH)
    named = any(word in line for word in options.only.split(",")) if options.only else not growth
    quick = not options.quick or any(word in line for word in lines.QUICK)
    return named and quick and (not options.type or options.type == kind)


def add_options(parser):
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--heed", default=os.environ.get("HEED", root / "build/release/heed"))
    parser.add_argument("--only", default="", help="words of names, with commas")
    parser.add_argument("--type", default="", help="lines of this type")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", default="")
    parser.add_argument("--seconds", type=float, default=8, help="for each side of a line")
    parser.add_argument("--least", type=int, default=3, help="turns, however long they take")
    parser.add_argument("--quick", action="store_true", help="few lines, short")
    parser.add_argument("--json", help="a file to which each row is added")


def parsed(parser):
    options = parser.parse_args()
    if options.quick:
        options.seconds = 1
    return options


def rounded(value):
    return float(f"{value:.5g}") if isinstance(value, float) else value


def keep(row, options):
    if options.json:
        with open(options.json, "a", encoding="utf8") as out:
            print(json.dumps({key: rounded(value) for key, value in row.items()}), file=out)
