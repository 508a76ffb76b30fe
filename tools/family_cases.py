"""The models and inputs of make_golden_families.py, as data: one line or two for each class and
twist of a family.

SPDX-License-Identifier: MIT
"""

import random

VOCAB = 40
# A row padded on the left, one on the right, one with holes, one full. No id is that of padding (0)
# where the mask is set, since some families count tokens instead of the mask.
MASK = [
    [0, 0, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 0, 0],
    [1, 1, 0, 1, 1, 0, 1],
    [1, 1, 1, 1, 1, 1, 1],
]
IDS = [
    [0, 0, 5, 17, 9, 30, 2],
    [21, 4, 33, 2, 0, 0, 0],
    [6, 29, 14, 7, 22, 11, 2],
    [12, 31, 8, 25, 16, 19, 2],
]
LABELS = [
    [3, 14, 15, 9, 26, 5, 35],
    [8, 9, 7, 9, 32, 3, 8],
    [4, 6, 26, 4, -100, 33, 8],
    [32, 7, 9, 5, 28, 8, 4],
]
TYPES = [
    [0, 0, 0, 0, 0, 1, 1],
    [0, 0, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0],
    [0, 1, 1, 1, 1, 1, 1],
]
TEXT = {"input_ids": IDS, "attention_mask": MASK}
# transformers pools the first column, padding or not, so that padding on the left has no meaning.
POOLED = {"input_ids": [[5, 17, 9, 30, 2, 0, 0], *IDS[1:]],
          "attention_mask": [[1, 1, 1, 1, 1, 0, 0], *MASK[1:]]}
CASES = {}


def case(name, seed, kind, config_class, model_class, config, inputs, **more):
    CASES[name] = {
        "seed": seed,
        "kind": kind,
        "config_class": config_class,
        "class": model_class,
        "config": config,
        "inputs": inputs,
        **more,
    }


def decoder(name, seed, family, config, model_class=None, rows=(0, 1, 2, 3), **more):
    """A causal model: labels over the same rows; without a head none."""
    model_class = model_class or f"{family}ForCausalLM"
    headless = model_class.endswith("Model") and not model_class.endswith("LMHeadModel")
    inputs = TEXT if headless else {**TEXT, "labels": LABELS}
    inputs = {key: [value[i] for i in rows] for key, value in inputs.items()}
    special = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": VOCAB}
    case(name, seed, "decoder", f"{family}Config", model_class, {**special, **config}, inputs,
         **more)


def encoder(name, seed, family, config, head, types=False, **more):
    """head: Model, ForMaskedLM, ForPreTraining (ELECTRA's yes or no for each row),
    ForSequenceClassification, ForTokenClassification."""
    pooled = head in ("Model", "ForSequenceClassification")
    inputs = {**(POOLED if pooled else TEXT), **({"token_type_ids": TYPES} if types else {})}
    classes = {}
    if head == "ForMaskedLM":
        inputs["labels"] = LABELS
    elif head == "ForPreTraining":
        inputs["labels"] = [[abs(x) % 2 for x in row] for row in LABELS]
    elif head == "ForTokenClassification":
        inputs["labels"] = [[x if x < 0 else x % 3 for x in row] for row in LABELS]
        classes = {"num_labels": 3}
    elif head == "ForSequenceClassification":
        inputs["labels"] = [0, 2, 1, 1]
        classes = {"num_labels": 3}
    special = {"pad_token_id": 0, "vocab_size": VOCAB}
    case(name, seed, "encoder", f"{family}Config", family + head, {**special, **classes, **config},
         inputs, **more)


# ---- GPT-2 ----

GPT2 = {"n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0}
decoder("gpt2", 1, "GPT2", GPT2, "GPT2LMHeadModel")
decoder("gpt2-model", 2, "GPT2", {**GPT2, "n_inner": 24, "activation_function": "relu"},
        "GPT2Model")
decoder("gpt2-layer-scale", 3, "GPT2", {**GPT2, "scale_attn_by_inverse_layer_idx": True,
        "tie_word_embeddings": False}, "GPT2LMHeadModel")

# What a search may not say, and what it says less willingly.
decoder("gpt2-rules", 4, "GPT2", {**GPT2, "n_layer": 1}, "GPT2LMHeadModel", generation={
        "repetition_penalty": 1.7, "no_repeat_ngram_size": 2, "suppress_tokens": [7, 30],
        "begin_suppress_tokens": [4, 11], "bad_words_ids": [[22]], "min_length": 12})

# ---- Llama and kin ----

LLAMA = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32}
ROPE = {"factor": 4.0, "original_max_position_embeddings": 4, "rope_theta": 500.0}


def rope(kind, **more):
    return {"rope_parameters": {"rope_type": kind, **ROPE, **more}, "max_position_embeddings": 16}


decoder("llama", 21, "Llama", LLAMA)
decoder("llama-model", 22, "Llama", {**LLAMA, "head_dim": 6, "attention_bias": True,
        "mlp_bias": True}, "LlamaModel")
decoder("llama-tied-linear", 23, "Llama", {**LLAMA, "tie_word_embeddings": True, **rope("linear")})
# transformers takes the longest row of the batch for all of it, heed each row by itself.
decoder("llama-dynamic", 24, "Llama", {**LLAMA, **rope("dynamic"),
        "max_position_embeddings": 4}, rows=(0, 2, 3))
decoder("llama-llama3", 25, "Llama", {**LLAMA, **rope("llama3", low_freq_factor=1.0,
        high_freq_factor=4.0)})
decoder("llama-yarn", 26, "Llama", {**LLAMA, **rope("yarn")})
decoder("llama-rules", 27, "Llama", {**LLAMA, "num_hidden_layers": 1}, generation={
        "repetition_penalty": 0.8, "no_repeat_ngram_size": 3, "min_length": 9})
decoder("mistral", 31, "Mistral", {**LLAMA, "sliding_window": 3})
decoder("qwen2", 32, "Qwen2", {**LLAMA, "use_sliding_window": True, "sliding_window": 2,
        "max_window_layers": 1})
decoder("qwen2-full", 33, "Qwen2", {**LLAMA, "tie_word_embeddings": True})
decoder("qwen3", 34, "Qwen3", {**LLAMA, "head_dim": 6})
decoder("gemma", 35, "Gemma", {**LLAMA, "head_dim": 6, "num_key_value_heads": 1}, norm_mean=0.0)

# ---- GPT-NeoX ----

NEOX = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 16}
decoder("gpt-neox", 41, "GPTNeoX", NEOX)
decoder("gpt-neox-model", 42, "GPTNeoX", {**NEOX, "attention_bias": False, "rotary_pct": 0.5,
        "hidden_act": "gelu_fast"}, "GPTNeoXModel")
decoder("gpt-neox-sequential", 43, "GPTNeoX", {**NEOX, "use_parallel_residual": False,
        "tie_word_embeddings": True, "rotary_pct": 1.0, "rotary_emb_base": 100})

# ---- OPT: the pad token is one that stands in the rows, too ----

OPT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 24,
       "max_position_embeddings": 8, "dropout": 0.0, "pad_token_id": 5}
decoder("opt", 44, "OPT", OPT)
decoder("opt-model", 45, "OPT", {**OPT, "_remove_final_layer_norm": True, "enable_bias": False,
        "activation_function": "gelu"}, "OPTModel")
decoder("opt-behind", 46, "OPT", {**OPT, "do_layer_norm_before": False, "word_embed_proj_dim": 12})
decoder("opt-plain", 47, "OPT", {**OPT, "layer_norm_elementwise_affine": False,
        "word_embed_proj_dim": 20, "tie_word_embeddings": False})

# ---- BLOOM ----

BLOOM = {"hidden_size": 24, "n_layer": 2, "n_head": 3}
decoder("bloom", 48, "Bloom", BLOOM)
decoder("bloom-model", 49, "Bloom", {**BLOOM, "n_head": 4,
        "apply_residual_connection_post_layernorm": True}, "BloomModel")
decoder("bloom-normed", 50, "Bloom", {**BLOOM, "n_head": 6, "tie_word_embeddings": False,
        "apply_residual_connection_post_layernorm": True})

# ---- Phi ----

PHI = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
       "num_attention_heads": 2, "max_position_embeddings": 16, "pad_token_id": 5}
decoder("phi", 51, "Phi", PHI)
decoder("phi-model", 52, "Phi", {**PHI, "qk_layernorm": True, "num_key_value_heads": 1}, "PhiModel")
decoder("phi-tied", 53, "Phi", {**PHI, "qk_layernorm": True, "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0,
                            "partial_rotary_factor": 0.75}})
decoder("phi3", 54, "Phi3", {**LLAMA, "pad_token_id": 5})
decoder("phi3-window", 55, "Phi3", {**LLAMA, "sliding_window": 3, "rope_parameters": {
        "rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}})
LONGROPE = {"rope_type": "longrope", "rope_theta": 100.0}
decoder("phi3-longrope", 56, "Phi3", {**LLAMA, "original_max_position_embeddings": 2,
        "rope_parameters": {**LONGROPE, "short_factor": [1.0, 1.5], "long_factor": [1.25, 4.0]}})
decoder("phi3-longrope-short", 57, "Phi3", {**LLAMA, "original_max_position_embeddings": 16,
        "rope_parameters": {**LONGROPE, "short_factor": [1.5], "long_factor": [3.0],
                            "partial_rotary_factor": 0.5}}, "Phi3Model")

# ---- BERT ----

BERT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 16, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0}
encoder("bert-model", 11, "Bert", BERT, "Model", types=True)
encoder("bert-masked", 12, "Bert", BERT, "ForMaskedLM", types=True)
encoder("bert-classes", 13, "Bert", BERT, "ForSequenceClassification")
encoder("bert-tokens", 14, "Bert", BERT, "ForTokenClassification")
# As files were written at first: other names of the norms, a buffer, all heads, no name in front.
def old_name(name):
    name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
    return name.replace("LayerNorm.bias", "LayerNorm.beta")


encoder("bert-old", 16, "Bert", BERT, "ForMaskedLM", stored=old_name, more_tensors={
        "bert.embeddings.position_ids": [list(range(16))],
        "bert.pooler.dense.weight": [[0.5] * 16] * 16, "bert.pooler.dense.bias": [0.5] * 16,
        "cls.seq_relationship.weight": [[0.5] * 16] * 2, "cls.seq_relationship.bias": [0.5] * 2})
encoder("bert-bare", 17, "Bert", BERT, "Model", arguments={"add_pooling_layer": False})
case("bert-score", 18, "encoder", "BertConfig", "BertForSequenceClassification",
     {**BERT, "vocab_size": VOCAB, "num_labels": 1}, POOLED)
encoder("bert-untied", 15, "Bert", {**BERT, "tie_word_embeddings": False, "hidden_act": "relu"},
        "ForMaskedLM")

# ---- Families that descend from BERT ----

ROBERTA = {**BERT, "pad_token_id": 1, "bos_token_id": 0, "type_vocab_size": 1}
encoder("roberta-model", 61, "Roberta", ROBERTA, "Model")
encoder("roberta-masked", 62, "Roberta", ROBERTA, "ForMaskedLM")
encoder("roberta-untied", 63, "Roberta", {**ROBERTA, "tie_word_embeddings": False,
        "hidden_act": "relu"}, "ForMaskedLM")
encoder("roberta-classes", 64, "Roberta", {**ROBERTA, "type_vocab_size": 2},
        "ForSequenceClassification", types=True)
encoder("roberta-tokens", 65, "Roberta", {**ROBERTA, "pad_token_id": 3}, "ForTokenClassification")
encoder("xlm-roberta-classes", 66, "XLMRoberta", ROBERTA, "ForSequenceClassification")
encoder("camembert-model", 67, "Camembert", ROBERTA, "Model")
# Pad tokens that no mask removes stand at a position of their own; positions given are rows.
PADS = [[1, 5, 17, 9, 1, 30, 2], [21, 4, 33, 2, 1, 1, 1]]
CASES["roberta-pads"] = {**CASES["roberta-model"], "seed": 68, "inputs": {"input_ids": PADS}}
CASES["roberta-positions"] = {**CASES["roberta-model"], "seed": 69, "inputs": {
        "input_ids": PADS, "position_ids": [[3, 2, 9, 8, 1, 15, 0], [2, 3, 4, 5, 6, 7, 8]]}}

DISTILBERT = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "dropout": 0.0,
              "max_position_embeddings": 16, "attention_dropout": 0.0}
encoder("distilbert-model", 71, "DistilBert", DISTILBERT, "Model")
encoder("distilbert-masked", 72, "DistilBert", {**DISTILBERT, "activation": "relu"}, "ForMaskedLM")
encoder("distilbert-classes", 73, "DistilBert", DISTILBERT, "ForSequenceClassification")
encoder("distilbert-tokens", 74, "DistilBert", {**DISTILBERT, "sinusoidal_pos_embds": True},
        "ForTokenClassification")

ALBERT = {**BERT, "embedding_size": 6, "num_hidden_layers": 3}
encoder("albert-model", 81, "Albert", ALBERT, "Model", types=True)
encoder("albert-masked", 82, "Albert", ALBERT, "ForMaskedLM")
encoder("albert-groups", 83, "Albert", {**ALBERT, "num_hidden_groups": 2, "inner_group_num": 2,
        "tie_word_embeddings": False}, "ForMaskedLM")
encoder("albert-classes", 84, "Albert", {**ALBERT, "embedding_size": 16},
        "ForSequenceClassification", types=True)
encoder("albert-tokens", 85, "Albert", ALBERT, "ForTokenClassification")

ELECTRA = {**BERT, "embedding_size": 6}
encoder("electra-model", 91, "Electra", ELECTRA, "Model", types=True)
encoder("electra-marks", 92, "Electra", {**ELECTRA, "hidden_act": "relu"}, "ForPreTraining")
encoder("electra-masked", 93, "Electra", {**ELECTRA, "hidden_act": "relu"}, "ForMaskedLM")
encoder("electra-untied", 94, "Electra", {**ELECTRA, "embedding_size": 16,
        "tie_word_embeddings": False}, "ForMaskedLM")
encoder("electra-classes", 95, "Electra", ELECTRA, "ForSequenceClassification", types=True)
encoder("electra-tokens", 96, "Electra", ELECTRA, "ForTokenClassification")

# ---- Pictures ----


def picture(name, seed, family, config, head, size, **more):
    """Two pictures of size (height, width); labels where there is a loss."""
    numbers = random.Random(seed)
    inputs = {"pixel_values": [[[[round(numbers.gauss(0.0, 1.0), 3) for _ in range(size[1])]
                                 for _ in range(size[0])]
                                for _ in range(config["num_channels"])]
                               for _ in range(2)]}
    classes = {} if head == "Model" else {"num_labels": 3}
    if head == "ForImageClassification":
        inputs["labels"] = [2, 0]
    case(name, seed, "encoder", f"{family}Config", family + head, {**classes, **config}, inputs,
         **more)


VIT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
       "image_size": 12, "patch_size": 4, "num_channels": 3}
ANY_SIZE = {"interpolate_pos_encoding": True}
picture("vit-model", 61, "ViT", {**VIT, "pooler_output_size": 10, "pooler_act": "relu"}, "Model",
        (12, 12))
picture("vit-classes", 62, "ViT", {**VIT, "qkv_bias": False, "image_size": [8, 12],
        "patch_size": [4, 3], "num_channels": 1}, "ForImageClassification", (8, 12))
picture("vit-resized", 63, "ViT", VIT, "ForImageClassification", (21, 8), call=ANY_SIZE)
picture("deit-model", 64, "DeiT", VIT, "Model", (12, 12))
picture("deit-classes", 65, "DeiT", VIT, "ForImageClassification", (16, 24), call=ANY_SIZE)
picture("deit-teacher", 66, "DeiT", VIT, "ForImageClassificationWithTeacher", (12, 12))

DINO = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2,
        "image_size": 12, "patch_size": 4, "num_channels": 3}
picture("dinov2-model", 67, "Dinov2", DINO, "Model", (12, 12))
picture("dinov2-classes", 68, "Dinov2", DINO, "ForImageClassification", (20, 9))
picture("dinov2-gated", 69, "Dinov2", {**DINO, "use_swiglu_ffn": True, "use_mask_token": False},
        "ForImageClassification", (8, 8))
