"""Writes tests/golden/ops/: what transformers computes for distances between positions.

  t5_buckets.txt    lines "causal buckets max_distance first", then the bucket of each distance
                    (key position - query position) from `first` to -`first`
  alibi_slopes.txt  lines "heads", then the slope of each head

Needs: torch==2.15.0 transformers==5.24.0
Run: python tools/make_golden_ops.py
SPDX-License-Identifier: MIT
"""

import pathlib

import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
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


def write(name, lines):
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    (OUT / name).write_text(text)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    write("t5_buckets.txt", [buckets(*case) for case in BUCKETS])
    write("alibi_slopes.txt", [slopes(heads) for heads in (1, 2, 6, 8, 12)])


if __name__ == "__main__":
    main()
