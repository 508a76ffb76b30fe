"""Writes tests/golden/safetensors/: small files as the reference library writes them.

Needs: safetensors==0.8.0 numpy==2.4.6
SPDX-License-Identifier: MIT
"""
import json
import pathlib

import numpy as np
from safetensors.numpy import save

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/safetensors"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tensors = {
        "b.weight": np.array([[1.5, -2.0, 0.1], [3.0, 4.0, 5.0]], np.float32),
        "a.weight": np.array([0.25, -1.0], np.float32),
        "half": np.array([1.0, 65504.0, -2.0**-24], np.float16),
        "wide": np.array([1e-300, 2.0], np.float64),
        "ids": np.array([[5, -6], [7, 1 << 40]], np.int64),
        "small": np.array([-3, 4, 5], np.int32),
        "bytes": np.array([255, 0, 1], np.uint8),
        "mask": np.array([True, False, True, True, False]),
        "empty": np.zeros((0, 4), np.float32),
        "scalar": np.array(42.0, np.float32),
        "中文.\"quoted\"": np.array([1], np.int8),
    }
    (OUT / "types.safetensors").write_bytes(save(tensors, {"format": "pt"}))
    # A model in two files, with its index.
    shards = {
        "model-00001-of-00002.safetensors": {"x": tensors["a.weight"], "y": tensors["small"]},
        "model-00002-of-00002.safetensors": {"z": tensors["b.weight"]},
    }
    folder = OUT / "sharded"
    folder.mkdir(exist_ok=True)
    for name, part in shards.items():
        (folder / name).write_bytes(save(part, {"format": "pt"}))
    places = {k: n for n, part in shards.items() for k in part}
    index = {"metadata": {"total_size": 44}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    main()
