"""oneDNN by its own C calls: products with weights in its own order. PyTorch calls it too, but for
a small product it takes longer to get there than the product itself takes.

Variants: "matmul" and "inner", its two ways to a product. What goes in is of the type, what comes
out is float32.
SPDX-License-Identifier: MIT
"""

import ctypes
import pathlib
import sys

import numpy as np

CPU, IN_ORDER, INFERENCE, ANY = 1, 1, 96, 1  # dnnl_types.h
SOURCE, RESULT, WEIGHTS, SCALES = 1, 17, 33, 4096
WEIGHTS_MD = 131
TYPES = {"f32": (3, 3), "bf16": (2, 2), "int8": (6, 5)}  # of rows and of weights
F32, INT8_SCALE = 3, 0.01
ALL = ctypes.c_void_p(-1).value  # DNNL_MEMORY_ALLOCATE


class Argument(ctypes.Structure):
    _fields_ = [("name", ctypes.c_int), ("memory", ctypes.c_void_p)]


def begin(threads):
    begin.lib = ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib" / "libdnnl.so.3"))
    engine, stream = ctypes.c_void_p(), ctypes.c_void_p()
    call("engine_create", ctypes.byref(engine), CPU, ctypes.c_size_t(0))
    call("stream_create", ctypes.byref(stream), engine, IN_ORDER)
    begin.engine, begin.stream = engine, stream


def call(name, *values):
    status = getattr(begin.lib, "dnnl_" + name)(*values)
    if status:
        raise SystemExit(f"dnnl_{name}: status {status}")


def made(name, *values):
    out = ctypes.c_void_p()
    call(name, ctypes.byref(out), *values)
    return out


def described(shape, kind, strides=None):
    """A memory's description; without strides oneDNN chooses the order."""
    dims = (ctypes.c_int64 * len(shape))(*shape)
    if strides is None:
        return made("memory_desc_create_with_tag", len(shape), dims, kind, ANY)
    steps = (ctypes.c_int64 * len(shape))(*strides)
    return made("memory_desc_create_with_strides", len(shape), dims, kind, steps)


def memory(description, array=None):
    place = ALL if array is None else array.ctypes.data
    return made("memory_create", description, begin.engine, ctypes.c_void_p(place))


def execute(primitive, arguments):
    call("primitive_execute", primitive, begin.stream, len(arguments), arguments)
    call("stream_wait", begin.stream)


def listed(**memories):
    names = {"source": SOURCE, "result": RESULT, "weights": WEIGHTS, "scales": SCALES | WEIGHTS}
    return (Argument * len(memories))(
        *(Argument(names[name], one.value) for name, one in memories.items())
    )


def bf16(x):
    """Cut off, not rounded: the same number of bits."""
    return (x.view(np.uint32) >> 16).astype(np.uint16)


def widened(x, kind):
    return (x.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else x.astype(np.float32)


def numbers(kind, m, n, k):
    """Rows m x k, and weights n x k as PyTorch has them."""
    dice = np.random.default_rng(0)
    if kind == "int8":
        x = dice.integers(0, 256, (m, k), dtype=np.uint8)
        return x, dice.integers(-128, 128, (n, k), dtype=np.int8)
    x, w = (dice.standard_normal(s, dtype=np.float32) for s in ((m, k), (n, k)))
    return (bf16(x), bf16(w)) if kind == "bf16" else (x, w)


def chosen(kind, variant, m, n, k):
    """The primitive's description, and those of its memories."""
    rows, weights = TYPES[kind]
    attributes = made("primitive_attr_create")
    if kind == "int8":
        mask = 1 if variant == "inner" else 2
        call("primitive_attr_set_scales_mask", attributes, WEIGHTS, mask)
    source, result = described((m, k), rows, (k, 1)), described((m, n), F32, (n, 1))
    if variant == "inner":
        asked, plain = described((n, k), weights), described((n, k), weights, (k, 1))
        sides = (ctypes.c_int(INFERENCE), source, asked, None, result, attributes)
        what = made("inner_product_forward_primitive_desc_create", begin.engine, *sides)
    else:
        asked, plain = described((k, n), weights), described((k, n), weights, (1, k))
        sides = (source, asked, None, result, attributes)
        what = made("matmul_primitive_desc_create", begin.engine, *sides)
    begin.lib.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
    own = ctypes.c_void_p(begin.lib.dnnl_primitive_desc_query_md(what, WEIGHTS_MD, 0))
    return what, source, result, plain, own


def packed(w, plain, own):
    """The weights once more, in oneDNN's order."""
    before, after = memory(plain, w), memory(own)
    pair = plain, begin.engine, own, begin.engine, None
    reorder = made("primitive_create", made("reorder_primitive_desc_create", *pair))
    execute(reorder, listed(source=before, result=after))
    return after


def make(line, kind, variant):
    m, n, k = map(int, line.split("/")[1].split("x"))
    x, w = numbers(kind, m, n, k)
    out, scales = np.empty((m, n), np.float32), np.full(n, INT8_SCALE, np.float32)
    what, source, result, plain, own = chosen(kind, variant, m, n, k)
    product = made("primitive_create", what)
    memories = {"source": memory(source, x), "result": memory(result, out)}
    memories["weights"] = packed(w, plain, own)
    if kind == "int8":
        memories["scales"] = memory(described((n,), F32, (1,)), scales)
    arguments = listed(**memories)

    def run():
        execute(product, arguments)

    run()
    want = widened(x[:1], kind) @ widened(w, kind).T * (INT8_SCALE if kind == "int8" else 1)
    if np.abs(out[:1] - want).max() > 1e-3 * np.abs(want).max():
        raise SystemExit("oneDNN's product is another one")
    run.held = x, w, out, scales  # what the library points into
    return run
