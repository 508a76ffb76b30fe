"""Writes tests/golden/vocab/: tiny vocabularies of the formats that are no tokenizer.json, and what
the libraries that made them make of texts.

  spm/*.model, spm/cases.json   SentencePiece models with every setting that changes how text is cut
  folders/NAME/                 folders as transformers saves them, with a cases.json each
  gguf/*.gguf                   the same vocabularies inside GGUF files
and tests/fuzz/corpus/{sentencepiece,vocab}/: the smallest of them to begin from.

Trained on tests/golden/tokenizer/lines.txt; the rules of normalization are a few of our own, since
the usual ones take 240 KB.
Needs: sentencepiece==0.2.3 transformers==5.24.0 tokenizers==0.23.3 gguf==0.19.0
Run: python tools/make_golden_vocabs.py
SPDX-License-Identifier: MIT
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import struct
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gguf
import sentencepiece
import transformers
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import ByteLevelBPETokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES = ROOT / "tests/golden/tokenizer/lines.txt"
OUT = ROOT / "tests/golden/vocab"

# From -> to: width, ligatures, a letter that grows, one that goes, a space of another kind.
RULES = [("\uff21", "A"), ("\uff22", "B"), ("\ufb01", "fi"), ("\u2026", "..."), ("\u200b", ""),
         ("\u3000", " "), ("\t", " "), ("e\u0301", "\u00e9"), ("\u2121", "TEL"), ("\u00bd", "1 2")]
BACK = [("...", "\u2026"), ("(c)", "\u00a9")]

PLAIN = dict(normalization_rule_name="identity")
MODELS = {
    "unigram": {},
    "unigram-bytes": dict(byte_fallback=True, vocab_size=480),
    "unigram-symbols": dict(user_defined_symbols=["<sym>", "@@x", "  "], control_symbols=["<sep>"]),
    "unigram-loose": dict(PLAIN, add_dummy_prefix=False, remove_extra_whitespaces=False),
    "unigram-suffix": dict(treat_whitespace_as_suffix=True),
    "unigram-unk": dict(unk_surface=" ?? ", unk_id=3, bos_id=0, eos_id=1, pad_id=2),
    "bpe": dict(model_type="bpe"),
    "bpe-bytes": dict(PLAIN, model_type="bpe", byte_fallback=True, vocab_size=500,
                      remove_extra_whitespaces=False),
    "bpe-symbols": dict(model_type="bpe", user_defined_symbols=["<sym>", "@@x", "aa"]),
    "word": dict(model_type="word"),
    "char": dict(model_type="char", user_defined_symbols=["<sym>"]),
}

TEXTS = [
    "", " ", "   ", "a", " a", "a ", "  two  spaces  ", "Hello world!", "the the the", "aaaa",
    "aaaaaaaaa", "zzzzz", "\uff21\uff22 \ufb01sh \u2026", "cafe\u0301 caf\u00e9", "a\u200bb\u200b",
    "\u200b", "\u3000a\u3000\u3000b\u3000", "tab\there", "line\nbreak\n", "\u2581a \u2581",
    "\u2581", "<s> a </s> <unk>", "<sym>a<sym> @@x  <sep>", "<0x41> <0x0A>",
    "\U0001f999\U0001f999 x", "\u00bd", "\u2121\u2121", "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "x" * 40, "ab " * 30, "e\u0301\u0301",
    "I'm here, isn't it?", "3.14 + 2,000 = 2003.14", "(c) ... \u00a9",
]


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=True, indent=None, separators=(",", ":")) + "\n")


def train(folder, name, options):
    rules = folder / "rules.tsv"
    code = lambda s: " ".join(f"{ord(c):X}" for c in s)
    rules.write_text("".join(f"{code(a)}\t{code(b)}\n" for a, b in RULES))
    base = dict(input=str(LINES), model_prefix=str(folder / name), vocab_size=300,
                character_coverage=0.98, num_threads=1, minloglevel=2, hard_vocab_limit=False)
    if "normalization_rule_name" not in options:
        base["normalization_rule_tsv"] = str(rules)
    sentencepiece.SentencePieceTrainer.train(**{**base, **options})
    model = proto.ModelProto()
    model.ParseFromString((folder / f"{name}.model").read_bytes())
    # How it was made says where, which is nobody's business.
    kept = proto.TrainerSpec()
    for key in ["model_type", "treat_whitespace_as_suffix", "byte_fallback", "unk_surface",
                "unk_id", "bos_id", "eos_id", "pad_id"]:
        if model.trainer_spec.HasField(key):
            setattr(kept, key, getattr(model.trainer_spec, key))
    model.trainer_spec.CopyFrom(kept)
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    return model


def with_unused(model):
    """Every fifth piece of several letters is out of use, every ninth user-defined."""
    model = proto.ModelProto.FromString(model.SerializeToString())
    count = 0
    for piece in model.pieces:
        if piece.type == 1 and len(piece.piece) > 1:
            count += 1
            piece.type = 5 if count % 5 == 0 else 4 if count % 9 == 0 else 1
    return model


def with_denormalizer(folder, model):
    rules = folder / "back.tsv"
    code = lambda s: " ".join(f"{ord(c):X}" for c in s)
    rules.write_text("".join(f"{code(a)}\t{code(b)}\n" for a, b in BACK))
    other = proto.ModelProto()
    sentencepiece.SentencePieceTrainer.train(
        input=str(LINES), model_prefix=str(folder / "back"), vocab_size=300, minloglevel=2,
        character_coverage=0.98, hard_vocab_limit=False, normalization_rule_tsv=str(rules))
    other.ParseFromString((folder / "back.model").read_bytes())
    model = proto.ModelProto.FromString(model.SerializeToString())
    spec = model.denormalizer_spec
    spec.precompiled_charsmap = other.normalizer_spec.precompiled_charsmap
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    return model


def spm_cases(name, model):
    library = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    rng = random.Random(5)
    size = library.get_piece_size()
    ids, places = [], []
    for text in TEXTS:
        got = library.encode(text, return_type="proto")
        ids.append([p.id for p in got.pieces])
        places.append([x for p in got.pieces for x in (p.begin, p.end)])
    lists = ids + [[rng.randrange(size) for _ in range(rng.randint(1, 9))] for _ in range(40)]
    return {"name": name, "texts": TEXTS, "ids": ids, "places": places, "lists": lists,
            "decoded": [library.decode(l) if l else "" for l in lists]}


def make_spm(folder):
    out = OUT / "spm"
    out.mkdir(parents=True)
    models = {name: train(folder, name, options) for name, options in MODELS.items()}
    models["unigram-unused"] = with_unused(models["unigram"])
    models["bpe-unused"] = with_unused(models["bpe"])
    models["unigram-back"] = with_denormalizer(folder, models["unigram"])
    cases = []
    for name, model in models.items():
        (out / f"{name}.model").write_bytes(model.SerializeToString())
        cases.append(spm_cases(name, model))
    write_json(out / "cases.json", cases)
    return models


# ---- Folders ----------------------------------------------------------------------------------

# Texts on which the rules of both libraries agree: transformers cuts at white space, and looks for
# special tokens first.
FOLDER_TEXTS = [
    "Hello world!", "the cat sat on the mat.", "I'm here, isn't it?", "a b c", "zq zq", "3.14 2003",
    "A quick brown fox; and the lazy dog", "<s> the </s>", "two men are walking",
]


def folder_cases(folder, tokenizer, texts=FOLDER_TEXTS):
    ids = [tokenizer(t)["input_ids"] for t in texts]
    cases = {"texts": texts, "ids": ids, "size": len(tokenizer)}
    cases["plain"] = [tokenizer.decode(i, skip_special_tokens=True,
                                       clean_up_tokenization_spaces=False) for i in ids]
    write_json(folder / "cases.json", cases)


def new_folder(name, config, files):
    folder = OUT / "folders" / name
    folder.mkdir(parents=True)
    if config is not None:
        write_json(folder / "tokenizer_config.json", config)
    for file, data in files.items():
        (folder / file).write_bytes(data)
    return folder


def make_spm_folders(folder, models):
    ids = dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    like_t5 = train(folder, "t5", ids).SerializeToString()
    plain = models["unigram"].SerializeToString()
    for name, cls, file, more in [
        ("xlm-roberta", "XLMRobertaTokenizer", "sentencepiece.bpe.model", {}),
        ("camembert", "CamembertTokenizer", "sentencepiece.bpe.model", {}),
        ("mbart", "MBartTokenizer", "sentencepiece.bpe.model", {"src_lang": "de_DE"}),
        ("t5", "T5Tokenizer", "spiece.model", {"extra_ids": 20}),
        ("pegasus", "PegasusTokenizer", "spiece.model", {}),
    ]:
        data = like_t5 if name in ("t5", "pegasus") else plain
        folder = new_folder(name, {"tokenizer_class": cls, **more}, {file: data})
        tokenizer = getattr(transformers, cls).from_pretrained(str(folder))
        # Pegasus keeps the space before a special token; sentencepiece drops it.
        plain_texts = [t for t in FOLDER_TEXTS if name != "pegasus" or "<" not in t]
        folder_cases(folder, tokenizer, plain_texts)
    data = models["bpe-bytes"].SerializeToString()
    folder = new_folder("llama", {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True,
                                  "legacy": False}, {"tokenizer.model": data})
    folder_cases(folder, transformers.LlamaTokenizer.from_pretrained(str(folder)))


def make_marian(models):
    pieces = [p.piece for m in ("unigram", "unigram-symbols") for p in models[m].pieces]
    names = ["</s>", "<unk>", ">>fra<<", ">>de<<"]
    names += sorted({p for p in pieces if p not in ("<s>", "</s>", "<unk>")})[:-20] + ["<pad>"]
    vocab = json.dumps({p: i for i, p in enumerate(names)}, ensure_ascii=False).encode()
    folder = new_folder("marian", {"tokenizer_class": "MarianTokenizer"}, {
        "source.spm": models["unigram"].SerializeToString(),
        "target.spm": models["bpe-symbols"].SerializeToString(), "vocab.json": vocab})
    tokenizer = transformers.MarianTokenizer.from_pretrained(str(folder))
    texts = FOLDER_TEXTS + [">>fra<< the cat", ">>xx<< the cat", "a >>de<< b", ">>de<<", "  a  b "]
    folder_cases(folder, tokenizer, texts)
    cases = json.loads((folder / "cases.json").read_text())
    cases["target"] = [tokenizer(text_target=t)["input_ids"] for t in texts]
    write_json(folder / "cases.json", cases)


def make_m2m(models):
    pieces = [p.piece for p in models["unigram"].pieces if p.type == 1]
    names = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pieces)[:-10]]
    vocab = json.dumps({p: i for i, p in enumerate(names)}, ensure_ascii=False).encode()
    folder = new_folder("m2m100", {"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr"}, {
        "sentencepiece.bpe.model": models["unigram"].SerializeToString(), "vocab.json": vocab})
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(str(folder))
    folder_cases(folder, tokenizer, [t for t in FOLDER_TEXTS if "<" not in t])
    # transformers 5 forgets that the languages are special, and to count them.
    cases = json.loads((folder / "cases.json").read_text())
    cases["size"] = len(names) + 100
    cases["plain"] = [text.removeprefix("__fr__").strip() for text in cases["plain"]]
    write_json(folder / "cases.json", cases)


def make_byte_level(folder):
    trained = ByteLevelBPETokenizer()
    trained.train([str(LINES)], vocab_size=420, show_progress=False,
                  special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"])
    trained.save_model(str(folder))
    files = {n: (folder / n).read_bytes() for n in ("vocab.json", "merges.txt")}
    texts = FOLDER_TEXTS + ["  two  spaces ", "line\nbreak\n\n", "caf\u00e9 \u4f60\u597d", "\t x",
                            "<|endoftext|>a<|endoftext|>", "a <new> b", "<new2>x"]
    gpt2 = new_folder("gpt2", {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {
        "420": {"content": "<new>", "lstrip": False, "rstrip": True, "normalized": False,
                "single_word": False, "special": False}}}, files)
    folder_cases(gpt2, transformers.GPT2Tokenizer.from_pretrained(str(gpt2)), texts)
    roberta = new_folder("roberta", None, files)
    write_json(roberta / "config.json", {"model_type": "roberta"})
    write_json(roberta / "added_tokens.json", {"<new>": 420, "<new2>": 421})
    write_json(roberta / "special_tokens_map.json",
               {"mask_token": {"content": "<mask>", "lstrip": True, "rstrip": False,
                               "normalized": False, "single_word": False},
                "extra_special_tokens": ["<new2>"]})
    tokenizer = transformers.RobertaTokenizer.from_pretrained(str(roberta))
    folder_cases(roberta, tokenizer, texts + ["a <mask> b"])


def make_bert():
    words = collections.Counter(re.findall(r"\w+", LINES.read_text("utf-8")))
    words.update(w.lower() for w in list(words))
    letters = sorted({c for w in words for c in w} | set("!.,;:'\"?-zq0123456789\u00c9\u00e9"))
    pieces = collections.Counter(w[-n:] for w in words for n in (2, 3) if len(w) > n)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters)]
    vocab += [w for w in sorted(words) if len(w) > 1 and words[w] > 1][:80]
    vocab += ["##" + p for p, _ in sorted(pieces.most_common(60))]
    vocab = "".join(f"{w}\n" for w in vocab).encode()
    texts = FOLDER_TEXTS + ["Caf\u00e9 \u00c9COLE", "\u4f60\u597d world", "[MASK] a [SEP]",
                            "\t x\u0000y"]
    for name, config in [
        ("bert", {"tokenizer_class": "BertTokenizer"}),
        ("bert-cased", {"tokenizer_class": "BertTokenizer", "do_lower_case": False,
                        "tokenize_chinese_chars": False}),
        ("bert-accents", {"tokenizer_class": "BertTokenizer", "strip_accents": False}),
    ]:
        made = new_folder(name, config, {"vocab.txt": vocab})
        folder_cases(made, transformers.BertTokenizer.from_pretrained(str(made)), texts)


# ---- GGUF and llama2.c -------------------------------------------------------------------------


def write_gguf(path, model, fields):
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    for key, value in fields.items():
        getattr(writer, f"add_{key}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_gguf(models):
    out = OUT / "gguf"
    out.mkdir()
    pieces = models["bpe-bytes"].pieces
    write_gguf(out / "llama.gguf", "llama", dict(
        token_list=[p.piece.encode() for p in pieces], token_scores=[p.score for p in pieces],
        token_types=[p.type for p in pieces], bos_token_id=1, eos_token_id=2, unk_token_id=0))
    folder = OUT / "folders/gpt2"
    vocab = json.loads((folder / "vocab.json").read_text())
    merges = (folder / "merges.txt").read_text().split("\n")[1:-1]
    write_gguf(out / "gpt2.gguf", "gpt2", dict(
        tokenizer_pre="smollm", token_list=[t.encode() for t in sorted(vocab, key=vocab.get)],
        token_types=[3 if i < 6 else 1 for i in range(len(vocab))], token_merges=merges,
        bos_token_id=0, eos_token_id=2, add_bos_token=True))
    words = (OUT / "folders/bert/vocab.txt").read_text().split("\n")[:-1]
    spell = lambda w: w if w[0] == "[" else w[2:] if w.startswith("##") else "\u2581" + w
    write_gguf(out / "bert.gguf", "bert", dict(
        token_list=[spell(w).encode() for w in words],
        token_types=[3 if w[0] == "[" and len(w) > 1 else 1 for w in words],
        unk_token_id=words.index("[UNK]"), sep_token_id=words.index("[SEP]"),
        bos_token_id=words.index("[CLS]")))
    # llama2.c's tokenizer.bin of the same pieces.
    spell = lambda p: p.piece.replace("\u2581", " ") if p.type != 3 else f"\n{p.piece}\n"
    tokens = [(p.score, spell(p).encode()) for p in pieces]
    data = struct.pack("<i", max(len(t) for _, t in tokens))
    data += b"".join(struct.pack("<fi", s, len(t)) + t for s, t in tokens)
    new_folder("llama2c", None, {"tokenizer.bin": data})
    made = sentencepiece.SentencePieceProcessor(model_proto=models["bpe-bytes"].SerializeToString())
    write_json(OUT / "folders/llama2c/cases.json", {
        "texts": FOLDER_TEXTS[:-2], "ids": [[1] + made.encode(t) for t in FOLDER_TEXTS[:-2]],
        "size": len(tokens), "plain": FOLDER_TEXTS[:-2]})


def make_corpus():
    out = ROOT / "tests/fuzz/corpus"
    for name in ("sentencepiece", "vocab"):
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir()
    for name in ("unigram-unused", "bpe-unused", "unigram-bytes", "unigram-back", "word", "char",
                 "unigram-suffix"):
        shutil.copy(OUT / f"spm/{name}.model", out / "sentencepiece" / name)
    read = lambda path: (OUT / path).read_bytes()
    for name, data in {
        "llama2c": b"l" + read("folders/llama2c/tokenizer.bin"),
        "llama": b"g" + read("gguf/llama.gguf"), "gpt2": b"g" + read("gguf/gpt2.gguf"),
        "bert": b"g" + read("gguf/bert.gguf"), "words": b"b" + read("folders/bert/vocab.txt"),
        "merges": b"m" + read("folders/gpt2/vocab.json") + b"\0" + read("folders/gpt2/merges.txt"),
    }.items():
        (out / "vocab" / name).write_bytes(data)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        models = make_spm(folder)
        make_spm_folders(folder, models)
        make_marian(models)
        make_m2m(models)
        make_byte_level(folder)
        make_bert()
        make_gguf(models)
    make_corpus()
    size = sum(p.stat().st_size for p in OUT.rglob("*") if p.is_file())
    print(f"{OUT}: {size} bytes")


if __name__ == "__main__":
    main()
