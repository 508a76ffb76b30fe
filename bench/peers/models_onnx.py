"""ONNX files of the encoders: torch.onnx, and for int8 onnxruntime's dynamic quantisation.
SPDX-License-Identifier: MIT
"""

import sys

import models
import torch

MASKED = "-masked"


class Rows(torch.nn.Module):
    """Ids to the last hidden rows; without a mask all of them are real."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask=None):
        out = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return out.last_hidden_state


def export(name, kind, path):
    if kind.startswith("int8"):
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(
            models.onnx(name, kind.replace("int8", "f32")), path, weight_type=QuantType.QInt8
        )
        return
    from transformers import AutoModel

    model = AutoModel.from_pretrained(models.folder(name), attn_implementation="eager").eval()
    names = ["input_ids", "attention_mask"] if kind.endswith(MASKED) else ["input_ids"]
    ids = torch.randint(0, 30000, (2, 128))
    batch, rows = torch.export.Dim("batch"), torch.export.Dim("rows")
    torch.onnx.export(
        Rows(model).eval(),
        (ids, torch.ones_like(ids))[: len(names)],
        str(path),
        input_names=names,
        output_names=["rows"],
        dynamic_shapes={name: {0: batch, 1: rows} for name in names},
        dynamo=True,
        external_data=False,
    )


if __name__ == "__main__":
    export(*sys.argv[1:])
