"""Writes tests/golden/optimizer/*.safetensors: ten steps of PyTorch's Adam and AdamW with clipping.

Each file holds `start` (n), `grads` (10 x n) and `weights` (10 x n, after each step). The first 5
numbers are a parameter with weight decay, the others one without. Its metadata are the settings.

Needs: torch==2.15.0 safetensors==0.8.0 (python tools/make_golden_optimizer.py)
SPDX-License-Identifier: MIT
"""
import pathlib

import torch
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/optimizer"
CASES = {
    "adam": dict(kind="adam", lr=0.01, beta1=0.9, beta2=0.98, eps=1e-9, decay=0.0, clip=0.0),
    "adam-decay": dict(kind="adam", lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.1, clip=1.0),
    "adamw": dict(kind="adamw", lr=0.003, beta1=0.8, beta2=0.95, eps=1e-6, decay=0.2, clip=0.5),
}
STEPS, DECAYED, PLAIN = 10, 5, 8


def run(case):
    torch.manual_seed(7)
    start = torch.randn(DECAYED + PLAIN)
    grads = torch.randn(STEPS, DECAYED + PLAIN) * torch.logspace(-2, 1, STEPS)[:, None]
    a, b = (torch.nn.Parameter(x.clone()) for x in (start[:DECAYED], start[DECAYED:]))
    make = torch.optim.AdamW if case["kind"] == "adamw" else torch.optim.Adam
    groups = [{"params": [a], "weight_decay": case["decay"]}, {"params": [b], "weight_decay": 0.0}]
    optimizer = make(groups, lr=case["lr"], betas=(case["beta1"], case["beta2"]), eps=case["eps"])
    weights = []
    for g in grads:
        a.grad, b.grad = g[:DECAYED].clone(), g[DECAYED:].clone()
        if case["clip"]:
            torch.nn.utils.clip_grad_norm_([a, b], case["clip"])
        optimizer.step()
        weights.append(torch.cat([a.detach(), b.detach()]))
    return {"start": start, "grads": grads, "weights": torch.stack(weights)}


OUT.mkdir(parents=True, exist_ok=True)
for name, case in CASES.items():
    save_file(run(case), OUT / f"{name}.safetensors", {k: str(v) for k, v in case.items()})
