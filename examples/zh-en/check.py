#!/usr/bin/env python3
"""Checks what README.md promises of the corpus: run it after every change. Silent when all holds.

The files are what make.py makes; the held-out part recombines what training holds, and no side of
its pairs stands there; the hand alignments fit their sentences.
SPDX-License-Identifier: MIT
"""
import os
import sys
import unicodedata
from collections import Counter

import make

FEW = 5                                         # occurrences in training that count as several


def lines(name):
    with open(os.path.join(make.HERE, name), encoding="utf-8", newline="") as f:
        text = f.read()
    assert text.endswith("\n") and "\r" not in text, f"{name}: lines must end in a newline"
    return text.split("\n")[:-1]


def rows(name, fields):
    for number, line in enumerate(lines(name), 1):
        row = line.split("\t")
        fits = len(row) == fields and all(field and field == field.strip() for field in row)
        assert fits, f"{name}:{number}: {fields} fields wanted: {line!r}"
        yield row


def normal(text):
    """Without case, punctuation and spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in text if not unicodedata.category(c).startswith(("P", "Z")))


def english(text):
    return text.rstrip(".?").split()


def check_sides(train, held):
    """No sentence twice, and none of the held-out part, on either side, in training."""
    for side, name in enumerate(("Chinese", "English")):
        seen = Counter(normal(row[side]) for row in train + held)
        twice = [text for text, n in seen.items() if n > 1]
        assert not twice, f"{name} sentences that occur twice: {twice[:5]}"


def check_words(train, held, train_pairs, held_pairs):
    """Every English word, Chinese character and Chinese word of the held-out part is known."""
    kinds = {
        "English word": (english, 1, train, held),
        "Chinese character": (normal, 0, train, held),
        "Chinese word": (list, 1, train_pairs, held_pairs),
    }
    for kind, (cut, field, known, asked) in kinds.items():
        count = Counter(word for row in known for word in cut(row[field]))
        rare = {word for row in asked for word in cut(row[field]) if count[word] < FEW}
        assert not rare, f"{kind} of the held-out part too rare in training: {sorted(rare)}"


def check_alignment(name, pairs, least):
    """`word=positions` for English words in order; positions count Chinese characters from 0."""
    known, count = set(map(tuple, pairs)), 0
    for zh, en, links in rows(name, 3):
        where, count = f"{name}:{count + 1}", count + 1
        assert (zh, en) in known, f"{where}: no such pair: {zh} {en}"
        parts = [link.rpartition("=") for link in links.split(" ")]
        assert [part[0] for part in parts] == english(en), f"{where}: words do not match"
        for word, _, places in parts:
            at = [] if places == "-" else [int(place) for place in places.split(",")]
            fits = at == sorted(set(at)) and all(0 <= i < len(zh.rstrip("。？")) for i in at)
            assert fits, f"{where}: positions of {word!r}: {places}"
    assert count >= least, f"{name}: {count} sentences, at least {least} wanted"


def main():
    train, held = list(rows("train.tsv", 2)), list(rows("heldout.tsv", 2))
    train_pairs, held_pairs = make.split(make.corpus())
    for name, pairs in (("train.tsv", train_pairs), ("heldout.tsv", held_pairs)):
        assert make.lines(pairs) == lines(name), f"{name}: not what make.py makes: run it"
    assert 4000 <= len(train) <= 6500 and len(held) >= 200, (len(train), len(held))
    assert [make.FORCED, "I love China"] in held, f"{make.FORCED} must be held out"
    check_sides(train, held)
    check_words(train, held, train_pairs, held_pairs)
    check_alignment("aligned.tsv", held, 30)
    check_alignment("train-aligned.tsv", train, 60)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as wrong:
        sys.exit(f"check.py: {wrong}")
