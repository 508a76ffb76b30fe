"""heed's tokenizers against `tokenizers`: ids, tokens, types, places and decoded texts.

    check_tokenizers.py HEED [--texts N] [--seed S] [--only WORD] [FILE.json ...]

Makes a tokenizer of every kind (tools/tokenizer_zoo.py), and texts: every script, emoji, combining
marks, control characters, right-to-left, added tokens inside text, long words, random code points.
Each goes through `heed tokenize MODEL --jsonl --json` and through the library, one in eight as a
pair; its ids come back through --decode. Tokens are compared by what the vocabulary calls them,
places in bytes. Prints a table; exits 1 on any difference.
Needs: tokenizers==0.23.3 sentencepiece==0.2.3 protobuf gguf==0.19.0
SPDX-License-Identifier: MIT
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import tokenizers
from tokenizers import Tokenizer

import make_golden_tokenizers as golden
from tokenizer_cases import HARD
from tokenizer_zoo import zoo

WIDE = [
    *golden.RANGES,
    (0x0, 0x20),
    (0x7F, 0xA0),
    (0x370, 0x530),
    (0x590, 0x700),
    (0x900, 0xE00),
    (0xE00, 0xF00),
    (0x1000, 0x1300),
    (0x1E00, 0x2000),
    (0x2000, 0x2100),
    (0x2100, 0x2C00),
    (0x3000, 0x3400),
    (0xA000, 0xABFF),
    (0xF900, 0x10000),
    (0x10000, 0x12000),
    (0x1D000, 0x1D800),
    (0x1F000, 0x1FAFF),
    (0x20000, 0x2FA1F),
    (0xE0000, 0xE01F0),
    (0x0, 0x110000),
]
PIECES = [
    "don't", "I'LL", "we've", "e\u0301a\u0300\u0323", "naïve", "STRASSE", "ǅ", "ﬁ", "½", "㎏",
    "مرحبا بالعالم", "שלום", "नमस्ते", "வணக்கம்", "สวัสดี", "안녕", "こんにちは", "世界", "𠮷", "☕️",
    "👩‍🚀", "🇫🇷", "\u200d", "\u200b", "\ufeff", "\r\n", "\n\n\n", "\t\t", "   ", "\u3000", "\xa0",
    "12345", "3.14", "x" * 40, "…", "--", "?!", "_a_b", "<L>", " <R> ", "<LR>", "<S>", "<mask>",
    " <mask> ", "<|endoftext|>", "<|im_start|>", "[MASK]", "[SEP]", "</s>", "<s>", "<unk>",
    "<turn> ", "<tool>", "<extra_id_0>", "<|begin_of_text|>", "the", " an ", "an", "THE",
    "[NEW] one", "strasse",
]  # fmt: skip


def training_lines():
    """Text to learn from: of $HEED_DATA where it is set, and sentences of our own."""
    lines = golden.lines().splitlines() + HARD
    data = os.environ.get("HEED_DATA")
    if data:
        root = pathlib.Path(data)
        lines += (root / "parallel/cmn-eng/cmn.txt").read_text(encoding="utf8").splitlines()[:4000]
        lines += (root / "text/tinyshakespeare.txt").read_text(encoding="utf8").splitlines()[:6000]
    return [line for line in lines if line] * (1 if data else 5)


def texts(count, seed, corpus):
    r = random.Random(seed)

    def wild():
        low, high = r.choice(WIDE)
        points = (r.randrange(low, high) for _ in range(r.randrange(1, 10)))
        return "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)

    makers = [
        lambda: r.choice(corpus),
        lambda: r.choice(corpus),
        lambda: r.choice(PIECES),
        lambda: r.choice(PIECES),
        lambda: r.choice(golden.ODD),
        lambda: r.choice(golden.EMOJI),
        lambda: r.choice(golden.SPECIAL),
        lambda: r.choice(HARD),
        lambda: r.choice("abcdefghij") * r.choice([1, 2, 30, 120]),
        wild,
        wild,
    ]
    out = ["", " ", "a", "\0", "\n", *HARD, *PIECES]
    while len(out) < count:
        between = r.choice(["", " ", "", "  "])
        out.append(between.join(r.choice(makers)() for _ in range(r.choice([1, 1, 2, 3, 5, 8]))))
    return out[:count]


def expected(tokenizer, text, pair):
    got = tokenizer.encode(text) if pair is None else tokenizer.encode(text, pair)
    places = [golden.byte_places(text), golden.byte_places(pair or "")]
    offsets = []
    for number, (begin, end) in zip(got.sequence_ids, got.offsets, strict=True):
        of = places[number or 0]
        offsets.append([of[min(begin, len(of) - 1)], of[min(end, len(of) - 1)]])
    return {
        "ids": got.ids,
        "types": got.type_ids,
        "tokens": [tokenizer.id_to_token(i) for i in got.ids],
        "offsets": offsets,
        "plain": tokenizer.decode(got.ids),
        "full": tokenizer.decode(got.ids, skip_special_tokens=False),
    }


def run(heed, path, options, lines):
    done = subprocess.run(
        [heed, "tokenize", path, *options],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        return None, done.stderr.decode().strip()
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]], None


def heed_answers(heed, path, inputs):
    lines = []
    for text, pair in inputs:
        line = {"text": text} if pair is None else {"text": text, "pair": pair}
        lines.append(json.dumps(line))
    got, error = run(heed, path, ["--jsonl", "--json"], lines)
    if error:
        return None, error
    ids = [" ".join(map(str, one["ids"])) for one in got]
    plain, error = run(heed, path, ["--decode", "--no-special", "--json"], ids)
    full, other = run(heed, path, ["--decode", "--json"], ids) if plain else (None, error)
    if error or other:
        return None, error or other
    for one, a, b in zip(got, plain, full, strict=True):
        one["plain"], one["full"] = a["text"], b["text"]
    return got, None


ASKED = ["ids", "types", "tokens", "offsets", "plain", "full"]


def check(heed, name, path, inputs, shown):
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    answers, error = heed_answers(heed, path, inputs)
    if error:
        print(f"{name}: {error}", file=sys.stderr)
        return dict.fromkeys(ASKED, len(inputs))
    wrong = dict.fromkeys(ASKED, 0)
    for (text, pair), got in zip(inputs, answers, strict=True):
        want = expected(tokenizer, text, pair)
        got.setdefault("types", want["types"] if pair is None else None)
        for key in ASKED:
            if got[key] != want[key]:
                wrong[key] += 1
                if sum(wrong.values()) <= shown:
                    print(f"{name}: {key} of {text!r} {pair!r}\n  {got[key]}\n  {want[key]}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--texts", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=2017)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--keep", help="folder where the tokenizers are left")
    args = parser.parse_args()
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    lines = training_lines()
    inputs = texts(args.texts, args.seed, lines)
    pairs = [(t, inputs[-i] if i % 8 == 3 else None) for i, t in enumerate(inputs)]
    failed = 0
    print(f"{'tokenizer':<26}" + "".join(f"{key:>9}" for key in ASKED) + f"{'seconds':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, made in [(f, None) for f in args.files] or zoo(lines):
            if args.only not in name:
                continue
            start = time.time()
            path = name if made is None else f"{args.keep or folder}/{name}.json"
            if made is not None:
                made.save(path)
            wrong = check(args.heed, name, path, pairs, args.show)
            failed += any(wrong.values())
            numbers = "".join(f"{wrong[key]:>9}" for key in ASKED)
            print(f"{name[-26:]:<26}{numbers}{time.time() - start:>10.1f}", flush=True)
    print(f"{args.texts} texts each, seed {args.seed}: {failed} tokenizers differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
