"""What the `tokenizers` library makes of tokenizer.json files and texts, for tests/text/golden.c.

With `lines`: lines.txt in tests/golden/tokenizer, which tests/text/train.c learns from. Without:
components.json, sentences.json and sweeps.json there. With `live TEST FILE.json ...`: new random
texts for those tokenizers; TEST is the program of tests/text/golden.c.
The tokenizers in tests/golden/tokenizer that heed has trained are made by tests/text/train.c with
HEED_WRITE_GOLDEN=1, after the first of these and before the second.
Needs: tokenizers==0.23.3 sentencepiece==0.2.3 protobuf
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

import tokenizers
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from tokenizer_cases import HARD, SPELL, components, whole
from tokenizer_cases_more import more_components

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/golden/tokenizer"
TRAINED = ["bpe", "bytes", "unigram", "unigram-bytes", "chars"]
SENTENCES = 520

# ---- Lines to learn from -----------------------------------------------------------------------

WHO = [
    ("the teacher", "die Lehrerin", "老师", "先生は"),
    ("a small dog", "ein kleiner Hund", "小狗", "小さい犬は"),
    ("my friend", "mein Freund", "我的朋友", "友だちは"),
    ("the old man", "der alte Mann", "老人", "老人は"),
    ("two children", "zwei Kinder", "两个孩子", "二人の子どもは"),
    ("Anna", "Anna", "安娜", "アンナは"),
    ("the doctor", "der Arzt", "医生", "医者は"),
    ("a girl", "ein Mädchen", "女孩", "女の子は"),
]
DOES = [
    ("is reading a book", "liest ein Buch", "在看书", "本を読んでいる"),
    ("doesn't drink tea", "trinkt keinen Tee", "不喝茶", "お茶を飲まない"),
    ("bought 3 apples", "hat 3 Äpfel gekauft", "买了3个苹果", "りんごを3個買った"),
    ("runs to the station", "läuft zum Bahnhof", "跑到车站", "駅まで走る"),
    ("sings loudly", "singt laut", "大声唱歌", "大声で歌う"),
    ("waits for the bus", "wartet auf den Bus", "在等公共汽车", "バスを待っている"),
    ("paid 12.50 euros", "bezahlte 12,50 Euro", "付了12.50欧元", "12.50ユーロ払った"),
]
WHEN = [
    ("today", "heute", "今天", "今日"),
    ("in the morning", "am Morgen", "早上", "朝"),
    ("every Monday", "jeden Montag", "每个星期一", "毎週月曜日"),
    ("in 2024", "im Jahr 2024", "2024年", "2024年に"),
]


def lines():
    """Every subject with some of the actions and times, in four languages."""
    out = []
    for i, who in enumerate(WHO):
        for k, does in enumerate(DOES):
            when = WHEN[(i + k) % len(WHEN)]
            out.append(f"{who[0][0].upper()}{who[0][1:]} {does[0]} {when[0]}.")
            verb, rest = does[1].split(" ", 1)
            out.append(f"{when[1][0].upper()}{when[1][1:]} {verb} {who[1]} {rest}.")
            if k % 2 == 0:
                out.append(f"{who[2]}{when[2]}{does[2]}。")
                out.append(f"{when[3]}、{who[3]}{does[3]}。")
    out += [
        "Don't you know? “Yes!” (no) 100% 😀👍",
        "l'heure, c’est ﬁne…",
        "使用 Python 3 编程",
        "ラーメン屋・カフェ",
        "",
    ]
    return "\n".join(out) + "\n"


# ---- Texts -------------------------------------------------------------------------------------

ODD = [
    " ",
    "\t",
    "\n",
    "\u3000",
    "\u00a0",
    "  ",
    "\u2009",
    "\u200b",
    "\ufeff",
    "\u2028",
    "▁",
    "▁▁",
    " ▁ ",
    "\r\n",
    "\u0085",
    "\x00",
    "\x7f",
    "\u00ad",
]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇨🇳", "1️⃣", "☃️", "✂", "👍🏽", "❤️", "\U0001fae0"]
SPECIAL = [
    "</s>",
    "<s>",
    " <unk>",
    "<pad> ",
    "<0x41>",
    "<0xE4>",
    "<s",
    "＜s＞",
    "‹/s›",
    "$A",
    "<0xZZ>",
]
RANGES = [
    (32, 127),
    (0xA0, 0x250),
    (0x300, 0x370),
    (0x3040, 0x3100),
    (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3),
    (0x1100, 0x1200),
    (0x1F300, 0x1F700),
    (0xFF00, 0xFFEF),
]


def texts(count, seed, corpus):
    r = random.Random(seed)
    makers = [
        lambda: r.choice(corpus),
        lambda: r.choice(corpus),
        lambda: r.choice(corpus),
        lambda: r.choice(ODD),
        lambda: r.choice(EMOJI),
        lambda: r.choice(SPECIAL),
        lambda: r.choice(HARD),
        lambda: "".join(chr(r.randrange(*r.choice(RANGES))) for _ in range(r.randrange(1, 12))),
    ]
    out = ["", " ", "a", "▁", "</s>", "\n", *HARD]
    while len(out) < count:
        between = r.choice(["", " ", "", "  "])
        out.append(between.join(r.choice(makers)() for _ in range(r.choice([1, 1, 2, 3, 5]))))
    return out


def byte_places(text):
    """Of each character where it begins, and where the text ends."""
    out = [0]
    for c in text:
        out.append(out[-1] + len(c.encode()))
    return out


def places(got, texts):
    """A check sum of each token's place, in bytes of its text, and type."""
    of = [byte_places(text) for text in texts]
    out = []
    for number, (begin, end), kind in zip(
        got.sequence_ids, got.offsets, got.type_ids, strict=True
    ):
        at = of[number or 0]
        out.append(f"{at[min(begin, len(at) - 1)]}-{at[min(end, len(at) - 1)]}:{kind}")
    return zlib.crc32(" ".join(out).encode())


def answer(tokenizer, inputs):
    """ids, places and texts; None where the library refuses to encode. A list is a pair."""
    out = {"ids": [], "places": [], "plain": [], "full": []}
    for text in inputs:
        texts = text if isinstance(text, list) else [text]
        try:
            got = tokenizer.encode(*texts)
        except Exception:  # it raises plain Exception
            for values in out.values():
                values.append(None)
            continue
        out["ids"].append(got.ids)
        out["places"].append(places(got, texts))
        out["plain"].append(tokenizer.decode(got.ids))
        out["full"].append(tokenizer.decode(got.ids, skip_special_tokens=False))
    return out


# ---- Sweeps ------------------------------------------------------------------------------------

BLOCK = 0x1000


def sweep(of):
    """One check sum for each block of code points, so that a difference says where it is."""
    sums = []
    for block in range(0, 0x110000, BLOCK):
        total = 0
        for cp in range(block, block + BLOCK):
            if not 0xD800 <= cp < 0xE000:
                total = zlib.crc32(of(chr(cp)).encode() + b"\0", total)
        sums.append(total)
    return sums


def alone(word):
    """A tokenizer that gives 1 for the word where it stands alone."""
    model = {"type": "WordLevel", "vocab": {"?": 0, word: 1}, "unk_token": "?"}
    token = {"id": 1, "content": word, "single_word": True, "special": False}
    flags = {"lstrip": False, "rstrip": False, "normalized": False}
    return Tokenizer.from_str(
        json.dumps(whole({"model": model, "added_tokens": [token | flags]}))
    )


def sweeps():
    out = {}
    for name in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase"]:
        normalizer = getattr(normalizers, name)()
        out[name] = sweep(normalizer.normalize_str)
        if name != "Lowercase":
            out[name + " marks"] = sweep(
                lambda c, n=normalizer: n.normalize_str("a\u0334" + c + "\u0301")
            )
    for name, part in [
        ("space", pre_tokenizers.WhitespaceSplit()),
        ("punctuation", pre_tokenizers.Punctuation()),
        ("number", pre_tokenizers.Digits(True)),
    ]:
        out[name] = sweep(lambda c, p=part: "1" if len(p.pre_tokenize_str(f"a{c}b")) > 1 else "0")
    out["word"] = sweep(lambda c, t=alone("a"): "0" if t.encode(f"a{c}").ids[0] == 1 else "1")
    return out


# ---- Commands ----------------------------------------------------------------------------------


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (OUT / name).write_text(
        text.replace('],"', '],\n"').replace("},{", "},\n{") + "\n", encoding="utf8"
    )


def sentences(folder, files, count, seed, corpus):
    inputs = texts(count, seed, corpus)
    cases = []
    for name, path in files:
        got = answer(Tokenizer.from_file(path), inputs)
        cases.append(
            {
                "name": name,
                "file": path,
                "ids": [zlib.crc32(" ".join(map(str, ids)).encode()) for ids in got["ids"]],
                "plain": [zlib.crc32(text.encode()) for text in got["plain"]],
            }
        )
    value = {"texts": inputs, "cases": cases}
    path = pathlib.Path(folder) / "sentences.json"
    path.write_text(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace('"],"', '"],\n"')
        + "\n",
        encoding="utf8",
    )


def live(test, files):
    corpus = (OUT / "lines.txt").read_text(encoding="utf8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        seed = random.SystemRandom().randrange(1 << 30)
        print("seed", seed)
        sentences(folder, [(f, os.path.abspath(f)) for f in files], 5000, seed, corpus)
        return subprocess.run(
            [os.path.abspath(test)],
            cwd=ROOT,
            env={**os.environ, "HEED_GOLDEN": folder},
            check=False,
        ).returncode


def main(args):
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    if args[:1] == ["lines"]:
        (OUT / "lines.txt").write_text(lines(), encoding="utf8")
        return 0
    if args[:1] == ["live"]:
        return live(args[1], args[2:])
    cases = []
    for name, parts, inputs in [*components(), *more_components()]:
        file = whole(parts)
        got = answer(Tokenizer.from_str(json.dumps(file)), inputs)
        file["model"] = "spell" if file["model"] == SPELL else file["model"]
        cases.append({"name": name, "tokenizer": file, "texts": inputs, **got})
    write("components.json", {"spell": SPELL, "cases": cases})
    corpus = (OUT / "lines.txt").read_text(encoding="utf8").splitlines()
    os.chdir(ROOT)
    sentences(
        OUT, [(t, f"tests/golden/tokenizer/{t}.json") for t in TRAINED], SENTENCES, 2017, corpus
    )
    write("sweeps.json", {"block": BLOCK, **sweeps()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
