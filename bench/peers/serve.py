"""A peer's side of one line: makes the work, then runs it once for each line of standard input.

  python serve.py PEER LINE TYPE THREADS

Answers as `heed bench --serve` does: first a JSON object, then the seconds of each run. `base` is
what the process took before the work was made, once its code was in: begin(), and ready() where a
peer has it.
SPDX-License-Identifier: MIT
"""

import importlib
import json
import sys
import time

SHORT = 0.05  # seconds: what is shorter is run several times in one


def resident():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def timed(work):
    """Work that takes its own time returns it."""
    start = time.perf_counter()
    own = work()
    return time.perf_counter() - start if own is None else own


def mean(work, calls):
    return sum(timed(work) for _ in range(calls)) / calls


def main():
    peer, line, kind, threads = sys.argv[1:]
    sys.stdout, answers = sys.stderr, sys.stdout  # what libraries print is no answer
    module, _, variant = peer.partition(":")
    side = importlib.import_module("peer_" + module)
    side.begin(int(threads))
    if hasattr(side, "ready"):
        side.ready(line)
    base = resident()
    work = side.make(line, kind, variant)
    first = timed(work)
    calls = int(SHORT / max(first if first > SHORT else timed(work), 1e-7)) + 1
    print(json.dumps({"base": base}), file=answers, flush=True)
    for _ in sys.stdin:
        print(f"{mean(work, calls):.9g}", file=answers, flush=True)


if __name__ == "__main__":
    main()
