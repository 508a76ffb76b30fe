"""Throughput of heed's tokenizers against `tokenizers`, one thread each, on the same documents.

    bench/tokenize.py LIBHEED.so [--megabytes N] [--only WORD] [FILE.json ...]

The text is that of $HEED_DATA (English, Chinese, German and French), cut to documents of some
kilobytes and repeated to the size asked for; the tokenizers are those of tools/tokenizer_zoo.py.
Numbers of ids are compared. Prints megabytes of UTF-8 for each second of processor time, and how
long the file takes to open; of both the best of three.
Needs: tokenizers==0.23.3 sentencepiece==0.2.3 protobuf gguf==0.19.0
SPDX-License-Identifier: MIT
"""

import argparse
import ctypes
import gzip
import os
import pathlib
import random
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from tokenizers import Tokenizer  # noqa: E402

import check_tokenizers  # noqa: E402
import tokenizer_zoo as zoo  # noqa: E402


class Token(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_int32),
        ("begin", ctypes.c_uint32),
        ("end", ctypes.c_uint32),
        ("text", ctypes.c_int16),
        ("type", ctypes.c_uint16),
    ]


class Tokens(ctypes.Structure):
    _fields_ = [
        ("host", ctypes.c_void_p),
        ("item", ctypes.POINTER(Token)),
        ("n", ctypes.c_size_t),
        ("cap", ctypes.c_size_t),
    ]


def load(path):
    heed = ctypes.CDLL(path)
    heed.heed_tokenizer_open.restype = ctypes.c_void_p
    heed.heed_tokenizer_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    heed.heed_tokenizer_free.argtypes = [ctypes.c_void_p]
    heed.heed_encode.restype = ctypes.c_bool
    heed.heed_encode.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_bool,
        ctypes.POINTER(Tokens),
        ctypes.c_void_p,
    ]
    return heed


def documents(megabytes):
    root = pathlib.Path(os.environ["HEED_DATA"])
    lines = (root / "text/tinyshakespeare.txt").read_text(encoding="utf8").split("\n")
    lines += (root / "parallel/cmn-eng/cmn.txt").read_text(encoding="utf8").split("\n")
    for path in sorted((root / "text/wikitext-2-raw").glob("*")):
        if path.is_file() and path.suffix != ".md":
            lines += path.read_text(encoding="utf8", errors="replace").split("\n")[:20000]
    for path in sorted((root / "parallel/multi30k").rglob("train*.gz")):
        lines += gzip.open(path, "rt", encoding="utf8").read().split("\n")[:10000]
    random.Random(1).shuffle(lines)
    out, now, size, total = [], [], 0, 0
    while total < megabytes * 1e6:
        for line in lines:
            now.append(line)
            size += len(line.encode()) + 1
            if size > 4000:
                out.append("\n".join(now))
                total += size
                now, size = [], 0
            if total >= megabytes * 1e6:
                break
    return out


def best(run):
    times = []
    for _ in range(3):
        start = time.process_time()
        result = run()
        times.append(time.process_time() - start)
    return min(times), result


def heed_run(heed, tokenizer, encoded):
    tokens = Tokens()

    def run():
        total = 0
        for text in encoded:
            tokens.n = 0
            assert heed.heed_encode(tokenizer, text, len(text), True, ctypes.byref(tokens), None)
            total += tokens.n
        return total

    return run


def compare(heed, name, path, texts):
    encoded = [text.encode() for text in texts]
    size = sum(map(len, encoded)) / 1e6
    handles = []

    def open_one():
        handles.append(heed.heed_tokenizer_open(None, os.fsencode(path), None))
        return handles[-1]

    opening, handle = best(open_one)
    ours, count = best(heed_run(heed, handle, encoded))
    peer_opening, peer = best(lambda: Tokenizer.from_file(path))
    peer.no_truncation()
    peer.no_padding()
    theirs, ids = best(lambda: sum(len(e.ids) for e in peer.encode_batch(texts)))
    assert count == ids, (name, count, ids)
    for one in handles:
        heed.heed_tokenizer_free(one)
    megabytes = os.path.getsize(path) / 1e6
    print(
        f"{name[-22:]:<22}{size / ours:>10.1f}{size / theirs:>10.1f}{theirs / ours:>8.1f}"
        f"{megabytes:>9.2f}{opening * 1e3:>10.1f}{peer_opening * 1e3:>10.1f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    heed, texts = load(args.library), documents(args.megabytes)
    print(
        f"{'tokenizer':<22}{'heed MB/s':>10}{'peer MB/s':>10}{'ratio':>8}{'file MB':>9}"
        f"{'open ms':>10}{'peer ms':>10}"
    )
    for path in args.files:
        compare(heed, pathlib.Path(path).stem, path, texts)
    if args.files:
        return
    lines = check_tokenizers.training_lines()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in [
            ("GPT-2, real", zoo.gpt2_real),
            ("Llama 3, real", zoo.llama3_real),
            ("BERT", lambda: zoo.bert(lines)),
            ("T5", lambda: zoo.t5(lines)),
        ]:
            if args.only in name:
                path = f"{folder}/{name}.json"
                make().save(path)
                compare(heed, name, path, texts)


if __name__ == "__main__":
    main()
