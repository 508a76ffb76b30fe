"""Writes tests/golden/lm/*.safetensors: the loss and the gradients of one batch of two texts.

The models are those of tests/golden/families (gpt2, llama). Each text runs through the model on its
own, its labels shifted by transformers; the loss is the sum over both texts, and gradients are of
that sum. `text.0` and `text.1` are the ids; the second is one window long, so that it fills it.

Needs: torch==2.15.0 transformers==5.24.0 safetensors==0.8.0 (python tools/make_golden_lm.py)
SPDX-License-Identifier: MIT
"""
import pathlib

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

ROOT = pathlib.Path(__file__).parent.parent / "tests/golden"
TEXTS = [[1, 7, 9, 33, 12, 2], [1, 5, 5, 30, 21, 8, 17, 4, 2]]


def run(name):
    model = AutoModelForCausalLM.from_pretrained(ROOT / "families" / name, dtype=torch.float32)
    total = 0
    for text in TEXTS:
        ids = torch.tensor([text])
        total = total + model(input_ids=ids, labels=ids).loss * (len(text) - 1)
    total.backward()
    out = {"loss": total.detach().reshape(1)}
    for i, text in enumerate(TEXTS):
        out[f"text.{i}"] = torch.tensor(text, dtype=torch.int32)
    for key, p in model.named_parameters():
        out["grad." + key] = p.grad.contiguous()
    return out


(ROOT / "lm").mkdir(parents=True, exist_ok=True)
for name in ("gpt2", "llama"):
    save_file(run(name), ROOT / "lm" / f"{name}.safetensors")
