#!/usr/bin/env python3
"""Holds what `heed convert` writes against the programs that read it.

    python tools/check_convert.py [--heed build/release/heed] [MODEL ...]

Models of tests/golden/families become GGUF files: gguf's GGUFReader must find in them the tensors
that tools/make_golden_gguf_models.py makes of the folders, and the settings that every reader
wants.
Each MODEL (a folder or a GGUF file with a vocabulary) becomes a GGUF file in float32, which
llama.cpp must read to the same ids, continue to the same greedy ids, and give logits within 2e-3 of
the largest. Prints a line a case; exit status 1 where one fails.
Needs: gguf==0.19.0 numpy==2.4.6 safetensors==0.8.0; for MODEL llama-cpp-python==0.3.36
SPDX-License-Identifier: MIT
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
from safetensors.numpy import load_file

import make_golden_gguf_models as golden

PROMPTS = ["The capital of France is", "def add(a, b):\n    return", "1 + 1 =",
           "  Zwei  Wörter: 我爱"]
WANTED = ["general.architecture", "{}.block_count", "{}.context_length", "{}.embedding_length",
          "{}.feed_forward_length", "{}.attention.head_count"]
NEW = 16


def heed(command, *arguments):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"heed {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def check_golden(command, name, folder):
    source, out = golden.GOLDEN / "families" / name, folder / f"{name}.gguf"
    heed(command, "convert", source, out)
    config = json.loads((source / "config.json").read_text())
    kind = config["model_type"]
    reader = gguf.GGUFReader(out)
    got = {t.name: t.data for t in reader.tensors}
    wanted = {}
    for old, x in load_file(source / "model.safetensors").items():
        new = golden.renamed(old)
        if new:
            wanted[new] = golden.stored(x, new, kind, config)
    got.pop("rope_freqs.weight", None)
    wrong = [n for n in wanted if n not in got or got[n].tobytes() != wanted[n].tobytes()]
    wrong += [n for n in got if n not in wanted]
    wrong += [k for k in (w.format(kind) for w in WANTED) if k not in reader.fields]
    return wrong


def check_model(command, model, folder):
    from llama_cpp import Llama

    out = folder / "model.gguf"
    heed(command, "convert", model, out, "--type", "f32")
    llama = Llama(str(out), n_ctx=256, logits_all=True, verbose=False)
    wrong = []
    for prompt in PROMPTS:
        mine = json.loads(heed(command, "generate", out, prompt, "-n", NEW, "--json"))
        ids = llama.tokenize(prompt.encode(), add_bos=True, special=True)
        if ids != mine["prompt_ids"]:
            wrong.append(f"ids of {prompt!r}: {ids}, heed {mine['prompt_ids']}")
            continue
        llama.reset()
        llama.eval(ids)
        more = []
        while len(more) < len(mine["ids"]):
            more.append(int(np.argmax(llama.scores[llama.n_tokens - 1])))
            llama.eval(more[-1:])
        if more != mine["ids"]:
            wrong.append(f"after {prompt!r}: {more}, heed {mine['ids']}")
    wrong += check_logits(command, out, llama, folder)
    return wrong


def check_logits(command, model, llama, folder):
    from safetensors.numpy import save_file

    ids = llama.tokenize(PROMPTS[0].encode(), add_bos=True, special=True)
    save_file({"input_ids": np.array([ids], np.int64)}, folder / "in.safetensors")
    heed(command, "trace", model, "--input", folder / "in.safetensors", "--output",
         folder / "out.safetensors")
    mine = load_file(folder / "out.safetensors")["logits"][0]
    llama.reset()
    llama.eval(ids)
    theirs = np.array(llama.scores[: len(ids)])
    off = np.abs(mine - theirs).max() / np.abs(theirs).max()
    print(f"     logits differ by {off:.2g} of the largest", flush=True)
    return [] if off < 2e-3 else [f"logits differ by {off:.2g} of the largest"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heed", default=golden.GOLDEN.parent.parent / "build/release/heed")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args()
    failed = False
    cases = [(n, check_golden) for n in golden.NAMES] + [(m, check_model) for m in options.models]
    for name, check in cases:
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(str(options.heed), name, pathlib.Path(folder))
        failed |= bool(wrong)
        print(f"{'FAIL' if wrong else 'ok':4} {name}" + "".join(f"\n     {w}" for w in wrong),
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
