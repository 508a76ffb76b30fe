"""Writes tests/golden/gguf-models/NAME.gguf: models of tests/golden/families as GGUF files, with
the names and in the order that llama.cpp's convert_hf_to_gguf.py gives them: rows of Llama's q and
k so that pairs are adjacent, Gemma's gains as 1 + weight, GPT-2's matrices output by input. And
llama3.gguf, a model whose rope_freqs.weight is that of Llama 3.1.

Needs: gguf==0.19.0 numpy==2.4.6 safetensors==0.8.0
SPDX-License-Identifier: MIT
"""
import json
import math
import pathlib

import gguf
import numpy as np
from safetensors.numpy import load_file

GOLDEN = pathlib.Path(__file__).parent.parent / "tests/golden"
OUT = GOLDEN / "gguf-models"
NAMES = ["llama", "llama-tied-linear", "llama-llama3", "llama-yarn", "qwen2-full", "qwen3", "gemma",
         "gpt2", "bert-model"]
PARTS = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
    "attention.self.query": "attn_q", "attention.self.key": "attn_k",
    "attention.self.value": "attn_v", "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
TOPS = {
    "embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output", "wte": "token_embd",
    "wpe": "position_embd", "ln_f": "output_norm", "embeddings.word_embeddings": "token_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.position_embeddings": "position_embd", "embeddings.LayerNorm": "token_embd_norm",
}


def renamed(name):
    """None: not stored."""
    for prefix in ("model.", "transformer.", "bert."):
        name = name.removeprefix(prefix)
    stem, kind = name.rsplit(".", 1)
    if stem in TOPS:
        return f"{TOPS[stem]}.{kind}"
    if stem.startswith("pooler"):
        return None
    parts = stem.removeprefix("encoder.").split(".", 2)
    return f"blk.{parts[1]}.{PARTS[parts[2]]}.{kind}"


def paired(x, heads):
    """Rows i and i + d/2 of each head side by side."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(x.shape)


def stored(x, name, kind, config):
    if kind == "llama" and ".attn_q." in name:
        x = paired(x, config["num_attention_heads"])
    elif kind == "llama" and ".attn_k." in name:
        x = paired(x, config["num_key_value_heads"])
    elif kind == "gemma" and "norm" in name:
        x = x + 1
    elif kind == "gpt2" and x.ndim == 2 and name.startswith("blk."):
        x = x.T
    return np.ascontiguousarray(x, np.float32)


def llama3_factors(width, base, factor, low, high, original):
    factors = []
    for i in range(0, width, 2):
        wave = 2 * math.pi * base ** (i / width)
        s = min(1, max(0, (original / wave - low) / (high - low)))
        factors.append(1 / ((1 - s) / factor + s))
    return np.array(factors, np.float32)


def add_rope(w, config, head):
    rope = config["rope_parameters"]
    w.add_rope_freq_base(rope["rope_theta"])
    w.add_rope_dimension_count(head)
    kind = rope["rope_type"]
    if kind in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(kind))
        w.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if kind == "llama3":
        w.add_tensor("rope_freqs.weight", llama3_factors(
            head, rope["rope_theta"], rope["factor"], rope["low_freq_factor"],
            rope["high_freq_factor"], rope["original_max_position_embeddings"]))


def add_settings(w, kind, c):
    heads = c.get("num_attention_heads", c.get("n_head"))
    width = c.get("hidden_size", c.get("n_embd"))
    w.add_block_count(c.get("num_hidden_layers", c.get("n_layer")))
    w.add_context_length(c.get("max_position_embeddings", c.get("n_positions")))
    w.add_embedding_length(width)
    w.add_feed_forward_length(c.get("intermediate_size") or c.get("n_inner") or 4 * width)
    w.add_head_count(heads)
    if kind in ("gpt2", "bert"):
        w.add_layer_norm_eps(c.get("layer_norm_epsilon", c.get("layer_norm_eps")))
    else:
        head = c.get("head_dim") or width // heads
        w.add_head_count_kv(c["num_key_value_heads"])
        w.add_layer_norm_rms_eps(c["rms_norm_eps"])
        w.add_key_length(head)
        w.add_value_length(head)
        add_rope(w, c, head)
    if kind == "bert":
        w.add_causal_attention(False)
        w.add_pooling_type(gguf.PoolingType.MEAN)
    w.add_name("golden")
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_uint32("tokenizer.ggml.eot_token_id", 3)


def finish(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def make(name):
    folder = GOLDEN / "families" / name
    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    w = gguf.GGUFWriter(OUT / f"{name}.gguf", kind)
    add_settings(w, kind, config)
    for old, x in load_file(folder / "model.safetensors").items():
        new = renamed(old)
        if new:
            w.add_tensor(new, stored(x, new, kind, config))
    finish(w)


def make_llama3():
    """No goldens: only its scaling is looked at."""
    random = np.random.default_rng(1)
    w = gguf.GGUFWriter(OUT / "llama3.gguf", "llama")
    config = {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1,
              "hidden_size": 8, "head_dim": 128, "intermediate_size": 8, "rms_norm_eps": 1e-5,
              "max_position_embeddings": 131072,
              "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0,
                                  "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 8192}}
    add_settings(w, "llama", config)
    for name, shape in {"token_embd": (8, 8), "output_norm": (8,), "blk.0.attn_norm": (8,),
                        "blk.0.ffn_norm": (8,), "blk.0.attn_q": (128, 8), "blk.0.attn_k": (128, 8),
                        "blk.0.attn_v": (128, 8), "blk.0.attn_output": (8, 128),
                        "blk.0.ffn_gate": (8, 8), "blk.0.ffn_up": (8, 8),
                        "blk.0.ffn_down": (8, 8)}.items():
        w.add_tensor(name + ".weight", random.normal(0, 0.1, shape).astype(np.float16))
    finish(w)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        make(name)
    make_llama3()
    print(sum(f.stat().st_size for f in OUT.iterdir()), "bytes")


if __name__ == "__main__":
    main()
