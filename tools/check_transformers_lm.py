#!/usr/bin/env python3
"""Opens language models that heed trained in transformers, and holds one against the other.

    python tools/check_transformers_lm.py [--heed build/release/heed] [FOLDER ...]

Without a FOLDER it trains small ones of its own on a text of this tree: gpt2 and llama, documents
apart and joined, with each kind of tokenizer, one of them gone on from another. For each folder:
AutoTokenizer gives the same ids and decodes to the same text; logits agree within 1e-4, and so
does the loss; greedy continuations are the same ids. Exit status 1 where one fails.
Needs: torch transformers tokenizers safetensors, as in bench/requirements.txt
SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUND = 1e-4
COMMON = [f"data.text={ROOT}/docs/numerics.md", "model.width=48", "model.heads=4",
          "model.layers=2", "train.context=48", "train.batch_tokens=384", "train.steps=60",
          "train.warmup=10", "train.lr=3e-3", "data.split_valid=0.1"]
TRAININGS = {
    "gpt2-char": ["tokenizer.type=char", "data.join=true"],
    "gpt2-bpe": ["tokenizer.vocab=600", "data.document=line", "model.tie=none",
                 "model.activation=gelu"],
    "llama-unigram": ["model.family=llama", "model.kv_heads=2", "tokenizer.type=unigram",
                      "tokenizer.vocab=600", "data.document=blank"],
    "llama-char": ["model.family=llama", "tokenizer.type=char", "data.join=true",
                   "model.tie=none", "model.feed_forward=80"],
}


def heed(args, *words, **more):
    return subprocess.run([args.heed, *words], check=True, capture_output=True, text=True,
                          **more).stdout


def train(args, folder):
    for name, settings in TRAININGS.items():
        out = folder / name
        heed(args, "train", *COMMON, *settings, f"out.folder={out}")
        yield out
    out = folder / "gpt2-bpe-more"
    heed(args, "train", f"model.from={folder}/gpt2-bpe", *COMMON[:1], *COMMON[4:],
         "data.document=line", f"out.folder={out}")
    yield out


def check_tokenizer(args, folder, tokenizer):
    text = (ROOT / "docs/numerics.md").read_text(encoding="utf-8")
    for line in ["", "a  b ", *text.split("\n")[:80]]:
        said = heed(args, "tokenize", str(folder), "--json", input=line + "\n")
        ids = json.loads(said)["ids"] if line else []
        theirs = tokenizer(line).input_ids if line else []
        assert ids == theirs, (line, ids, theirs)
    return text


def check_logits(args, folder, model, ids):
    with tempfile.TemporaryDirectory() as work:
        source, target = f"{work}/in.safetensors", f"{work}/out.safetensors"
        save_file({"input_ids": ids, "labels": ids.clone()}, source)
        heed(args, "trace", str(folder), "--input", source, "--output", target)
        ours = load_file(target)
    with torch.no_grad():
        theirs = model(input_ids=ids, labels=ids)
    off = (ours["logits"] - theirs.logits).abs().max().item()
    lost = abs(ours["loss"].item() - theirs.loss.item())
    assert off < BOUND and lost < BOUND, (off, lost)
    return off


def check_generation(args, folder, model, tokenizer):
    said = json.loads(heed(args, "generate", str(folder), "the ", "--json", "-n", "20"))
    ids = torch.tensor([said["prompt_ids"]])
    made = model.generate(ids, max_new_tokens=20, do_sample=False)[0, ids.shape[1]:].tolist()
    assert made == said["ids"], (made, said["ids"])
    assert tokenizer("the ").input_ids == said["prompt_ids"]


def check(args, folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    text = check_tokenizer(args, folder, tokenizer)
    ids = torch.tensor(tokenizer(text, add_special_tokens=False).input_ids[: 3 * 40]).view(3, 40)
    off = check_logits(args, folder, model, ids)
    check_generation(args, folder, model, tokenizer)
    print(f"{folder.name}: {type(model).__name__}, logits within {off:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    args = parser.parse_args()
    transformers.logging.set_verbosity_error()
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for folder in args.folders or train(args, pathlib.Path(work)):
            try:
                check(args, folder)
            except AssertionError as e:
                failed = True
                print(f"{folder.name}: FAILED {e}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
