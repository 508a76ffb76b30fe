"""Writes tests/golden/torch/: the same tensors as PyTorch saves them in both of its forms, and as
safetensors; and pickles that would run something.

Needs: torch==2.15.0 safetensors==0.8.0 numpy==2.4.6
SPDX-License-Identifier: MIT
"""
import collections
import os
import pathlib
import shutil
import struct

import torch
from safetensors.torch import load_file, save_file

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/torch"


class Evil:
    def __reduce__(self):
        return os.system, ("echo executed",)


def tensors():
    torch.manual_seed(1)
    base = torch.randn(4, 6)
    return collections.OrderedDict(
        weight=base,
        transposed=base.t(),
        part=base[1:3, 2:5],
        shared=base,
        half=base.half(),
        brain=base.bfloat16(),
        wide=base.double(),
        ids=torch.tensor([[1, -2], [3, 1 << 40]]),
        int32=torch.tensor([5, -6], dtype=torch.int32),
        int16=torch.tensor([5, -6], dtype=torch.int16),
        int8=torch.tensor([5, -6], dtype=torch.int8),
        bytes=torch.tensor([5, 250], dtype=torch.uint8),
        mask=torch.tensor([True, False]),
        scalar=torch.tensor(42.0),
        empty=torch.zeros(0, 3),
        parameter=torch.nn.Parameter(base[0]),
    )


def widened(data):
    """The archive with its sizes, places and directory in 64-bit fields, as beyond 4 GiB."""
    end = data.rindex(b"PK\5\6")
    entries, _, start = struct.unpack("<HII", data[end + 10 : end + 20])
    ones, directory, at = 0xFFFFFFFF, b"", start
    for _ in range(entries):
        head = bytearray(data[at : at + 46])
        size, packed = struct.unpack_from("<I", head, 24)[0], struct.unpack_from("<I", head, 20)[0]
        name, extra, comment = struct.unpack_from("<HHH", head, 28)
        place = struct.unpack_from("<I", head, 42)[0]
        field = struct.pack("<HHQQQ", 1, 24, size, packed, place)
        struct.pack_into("<II", head, 20, ones, ones)
        struct.pack_into("<H", head, 30, extra + len(field))
        struct.pack_into("<I", head, 42, ones)
        directory += bytes(head) + data[at + 46 : at + 46 + name + extra] + field
        directory += data[at + 46 + name + extra : at + 46 + name + extra + comment]
        at += 46 + name + extra + comment
    wide = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, entries, entries,
                       len(directory), start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, start + len(directory), 1)
    last = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, ones, ones, 0)
    return data[:start] + directory + wide + locator + last


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    named = tensors()
    for name, new in ("zip", True), ("plain", False):
        torch.save(named, OUT / f"{name}.bin", _use_new_zipfile_serialization=new)
    torch.save(named, OUT / "protocol4.bin", pickle_protocol=4)
    (OUT / "zip64.bin").write_bytes(widened((OUT / "zip.bin").read_bytes()))
    nested = {"epoch": 3, "loss": 0.5, "state_dict": {"weight": named["weight"]}, "args": [1, "a"]}
    torch.save(nested, OUT / "nested.bin")
    torch.save({"weight": named["weight"], "hook": Evil()}, OUT / "evil.bin")
    torch.save(
        {"weight": named["weight"], "hook": Evil()}, OUT / "evil_plain.bin",
        _use_new_zipfile_serialization=False,
    )
    torch.save([1, 2], OUT / "no_dict.bin")
    save_file({k: v.detach().contiguous().clone() for k, v in named.items()},
              OUT / "same.safetensors")
    model = OUT.parent / "families/llama-tied-linear"
    (OUT / "model").mkdir(exist_ok=True)
    shutil.copyfile(model / "config.json", OUT / "model/config.json")
    torch.save(load_file(model / "model.safetensors"), OUT / "model/pytorch_model.bin")


if __name__ == "__main__":
    main()
