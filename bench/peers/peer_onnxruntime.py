"""onnxruntime: encoders.
SPDX-License-Identifier: MIT
"""

import models

THREADS = 1


def begin(threads):
    global THREADS
    THREADS = threads
    import onnxruntime  # noqa: F401


def opened(name, kind):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        str(models.onnx(name, kind)), options, providers=["CPUExecutionProvider"]
    )


def encode(what, kind):
    import numpy as np

    name, batch, rows = models.sizes(what)
    session = opened(name, kind)
    ids = np.random.default_rng(0).integers(0, 30000, (batch, rows), dtype=np.int64)

    def run():
        session.run(None, {"input_ids": ids})

    return run


def sentences(what, kind):
    import numpy as np

    name, count = models.sizes(what)
    session = opened(name, kind + "-masked")
    dice, inputs = np.random.default_rng(0), []
    for lengths in models.batches(count):
        shape = len(lengths), lengths[0]
        mask = np.arange(lengths[0])[None, :] < np.array(lengths)[:, None]
        ids = dice.integers(0, 30000, shape, dtype=np.int64)
        inputs.append({"input_ids": ids, "attention_mask": mask.astype(np.int64)})

    def run():
        for batch in inputs:
            session.run(None, batch)

    return run


def make(line, kind, variant):
    work, what = line.split("/", 1)
    return {"encode": encode, "sentences": sentences}[work](what, kind)
