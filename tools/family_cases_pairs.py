"""The models of make_golden_families.py that have an encoder and a decoder.

Decoder inputs are made from labels of which some are -100, or given, with padding on both sides
and a hole.
SPDX-License-Identifier: MIT
"""

from family_cases import IDS, LABELS, MASK, TEXT, VOCAB, case

DECODER_MASK = [
    [0, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 0],
    [1, 1, 0, 1, 1, 1],
    [1, 1, 1, 1, 1, 1],
]
DECODER_IDS = [
    [0, 2, 11, 5, 28, 9],
    [2, 31, 7, 4, 0, 0],
    [2, 8, 23, 15, 3, 6],
    [2, 30, 18, 12, 10, 25],
]
DECODER_LABELS = [
    [7, 11, 5, 28, 9, 2],
    [31, 7, 4, 2, 8, 8],
    [8, 23, 15, -100, 6, 2],
    [30, 18, 12, 10, 25, 2],
]


def padded(rows, pad):
    return [[pad if x == 0 else x for x in row] for row in rows]


def pair(name, seed, family, config, model_class=None, given=False, pad=0, **more):
    """given: decoder inputs and their mask; else from labels alone. Without a head: no labels."""
    model_class = model_class or f"{family}ForConditionalGeneration"
    inputs = {"input_ids": padded(IDS, pad), "attention_mask": MASK}
    if given or model_class.endswith("Model"):
        inputs["decoder_input_ids"] = padded(DECODER_IDS, pad)
        inputs["decoder_attention_mask"] = DECODER_MASK
    if not model_class.endswith("Model"):
        inputs["labels"] = DECODER_LABELS if given else LABELS
    special = {"pad_token_id": pad, "vocab_size": VOCAB}
    case(name, seed, "both", f"{family}Config", model_class, {**special, **config}, inputs, **more)


# ---- T5 and kin: heads that width cannot be cut into, distances that share buckets ----

T5 = {"d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_heads": 3, "dropout_rate": 0.0,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 5,
      "decoder_start_token_id": 0, "eos_token_id": 2}
GATED = {"feed_forward_proj": "gated-gelu"}
# As published: the output has a matrix of its own, and the key says so.
UNTIED = {"untie": True, "patch": {"tie_word_embeddings": False, "scale_decoder_outputs": None}}

pair("t5", 201, "T5", T5, given=True)
pair("t5-labels", 202, "T5", {**T5, "num_decoder_layers": 1})
pair("t5-1.1", 203, "T5", {**T5, **GATED}, **UNTIED)
pair("t5-gated-silu", 204, "T5", {**T5, "feed_forward_proj": "gated-silu",
                                  "tie_word_embeddings": False})
pair("t5-model", 205, "T5", T5, "T5Model")
case("t5-encoder", 206, "encoder", "T5Config", "T5EncoderModel",
     {**T5, **GATED, "pad_token_id": 0, "vocab_size": VOCAB}, TEXT)
pair("mt5", 207, "MT5", T5, **{**UNTIED, "patch": {"tie_word_embeddings": False}})
pair("umt5", 208, "UMT5", T5, given=True)

# ---- BART and kin ----

BART = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20,
        "max_position_embeddings": 12, "dropout": 0.0, "attention_dropout": 0.0,
        "activation_dropout": 0.0, "eos_token_id": 2}

pair("bart", 211, "Bart", BART, given=True, pad=1, logits_bias=True)
pair("bart-labels", 212, "Bart", {**BART, "scale_embedding": True, "activation_function": "relu"},
     pad=1)
pair("bart-untied", 213, "Bart", {**BART, "tie_word_embeddings": False}, pad=1)
pair("bart-model", 214, "Bart", BART, "BartModel", pad=1)
pair("mbart", 221, "MBart", {**BART, "scale_embedding": True}, pad=1, logits_bias=True)
pair("mbart-given", 222, "MBart", BART, given=True, pad=1)
pair("mbart-model", 223, "MBart", BART, "MBartModel", pad=1)
# Classes of the row at the text's end, id 2, with the decoder's padding masked as the encoder's.
SHIFTED = [[1, 1, 2, 5, 17, 9, 30], [2, 21, 4, 33, 1, 1, 1], [2, 6, 29, 14, 7, 22, 11],
           [2, 12, 31, 8, 25, 16, 19]]
for name, seed, family in (("bart-classes", 215, "Bart"), ("mbart-classes", 224, "MBart")):
    case(name, seed, "both", f"{family}Config", f"{family}ForSequenceClassification",
         {**BART, "pad_token_id": 1, "vocab_size": VOCAB, "num_labels": 3,
          "classifier_dropout": 0.0},
         {"input_ids": padded(IDS, 1), "attention_mask": MASK, "decoder_input_ids": SHIFTED,
          "decoder_attention_mask": MASK, "labels": [0, 2, 1, 1]})
# Labels of -100 become padding that decoders see, at a position of zeros.
pair("m2m_100", 231, "M2M100", {**BART, "max_position_embeddings": 16}, pad=1)
pair("m2m_100-given", 232, "M2M100", {**BART, "d_model": 20, "activation_function": "gelu"},
     given=True, pad=1)
pair("m2m_100-odd", 233, "M2M100", {**BART, "d_model": 15, "encoder_attention_heads": 3,
     "decoder_attention_heads": 5, "scale_embedding": False}, pad=0)
pair("m2m_100-model", 234, "M2M100", BART, "M2M100Model", pad=1)
