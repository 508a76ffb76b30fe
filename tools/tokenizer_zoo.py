"""tokenizer.json files of every kind, made with `tokenizers` and `sentencepiece`.

The big ones stand for what models publish; the small ones have one component each. All are learnt
from the text they are given, or have the real vocabularies of $HEED_DATA where that is set.
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from tokenizer_zoo_parts import components, sentencepiece_model

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def template(single, pair, *tokens):
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=list(tokens))


def byte_level(lines, pattern, size, specials, normalizer=None, **options):
    """GPT-2's way; with a pattern that of its followers."""
    t = Tokenizer(models.BPE(**options))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = (
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(pattern), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        if pattern
        else pre_tokenizers.ByteLevel(add_prefix_space=False)
    )
    t.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=specials, show_progress=False
    )
    t.train_from_iterator(lines, trainer)
    return t


def bert(lines, **options):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(**options)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(
        lines,
        trainers.WordPieceTrainer(vocab_size=3000, special_tokens=specials, show_progress=False),
    )
    t.post_processor = template(
        "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", ("[CLS]", 2), ("[SEP]", 3)
    )
    t.decoder = decoders.WordPiece()
    return t


def bert_old(lines):
    t = bert(lines, lowercase=False)
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.add_tokens([AddedToken("[NEW] one", normalized=True), "Strasse"])
    t.add_tokens([AddedToken("an", single_word=True)])
    return t


def gpt2(lines):
    t = byte_level(lines, None, 2000, ["<|endoftext|>"])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def gpt2_real():
    folder = pathlib.Path(os.environ["HEED_DATA"]) / "tokenizers/gpt2"
    t = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    t.add_special_tokens(["<|endoftext|>"])
    return t


def roberta(lines):
    t = byte_level(lines, None, 2000, ["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>")
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, True)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return t


def llama3(lines):
    t = byte_level(lines, LLAMA3, 2000, [], ignore_merges=True)
    t.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>"])
    begin = t.token_to_id("<|begin_of_text|>")
    t.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            template(
                "<|begin_of_text|> $A",
                "<|begin_of_text|> $A <|begin_of_text|> $B:1",
                ("<|begin_of_text|>", begin),
            ),
        ]
    )
    return t


def llama3_real():
    """The vocabulary and the merges of Llama 3, out of a GGUF file."""
    import gguf

    folder = pathlib.Path(os.environ["HEED_DATA"]) / "tokenizers/gguf-vocab"
    fields = gguf.GGUFReader(folder / "ggml-vocab-llama-bpe.gguf").fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ", 1)) for m in fields["tokenizer.ggml.merges"].contents()]
    vocab = {token: i for i, token in enumerate(tokens)}
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([token for token in tokens if token.startswith("<|")])
    t.post_processor = template(
        "<|begin_of_text|> $A", "<|begin_of_text|> $A $B:1", ("<|begin_of_text|>", 128000)
    )
    return t


def qwen2(lines):
    t = byte_level(lines, QWEN2, 2000, [], normalizers.NFC())
    t.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    t.add_tokens([AddedToken("<tool>", normalized=False)])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def o200k(lines):
    return byte_level(lines, O200K, 2000, ["<|endoftext|>"])


def unigram(proto, byte_fallback=False):
    pieces = [(p.piece, p.score) for p in proto.pieces]
    t = Tokenizer(models.Unigram(pieces, proto.trainer_spec.unk_id, byte_fallback))
    t.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    t.decoder = decoders.Metaspace(prepend_scheme="always")
    return t


def t5(lines):
    proto = sentencepiece_model(
        lines,
        vocab_size=2500,
        character_coverage=0.98,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
    )
    t = unigram(proto)
    t.add_special_tokens(["<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>"])
    t.post_processor = template("$A </s>", "$A </s> $B </s>", ("</s>", 1))
    return t


def xlm_r(lines):
    proto = sentencepiece_model(
        lines,
        vocab_size=2500,
        character_coverage=0.98,
        normalization_rule_name="nmt_nfkc_cf",
        hard_vocab_limit=False,
    )
    t = unigram(proto)
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    t.add_special_tokens(["<s>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    t.post_processor = template("<s> $A </s>", "<s> $A </s> </s> $B </s>", ("<s>", 1), ("</s>", 2))
    return t


def unigram_bytes(lines):
    proto = sentencepiece_model(
        lines,
        vocab_size=2500,
        character_coverage=0.98,
        byte_fallback=True,
        hard_vocab_limit=False,
    )
    t = unigram(proto, True)
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return t


def llama2(lines, prepend=True):
    """Byte fallback, spaces as marks; without the mark in front it is Gemma's way."""
    names = [f"<0x{b:02X}>" for b in range(256)]
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    marks = [normalizers.Replace(" ", "▁")]
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), *marks] if prepend else marks)
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<unk>", "<s>", "</s>", *names],
        show_progress=False,
        max_token_length=16,
        limit_alphabet=400,
    )
    t.train_from_iterator(lines, trainer)
    file = json.loads(t.to_str())
    file["added_tokens"] = file["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(file))
    if not prepend:
        t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    strip = [decoders.Strip(" ", 1, 0)] if prepend else []
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    t.post_processor = template("<s> $A", "<s> $A <s>:1 $B:1", ("<s>", 1))
    t.add_tokens([AddedToken("<turn>", normalized=False, rstrip=True)])
    return t


def clip(lines):
    t = Tokenizer(
        models.BPE(
            unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""
        )
    )
    t.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(
                Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", True
            ),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    t.train_from_iterator(
        lines,
        trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=["<|startoftext|>", "<|endoftext|>"],
            end_of_word_suffix="</w>",
            show_progress=False,
        ),
    )
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), False, False
    )
    return t


def old_bpe(lines):
    """Marks inside and at the end of words, and a decoder that reads them."""
    t = Tokenizer(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>")
    )
    t.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip()]
    )
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.train_from_iterator(
        lines,
        trainers.BpeTrainer(
            vocab_size=1500,
            special_tokens=["<unk>"],
            continuing_subword_prefix="##",
            end_of_word_suffix="</w>",
            show_progress=False,
            limit_alphabet=200,
        ),
    )
    t.decoder = decoders.BPEDecoder()
    return t


def zoo(lines):
    """Pairs of a name and a tokenizer."""
    yield "BERT", bert(lines)
    yield "BERT cased, old form", bert_old(lines)
    yield "GPT-2", gpt2(lines)
    yield "RoBERTa", roberta(lines)
    yield "Llama 3", llama3(lines)
    yield "Qwen 2", qwen2(lines)
    yield "o200k", o200k(lines)
    yield "T5", t5(lines)
    yield "XLM-R", xlm_r(lines)
    yield "Unigram with bytes", unigram_bytes(lines)
    yield "Llama 2", llama2(lines)
    yield "Gemma", llama2(lines, prepend=False)
    yield "CLIP", clip(lines)
    yield "BPE with affixes", old_bpe(lines)
    yield from components(lines)
    if os.environ.get("HEED_DATA"):
        yield "GPT-2, real", gpt2_real()
        yield "Llama 3, real", llama3_real()
