#!/usr/bin/env python3
"""A recipe of heed trained in PyTorch, to compare with: the same data, tokenizer, shape, initial
values, batches, loss, optimiser and number of updates; then its test set translated.

  python bench/quality/torch_twin.py recipes/multi30k-de-en.yaml --out out/twin \\
      --tokenizer out/multi30k-de-en/tokenizer.json [--threads 2] [train.seed=2 ...]

Writes into OUT: log.jsonl (loss, rate, wall clock), model.pt, hypotheses.txt, sources.txt and
references.txt. Without --tokenizer it learns a joint byte-pair one.
Needs: bench/requirements.txt
SPDX-License-Identifier: MIT
"""
import argparse
import json
import math
import os
import time

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from torch.nn.utils.rnn import pad_sequence

from torch_data import cut_batches, encode, epochs, read_pairs, read_recipe
from torch_model import Transformer


def learn_tokenizer(pairs, options):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    steps = [normalizers.NFKC()] + ([normalizers.Lowercase()] if options["lowercase"] else [])
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=options["vocab"], special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator((side for pair in pairs for side in pair), trainer)
    return tokenizer


def special_ids(tokenizer, path):
    """(padding, start, end): from the config.json beside the tokenizer, where there is one."""
    config = os.path.join(os.path.dirname(path or "."), "config.json")
    if path and os.path.exists(config):
        with open(config, encoding="utf-8") as f:
            c = json.load(f)
        return c["pad_token_id"], c["decoder_start_token_id"], c["eos_token_id"]
    pad, end = tokenizer.token_to_id("<pad>"), tokenizer.token_to_id("</s>")
    return pad, pad, end


def tensors(batch, pad, begin):
    """Source, decoder input and labels, padded on the right."""
    source = [torch.tensor(s) for s, _ in batch]
    target = [torch.tensor([begin] + t[:-1]) for _, t in batch]
    labels = [torch.tensor(t) for _, t in batch]
    filled = zip((source, target, labels), (pad, pad, -100))
    return [pad_sequence(rows, batch_first=True, padding_value=fill) for rows, fill in filled]


def rate(options, step, total):
    peak, floor, warmup = options["lr"], options["min_lr"], options["warmup"]
    if step < warmup:
        return peak * step / warmup
    gone = min((step - warmup) / max(total - warmup, 1), 1.0)
    courses = {
        "inverse_sqrt": lambda: peak * (max(warmup, 1) / step) ** 0.5,
        "cosine": lambda: floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * gone)),
        "linear": lambda: floor + (peak - floor) * (1 - gone),
        "constant": lambda: peak,
    }
    return max(courses[options["schedule"]](), floor)


def new_optimizer(model, options):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    kind = torch.optim.AdamW if options["optimizer"] == "adamw" else torch.optim.Adam
    groups = [
        {"params": matrices, "weight_decay": options["weight_decay"]},
        {"params": vectors, "weight_decay": 0.0},
    ]
    betas = options["beta1"], options["beta2"]
    return kind(groups, lr=0.0, betas=betas, eps=options["eps"], fused=True)


class Average:
    """The mean of the weights at the ends of the last `keep` epochs."""

    def __init__(self, keep):
        self.keep, self.last = keep, []

    def add(self, model):
        if self.keep:
            self.last.append({name: p.clone() for name, p in model.state_dict().items()})
            del self.last[: -self.keep]

    def into(self, model):
        if self.last:
            n = len(self.last)
            mean = {name: sum(w[name] for w in self.last) / n for name in self.last[0]}
            model.load_state_dict(mean)


@torch.no_grad()
def mean_loss(model, rows, budget, pad, begin):
    model.eval()
    parts = [model.loss(*tensors(b, pad, begin), 0.0) for b in cut_batches(rows, budget, None)]
    model.train()
    return float(sum(loss for loss, _ in parts)) / sum(n for _, n in parts)


def update(model, optimizer, batch, options, lr):
    """One step on tensors of a batch: the sum of its loss and its number of labels."""
    for group in optimizer.param_groups:
        group["lr"] = lr
    loss, n = model.loss(*batch, options["label_smoothing"])
    optimizer.zero_grad()
    (loss / n).backward()
    if options["clip"]:
        torch.nn.utils.clip_grad_norm_(model.parameters(), options["clip"])
    optimizer.step()
    return loss.item(), n


def train(model, rows, valid, recipe, ids, log, stop_after):
    options, (pad, begin, _) = recipe["train"], ids
    budget = options["batch_tokens"]
    one_epoch = len(cut_batches(rows, budget, None))
    total = min(options["steps"] or math.inf, (options["epochs"] or math.inf) * one_epoch)
    log(updates=total, updates_an_epoch=one_epoch, target_tokens=sum(len(t) for _, t in rows))
    average, optimizer = Average(options["average_last"]), new_optimizer(model, options)
    began = last = time.time()
    seen, sum_loss = 0, 0.0
    for step, (epoch, is_last, batch) in enumerate(epochs(rows, budget, options["seed"]), 1):
        lr = rate(options, step, total)
        loss, n = update(model, optimizer, tensors(batch, pad, begin), options, lr)
        seen, sum_loss = seen + n, sum_loss + loss
        late = stop_after and time.time() - began > 60 * stop_after
        if not (is_last or step == total or late):
            continue
        took = time.time() - last
        checked = mean_loss(model, valid, budget, pad, begin) if valid else None
        log(epoch=epoch + 1, step=step, lr=lr, loss=sum_loss / seen, valid_loss=checked,
            tokens_s=round(seen / took), train_s=round(took, 1))
        average.add(model)
        seen, sum_loss, last = 0, 0.0, time.time()
        if step == total or late:
            break
    average.into(model)


class Log:
    """Lines of JSON, with the seconds since the start."""

    def __init__(self, path):
        self.file, self.began = open(path, "w", encoding="utf-8"), time.time()

    def __call__(self, **values):
        line = json.dumps({"seconds": round(time.time() - self.began, 1), **values})
        print(line, file=self.file, flush=True)
        print(line, flush=True)


def translate(model, pairs, tokenizer, recipe, ids):
    """Sentences of about the same length together; lines come back in their order."""
    options, (pad, begin, end) = recipe["translate"], ids
    most = recipe["model"]["max_positions"]
    rows = [e.ids[: most - 1] + [end] for e in tokenizer.encode_batch(
        [source for source, _ in pairs], add_special_tokens=False)]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found = [""] * len(rows)
    for at in range(0, len(order), 32):
        some = order[at : at + 32]
        source = pad_sequence([torch.tensor(rows[i]) for i in some], True, pad)
        longest = int(options["max_length_ratio"] * source.shape[1] + options["max_length_extra"])
        best = model.translate(source, begin, end, options["beam"], options["length_penalty"],
                               min(longest, most))
        for i, sentence in zip(some, best):
            found[i] = tokenizer.decode([t for t in sentence if t != end]).strip()
    return found


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    parser.add_argument("--tokenizer", help="tokenizer.json that heed trained")
    parser.add_argument("--out", required=True)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are cores")
    parser.add_argument("--stop-after", type=float, default=0, metavar="MINUTES")
    return parser.parse_intermixed_args()


def main():
    args = parse()
    recipe = read_recipe(args.recipe, args.overrides)
    os.makedirs(args.out, exist_ok=True)
    log = Log(os.path.join(args.out, "log.jsonl"))
    torch.set_num_threads(args.threads or os.cpu_count())
    torch.manual_seed(recipe["train"]["seed"])

    pairs = {part: read_pairs(recipe["data"], part) for part in ("train", "valid", "test")}
    known = args.tokenizer
    tokenizer = (Tokenizer.from_file(known) if known
                 else learn_tokenizer(pairs["train"], recipe["tokenizer"]))
    ids = special_ids(tokenizer, known)
    rows = encode(pairs["train"], tokenizer, recipe["data"], ids[2])
    valid = pairs["valid"] and encode(pairs["valid"], tokenizer, recipe["data"], ids[2])
    model = Transformer(recipe["model"], tokenizer.get_vocab_size(), ids[0])
    log(pairs={part: len(p or []) for part, p in pairs.items()}, kept=len(rows), special=ids,
        vocab=tokenizer.get_vocab_size(), parameters=sum(p.numel() for p in model.parameters()),
        torch=torch.__version__, threads=torch.get_num_threads(), recipe=recipe)

    train(model, rows, valid, recipe, ids, log, args.stop_after)
    torch.save(model.state_dict(), os.path.join(args.out, "model.pt"))
    test = pairs["test"] or []
    hypotheses = translate(model.eval(), test, tokenizer, recipe, ids) if test else []
    texts = {"hypotheses": hypotheses, "sources": [s for s, _ in test],
             "references": [t for _, t in test]}
    for name, lines in texts.items():
        with open(os.path.join(args.out, name + ".txt"), "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines)
    log(translated=len(hypotheses), done=True)


if __name__ == "__main__":
    main()
