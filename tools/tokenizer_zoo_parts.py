"""Small tokenizers with one component each, and what they share with the big ones.

SPDX-License-Identifier: MIT
"""

import io

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as spm_proto
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)


def sentencepiece_model(lines, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=2, **options
    )
    proto = spm_proto.ModelProto()
    proto.ParseFromString(out.getvalue())
    return proto


def words(lines, pre, normalizer=None, decoder=None):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    if decoder:
        t.decoder = decoder
    t.train_from_iterator(
        lines,
        trainers.WordLevelTrainer(
            vocab_size=3000, special_tokens=["[UNK]", "[PAD]"], show_progress=False
        ),
    )
    return t


def spelt(normalizer):
    """Every byte of the normalised text is a token: what a normalizer does, and where."""
    names = {f"<0x{b:02X}>": b for b in range(256)}
    vocab = {**names, "<unk>": 256}
    t = Tokenizer(models.BPE(vocab=vocab, merges=[], byte_fallback=True, unk_token="<unk>"))
    t.normalizer = normalizer
    t.decoder = decoders.ByteFallback()
    return t


def charsmap(name="nmt_nfkc"):
    proto = sentencepiece_model(
        ["a b c d", "b c d e"], vocab_size=12, normalization_rule_name=name, hard_vocab_limit=False
    )
    return proto.normalizer_spec.precompiled_charsmap


def components(lines):
    """One for each component that the big ones leave out."""
    p, n, d = pre_tokenizers, normalizers, decoders
    for name, pre in [
        ("Whitespace", p.Whitespace()),
        ("WhitespaceSplit", p.WhitespaceSplit()),
        ("CharDelimiterSplit", p.CharDelimiterSplit("e")),
        ("UnicodeScripts", p.Sequence([p.UnicodeScripts(), p.WhitespaceSplit()])),
        ("FixedLength", p.FixedLength(3)),
        ("Punctuation", p.Sequence([p.WhitespaceSplit(), p.Punctuation("merged_with_next")])),
        ("Digits", p.Sequence([p.WhitespaceSplit(), p.Digits(True)])),
        ("Digits runs", p.Digits(False)),
        ("Metaspace first", p.Metaspace("▁", "first", True)),
        ("Metaspace never", p.Metaspace("_", "never", False)),
        ("Split next", p.Split(Regex(r"\s|-"), "merged_with_next", True)),
        ("Split runs", p.Split(Regex(r"[aeiou]"), "contiguous")),
        ("BertPreTokenizer", p.BertPreTokenizer()),
    ]:
        yield f"pre {name}", words(lines, pre)
    for name, normalizer in [
        ("NFC", n.NFC()),
        ("NFD", n.NFD()),
        ("NFKC", n.NFKC()),
        ("NFKD", n.NFKD()),
        ("Lowercase", n.Lowercase()),
        ("Strip", n.Strip(True, True)),
        ("StripAccents", n.Sequence([n.NFD(), n.StripAccents()])),
        ("Prepend", n.Prepend(">>")),
        ("Replace", n.Sequence([n.Replace("a", ""), n.Replace(Regex("e+"), "éé")])),
        ("Bert", n.BertNormalizer()),
        ("Bert cased", n.BertNormalizer(clean_text=False, strip_accents=True, lowercase=False)),
        ("Bert plain", n.BertNormalizer(handle_chinese_chars=False, strip_accents=False)),
        ("Nmt", n.Nmt()),
        ("ByteLevel", n.ByteLevel()),
        ("Precompiled", n.Precompiled(charsmap())),
        ("Precompiled folded", n.Precompiled(charsmap("nfkc_cf"))),
        ("many", n.Sequence([n.NFKC(), n.Lowercase(), n.NFD(), n.Strip(), n.Prepend("x")])),
    ]:
        yield f"norm {name}", spelt(normalizer)
    split = p.WhitespaceSplit()
    for name, decoder in [
        ("none", None),
        ("WordPiece", d.WordPiece("e", True)),
        ("WordPiece plain", d.WordPiece("", False)),
        ("CTC", d.CTC("a", "t", True)),
        ("CTC plain", d.CTC("the", "|", False)),
        ("BPEDecoder", d.BPEDecoder("e")),
        ("Strip", d.Strip("t", 1, 1)),
        ("Strip fused", d.Sequence([d.Fuse(), d.Strip("t", 2, 0)])),
        ("Replace", d.Replace(Regex("[aeiou]"), "*")),
    ]:
        yield f"decode {name}", words(lines, split, decoder=decoder)
    flags = words(lines, split, n.Sequence([n.NFKC(), n.Lowercase()]))
    flags.add_tokens(
        [
            AddedToken("<L>", lstrip=True, normalized=False),
            AddedToken("<R>", rstrip=True, normalized=False),
            AddedToken("<LR>", lstrip=True, rstrip=True, normalized=True),
            AddedToken("an", single_word=True, normalized=True),
            AddedToken("THE", single_word=True, normalized=False),
            AddedToken("<s", normalized=False),
            AddedToken("<s>x", normalized=False),
            AddedToken("é", normalized=True),
        ]
    )
    flags.add_special_tokens([AddedToken("<s>"), AddedToken("<S>", normalized=True)])
    yield "added tokens", flags
