"""Writes tests/golden/ops/: what transformers computes for positions and their distances.

  t5_buckets.txt    lines "causal buckets max_distance first", then the bucket of each distance
                    (key position - query position) from `first` to -`first`
  alibi_slopes.txt  lines "heads", then the slope of each head
  rope.txt          lines "kind d base length factor original low_freq_factor high_freq_factor
                    beta_fast beta_slow attention_factor mscale mscale_all_dim truncate stretch",
                    0 where a number is not given, then the speed of each pair at that length;
                    of longrope short_factor and long_factor of each pair before

Needs: torch==2.15.0 transformers==5.24.0
Run: python tools/make_golden_ops.py
SPDX-License-Identifier: MIT
"""

import pathlib

import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.t5.modeling_t5 import T5Attention

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/ops"
BUCKETS = [(0, 32, 128, 150), (1, 32, 128, 150), (0, 8, 20, 30), (1, 6, 20, 30), (0, 12, 50, 60)]


def buckets(causal, count, most, reach):
    distance = torch.arange(-reach, reach + 1)
    bucket = T5Attention._relative_position_bucket(distance, not causal, count, most)
    return [causal, count, most, -reach] + bucket.tolist()


def slopes(heads):
    # The bias of the key at place 1 is its slope.
    table = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)
    return [heads] + [f"{x:.9g}" for x in table[:, 0, 1].tolist()]


# kind, d, base, length, what else is given
ROPES = [
    ("default", 8, 10000, 12, {}),
    ("linear", 8, 10000, 12, {"factor": 4}),
    ("dynamic", 8, 10000, 40, {"factor": 2, "original": 16}),
    ("dynamic", 8, 10000, 12, {"factor": 2, "original": 16}),
    ("dynamic", 16, 500, 64, {"factor": 8, "original": 16}),
    ("llama3", 32, 10000, 30, {"factor": 8, "original": 64, "low_freq_factor": 1,
                               "high_freq_factor": 4}),
    ("llama3", 128, 500000, 30, {"factor": 32, "original": 8192, "low_freq_factor": 1,
                                 "high_freq_factor": 4}),
    ("yarn", 32, 10000, 30, {"factor": 4, "original": 256}),
    ("yarn", 32, 10000, 30, {"factor": 4, "original": 256, "beta_fast": 16, "beta_slow": 2,
                             "attention_factor": 1.3}),
    ("yarn", 64, 10000, 30, {"factor": 40, "original": 4096, "mscale": 0.707,
                             "mscale_all_dim": 1.0}),
    ("yarn", 64, 150000, 30, {"factor": 32, "original": 4096, "truncate": False}),
    ("yarn", 4, 10, 30, {"factor": 2, "original": 8}),  # the ramp ends where it begins
]
SHORT, LONG = [1.0, 1.05, 1.5, 2.25], [1.25, 3.5, 20.0, 40.5]
ROPES += [("longrope", 8, 10000, length, {"factor": 4, "original": 16, "short_factor": SHORT,
                                          "long_factor": LONG}) for length in (16, 17)]
ROPES += [("longrope", 8, 10000, 40, {"factor": 4, "original": 16, "short_factor": SHORT,
                                      "long_factor": LONG, "attention_factor": 1.19})]
KEYS = ["factor", "original", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow",
        "attention_factor", "mscale", "mscale_all_dim"]


def rope(kind, d, base, length, given):
    parameters = {"rope_type": kind, "rope_theta": float(base)}
    parameters |= {key: value for key, value in given.items() if key != "original"}
    if "original" in given:
        parameters["original_max_position_embeddings"] = given["original"]
    config = LlamaConfig(hidden_size=d, num_attention_heads=1, head_dim=d,
                         max_position_embeddings=given.get("original", 64),
                         rope_parameters=parameters)
    compute = (LlamaRotaryEmbedding.compute_default_rope_parameters if kind == "default"
               else ROPE_INIT_FUNCTIONS[kind])
    speeds, stretch = compute(config, device=None, seq_len=length)
    numbers = [given.get(key, 0) for key in KEYS] + [int(given.get("truncate", True))]
    line = [kind, d, base, length] + numbers + [repr(float(stretch))]
    line += given.get("short_factor", []) + given.get("long_factor", [])
    return line + [f"{x:.9g}" for x in speeds.tolist()]


def write(name, lines):
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    (OUT / name).write_text(text)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    write("t5_buckets.txt", [buckets(*case) for case in BUCKETS])
    write("alibi_slopes.txt", [slopes(heads) for heads in (1, 2, 6, 8, 12)])
    write("rope.txt", [rope(*case) for case in ROPES])


if __name__ == "__main__":
    main()
