"""From nothing to the first token and back: a program that opens a model, makes one token and ends.
Wall time and the most that was resident, in turns.

  python start.py PEER NAME TYPE THREADS    one peer's program
SPDX-License-Identifier: MIT
"""

import importlib
import json
import os
import statistics
import subprocess
import sys
import time

import models
import side

LINES = (("start/gpt2-124m", "f32"),)
PEERS = ("llama_cpp", "ctranslate2", "torch")
PROMPT = 16


def commands(line, kind, options):
    name = line.split("/")[1]
    ids = models.cache() / "start.json"
    ids.write_text(json.dumps([[7 + 31 * i % 20000 for i in range(PROMPT)]]))
    threads = str(options.threads)
    heed = [options.heed, "generate", models.folder(name), "--ids", ids, "-n", "1", "-j", threads]
    out = {"heed": heed + (["--isa", options.isa] if options.isa else [])}
    for peer in PEERS:
        if not options.peers or any(word in peer for word in options.peers.split(",")):
            out[peer] = [sys.executable, __file__, peer, name, kind, threads]
    return out


def once(command, env):
    """Seconds, and bytes that were resident at most."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise side.Missing(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begun, used.ru_maxrss * 1024


def compare(line, kind, options):
    """For each side its times and memory; what cannot run, with the reason."""
    env = side.environment(options.threads)
    times, memory, missing = {}, {}, {}
    for _ in range(2 if options.quick else 7):
        for name, command in commands(line, kind, options).items():
            if name in missing:
                continue
            try:
                seconds, most = once(command, env)
            except side.Missing as why:
                missing[name] = str(why)
                continue
            times.setdefault(name, []).append(seconds)
            memory[name] = max(most, memory.get(name, 0))
    if "heed" in missing:
        raise side.Missing(missing["heed"])
    warm = {name: list_[1:] for name, list_ in times.items()}
    rows = [
        {
            "peer": name,
            "seconds": seconds,
            "ratio": statistics.median(a / b for a, b in zip(seconds, warm["heed"])),
            "memory": memory[name] / 2**20,
        }
        for name, seconds in warm.items()
    ]
    return rows, missing


def main():
    peer, name, kind, threads = sys.argv[1:]
    module = importlib.import_module("peer_" + peer)
    module.begin(int(threads))
    module.first(name, kind, [7 + 31 * i % 20000 for i in range(PROMPT)])


if __name__ == "__main__":
    main()
