#!/usr/bin/env python3
"""Makes the corpus: train.tsv and heldout.tsv (Chinese TAB English), the same bytes everywhere.

Each construction of grammar.py says all it can; the sentences whose hash, divided by the weight, is
smallest are kept. Held out are those with the smallest hash (SHA-256 of the Chinese side) among the
sentences that recombine what remains: each of their words stands at least SEEN times in training,
and at least SEEN_HERE times in sentences of the same construction. Neither a Chinese nor an English
side occurs twice in the corpus.
SPDX-License-Identifier: MIT
"""
import hashlib
import os
from collections import Counter, namedtuple

from grammar import ALWAYS, QUOTAS

Pair = namedtuple("Pair", "construction zh en")      # zh: list of words

HELD_OUT = 250
FORCED = "我爱中国"
SEEN, SEEN_HERE = 20, 6                               # what a held-out word keeps in training
HERE = os.path.dirname(os.path.abspath(__file__))


def hashed(*what):
    return int.from_bytes(hashlib.sha256("\t".join(map(str, what)).encode()).digest()[:8], "big")


def draw(zh, weight):
    """The smaller the sooner chosen."""
    if weight >= ALWAYS:
        return -1
    return hashed("pick", zh) / max(weight, 0.125)


def pick(construction, quota):
    said = {}
    for zh, en, weight in construction():
        said.setdefault("".join(zh), (draw("".join(zh), weight), zh, en))
    chosen = sorted(said.values(), key=lambda s: (s[0], s[1]))[:quota]
    return [Pair(construction.__name__, zh, en) for _, zh, en in chosen]


def corpus():
    """All pairs, no Chinese and no English sentence twice."""
    zh_seen, en_seen, pairs = set(), set(), []
    for construction, quota in QUOTAS:
        for pair in pick(construction, quota):
            zh, en = "".join(pair.zh), pair.en.lower().rstrip("?")
            if zh not in zh_seen and en not in en_seen:
                zh_seen.add(zh)
                en_seen.add(en)
                pairs.append(pair)
    return pairs


def traits(pair):
    """What of a pair must be met in training: each word, and each word in this construction."""
    for word in set(pair.zh):
        yield word
        yield pair.construction, word
    for word in set(written(pair)[1].rstrip(".?").split()):
        yield "en", word


def needed(trait):
    return SEEN_HERE if isinstance(trait, tuple) and trait[0] != "en" else SEEN


def split(pairs):
    """Takes pairs out by their hash, as long as training keeps enough of their words."""
    left = Counter(trait for pair in pairs for trait in traits(pair))
    held = []
    order = sorted(pairs, key=lambda p: ("".join(p.zh) != FORCED, hashed("hold", "".join(p.zh))))
    for pair in order:
        if len(held) < HELD_OUT and all(left[trait] > needed(trait) for trait in traits(pair)):
            held.append(pair)
            left.subtract(traits(pair))
    out = set(map(id, held))
    return [pair for pair in pairs if id(pair) not in out], held


def written(pair):
    """The two sides as the file has them. A quarter of the statements end in a full stop on both
    sides, a quarter of the questions have no mark on the Chinese side: a model is to bear both."""
    zh, en = "".join(pair.zh), pair.en[0].upper() + pair.en[1:]
    odd = hashed("mark", zh) % 4 == 0
    if en.endswith("?"):
        return (zh if odd else zh + "？"), en
    return (zh + "。", en + ".") if odd and zh != FORCED else (zh, en)


def lines(pairs):
    """In an order that mixes the constructions."""
    pairs = sorted(pairs, key=lambda p: hashed("order", "".join(p.zh)))
    return ["\t".join(written(pair)) for pair in pairs]


def write(name, pairs):
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines(pairs))


def main():
    train, held = split(corpus())
    write("train.tsv", train)
    write("heldout.tsv", held)
    print(f"train.tsv {len(train)} pairs, heldout.tsv {len(held)} pairs")


if __name__ == "__main__":
    main()
