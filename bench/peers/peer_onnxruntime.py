"""onnxruntime: encoders.
SPDX-License-Identifier: MIT
"""

import models

THREADS = 1


def begin(threads):
    global THREADS
    THREADS = threads
    import onnxruntime  # noqa: F401


def make(line, kind, variant):
    import numpy as np
    import onnxruntime

    _, name, shape = line.split("/")
    batch, rows = map(int, shape.split("x"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(models.onnx(name, kind)), options, providers=["CPUExecutionProvider"]
    )
    ids = np.random.default_rng(0).integers(0, 30000, (batch, rows), dtype=np.int64)

    def run():
        session.run(None, {"input_ids": ids})

    return run
