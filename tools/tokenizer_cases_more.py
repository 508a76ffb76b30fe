"""More small tokenizers: what BERT, RoBERTa, T5, CLIP and their like have, and pairs of texts.

SPDX-License-Identifier: MIT
"""

import base64
import io
import pathlib
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as spm_proto

from tokenizer_cases import HARD, SPELL, added, bpe, byte_letters, split, words

PAIRS = [["a b", "b"], ["", "a"], ["a", ""], [" a [C] b ", " b a"]]
RULES = {"ﬁ": "fi", "½": "1⁄2", "\u00ad": "", "a\u0301": "á", "\t": " ", "ẞ": "ss", "ª": "a"}


def charsmap():
    """A few rules as SentencePiece compiles them."""
    lines = [
        " ".join(f"{ord(c):X}" for c in old) + "\t" + " ".join(f"{ord(c):X}" for c in new)
        for old, new in RULES.items()
    ]
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rules.tsv"
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c d", "b c d e"]),
            model_writer=out,
            vocab_size=12,
            normalization_rule_tsv=str(path),
            hard_vocab_limit=False,
            minloglevel=2,
        )
    proto = spm_proto.ModelProto()
    proto.ParseFromString(out.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def normalizers():
    for clean, han, accents, lower in [
        (True, True, None, True),
        (True, False, None, False),
        (False, True, True, False),
        (False, False, False, True),
    ]:
        yield f"BertNormalizer {clean} {han} {accents} {lower}", {
            "type": "BertNormalizer",
            "clean_text": clean,
            "handle_chinese_chars": han,
            "strip_accents": accents,
            "lowercase": lower,
        }
    for kind in ["StripAccents", "Nmt", "ByteLevel"]:
        yield kind, {"type": kind}
    yield "accents", {
        "type": "Sequence",
        "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "NFC"}],
    }
    yield "Precompiled", {"type": "Precompiled", "precompiled_charsmap": charsmap()}


def word_piece(**more):
    vocab = ["[UNK]", "[CLS]", "[SEP]", "a", "ab", "##b", "##bc", "c", "##c", "你", "##", "b", "."]
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 20,
        "vocab": {w: i for i, w in enumerate(vocab)},
        **more,
    }


def models():
    some = ["ab", "abbc", "abcx", "c你", "a" * 21, "abb" + "c" * 18, "", "a##b", "b.c"]
    split_words = {"pre_tokenizer": {"type": "BertPreTokenizer"}}
    decoder = {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}
    yield "WordPiece", {"model": word_piece(), **split_words, **decoder}, some
    yield "WordPiece bare", {"model": word_piece(continuing_subword_prefix="")}, some
    yield "WordPiece no unk", {"model": word_piece(unk_token="[X]")}, some
    merges = bpe(
        "<unk> a b ##a ##b a</w> ##b</w> a##b</w> ab</w> ##a</w> ##ab".split(" "),
        ["##a ##b", "a ##b</w>"],
        unk_token="<unk>",
        continuing_subword_prefix="##",
        end_of_word_suffix="</w>",
    )
    ends = ["ab", "a", "ba", "abab", "xab", "aabx", "你a", ""]
    decoder = {"type": "BPEDecoder", "suffix": "</w>"}
    yield "BPE affixes", {"model": merges, "decoder": decoder}, ends
    yield "BPE affixes ignore", {"model": {**merges, "ignore_merges": True}}, ends + ["ab</w>"]
    empty = bpe(["a", "b", "ab"], ["a b"], continuing_subword_prefix="", end_of_word_suffix="")
    yield "BPE unk not there", {"model": {**empty, "unk_token": "<x>"}}, ["ab", "abx", "x"]
    yield "BPE gone", {"model": empty}, ["axb", "xxab", "你ab"]


def pre_tokenizers():
    known = words("a", "b", "ab", "a_b", "!", "abc", "12", "Ω", "가", "中", " a")
    texts = [*HARD[:14], "a_b!? c", "a-b--c-", "abcdefgh 你好世界", "aΩ가 中ー1 .b", "  a b"]
    texts += ["\u200da", ""]
    for part in [
        {"type": "Whitespace"},
        {"type": "BertPreTokenizer"},
        {"type": "CharDelimiterSplit", "delimiter": "-"},
        {"type": "UnicodeScripts"},
        {"type": "FixedLength", "length": 3},
        {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": True},
    ]:
        yield part["type"], {"pre_tokenizer": part, "model": known}, texts


def item(name, type_id=0, text=False):
    return {"Sequence" if text else "SpecialToken": {"id": name, "type_id": type_id}}


def template(single, pair):
    special = {"[C]": {"id": "[C]", "ids": [1], "tokens": ["[C]"]}}
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": special,
    }


def posts():
    known = words("[C]", "[S]", "a", "b")
    base = {
        "model": known,
        "added_tokens": [added(1, "[C]", special=True, lstrip=True)],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    }
    text_a, text_b = item("A", 0, True), item("B", 1, True)
    for name, processor in [
        ("none", None),
        ("Bert", {"type": "BertProcessing", "sep": ["[S]", 2], "cls": ["[C]", 1]}),
        (
            "Template",
            template(
                [item("[C]", 3), text_a],
                [item("[C]"), text_b, item("[C]", 4), item("A", 2, True)],
            ),
        ),
    ]:
        yield f"pair {name}", {**base, "post_processor": processor}, ["a b", *PAIRS]
    letters = byte_letters()
    for space, trim in [(True, True), (False, True), (True, False)]:
        level = {"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": trim}
        ends = {"sep": ["</s>", len(letters)], "cls": ["<s>", len(letters) + 1]}
        roberta = {**level, "type": "RobertaProcessing", **ends}
        special = {"</s>": {"id": "</s>", "ids": [len(letters)], "tokens": ["</s>"]}}
        both = {
            "type": "Sequence",
            "processors": [
                level,
                {
                    **template([text_a, item("</s>")], [text_a, item("</s>"), text_b]),
                    "special_tokens": special,
                },
            ],
        }
        for name, processor in [("Roberta", roberta), ("Sequence", both), ("ByteLevel", level)]:
            yield f"pair {name} {space} {trim}", {
                "pre_tokenizer": level,
                "post_processor": processor,
                "decoder": level,
                "added_tokens": [added(len(letters) + 2, "<mask>", lstrip=True)],
                "model": bpe([*letters, "</s>", "<s>"], []),
            }, ["a  b", " a\u3000 <mask> é", ["\u3000<mask> a", " b  "], *PAIRS[:3]]


def decoders():
    pieces = words("a", "##b", ".", "a</w>", "n't", "'", "|", "<pad>", "do", "not", "b ,", "</w>")
    cut = split({"String": "~"}, "Removed")
    runs = [
        "a~##b~.~a",
        "##b~a~n't~.~b ,",
        "a</w>~a</w>",
        "</w>~</w>~a",
        "a~a~|~<pad>~a~a~'~a",
        "do~not~'~a",
        "<pad>~|",
        "",
    ]
    for name, decoder in [
        ("WordPiece", {"type": "WordPiece", "prefix": "##", "cleanup": True}),
        ("WordPiece dirty", {"type": "WordPiece", "prefix": "##", "cleanup": False}),
        ("BPEDecoder", {"type": "BPEDecoder", "suffix": "</w>"}),
        (
            "CTC",
            {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
        ),
        (
            "CTC dirty",
            {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": False},
        ),
    ]:
        yield f"decoder {name}", {"pre_tokenizer": cut, "decoder": decoder, "model": pieces}, runs


def more_components():
    odd = ["ﬁ½\u00ad a\u0301\u0323 ẞ", "\u00ad\u00ada", "ª\u0301b", "a\u200bb\ufeff\x00c\x85", ""]
    for name, part in normalizers():
        yield name, {"normalizer": part, "model": SPELL}, [*odd, *HARD[:6], *HARD[11:14]]
    yield from models()
    yield from pre_tokenizers()
    yield from posts()
    yield from decoders()
