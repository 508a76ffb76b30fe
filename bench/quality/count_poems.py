#!/usr/bin/env python3
"""Samples poems from a model of recipes/tang-poems.yaml, and counts those that have its form: four
lines of five characters each, or of seven, with marks between them.

  python bench/quality/count_poems.py out/tang-poems [--heed build/release/heed] [--samples 200]
      [--temperature 1.0] [--seed 1] [--show 5]

Tokens are drawn here, from the logits of `heed trace`, all samples at once. Prints the share of
samples with the form; the exit status is 1 where it is less than --least.
Needs: bench/requirements.txt
SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

MARKS = "，。？！；、"
HAN = "[\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af]"


def form(text):
    """5 or 7 where the poem has that form, else 0."""
    lines = [line for line in re.split(f"[{MARKS}]\n?", text) if line]
    for n in (5, 7):
        if len(lines) == 4 and all(re.fullmatch(HAN + "{%d}" % n, line) for line in lines):
            return n
    return 0


def logits(args, ids, folder):
    """Of the row behind each text; all texts have one length."""
    source, target = (os.path.join(folder, name) for name in ("in.safetensors", "out.safetensors"))
    save_file({"input_ids": ids.astype(np.int64)}, source)
    subprocess.run([args.heed, "trace", args.model, "--input", source, "--output", target],
                   check=True)
    return load_file(target)["logits"][:, -1].astype(np.float64)


def sample(args, begin, end, longest):
    dice = np.random.default_rng(args.seed)
    ids = np.full((args.samples, 1), begin)
    done = np.zeros(args.samples, bool)
    with tempfile.TemporaryDirectory() as folder:
        while not done.all() and ids.shape[1] < longest:
            x = logits(args, ids, folder) / args.temperature
            p = np.exp(x - x.max(axis=1, keepdims=True)).cumsum(axis=1)
            drawn = dice.random((args.samples, 1)) * p[:, -1:]
            next_ids = np.where(done, end, (p < drawn).sum(axis=1))
            done |= next_ids == end
            ids = np.concatenate([ids, next_ids[:, None]], axis=1)
    return ids


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--least", type=float, default=0.8)
    return parser.parse_args()


def main():
    args = parse()
    tokenizer = Tokenizer.from_file(os.path.join(args.model, "tokenizer.json"))
    with open(os.path.join(args.model, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    ids = sample(args, config["bos_token_id"], config["eos_token_id"], config["n_positions"])
    texts = [tokenizer.decode(row.tolist(), skip_special_tokens=True) for row in ids]
    forms = [form(text) for text in texts]
    for text in texts[: args.show]:
        print(text, end="\n\n")
    share = sum(f > 0 for f in forms) / len(forms)
    print(f"{share:.1%} of {len(forms)} samples have four lines of five or seven characters: "
          f"{forms.count(5)} of five, {forms.count(7)} of seven; {len(set(texts))} are different; "
          f"temperature {args.temperature}, seed {args.seed}")
    sys.exit(0 if share >= args.least else 1)


if __name__ == "__main__":
    main()
