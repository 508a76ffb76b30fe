"""GGUF files of the decoders, by the gguf package: llama.cpp's own converter is not on PyPI.

The vocabulary is made of dummy tokens, which llama.cpp wants and nothing here reads.
SPDX-License-Identifier: MIT
"""

import sys

import gguf
import models
import numpy as np
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import load_file

TYPES = {"f32": Type.F32, "f16": Type.F16, "bf16": Type.BF16, "q8_0": Type.Q8_0, "q4_0": Type.Q4_0}

GPT2 = {
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
    "ln_1": "attn_norm",
    "ln_2": "ffn_norm",
}
LLAMA = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def turned(x, heads):
    """Rotary pairs as llama.cpp has them: beside each other."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(x.shape)


def gpt2_tensors(file):
    ends = {"wte.weight": "token_embd", "wpe.weight": "position_embd"}
    ends |= {"ln_f.weight": "output_norm", "ln_f.bias": "output_norm"}
    for name, x in file.items():
        name = name.removeprefix("transformer.")
        kind = name.rsplit(".", 1)[1]
        if name in ends:
            yield f"{ends[name]}.{kind}", x
        elif name.startswith("h."):
            _, layer, rest = name.split(".", 2)
            x = x.T if kind == "weight" and x.ndim == 2 else x
            yield f"blk.{layer}.{GPT2[rest.rsplit('.', 1)[0]]}.{kind}", x


def llama_tensors(file, heads):
    ends = {"model.embed_tokens": "token_embd", "lm_head": "output", "model.norm": "output_norm"}
    for name, x in file.items():
        stem = name.removesuffix(".weight")
        if stem in ends:
            yield f"{ends[stem]}.weight", x
        else:
            _, _, layer, rest = stem.split(".", 3)
            x = turned(x, heads) if rest in ("self_attn.q_proj", "self_attn.k_proj") else x
            yield f"blk.{layer}.{LLAMA[rest]}.weight", x


def write(name, kind, path):
    config = models.config(name)
    family = config.model_type
    out = gguf.GGUFWriter(str(path), family)
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    out.add_context_length(config.max_position_embeddings)
    out.add_embedding_length(config.hidden_size)
    out.add_block_count(layers)
    out.add_head_count(heads)
    out.add_vocab_size(config.vocab_size)
    file = load_file(models.folder(name) / "model.safetensors")
    if family == "gpt2":
        out.add_feed_forward_length(4 * config.hidden_size)
        out.add_layer_norm_eps(config.layer_norm_epsilon)
        tensors = gpt2_tensors(file)
    else:
        out.add_feed_forward_length(config.intermediate_size)
        out.add_layer_norm_rms_eps(config.rms_norm_eps)
        out.add_rope_dimension_count(config.hidden_size // heads)
        out.add_head_count_kv(heads)
        tensors = llama_tensors(file, heads)
    tokens = [models.VOCAB_DUMMY.format(i) for i in range(config.vocab_size)]
    tokens[-3:-1] = "t", "0"  # what the one merge joins
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(tokens)
    out.add_token_types([gguf.TokenType.NORMAL] * len(tokens))
    out.add_token_merges(["t 0"])
    out.add_bos_token_id(0)
    out.add_eos_token_id(len(tokens) - 1)
    for tensor, x in tensors:
        matrix = x.ndim == 2 and tensor != "position_embd.weight"
        use = TYPES[kind] if matrix else Type.F32
        x = np.ascontiguousarray(x, dtype=np.float32)
        out.add_tensor(tensor, gguf.quants.quantize(x, use), raw_dtype=use)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    write(*sys.argv[1:])
