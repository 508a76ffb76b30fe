"""What a recipe says, its parallel text, and batches: read and cut as heed does it.

Only the order of the pairs differs, since the random numbers do. The parts of a corpus that is
split by a hash are the same sentences.
SPDX-License-Identifier: MIT
"""
import gzip
import os
import random
import re
import unicodedata

import yaml

# Values of keys that a recipe may leave out (docs/training.md).
DEFAULTS = {
    "model": {
        "width": 512, "heads": 8, "kv_heads": 0, "feed_forward": 2048, "encoder_layers": 6,
        "decoder_layers": 6, "activation": "relu", "gated": False, "norm": "layernorm",
        "norm_position": "post", "positions": "sinusoidal", "dropout": 0.1,
        "attention_dropout": 0.0, "activation_dropout": 0.0, "tie": "all", "scale_embedding": True,
        "max_positions": 1024,
    },
    "tokenizer": {"vocab": 8000, "lowercase": False},
    "data": {
        "train_source": "", "train_target": "", "valid_source": "", "valid_target": "",
        "test_source": "", "test_target": "", "train": "", "valid": "", "test": "",
        "source_column": 1, "target_column": 2, "split_valid": 0.0, "split_test": 0.0,
        "split_by": "target", "max_source": 256, "max_target": 256,
    },
    "train": {
        "seed": 1, "optimizer": "adam", "lr": 0.0, "beta1": 0.9, "beta2": 0.98, "eps": 1e-9,
        "weight_decay": 0.0, "schedule": "inverse_sqrt", "warmup": 4000, "min_lr": 0.0,
        "epochs": 0, "steps": 100000, "batch_tokens": 4096, "accumulate": 1,
        "label_smoothing": 0.1, "clip": 0.0, "average_last": 0, "threads": 0,
    },
    "translate": {
        "beam": 4, "length_penalty": 1.0, "max_length_ratio": 1.0, "max_length_extra": 50,
    },
}
# What this twin cannot do otherwise.
FIXED = {
    ("model", "kv_heads"): (0,),
    ("model", "gated"): (False,),
    ("model", "norm"): ("layernorm",),
    ("model", "positions"): ("sinusoidal",),
    ("model", "tie"): ("all",),
    ("train", "accumulate"): (1,),
}


def number(value):
    """YAML 1.1 takes 1e-3 for text."""
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9.]+e[-+]?[0-9]+", value):
        return float(value)
    return value


def read_recipe(path, overrides):
    with open(path, encoding="utf-8") as f:
        given = yaml.safe_load(f)
    for text in overrides:
        key, _, value = text.partition("=")
        section, _, name = key.partition(".")
        given.setdefault(section, {})[name] = yaml.safe_load(value)
    recipe = {}
    for section, defaults in DEFAULTS.items():
        kept = {k: number(v) for k, v in given.get(section, {}).items() if k in defaults}
        recipe[section] = {**defaults, **kept}
    for (section, key), values in FIXED.items():
        if recipe[section][key] not in values:
            raise SystemExit(f"{section}.{key}={recipe[section][key]} has no twin here")
    if not recipe["train"]["lr"]:
        recipe["train"]["lr"] = (recipe["model"]["width"] * recipe["train"]["warmup"]) ** -0.5
    return recipe


# ---- parallel text ------------------------------------------------------------------------------


def read_lines(path):
    path = os.path.expandvars(path)
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        text = f.read().decode("utf-8")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def sentence_hash(text):
    """FNV-1a with two rounds of mixing, of the sentence without case, punctuation and spaces."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(c for c in folded if unicodedata.category(c)[0] not in "PZC")
    h, whole = 0xCBF29CE484222325, 0xFFFFFFFFFFFFFFFF
    for byte in bare.encode():
        h = ((h ^ byte) * 0x100000001B3) & whole
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = ((h ^ h >> 33) * factor) & whole
    return h ^ h >> 33


def part_of(pair, data):
    at = (sentence_hash(pair[data["split_by"] == "target"]) >> 11) * 2.0**-53
    if at < data["split_test"]:
        return "test"
    return "valid" if at < data["split_test"] + data["split_valid"] else "train"


def read_pairs(data, part):
    """Pairs of one part: 'train', 'valid' or 'test'; None where the recipe has none."""
    share = data.get(f"split_{part}", data["split_valid"] + data["split_test"])
    split = part == "train" or share > 0
    name = "train" if split else part
    if data[name]:
        rows = [line.split("\t") for line in read_lines(data[name])]
        columns = data["source_column"] - 1, data["target_column"] - 1
        pairs = [tuple(row[c].strip() for c in columns) for row in rows if any(row)]
    elif data[f"{name}_source"]:
        sides = (read_lines(data[f"{name}_{side}"]) for side in ("source", "target"))
        pairs = [(s.strip(), t.strip()) for s, t in zip(*sides, strict=True)]
    else:
        return None
    return [p for p in pairs if all(p) and (not (split and share) or part_of(p, data) == part)]


# ---- batches ------------------------------------------------------------------------------------


def encode(pairs, tokenizer, data, end):
    """Rows of ids, the end token included; pairs that are too long are left out."""
    sides = []
    for i in (0, 1):
        made = tokenizer.encode_batch([pair[i] for pair in pairs], add_special_tokens=False)
        sides.append([one.ids + [end] for one in made])
    most = data["max_source"], data["max_target"]
    return [(s, t) for s, t in zip(*sides) if len(s) <= most[0] and len(t) <= most[1]]


def cut_batches(rows, budget, shuffle):
    """Sorted by length, ties shuffled; a batch takes pairs while neither side exceeds `budget`."""
    rows = list(rows)
    if shuffle:
        shuffle.shuffle(rows)
    rows.sort(key=lambda row: (len(row[1]), len(row[0])))
    batches, used = [], [budget + 1, budget + 1]
    for row in rows:
        used = [n + len(side) for n, side in zip(used, row)]
        if max(used) > budget:
            batches.append([])
            used = [len(side) for side in row]
        batches[-1].append(row)
    if shuffle:
        shuffle.shuffle(batches)
    return batches


def epochs(rows, budget, seed):
    """Batches for ever: (epoch, whether it is the epoch's last, batch)."""
    shuffle, epoch = random.Random(seed), 0
    while True:
        batches = cut_batches(rows, budget, shuffle)
        for index, batch in enumerate(batches):
            yield epoch, index + 1 == len(batches), batch
        epoch += 1
