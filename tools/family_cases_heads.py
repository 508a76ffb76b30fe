"""The models of make_golden_families.py that are siblings of those in family_cases.py: classes that
tell of whole texts, find answers or choose among them, and stacks without a head. One layer each,
since the layers are the siblings'.

SPDX-License-Identifier: MIT
"""

from family_cases import (ALBERT, BERT, BLOOM, DISTILBERT, ELECTRA, GPT2, IDS, LABELS, LLAMA, MASK,
                          NEOX, OPT, PHI, POOLED, ROBERTA, TEXT, VOCAB, case, decoder, encoder)
from family_cases_pairs import BART, T5, pair

CLASSES = [0, 2, 1, 1]
SEVERAL = [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.25], [1.0, 1.0, 1.0]]
NUMBERS = [[0.5, -1.25, 2.0], [0.0, 3.5, -0.75], [1.0, 0.125, 0.0], [-2.0, 1.5, 0.5]]
TOKENS = [[x if x < 0 else x % 3 for x in row] for row in LABELS]
# Without padding: transformers' softmax over the columns counts it. The last answer is behind the
# text, so that it does not count.
FULL = {"input_ids": [[4, 8, 5, 17, 9, 30, 2], *IDS[2:]],
        "start_positions": [1, 0, 7], "end_positions": [3, 6, 9]}
# Two questions of two choices each.
CHOICES = {"input_ids": [POOLED["input_ids"][:2], POOLED["input_ids"][2:]],
           "attention_mask": [POOLED["attention_mask"][:2], POOLED["attention_mask"][2:]],
           "labels": [1, 0]}


def sibling(name, seed, kind, family, head, config, inputs, **more):
    case(name, seed, kind, f"{family}Config", family + head,
         {"vocab_size": VOCAB, **config}, inputs, **more)


ENCODERS = {
    "bert": ("Bert", BERT), "roberta": ("Roberta", ROBERTA),
    "xlm-roberta": ("XLMRoberta", ROBERTA), "camembert": ("Camembert", ROBERTA),
    "distilbert": ("DistilBert", DISTILBERT), "albert": ("Albert", ALBERT),
    "electra": ("Electra", ELECTRA)}
for i, (name, (family, config)) in enumerate(ENCODERS.items()):
    config = {"pad_token_id": 0, **config,
              **({"n_layers": 1} if name == "distilbert" else {"num_hidden_layers": 1})}
    sibling(f"{name}-span", 301 + i, "encoder", family, "ForQuestionAnswering", config, FULL)
    if name != "electra":
        sibling(f"{name}-choice", 311 + i, "encoder", family, "ForMultipleChoice", config, CHOICES)
sibling("bert-span-padded", 321, "encoder", "Bert", "ForQuestionAnswering",
        {**BERT, "pad_token_id": 0}, TEXT)
encoder("xlm-roberta-model", 322, "XLMRoberta", {**ROBERTA, "num_hidden_layers": 1}, "Model")
encoder("xlm-roberta-masked", 323, "XLMRoberta", {**ROBERTA, "num_hidden_layers": 1}, "ForMaskedLM")
encoder("xlm-roberta-tokens", 324, "XLMRoberta", {**ROBERTA, "num_hidden_layers": 1},
        "ForTokenClassification")
encoder("camembert-masked", 325, "Camembert", {**ROBERTA, "num_hidden_layers": 1}, "ForMaskedLM")
encoder("camembert-classes", 326, "Camembert", {**ROBERTA, "num_hidden_layers": 1},
        "ForSequenceClassification")
encoder("camembert-tokens", 327, "Camembert", {**ROBERTA, "num_hidden_layers": 1},
        "ForTokenClassification")
# Of two heads the words'.
sibling("bert-pretraining", 328, "encoder", "Bert", "ForPreTraining",
        {**BERT, "num_hidden_layers": 1, "pad_token_id": 0}, TEXT)
sibling("albert-pretraining", 329, "encoder", "Albert", "ForPreTraining",
        {**ALBERT, "num_hidden_layers": 1, "pad_token_id": 0}, TEXT)

# ---- What a text is told to be: several things at once, or numbers ----

ONE = {**BERT, "num_hidden_layers": 1, "pad_token_id": 0}
for name, seed, labels, config in (
        ("bert-several", 331, SEVERAL, {"problem_type": "multi_label_classification"}),
        ("bert-numbers", 332, NUMBERS, {"problem_type": "regression"}),
        ("bert-several-plain", 333, SEVERAL, {}),
        ("bert-number", 334, [0.5, -1.25, 2.0, 0.0], {"num_labels": 1})):
    sibling(name, seed, "encoder", "Bert", "ForSequenceClassification",
            {**ONE, "num_labels": 3, **config}, {**POOLED, "labels": labels})

# ---- Decoders ----

DECODERS = {
    # The pad token is the one that ends a text: the last row is the one before it.
    "gpt2": ("GPT2", {**GPT2, "n_layer": 1, "pad_token_id": 2}), "llama": ("Llama", LLAMA),
    "mistral": ("Mistral", LLAMA), "qwen2": ("Qwen2", LLAMA),
    "qwen3": ("Qwen3", {**LLAMA, "head_dim": 6}),
    "gemma": ("Gemma", {**LLAMA, "head_dim": 6}), "gpt-neox": ("GPTNeoX", NEOX),
    "bloom": ("Bloom", {**BLOOM, "n_layer": 1}), "phi": ("Phi", {**PHI, "pad_token_id": 0}),
    "phi3": ("Phi3", LLAMA), "opt": ("OPT", {**OPT, "word_embed_proj_dim": 12})}
for i, (name, (family, config)) in enumerate(DECODERS.items()):
    config = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "num_labels": 3, **config}
    if "num_hidden_layers" in config:
        config["num_hidden_layers"] = 1
    text = {**TEXT, "input_ids": [[x if real else config["pad_token_id"] for x, real in zip(*rows)]
                                  for rows in zip(IDS, MASK)]}
    norm = {"norm_mean": 0.0} if name == "gemma" else {}
    sibling(f"{name}-classes", 341 + i, "decoder", family, "ForSequenceClassification", config,
            {**text, "labels": CLASSES}, **norm)
    if name != "opt":
        sibling(f"{name}-tokens", 361 + i, "decoder", family, "ForTokenClassification", config,
                {**text, "labels": TOKENS}, **norm)
    if name in ("gpt2", "gpt-neox", "bloom", "opt"):
        sibling(f"{name}-span", 381 + i, "decoder", family, "ForQuestionAnswering",
                {**config, "num_labels": 2}, FULL)
sibling("llama-several", 391, "decoder", "Llama", "ForSequenceClassification",
        {**LLAMA, "num_hidden_layers": 1, "pad_token_id": 0, "num_labels": 3,
         "problem_type": "multi_label_classification"}, {**TEXT, "labels": SEVERAL})
# Without a pad token: the last token, whatever it is.
sibling("llama-unpadded", 392, "decoder", "Llama", "ForSequenceClassification",
        {**LLAMA, "num_hidden_layers": 1, "num_labels": 1},
        {"input_ids": IDS[2:3], "labels": [1.5]})
for i, name in enumerate(("mistral", "qwen2", "qwen3", "gemma")):
    family, config = DECODERS[name]
    decoder(f"{name}-model", 393 + i, family, {**config, "num_hidden_layers": 1}, f"{family}Model",
            **({"norm_mean": 0.0} if name == "gemma" else {}))

# ---- Encoder and decoder ----

ONE_EACH = {"encoder_layers": 1, "decoder_layers": 1}
for name, seed, family in (("marian-model", 401, "Marian"), ("pegasus-model", 402, "Pegasus")):
    pair(name, seed, family, {**BART, **ONE_EACH, "decoder_start_token_id": 1},
         f"{family}Model", pad=1)
# The decoder reads the text that the encoder reads, shifted.
for name, seed, family in (("bart-span", 403, "Bart"), ("mbart-span", 404, "MBart")):
    sibling(name, seed, "both", family, "ForQuestionAnswering",
            {**BART, **ONE_EACH, "pad_token_id": 1}, {**FULL, "input_ids": [
                [4, 8, 5, 17, 9, 30, 2], [6, 29, 14, 7, 2, 1, 1], [12, 31, 8, 25, 16, 19, 2]]})
for name, seed, family in (("mt5", 405, "MT5"), ("umt5", 406, "UMT5")):
    config = {**T5, "num_layers": 1}
    pair(f"{name}-model", seed, family, config, f"{family}Model")
    sibling(f"{name}-encoder", seed + 2, "encoder", family, "EncoderModel",
            {**config, "pad_token_id": 0}, TEXT)
pair("t5-old", 409, "T5", {**T5, "num_layers": 1},
     patch={"architectures": ["T5WithLMHeadModel"]})
