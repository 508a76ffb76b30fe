#!/usr/bin/env python3
"""Opens models that heed trained in transformers, and holds one against the other.

    python tools/check_transformers.py [--heed build/release/heed] [FOLDER ...]

Without a FOLDER it trains small ones of its own on examples/zh-en: Post-LN, which is saved as
marian, and Pre-LN, which is saved as pegasus, with each kind of tokenizer. For each folder:
AutoTokenizer gives a PreTrainedTokenizerFast; 500 mixed sentences get the same ids and tokens
and decode to the same text; logits and loss agree within 1e-4 on a padded batch; greedy
and beam search give the same ids and texts. Prints the figures; exit status 1 where one fails.
Needs: torch transformers tokenizers safetensors, as in bench/requirements.txt
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

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples/zh-en"
SENTENCES, BOUND = 500, 1e-4

# What is trained where no folder is given.
SMALL = ["model.width=64", "model.feed_forward=128", "model.max_positions=96"]
TRAININGS = {
    "post-bpe": ["model.norm_position=post", "tokenizer.type=bpe"],
    "pre-unigram": [
        "model.norm_position=pre", "model.activation=gelu", "tokenizer.type=unigram",
        "model.tie=none",
    ],
    "post-char": [
        "model.norm_position=post", "model.activation=silu", "tokenizer.type=char",
        "tokenizer.byte_fallback=false", "model.tie=output", "model.scale_embedding=false",
    ],
    "pre-bpe-lower": [
        "model.norm_position=pre", "model.activation=gelu_tanh", "tokenizer.lowercase=true",
        "tokenizer.normalization=none",
    ],
}

# Pieces of sentences, by what is hard about them.
PIECES = {
    "chinese": [
        "我爱中国", "他昨天没有去北京。", "你们喝茶吗？", "三千二百块钱", "繁體字與异体字", "𠮷野家",
    ],
    "japanese": [
        "東京へ行きました。", "ありがとうございます", "カタカナとﾊﾝｶｸ", "私は学生です", "が゛ぱ゜",
    ],
    "english": [
        "I love China.", "He doesn't drink tea", "the U.S.A., isn't it?", "3.14 and 1,000", "co-op",
        "e.g. <unk> & \"quotes\" / slashes\\",
    ],
    "german": [
        "Straße und Fuß", "Ärger über Öl", "Donaudampfschifffahrt", "„Zitat“ – gut", "STRASSE",
    ],
    "emoji": ["😀", "👨‍👩‍👧‍👦", "🇨🇳🇩🇪", "👍🏽", "❤️", "1️⃣"],
    "odd": [
        "ｆｕｌｌ　ｗｉｄｔｈ", "e\u0301 \u00e9 \u1e9b\u0323", "ﬁ ﬂ № ℃ ½", "한국어 \u1112\u1161\u11ab",
        "עברית عربي", "Ωμέγα ΣΑΣ", "İstanbul ıI", "\u202eabc\u202c", "a\u0300\u0316b",
        "\ufffd\ufdd0", "</s>", "<s>x</s>", "<pad> <unk>", "▁", "▁▁a ▁b", "<0xE4>",
        "\u0000\u0007\u001b", "\ue000\U000f0000",
    ],
}
GAPS = [" ", " ", " ", "", "  ", "   ", "\t", "\u00a0", "\u3000", "\u200b", "\u2009", " \t "]
GAPS += ["\u2028", "\r", "\x0b", "\ufeff"]


def mixed_sentences(count):
    """Deterministic; each is one line: it holds no line feed and ends with no carriage return."""
    pick, lines = random.Random(2017), ["", " ", "\u3000", "\t\t", "a", " a", "a ", "\u00a0"]
    while len(lines) < count:
        text = "".join(
            pick.choice(PIECES[pick.choice(sorted(PIECES))]) + pick.choice(GAPS)
            for _ in range(pick.randint(1, 6))
        )
        edge = pick.choice(["", "", "", " ", "  ", "\u3000", "\t"])
        lines.append((edge + text + pick.choice(["", edge])).rstrip("\r"))
    return lines


class Heed:
    def __init__(self, path):
        self.path = str(path)

    def run(self, *arguments, text=None):
        result = subprocess.run(
            [self.path, *map(str, arguments)], input=text and text.encode(), capture_output=True
        )
        if result.returncode:
            sys.exit(f"heed {' '.join(map(str, arguments))}\n{result.stderr.decode()}")
        return result.stdout.decode()

    def objects(self, *arguments, text=None):
        return [json.loads(line) for line in self.run(*arguments, text=text).split("\n") if line]


class Report:
    def __init__(self, name):
        self.name, self.failed = name, False

    def expect(self, what, good, figure=""):
        self.failed |= not good
        verdict = "" if good else "   NOT AS IT SHOULD BE"
        print(f"{self.name}: {what}: {figure}{verdict}", flush=True)

    def count(self, what, pairs):
        """pairs: (where, one, other)."""
        bad = [(where, a, b) for where, a, b in pairs if a != b]
        self.expect(what, not bad, f"{len(pairs) - len(bad)} of {len(pairs)} the same")
        for where, a, b in bad[:3]:
            print(f"  {where!r}\n    transformers {a!r}\n    heed         {b!r}")


# ---- Tokens ----


def check_tokens(report, heed, folder, tokenizer):
    report.expect(
        "tokenizer", isinstance(tokenizer, PreTrainedTokenizerFast), type(tokenizer).__name__
    )
    lines = mixed_sentences(SENTENCES)
    ours = heed.objects("tokenize", folder, "--json", text="\n".join(lines) + "\n")
    assert len(ours) == len(lines), (len(ours), len(lines))
    assert [o["text"] for o in ours] == lines
    theirs = [tokenizer(line) for line in lines]
    triples = list(zip(lines, theirs, ours))
    report.count("ids", [(s, t["input_ids"], o["ids"]) for s, t, o in triples])
    report.count(
        "tokens",
        [(s, tokenizer.convert_ids_to_tokens(t["input_ids"]), o["tokens"]) for s, t, o in triples],
    )
    ids = "\n".join(" ".join(map(str, o["ids"])) for o in ours) + "\n"
    back = heed.objects("tokenize", folder, "--decode", "--no-special", "--json", text=ids)
    report.count(
        "decoded",
        [
            (s, tokenizer.decode(t["input_ids"], skip_special_tokens=True), b["text"])
            for (s, t, _), b in zip(triples, back)
        ],
    )


# ---- Logits ----


def pairs_of(count):
    lines = (EXAMPLE / "heldout.tsv").read_text(encoding="utf-8").splitlines()[:count]
    return [line.split("\t")[:2] for line in lines]


def check_logits(report, heed, folder, tokenizer, model, work):
    source, target = zip(*pairs_of(24))
    batch = tokenizer(list(source), padding=True, return_tensors="pt")
    labels = tokenizer(list(target), padding=True, return_tensors="pt")
    labels = labels.input_ids.masked_fill(labels.attention_mask == 0, -100)
    inputs = {
        "input_ids": batch.input_ids, "attention_mask": batch.attention_mask, "labels": labels
    }
    assert (batch.attention_mask == 0).any() and (labels == -100).any()
    save_file(inputs, work / "in.safetensors")
    heed.run(
        "trace", folder, "--input", work / "in.safetensors", "--output", work / "out.safetensors"
    )
    ours = load_file(work / "out.safetensors")
    with torch.no_grad():
        theirs = model(**inputs)
    gap = (theirs.logits - ours["logits"]).abs().max().item()
    report.expect("logits", gap <= BOUND, f"largest difference {gap:.2e} of {BOUND}")
    gap = abs(theirs.loss.item() - ours["loss"].item())
    report.expect("loss", gap <= BOUND, f"{theirs.loss.item():.5f}, difference {gap:.2e}")


# ---- Translations ----


def trimmed(row, end):
    """Without the start token, up to and with the end token."""
    ids = row.tolist()[1:]
    return ids[: ids.index(end) + 1] if end in ids else ids


def check_search(report, heed, folder, tokenizer, model, work, beam):
    source = [pair[0] for pair in pairs_of(48 if beam == 1 else 16)]
    batch = tokenizer(source, padding=True, return_tensors="pt")
    if "token_type_ids" in batch:
        del batch["token_type_ids"]
    with torch.no_grad():
        rows = model.generate(**batch, num_beams=beam, do_sample=False, max_length=60)
    theirs = [trimmed(row, model.config.eos_token_id) for row in rows]
    lists = [ids[: sum(mask)] for ids, mask in zip(*map(torch.Tensor.tolist, batch.values()))]
    (work / "ids.json").write_text(json.dumps(lists))
    options = [folder, "--json", "--beam", beam, "--max-length", 60]
    by_ids = heed.objects("translate", *options, "--ids", work / "ids.json")
    by_text = heed.objects("translate", *options, text="\n".join(source) + "\n")
    kind = f"beam {beam}" if beam > 1 else "greedy"
    report.count(
        f"{kind}, ids",
        [(s, t, o["translations"][0]["ids"]) for s, t, o in zip(source, theirs, by_ids)],
    )
    report.count(
        f"{kind}, text",
        [
            (s, tokenizer.decode(t, skip_special_tokens=True), o["translations"][0]["text"])
            for s, t, o in zip(source, theirs, by_text)
        ],
    )
    different = len({tuple(ids) for ids in theirs})
    report.expect(f"{kind}, different translations", different > 3, different)


# ---- Folders ----


def check(heed, folder, work):
    report = Report(pathlib.Path(folder).name)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model, info = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    model.eval()
    if not model.config.tie_word_embeddings:
        info["missing_keys"].discard("model.shared.weight")  # never read: heed leaves it out
    odd = {key: sorted(value) for key, value in info.items() if value}
    report.expect("model", not odd, f"{type(model).__name__} {odd or ''}")
    check_tokens(report, heed, folder, tokenizer)
    check_logits(report, heed, folder, tokenizer, model, work)
    for beam in (1, 4):
        check_search(report, heed, folder, tokenizer, model, work, beam)
    return not report.failed


def train(heed, work, name, settings, steps):
    out = work / name
    heed.run(
        "train", ROOT / "recipes/zh-en.yaml", "--over", f"data.train={EXAMPLE}/train.tsv",
        f"data.test={EXAMPLE}/heldout.tsv", f"out.folder={out}", f"train.steps={steps}",
        f"train.warmup={steps // 2}",
        *SMALL, *settings,
    )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    parser.add_argument("--steps", type=int, default=150, help="updates of its own trainings")
    parser.add_argument("folder", nargs="*")
    args = parser.parse_args()
    heed = Heed(args.heed)
    torch.set_num_threads(2)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as temp:
        work = pathlib.Path(temp)
        folders = args.folder or [
            train(heed, work, name, settings, args.steps) for name, settings in TRAININGS.items()
        ]
        good = [check(heed, folder, work) for folder in folders]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
