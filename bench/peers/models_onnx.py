"""ONNX files of the encoders: torch.onnx, and for int8 onnxruntime's dynamic quantisation.
SPDX-License-Identifier: MIT
"""

import sys

import models
import torch


class Rows(torch.nn.Module):
    """Ids to the last hidden rows, all of which are real."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids).last_hidden_state


def export(name, kind, path):
    if kind == "int8":
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(models.onnx(name, "f32"), path, weight_type=QuantType.QInt8)
        return
    from transformers import AutoModel

    model = AutoModel.from_pretrained(models.folder(name), attn_implementation="eager").eval()
    ids = torch.randint(0, 30000, (2, 128))
    batch, rows = torch.export.Dim("batch"), torch.export.Dim("rows")
    torch.onnx.export(
        Rows(model).eval(),
        (ids,),
        str(path),
        input_names=["input_ids"],
        output_names=["rows"],
        dynamic_shapes={"input_ids": {0: batch, 1: rows}},
        dynamo=True,
        external_data=False,
    )


if __name__ == "__main__":
    export(*sys.argv[1:])
