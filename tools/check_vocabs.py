#!/usr/bin/env python3
"""Holds the vocabularies that heed opens against the libraries that made them.

    python tools/check_vocabs.py [--heed build/release/heed] [--data $HEED_DATA] [--texts 12000]
                                 [NAME ...]

Texts: lines of the data set, and random ones made of letters of many scripts, marks, spaces in
runs, letters repeated (ways to cut that tie), special tokens written out. SentencePiece models,
those of the data set and small ones trained here with every setting that changes how text is cut,
must give the ids, places and texts of the `sentencepiece` library; folders with ids of their own
those ids shifted, as transformers does; vocab.json with merges.txt, vocab.txt, Marian's folder and
the vocabularies of GGUF files those of transformers. Prints a line a case; exit status 1 where one
fails.
Needs: sentencepiece tokenizers transformers gguf, as in bench/requirements.txt
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

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import sentencepiece

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x300, 0x36F), (0x391, 0x3C9), (0x410, 0x44F), (0x5D0, 0x5EA),
    (0x621, 0x64A), (0x905, 0x939), (0xE01, 0xE3A), (0x1E00, 0x1EFF), (0x2000, 0x206F),
    (0x2100, 0x218F), (0x2460, 0x24FF), (0x2580, 0x2583), (0x3000, 0x30FF), (0x3300, 0x33FF),
    (0x4E00, 0x4FFF), (0xAC00, 0xACFF), (0xF900, 0xFAD9), (0xFB00, 0xFB06), (0xFF01, 0xFF9F),
    (0x1D400, 0x1D433), (0x1F300, 0x1F64F), (0xE000, 0xE010),
]
SPECIAL = ["<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[MASK]", "<0x41>", "<sep>", "<sym>", "@@x",
           "\u2581", " \u2581", "  ", "   ", "\t", "\u3000", "\u00a0", "\u200b", "\ufeff"]


def random_text(rng):
    parts = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.random()
        if kind < 0.15:
            parts.append(rng.choice(SPECIAL))
        elif kind < 0.3:
            parts.append(chr(rng.randint(*rng.choice(SCRIPTS[:3]))) * rng.randint(2, 12))
        else:
            low, high = rng.choice(SCRIPTS)
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8))))
        if rng.random() < 0.4:
            parts.append(" " * rng.randint(1, 3))
    return "".join(parts)


def lines_of(data):
    import gzip

    names = ["text/wikitext-2-raw/wiki.valid.raw", "text/wikitext-2-raw/valid.txt",
             "text/tinyshakespeare.txt", "parallel/cmn-eng/cmn.txt"]
    for name in names:
        path = data / name
        if path.is_file():
            yield from path.read_text("utf-8").split("\n")
    for path in sorted((data / "parallel/multi30k").glob("*.gz")):
        yield from gzip.open(path, "rt", encoding="utf-8").read().split("\n")


def make_texts(data, count):
    rng = random.Random(7)
    lines = [l for l in lines_of(data) if l and "\r" not in l and len(l) < 600] if data else []
    rng.shuffle(lines)
    texts = lines[: count // 2]
    while len(texts) < count:
        text = random_text(rng)
        if not any(c in text for c in "\r\n"):
            texts.append(text)
    texts[0] = "a" + texts[0]  # no mark of byte order
    return texts


class Heed:
    def __init__(self, command):
        self.command = command

    def run(self, model, text, *options):
        got = subprocess.run([self.command, "tokenize", str(model), "-", "--json", *options],
                             input=text.encode(), capture_output=True)
        if got.returncode:
            raise SystemExit(f"heed tokenize {model}: {got.stderr.decode()}")
        return [json.loads(line) for line in got.stdout.decode().split("\n")[:-1]]

    def encode(self, model, texts, special=False):
        return self.run(model, "\n".join(texts) + "\n", *([] if special else ["--no-special"]))

    def decode(self, model, ids):
        lines = "\n".join(" ".join(map(str, i)) for i in ids) + "\n"
        return [one["text"] for one in self.run(model, lines, "--decode", "--no-special")]


class Report:
    failed = False

    def line(self, name, count, wrong, first=None, allowed=0):
        bad = wrong > allowed
        self.failed |= bad
        print(f"{'FAIL' if bad else 'ok':4} {name}: {count} texts, {wrong} differ"
              + (f"; first {first}" if first and wrong else ""), flush=True)


# ---- SentencePiece ----------------------------------------------------------------------------


def train(folder, lines, name, **options):
    text = folder / "train.txt"
    if not text.exists():
        text.write_text("\n".join(lines[:2000]), "utf-8")
    base = dict(input=str(text), model_prefix=str(folder / name), vocab_size=4000,
                character_coverage=0.995, num_threads=1, minloglevel=2, hard_vocab_limit=False)
    sentencepiece.SentencePieceTrainer.train(**{**base, **options})
    return folder / f"{name}.model"


TRAINED = {
    "unigram": {},
    "unigram-bytes": dict(byte_fallback=True, vocab_size=4300),
    "unigram-symbols": dict(user_defined_symbols=["<sym>", "@@x", "  ", "aa"],
                            control_symbols=["<sep>"]),
    "unigram-plain": dict(normalization_rule_name="identity", add_dummy_prefix=False,
                          remove_extra_whitespaces=False),
    "unigram-lower": dict(normalization_rule_name="nmt_nfkc_cf"),
    "unigram-suffix": dict(treat_whitespace_as_suffix=True),
    "unigram-across": dict(split_by_whitespace=False, normalization_rule_name="nfkc"),
    "unigram-unk": dict(unk_surface=" ?? ", unk_id=3, bos_id=0, eos_id=1, pad_id=2),
    "bpe": dict(model_type="bpe"),
    "bpe-bytes": dict(model_type="bpe", byte_fallback=True, vocab_size=4300,
                      normalization_rule_name="identity", remove_extra_whitespaces=False,
                      split_digits=True, allow_whitespace_only_pieces=True),
    "bpe-symbols": dict(model_type="bpe", user_defined_symbols=["<sym>", "@@x", "  ", "aa"]),
    "bpe-suffix": dict(model_type="bpe", treat_whitespace_as_suffix=True),
    "word": dict(model_type="word"),
    "char": dict(model_type="char", user_defined_symbols=["<sym>"]),
}


def check_spm(report, heed, name, model, texts):
    library = sentencepiece.SentencePieceProcessor(model_file=str(model))
    got = heed.encode(model, texts)
    wrong, first = 0, None
    for text, one in zip(texts, got, strict=True):
        want = library.encode(text, return_type="proto")
        ids = [p.id for p in want.pieces]
        places = [[p.begin, p.end] for p in want.pieces]
        if one["ids"] != ids or one["offsets"] != places:
            wrong += 1
            first = first or (text, one["ids"], ids, one["offsets"], places)
    report.line(f"{name} encode", len(texts), wrong, first)
    rng = random.Random(3)
    lists = [one["ids"] for one in got if one["ids"]][: len(texts) // 2]
    size = library.get_piece_size()
    while len(lists) < len(texts):
        lists.append([rng.randrange(size) for _ in range(rng.randint(1, 12))])
    wrong, first = 0, None
    for ids, text in zip(lists, heed.decode(model, lists), strict=True):
        want = library.decode(ids)
        if text != want:
            wrong += 1
            first = first or (ids, text, want)
    report.line(f"{name} decode", len(lists), wrong, first)


# ---- Folders with ids of their own --------------------------------------------------------------


def shifted(head, skip, unknown, size):
    """What a family makes of SentencePiece's ids."""
    return {i: (unknown if i == 0 else None if i < skip else i - skip + head) for i in range(size)}


def check_shifted(report, heed, folder, model, texts):
    """Texts without special tokens written out: those are the folder's, not the model's."""
    library = sentencepiece.SentencePieceProcessor(model_file=str(model))
    texts = [t for t in texts if "<" not in t and "NOTUSED" not in t]
    n = library.get_piece_size()
    families = {
        "xlm-roberta": ("sentencepiece.bpe.model", shifted(4, 3, 3, n), [0], [2]),
        "camembert": ("sentencepiece.bpe.model", shifted(5, 1, 3, n), [5], [6]),
        "mbart": ("sentencepiece.bpe.model", shifted(4, 3, 3, n), [], [2, n + 1 + 3]),
        "t5": ("spiece.model", {i: i for i in range(n)}, [], [2]),
        "mt5": ("spiece.model", {i: i for i in range(n)}, [], [2]),
        "llama": ("tokenizer.model", {i: i for i in range(n)}, [1], []),
    }
    for family, (file, ids, first, last) in families.items():
        path = folder / family
        path.mkdir()
        (path / file).write_bytes(pathlib.Path(model).read_bytes())
        (path / "config.json").write_text(json.dumps({"model_type": family}))
        wrong, example = 0, None
        for text, one in zip(texts, heed.encode(path, texts, special=True), strict=True):
            want = first + [ids[i] for i in library.encode(text)] + last
            if one["ids"] != want:
                wrong += 1
                example = example or (text, one["ids"], want)
        report.line(f"{family} ids", len(texts), wrong, example)


def compare(report, name, heed, path, texts, want, special=True, allowed=0):
    """want: a text to its ids and, where it is not None, what they decode to."""
    got = heed.encode(path, texts, special=special)
    wrong, example, lists, plain = 0, None, [], []
    for text, one in zip(texts, got, strict=True):
        ids, decoded = want(text)
        if one["ids"] != ids:
            wrong += 1
            example = example or (text, one["ids"], ids)
        if ids and decoded is not None:
            lists.append(ids)
            plain.append(decoded)
    report.line(f"{name} encode", len(texts), wrong, example, allowed)
    if lists:
        wrong, example = 0, None
        for ids, got, text in zip(lists, heed.decode(path, lists), plain, strict=True):
            if got != text:
                wrong += 1
                example = example or (ids, got, text)
        report.line(f"{name} decode", len(lists), wrong, example, allowed)


def plain_of(tokenizer):
    def want(text):
        ids = tokenizer(text)["input_ids"]
        return ids, tokenizer.decode(ids, skip_special_tokens=True,
                                     clean_up_tokenization_spaces=False)
    return want


def folder_of(path, files, **settings):
    path.mkdir()
    for name, source in files.items():
        (path / name).write_bytes(pathlib.Path(source).read_bytes())
    (path / "tokenizer_config.json").write_text(json.dumps(settings))
    return path


def check_merges(report, heed, data, folder, texts):
    import transformers

    source = data / "tokenizers/gpt2"
    files = {n: source / n for n in ("vocab.json", "merges.txt")}
    for cls in ("GPT2Tokenizer", "Qwen2Tokenizer"):
        path = folder_of(folder / cls, files, tokenizer_class=cls)
        compare(report, cls, heed, path, texts,
                plain_of(getattr(transformers, cls).from_pretrained(str(path))))


def bert_words(data):
    """The words of the vocabulary that stands in the data set as GGUF."""
    import gguf

    reader = gguf.GGUFReader(str(data / "tokenizers/gguf-vocab/ggml-vocab-bert-bge.gguf"))
    field = reader.fields["tokenizer.ggml.tokens"]
    words = [bytes(field.parts[i]).decode() for i in field.data]
    types = reader.fields["tokenizer.ggml.token_type"]
    kinds = [int(types.parts[i][0]) for i in types.data]
    for word, kind in zip(words, kinds, strict=True):
        special = kind != 1 or (word.startswith("[") and word.endswith("]") and len(word) > 1)
        yield word if special else word[1:] if word.startswith("\u2581") else "##" + word


def check_bert(report, heed, data, folder, texts):
    import transformers

    vocab = folder / "vocab.txt"
    vocab.write_text("".join(f"{w}\n" for w in bert_words(data)), "utf-8")
    for name, settings in {
        "BertTokenizer": {}, "BertTokenizer cased": dict(do_lower_case=False),
        "BertTokenizer accents": dict(strip_accents=False, tokenize_chinese_chars=False),
    }.items():
        path = folder_of(folder / name, {"vocab.txt": vocab}, tokenizer_class="BertTokenizer",
                         **settings)
        want = plain_of(transformers.BertTokenizer.from_pretrained(str(path)))
        compare(report, name, heed, path, texts, want)
    path = data / "tokenizers/gguf-vocab/ggml-vocab-bert-bge.gguf"
    lower = plain_of(transformers.BertTokenizer.from_pretrained(str(folder / "BertTokenizer")))
    compare(report, "gguf bert-bge", heed, path, texts, lower)


def check_marian(report, heed, data, texts):
    import transformers

    path = data / "tokenizers/opus-mt-en-mg"
    tokenizer = transformers.MarianTokenizer.from_pretrained(str(path))
    tokenizer.punc_normalizer = lambda text: text  # sacremoses, where it is installed
    # It takes the spaces beside special tokens away, and those at the ends of what it decodes.
    texts = [t for t in texts if not any(s in t for s in ("<s>", "</s>", "<unk>", "<pad>"))]
    codes = [">>mlg<< " + t for t in texts[:500]] + [">>xx<<" + t for t in texts[:500]]
    compare(report, "MarianTokenizer", heed, path, texts + codes,
            lambda text: (tokenizer(text)["input_ids"], None))


def check_llama_gguf(report, heed, data, texts):
    """The pieces of the file as a SentencePiece model."""
    import gguf
    from sentencepiece import sentencepiece_model_pb2 as proto

    path = data / "tokenizers/gguf-vocab/ggml-vocab-llama-spm.gguf"
    fields = gguf.GGUFReader(str(path)).fields
    all_of = lambda key: [fields[key].parts[i] for i in fields[key].data]
    model = proto.ModelProto()
    for text, score, kind in zip(*(all_of(f"tokenizer.ggml.{k}")
                                   for k in ("tokens", "scores", "token_type")), strict=True):
        model.pieces.add(piece=bytes(text).decode(), score=float(score[0]), type=int(kind[0]))
    model.trainer_spec.model_type = 2
    model.trainer_spec.byte_fallback = True
    model.normalizer_spec.remove_extra_whitespaces = False
    library = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    compare(report, "gguf llama-spm", heed, path, texts,
            lambda text: (library.encode(text), library.decode(library.encode(text))),
            special=False)


def spm_models(data, folder, lines):
    if data:
        for name in ["sentencepiece/test_model.model", "sentencepiece/test_ja_model.model",
                     "opus-mt-en-mg/source.spm", "opus-mt-en-mg/target.spm"]:
            yield name, data / "tokenizers" / name
    for name, options in TRAINED.items():
        yield name, train(folder, lines, name, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    parser.add_argument("--data", default=os.environ.get("HEED_DATA"))
    parser.add_argument("--texts", type=int, default=12000)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    data = pathlib.Path(args.data) if args.data else None
    if not data:
        print("HEED_DATA is not set: only vocabularies that are trained here, on random texts")
    texts = make_texts(data, args.texts)
    report, heed = Report(), Heed(args.heed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        wanted = lambda name: not args.names or any(n in name for n in args.names)
        for name, model in spm_models(data, folder, texts):
            if wanted(name):
                check_spm(report, heed, name, model, texts)
        if wanted("shifted"):
            check_shifted(report, heed, folder, folder / "unigram.model", texts)
        if data and wanted("merges"):
            check_merges(report, heed, data, folder, texts)
        if data and wanted("bert"):
            check_bert(report, heed, data, folder, texts)
        if data and wanted("marian"):
            check_marian(report, heed, data, texts)
        if data and wanted("gguf"):
            check_llama_gguf(report, heed, data, texts)
    sys.exit(report.failed)


if __name__ == "__main__":
    main()
