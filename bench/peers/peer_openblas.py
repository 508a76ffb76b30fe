"""OpenBLAS, as numpy carries it: products.
SPDX-License-Identifier: MIT
"""

import os


def begin(threads):
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)


def make(line, kind, variant):
    import numpy as np

    m, n, k = map(int, line.split("/")[1].split("x"))
    dice = np.random.default_rng(0)
    x, w = (dice.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
    out = np.empty((m, n), dtype=np.float32)

    def run():
        np.matmul(x, w, out=out)

    return run
