"""Small tokenizers, for each component of tokenizer.json, with texts that are hard for it.

SPDX-License-Identifier: MIT
"""

from tokenizers import pre_tokenizers

HARD = [
    "ﬁne ½ ² Å ℌ ㎏ Ⅷ ①②③",
    "naïve café cafe\u0301 Zu\u0308rich STRASSE straße İstanbul ΣΑΣ Ǆ",
    "don't l’homme rock'n'roll O’Neil's",
    "3,14 + 2=5.14; 100% €5 $6 #7 @8",
    "http://a.b/c?d=e&f=g~h",
    "ไทยแลนด์ ประเทศไทย",
    "हिन्दी भाषा",
    "العربية ١٢٣",
    "עברית",
    "Привет мир",
    "안녕하세요 세계",
    "e\u0323\u0302 \u1e69 q\u0307\u0323 \u0344",
    "\U0001d54f𝒜𝔅 ﷺ ﷽",
    "１２３ＡＢＣｱ",
    "𠮷野家 龘靐",
    "x" * 90,
    "中" * 40,
    "a\u0301" * 20,
    "!!!???...——……「」『』【】",
    "A1B2c3 4K 5G mp3",
    "ﾃｽﾄ半角カナ ｶﾞｷﾞｸﾞ",
    "が か\u3099 ぱ は\u309a 々〆〇",
]

# ---- Components --------------------------------------------------------------------------------

BYTES = {f"<0x{b:02X}>": b for b in range(256)}
SPELL = {
    "type": "BPE",
    "vocab": {**BYTES, "<unk>": 256},
    "merges": [],
    "byte_fallback": True,
    "unk_token": "<unk>",
}


def words(*known):
    return {
        "type": "WordLevel",
        "vocab": {w: i for i, w in enumerate(["<unk>", *known])},
        "unk_token": "<unk>",
    }


def metaspace(**more):
    return {"type": "Metaspace", "replacement": "▁", **more}


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def added(number, content, **more):
    return {
        "id": number,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": False,
        **more,
    }


def bpe(vocab, merges, **more):
    return {"type": "BPE", "vocab": {w: i for i, w in enumerate(vocab)}, "merges": merges, **more}


def unigram(vocab, **more):
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, **more}


def byte_letters():
    return sorted(pre_tokenizers.ByteLevel.alphabet())


def components():
    dashes = ["the-final--countdown", "-a-", "--", "a", "", "a--", "--a"]
    odd = [
        "  a b  ",
        "\u3000 a\t",
        "ÀB İ ǄΣ",
        "ﬁ½㎏ e\u0301 か\u3099",
        "\u1100\u1161\u11a8",
        "a\u0344\u0323b",
        "  ",
        "",
    ]
    yield "bare", {"model": SPELL}, odd
    for kind in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase"]:
        yield kind, {"normalizer": {"type": kind}, "model": SPELL}, odd + HARD
    for left, right in [(True, True), (True, False), (False, True)]:
        yield f"Strip {left} {right}", {
            "normalizer": {"type": "Strip", "strip_left": left, "strip_right": right},
            "model": SPELL,
        }, odd
    yield "Prepend", {"normalizer": {"type": "Prepend", "prepend": "▁"}, "model": SPELL}, odd
    for pattern, content in [
        ({"String": " "}, "▁"),
        ({"Regex": " {2,}"}, " "),
        ({"Regex": "\\s+"}, " "),
        ({"String": "a"}, ""),
        ({"Regex": "x*"}, "-"),
        ({"Regex": "[^\\S\\n]|b"}, "_"),
    ]:
        yield f"Replace {pattern}", {
            "normalizer": {"type": "Replace", "pattern": pattern, "content": content},
            "model": SPELL,
        }, odd + ["axxb", "a\n b"]
    yield "Sequence", {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFKC"},
                {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "model": SPELL,
    }, odd + HARD

    known = words(
        "the",
        "final",
        "countdown",
        "-",
        "--",
        "the-",
        "-final",
        "-countdown",
        "final-",
        "a",
        "a-",
        "-a",
    )
    for behavior in ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]:
        for invert in [False, True]:
            for pattern in [{"String": "-"}, {"Regex": "-|n"}]:
                yield f"Split {behavior} {invert} {pattern}", {
                    "pre_tokenizer": split(pattern, behavior, invert),
                    "model": known,
                }, dashes
    for regex in [
        "\\w+|[^\\w\\s]+",
        "(?i:'s|'t)|\\p{L}+|\\p{N}{1,3}",
        "^a|b$",
        "a(?=b)|(?<!a)b",
        "[\\]\\-a-c]+",
        "x*",
        "\\p{Han}+|\\p{^Hiragana}|\\p{Any}",
    ]:
        yield f"Regex {regex}", {
            "pre_tokenizer": split({"Regex": regex}, "Isolated"),
            "model": words("a", "b", "ab", "'s", "It", "12", "123", "-", "a-b", "]"),
        }, [
            "It's 'T 12345 ab",
            "ab\nba\nb",
            "a-b]c x",
            "naïve_x é 中文 x½²Ⅷ 2⁷ⓐ",
            "「中。ーか",
            "'ſ a\u180eb",
        ]
    for scheme in ["always", "first", "never"]:
        for cut in [True, False]:
            yield f"Metaspace {scheme} {cut}", {
                "pre_tokenizer": metaspace(prepend_scheme=scheme, split=cut),
                "decoder": metaspace(prepend_scheme=scheme, split=cut),
                "added_tokens": [added(6, "<x>")],
                "model": words("▁a", "a", "▁", "▁a▁b", "▁b"),
            }, ["a", " a", "a b", "a  b ", "▁a", "a<x>a", "<x> a", " <x>b", "", " "]
    yield "Metaspace old", {
        "pre_tokenizer": metaspace(add_prefix_space=True),
        "decoder": metaspace(add_prefix_space=True),
        "model": words("▁a", "a"),
    }, ["a a", ""]
    plain = words("a", "b", "!", "?", "!?", "12", "1", "2", "½")
    yield "WhitespaceSplit", {
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": plain,
    }, odd + ["a b\n!\u2009?\u200ba"]
    for behavior in [None, "Removed", "Contiguous", "MergedWithPrevious"]:
        yield f"Punctuation {behavior}", {
            "pre_tokenizer": {
                "type": "Punctuation",
                **({"behavior": behavior} if behavior else {}),
            },
            "model": plain,
        }, ["a!?b", "!?", "a、b。$^`", ""]
    for single in [True, False]:
        yield f"Digits {single}", {
            "pre_tokenizer": {"type": "Digits", "individual_digits": single},
            "model": plain,
        }, ["a12b", "½1", "١٢ Ⅷ", ""]

    letters = byte_letters()
    for space in [True, False]:
        for regex in [True, False]:
            part = {
                "type": "ByteLevel",
                "add_prefix_space": space,
                "trim_offsets": True,
                "use_regex": regex,
            }
            yield f"ByteLevel {space} {regex}", {
                "pre_tokenizer": part,
                "decoder": part,
                "post_processor": part,
                "added_tokens": [added(len(letters) + 2, "<x>")],
                "model": bpe([*letters, "Ġa", "he"], ["Ġ a", "h e"]),
            }, ["a he'll  a\n\n b12 你好 é!?", " a", "a<x> a", "", "\u00a0\u3000x "]

    merges = bpe(
        ["<unk>", "a", "b", "c", "ab", "bc", "abc", "aa", "▁", "▁ab", "aaaa"],
        ["a b", "b c", "ab c", "a a", "▁ ab", "aa aa"],
        unk_token="<unk>",
        fuse_unk=True,
    )
    some = ["abc", "abcabc", "aaaaaaa", "▁abx", "xyz", "axyzb", "aab", "bca" * 40, "", "你a好"]
    yield "BPE", {"model": merges}, some
    yield "BPE no fuse", {"model": {**merges, "fuse_unk": False}}, some
    yield "BPE no unk", {"model": {**merges, "unk_token": None}}, some
    yield "BPE ignore", {"model": {**merges, "ignore_merges": True, "merges": ["a b"]}}, some
    yield "BPE old", {"model": {k: v for k, v in merges.items() if k != "type"}}, some
    pairs = [merge.split(" ") for merge in merges["merges"]]
    yield "BPE pairs", {"model": {**merges, "merges": pairs}}, some
    yield "BPE twice", {"model": {**merges, "merges": ["a b", "b c", "a b", "ab c"]}}, some
    half = {"<0xE4>": 20, "<0xBD>": 21, "<0xA0>": 22}
    yield "BPE some bytes", {
        "model": {**merges, "vocab": {**merges["vocab"], **half}, "byte_fallback": True}
    }, some + ["x你y"]

    pieces = [
        ["<unk>", 0.0],
        ["a", -1.0],
        ["b", -1.0],
        ["c", -1.0],
        ["ab", -2.0],
        ["bc", -2.0],
        ["abc", -3.0],
        ["cd", -0.5],
        ["▁", -2.5],
        ["你好", -4.0],
        ["xy", -9.0],
    ]
    ties = [
        "abc",
        "abcabc",
        "abcd",
        "xyz",
        "xy",
        "你好吗",
        "你",
        "axb",
        "",
        "d",
        "dd",
        "cdcd",
        "<unk>",
        "a<unk>b",
    ]
    yield "Unigram", {"model": unigram(pieces)}, ties
    yield "Unigram bytes", {
        "model": unigram(pieces + [[name, -5.0] for name in BYTES], byte_fallback=True),
        "decoder": {"type": "ByteFallback"},
    }, ties + ["<0x41>"]
    yield "Unigram no unk", {"model": unigram(pieces, unk_id=None)}, ties
    yield "WordLevel", {"model": words("a", "b c")}, ["a", "b c", "x", ""]

    token = {"model": words("a", "b", "ab"), "pre_tokenizer": {"type": "WhitespaceSplit"}}
    around = [
        "a<x>b",
        "a <x> b",
        "  <x>  <x>  ",
        "<x>",
        "a<xy>",
        "a<x>yb <x>",
        "a[x]b a [x] b",
        "[x]a",
        "é[x]",
        "<X>a",
        "a ＜x＞ b",
    ]
    for flags in [
        {},
        {"lstrip": True},
        {"rstrip": True},
        {"lstrip": True, "rstrip": True},
        {"single_word": True},
        {"special": True},
    ]:
        yield f"added {flags}", {
            **token,
            "added_tokens": [
                added(4, "<x>", **flags),
                added(5, "[x]", single_word=True),
                added(6, "<xy", **flags),
                added(7, "<x>y", **flags),
            ],
        }, around
    yield "added normalized", {
        **token,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}],
        },
        "added_tokens": [
            added(4, "<X>", normalized=True),
            added(5, "<Y>"),
            added(1, "a", special=True),
        ],
    }, around + ["<Y><y>A a"]

    ends = {
        "type": "TemplateProcessing",
        "pair": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 1}},
        ],
        "special_tokens": {
            "[C]": {"id": "[C]", "ids": [1], "tokens": ["[C]"]},
            "two": {"id": "two", "ids": [2, 3], "tokens": ["[S]", "[T]"]},
        },
    }
    one, special = {"Sequence": {"id": "A", "type_id": 0}}, lambda name: {
        "SpecialToken": {"id": name, "type_id": 0}
    }
    for single in [
        [special("[C]"), one, special("two")],
        [one, special("[C]"), one],
        [special("[C]")],
        [],
    ]:
        yield f"Template {len(single)}", {
            "post_processor": {**ends, "single": single},
            "model": words("[C]", "[S]", "[T]", "a", "b"),
            "added_tokens": [added(1, "[C]", special=True)],
            "pre_tokenizer": {"type": "WhitespaceSplit"},
        }, ["a b", "", "a [C] b"]

    pieces = words("▁a", "▁▁a", "<0x41>", "<0xE4>", "<0xBD>", "<0xA0>", "  a ", "a", "")
    cut = split({"String": "|"}, "Removed")
    runs = [
        "▁a|▁a|a",
        "<0xE4>|<0xBD>|<0xA0>",
        "<0xE4>|<0xBD>|a|<0xA0>",
        "<0x41>|  a |▁▁a",
        "▁▁a|<0x41>",
        "",
    ]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 1}
    replace = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    for name, decoder in [
        ("none", None),
        ("ByteFallback", {"type": "ByteFallback"}),
        ("Fuse", {"type": "Fuse"}),
        ("Strip", strip),
        ("Replace", replace),
        ("Metaspace", metaspace()),
        (
            "llama",
            {
                "type": "Sequence",
                "decoders": [
                    replace,
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {**strip, "stop": 0},
                ],
            },
        ),
        ("heed", {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, metaspace()]}),
    ]:
        yield f"decoder {name}", {"pre_tokenizer": cut, "decoder": decoder, "model": pieces}, runs


def whole(parts):
    return {"version": "1.0", "added_tokens": [], **parts}
