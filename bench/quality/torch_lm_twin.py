#!/usr/bin/env python3
"""A language model's recipe of heed trained in PyTorch, to compare with: the same initial weights,
windows, loss, optimiser and number of updates.

  heed train RECIPE train.steps=1 train.warmup=0 train.lr=1e-30 train.min_lr=0 \\
      train.sample_every=0 out.folder=out/start            # the initial weights, as heed draws them
  heed train RECIPE -j 2
  python bench/quality/torch_lm_twin.py RECIPE --start out/start --out out/twin [--threads 2] \\
      [--compile] [--heed out/shakespeare-char-cpu]

For model.family gpt2 and data.join. The windows are drawn by Philox as src/data/windows.c draws
them. Writes OUT/log.jsonl; with --heed it puts the losses of that training's metrics.jsonl beside
its own. Times are of the updates alone, validation left out.
Needs: bench/requirements.txt
SPDX-License-Identifier: MIT
"""
import argparse
import json
import math
import os
import time

import torch
import yaml
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

U32, U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


# ---- The numbers of src/base/philox.c ----

def philox(counter, key):
    c0, c1, c2, c3 = counter
    for i in range(10):
        k0, k1 = (key[0] + i * 0x9E3779B9) & U32, (key[1] + i * 0xBB67AE85) & U32
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & U32, (a >> 32) ^ c3 ^ k1, a & U32
    return c0, c1, c2, c3


def hashed(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & U64
    h = ((h ^ h >> 33) * 0xFF51AFD7ED558CCD) & U64
    h = ((h ^ h >> 33) * 0xC4CEB9FE1A85EC53) & U64
    return h ^ h >> 33


class Dice:
    def __init__(self, seed, stream):
        self.key, self.stream, self.at = (seed & U32, seed >> 32), stream & U64, 0

    def u32(self):
        block = self.at // 4
        words = philox((block & U32, block >> 32, self.stream & U32, self.stream >> 32), self.key)
        self.at += 1
        return words[(self.at - 1) % 4]

    def below(self, n):
        reject = (U64 - n + 1) % n
        while True:
            x = self.u32() << 32 | self.u32()
            if x >= reject:
                return x % n


def windows(ids, recipe, number):
    """Batch `number` of the training, from 0: inputs and labels."""
    context, places = recipe["context"], len(ids) - recipe["context"]
    dice = Dice(recipe["seed"], hashed("windows") + number)
    begins = [dice.below(places) for _ in range(recipe["batch_tokens"] // context)]
    x = torch.stack([ids[b : b + context] for b in begins])
    y = torch.stack([ids[b + 1 : b + 1 + context] for b in begins])
    return x, y


# ---- GPT-2 (Radford et al. 2019) ----

class Block(nn.Module):
    def __init__(self, width, heads, dropout, attention_dropout):
        super().__init__()
        self.heads, self.attention_dropout = heads, attention_dropout
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (h.view(b, t, self.heads, -1).transpose(1, 2)
                   for h in self.qkv(self.ln_1(x)).split(c, dim=2))
        p = self.attention_dropout if self.training else 0.0
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=p)
        x = x + self.drop(self.out(a.transpose(1, 2).reshape(b, t, c)))
        h = F.gelu(self.up(self.ln_2(x)), approximate="tanh")
        return x + self.drop(self.down(h))


class Model(nn.Module):
    def __init__(self, m, vocab, positions):
        super().__init__()
        drop = m.get("dropout", 0.1)
        self.tokens = nn.Embedding(vocab, m["width"])
        self.positions = nn.Embedding(positions, m["width"])
        self.drop = nn.Dropout(drop)
        self.layers = nn.ModuleList(
            Block(m["width"], m["heads"], drop, m.get("attention_dropout", 0.0))
            for _ in range(m["layers"]))
        self.norm = nn.LayerNorm(m["width"])

    def forward(self, x, y):
        h = self.drop(self.tokens(x) + self.positions.weight[: x.shape[1]])
        for layer in self.layers:
            h = layer(h)
        logits = F.linear(self.norm(h), self.tokens.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.reshape(-1))

    def begin(self, folder):
        """The weights of a folder of transformers', whose matrices lie input by output."""
        stored = load_file(os.path.join(folder, "model.safetensors"))
        names = {"tokens.weight": "wte.weight", "positions.weight": "wpe.weight",
                 "norm": "ln_f", "qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc",
                 "down": "mlp.c_proj", "ln_1": "ln_1", "ln_2": "ln_2"}
        with torch.no_grad():
            for name, p in self.named_parameters():
                part = name.split(".")
                if part[0] == "layers":
                    theirs = f"h.{part[1]}.{names[part[2]]}.{part[3]}"
                else:
                    theirs = names.get(name) or f"{names[part[0]]}.{part[1]}"
                w = stored["transformer." + theirs]
                linear = part[0] == "layers" and part[2] in ("qkv", "out", "up", "down")
                p.copy_(w.T if linear and p.dim() == 2 else w)


# ---- Training ----

def rate(r, step):
    if step <= r["warmup"]:
        return r["lr"] * step / r["warmup"]
    gone = min((step - r["warmup"]) / max(r["steps"] - r["warmup"], 1), 1.0)
    return r["min_lr"] + (r["lr"] - r["min_lr"]) * 0.5 * (1 + math.cos(math.pi * gone))


def new_optimizer(model, r):
    groups = [{"params": [p for p in model.parameters() if p.dim() == d], "weight_decay": w}
              for d, w in ((2, r["weight_decay"]), (1, 0.0))]
    return torch.optim.AdamW(groups, lr=0.0, betas=(r["beta1"], r["beta2"]), eps=r["eps"],
                             fused=True)


@torch.no_grad()
def mean_loss(model, ids, context):
    model.eval()
    whole = (len(ids) - 1) // context
    x, y = ids[: whole * context].view(-1, context), ids[1 : whole * context + 1].view(-1, context)
    total = sum(float(model(a, b)) * a.numel() for a, b in zip(x.split(64), y.split(64)))
    model.train()
    return total / x.numel()


def train(model, ids, valid, r, log, compiled):
    optimizer = new_optimizer(model, r)
    step_of = torch.compile(model) if compiled else model
    batches = [windows(ids, r, i) for i in range(r["steps"])]
    seconds, losses = 0.0, []
    for step in range(1, r["steps"] + 1):
        began = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = rate(r, step)
        loss = step_of(*batches[step - 1])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), r["clip"])
        optimizer.step()
        losses.append(loss.item())
        seconds += (time.perf_counter() - began) if step > 1 or not compiled else 0.0
        if step % r["log_every"] == 0:
            log(step=step, loss=sum(losses) / len(losses), train_s=round(seconds, 2))
            losses = []
        if step % r["valid_every"] == 0 or step == r["steps"]:
            log(step=step, valid=mean_loss(model, valid, r["context"]), train_s=round(seconds, 2))


def read_metrics(folder):
    """By (kind, step): what heed's training wrote."""
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as f:
        return {(m["kind"], m["step"]): m for m in map(json.loads, f)}


class Log:
    def __init__(self, path, heed):
        self.file, self.heed = open(path, "w", encoding="utf-8"), heed

    def __call__(self, **values):
        step = values.get("step")
        kind = "train" if "loss" in values else "valid"
        if (kind, step) in self.heed:
            values["heed"] = self.heed[kind, step]["loss"]
            values["heed_s"] = round(self.heed.get(("speed", step), {}).get("seconds", 0.0), 2)
        line = json.dumps(values)
        print(line, file=self.file, flush=True)
        print(line, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("--start", required=True, help="folder with the initial weights")
    parser.add_argument("--out", required=True)
    parser.add_argument("--heed", help="folder of heed's training")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are cores")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def main():
    args = parse()
    torch.set_num_threads(args.threads or os.cpu_count())
    with open(os.path.join(args.start, "recipe.yaml"), encoding="utf-8") as f:
        filled = yaml.safe_load(f)
    with open(args.recipe, encoding="utf-8") as f:
        said = yaml.safe_load(f)
    recipe = {s: {**filled[s], **said.get(s, {})} for s in filled}
    r = {k: float(v) if isinstance(v, str) and k in ("lr", "min_lr", "eps") else v
         for k, v in recipe["train"].items()}
    torch.manual_seed(r["seed"])
    os.makedirs(args.out, exist_ok=True)
    log = Log(os.path.join(args.out, "log.jsonl"), read_metrics(args.heed) if args.heed else {})

    with open(os.path.expandvars(recipe["data"]["text"]), encoding="utf-8", newline="") as f:
        text = f.read()
    tokenizer = Tokenizer.from_file(os.path.join(args.start, "tokenizer.json"))
    cut = int(len(text) * (1 - recipe["data"]["split_valid"]))
    ids, valid = (torch.tensor(tokenizer.encode(part, add_special_tokens=False).ids)
                  for part in (text[:cut], text[cut:]))
    model = Model(recipe["model"], tokenizer.get_vocab_size(), recipe["model"]["max_positions"])
    model.begin(args.start)
    log(parameters=sum(p.numel() for p in model.parameters()), tokens=len(ids),
        torch=torch.__version__, threads=torch.get_num_threads(), compiled=args.compile)
    train(model, ids, valid, r, log, args.compile)


if __name__ == "__main__":
    main()
