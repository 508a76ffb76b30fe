"""Writes tests/golden/gguf/types.gguf with the reference library: settings of every type, tensors
of every type beside the numbers that the library reads from them.

Needs: gguf==0.19.0 numpy==2.4.6
SPDX-License-Identifier: MIT
"""
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Kind

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/gguf"

# Bytes of a block at which half floats stand.
SCALES = {
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
    Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
}


def blocks(kind, random):
    """Two rows of blocks: any bytes, but for scales of a usual size."""
    _, size = gguf.GGML_QUANT_SIZES[kind]
    raw = random.integers(0, 256, (2, size), np.uint8)
    for at in SCALES[kind]:
        scale = random.normal(0, 0.01, (2, 1)).astype(np.float16)
        raw[:, at : at + 2] = scale.view(np.uint8)
    return raw


def add_tensors(writer, random):
    for kind in SCALES:
        raw, name = blocks(kind, random), kind.name.lower()
        writer.add_tensor(name, raw, raw_dtype=kind)
        writer.add_tensor(name + ".numbers", gguf.quants.dequantize(raw, kind).astype(np.float32))
    x = random.normal(0, 1, (2, 3)).astype(np.float32)
    narrow = (x.view(np.uint32) >> 16).astype(np.uint16)
    plain = {
        "f16": (x.astype(np.float16), None),
        "f64": (x.astype(np.float64) / 3, None),
        "bf16": (narrow.view(np.uint8), Type.BF16),
    }
    numbers = {
        "f16": plain["f16"][0].astype(np.float32),
        "f64": plain["f64"][0].astype(np.float32),
        "bf16": (narrow.astype(np.uint32) << 16).view(np.float32),
    }
    for name, (data, kind) in plain.items():
        writer.add_tensor(name, data, raw_dtype=kind)
        writer.add_tensor(name + ".numbers", numbers[name])
    writer.add_tensor("cube", np.arange(30, dtype=np.float32).reshape(2, 3, 5))
    writer.add_tensor("ids", np.array([3, -4], np.int32))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(OUT / "types.gguf", "golden")
    writer.add_uint8("a.u8", 200)
    writer.add_int8("a.i8", -100)
    writer.add_uint16("a.u16", 65000)
    writer.add_int16("a.i16", -30000)
    writer.add_uint32("a.u32", 4000000000)
    writer.add_int32("a.i32", -2000000000)
    writer.add_uint64("a.u64", 2**63 - 1)
    writer.add_int64("a.i64", -(2**63))
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.text", "我爱中国")
    writer.add_key_value("a.texts", ["", "xyz"], Kind.ARRAY, Kind.STRING)
    writer.add_key_value("a.integers", [1, -7, 3], Kind.ARRAY, Kind.INT16)
    writer.add_key_value("a.reals", [1.0, -2.5], Kind.ARRAY, Kind.FLOAT32)
    add_tensors(writer, np.random.default_rng(1))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
