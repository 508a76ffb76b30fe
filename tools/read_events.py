"""Compares a training's TensorBoard events, by TensorBoard's own reader, with its metrics.jsonl.

    python tools/read_events.py FOLDER

Prints each tag with its number of values; ends with 1 where a number differs or is missing.
Needs: tensorboard==2.21.0
SPDX-License-Identifier: MIT
"""
import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

WHOLE = {"step", "epoch", "tokens", "kind"}


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def wanted(folder):
    """What the events should hold: {(tag, step): value}."""
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        entry = json.loads(line)
        for name, value in entry.items():
            if name not in WHOLE and value is not None:
                yield (f"{entry['kind']}/{name}", entry["step"]), as_float(value)


def main():
    folder = pathlib.Path(sys.argv[1])
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    found = {}
    for tag in events.Tags()["scalars"]:
        values = events.Scalars(tag)
        print(f"{len(values):6}  {tag}")
        found |= {(tag, v.step): v.value for v in values}
    want = dict(wanted(folder))
    wrong = {k for k in found.keys() | want.keys() if found.get(k) != want.get(k)}
    print(f"{len(want)} numbers, {len(wrong)} differ")
    return bool(wrong) or not want


sys.exit(main())
