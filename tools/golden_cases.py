"""The models, inputs, optimisers and searches of make_golden.py, as data.

Ids: in marian 0 ends a sentence and the last id is padding; in pegasus 0 is padding and 1 the end.
SPDX-License-Identifier: MIT
"""


def marian(vocab, width, inner, heads, layers, **config):
    special = {"pad_token_id": vocab - 1, "decoder_start_token_id": vocab - 1, "eos_token_id": 0}
    return "marian", {**shape(vocab, width, inner, heads, layers), **special, **config}


def pegasus(vocab, width, inner, heads, layers, **config):
    special = {"pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 1}
    return "pegasus", {**shape(vocab, width, inner, heads, layers), **special, **config}


def t5(vocab, width, inner, heads, layers, **config):
    special = {"pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 1}
    own = {
        "vocab_size": vocab,
        "d_model": width,
        "d_ff": inner,
        "num_heads": heads,
        "d_kv": width // heads,
        "num_layers": layers,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 6,
    }
    return "t5", {**own, **special, **config}


def bart(family, vocab, width, inner, heads, layers, **config):
    special = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
               "decoder_start_token_id": 2}
    return family, {**shape(vocab, width, inner, heads, layers), **special, **config}


def shape(vocab, width, inner, heads, layers):
    """heads and layers: (encoder, decoder)."""
    return {
        "vocab_size": vocab,
        "d_model": width,
        "encoder_ffn_dim": inner,
        "decoder_ffn_dim": inner,
        "encoder_attention_heads": heads[0],
        "decoder_attention_heads": heads[1],
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "max_position_embeddings": 32,
        "forced_eos_token_id": None,
    }


def generation(config):
    """As the published marian models have it: padding is never generated."""
    names = ("pad_token_id", "eos_token_id", "decoder_start_token_id", "forced_bos_token_id")
    kept = {name: config[name] for name in names if config.get(name) is not None}
    return {**kept, "bad_words_ids": [[config["pad_token_id"]]], "max_length": 32, "num_beams": 4}


def from_labels(pad, end):
    """Padding on the right; decoder inputs made from the labels, of which one inside is -100."""
    return {
        "input_ids": [
            [5, 17, 9, 30, 11, 8, end],
            [21, 4, 33, end, pad, pad, pad],
            [6, 29, 14, 7, 22, end, pad],
        ],
        "attention_mask": [[1] * 7, [1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0]],
        "labels": [
            [12, 31, 8, 25, 16, end],
            [19, 27, end, -100, -100, -100],
            [10, 26, -100, 35, end, -100],
        ],
    }


def given_decoder(pad, end, start):
    """Padding on the left of the source and the right of the target; decoder inputs given."""
    return {
        "input_ids": [
            [pad, pad, 5, 17, 9, 30, end],
            [21, 4, 33, 8, 13, 28, end],
            [pad, pad, pad, pad, 6, 29, end],
        ],
        "attention_mask": [[0, 0, 1, 1, 1, 1, 1], [1] * 7, [0, 0, 0, 0, 1, 1, 1]],
        "decoder_input_ids": [
            [start, 12, 31, 8, 25],
            [start, 19, 27, pad, pad],
            [start, 10, 26, 35, pad],
        ],
        "decoder_attention_mask": [[1] * 5, [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]],
        "labels": [[12, 31, 8, 25, end], [19, 27, end, -100, -100], [10, -100, 35, end, -100]],
    }


def left_padded(pad, end, start):
    """Padding on the left of both sides."""
    return {
        "input_ids": [[pad, pad, 5, 17, 9, end], [21, 4, 33, 8, 13, end]],
        "attention_mask": [[0, 0, 1, 1, 1, 1], [1] * 6],
        "decoder_input_ids": [[pad, pad, start, 12, 31], [start, 19, 27, 10, 26]],
        "decoder_attention_mask": [[0, 0, 1, 1, 1], [1] * 5],
        "labels": [[-100, -100, 12, 31, end], [19, 27, 10, 26, end]],
    }


def case(model, seed, **more):
    family, config = model
    return {"family": family, "config": config, "seed": seed, **more}


def sentences(end):
    bodies = ([5, 9, 4, 7], [11, 3], [8, 8, 6, 12, 10], [3, 13, 9], [7, 5, 5])
    bodies += ([10, 4, 12, 3, 6, 9], [13], [6, 11, 8, 4])
    return [body + [end] for body in bodies]


SCALED = {"scale_embedding": True}
START = {"decoder_start_token_id": 2}               # in place of padding
TWO_TABLES = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 44}
UNTIED = {"tie_word_embeddings": False}

CASES = {
    # All tables tied and scaled, a bias on the logits.
    "marian-a": case(
        marian(50, 16, 32, (2, 2), (2, 2), activation_function="swish", **SCALED),
        1, inputs=from_labels(49, 0), logits_bias=True),
    # Other head counts on either side, unscaled.
    "marian-b": case(
        marian(60, 24, 36, (4, 3), (1, 1), activation_function="relu", **START),
        2, inputs=given_decoder(59, 0, 2)),
    # The source has its own table, the target's is tied to the output.
    "marian-c": case(
        marian(40, 32, 32, (1, 1), (1, 1), activation_function="gelu", **SCALED, **TWO_TABLES),
        3, inputs=from_labels(39, 0)),
    # Three tables.
    "marian-d": case(
        marian(56, 18, 24, (3, 3), (3, 1), activation_function="gelu", **SCALED, **UNTIED),
        4, inputs=from_labels(55, 0)),
    "pegasus-a": case(
        pegasus(50, 16, 32, (4, 4), (2, 2), activation_function="relu", **SCALED),
        5, inputs=from_labels(0, 1), logits_bias=True),
    "pegasus-b": case(
        pegasus(60, 32, 32, (2, 4), (1, 1), activation_function="gelu", **START),
        6, inputs=given_decoder(0, 1, 2)),
    "pegasus-c": case(
        pegasus(40, 36, 16, (3, 3), (1, 1), activation_function="gelu_new", **SCALED, **START),
        7, inputs=left_padded(0, 1, 2)),
    "pegasus-d": case(
        pegasus(44, 20, 24, (1, 2), (1, 2), activation_function="swish", **SCALED, **UNTIED),
        8, inputs=from_labels(0, 1)),
    "marian-beam": case(
        marian(16, 32, 64, (2, 2), (1, 1), activation_function="swish", **SCALED),
        9, sentences=sentences(0), updates=150),
    "pegasus-beam": case(
        pegasus(16, 32, 64, (2, 2), (1, 1), activation_function="relu", **SCALED),
        10, sentences=sentences(1), updates=150),
    "t5-beam": case(
        t5(16, 32, 64, 2, 1, feed_forward_proj="gated-gelu"),
        11, sentences=sentences(1), updates=150, more=True),
    "bart-beam": case(
        bart("bart", 16, 32, 64, (2, 2), (1, 1)),
        12, sentences=sentences(2), updates=150, more=True),
    # The last token of a sentence, its end, is what the decoder begins with.
    "mbart-beam": case(
        bart("mbart", 16, 32, 64, (2, 2), (1, 1), **SCALED),
        13, sentences=sentences(2), updates=150, more=True),
    # The first token is given, as a language is.
    "m2m_100-beam": case(
        bart("m2m_100", 16, 32, 64, (2, 2), (1, 1), forced_bos_token_id=15, **SCALED),
        14, sentences=sentences(2), updates=150, more=True),
}

STEPS = [
    {"optimizer": "adam", "lr": 2e-3, "betas": [0.9, 0.98], "eps": 1e-9, "weight_decay": 0.0,
     "clip": 1.0, "label_smoothing": 0.1},
    {"optimizer": "adamw", "lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1,
     "clip": 0.0, "label_smoothing": 0.0},
]

# As transformers' generate takes them; max_length counts the start token. For forced_eos_token_id
# True stands for the id of the end.
SEARCHES = [
    {"num_beams": 1, "do_sample": False, "max_length": 14},
    {"num_beams": 1, "do_sample": False, "max_length": 5},
    {"num_beams": 1, "do_sample": False, "max_length": 5, "forced_eos_token_id": True},
    {"num_beams": 4, "max_length": 14, "length_penalty": 1.0, "early_stopping": False},
    {"num_beams": 4, "max_length": 14, "length_penalty": 0.6, "early_stopping": True},
    {"num_beams": 4, "max_length": 14, "length_penalty": 0.0, "early_stopping": "never"},
    {"num_beams": 4, "max_length": 14, "length_penalty": 2.0, "early_stopping": "never"},
    {"num_beams": 4, "max_length": 14, "length_penalty": -0.5, "early_stopping": False},
    {"num_beams": 4, "max_length": 5, "length_penalty": 1.0, "early_stopping": False},
    {"num_beams": 4, "max_length": 5, "length_penalty": 1.0, "early_stopping": True,
     "forced_eos_token_id": True},
    {"num_beams": 4, "max_length": 14, "length_penalty": 1.0, "early_stopping": False,
     "min_length": 7},
    {"num_beams": 5, "max_length": 14, "length_penalty": 1.0, "early_stopping": False,
     "num_return_sequences": 3},
    {"num_beams": 2, "max_length": 14, "length_penalty": 1.0, "early_stopping": True,
     "num_return_sequences": 2, "renormalize_logits": True},
    {"num_beams": 15, "max_length": 14, "length_penalty": 1.0, "early_stopping": False},
]

# Of the cases with `more`.
MORE_SEARCHES = [
    {"num_beams": 1, "do_sample": False, "max_length": 14, "no_repeat_ngram_size": 1},
    {"num_beams": 4, "max_length": 14, "length_penalty": 1.0, "early_stopping": False,
     "no_repeat_ngram_size": 2},
    {"num_beams": 4, "max_length": 14, "length_penalty": 2.0, "early_stopping": True,
     "no_repeat_ngram_size": 3, "min_length": 6, "renormalize_logits": True},
    {"num_beams": 1, "do_sample": False, "max_length": 14, "repetition_penalty": 1.5},
    {"num_beams": 1, "do_sample": False, "max_length": 14, "repetition_penalty": 0.7,
     "no_repeat_ngram_size": 2},
    {"num_beams": 4, "max_length": 14, "length_penalty": 1.0, "early_stopping": False,
     "repetition_penalty": 1.3},
    {"num_beams": 4, "max_length": 14, "length_penalty": 1.0, "early_stopping": True,
     "repetition_penalty": 2.0, "no_repeat_ngram_size": 2, "renormalize_logits": True},
]
