"""llama.cpp through its Python package's plain C calls: decoders.
SPDX-License-Identifier: MIT
"""

import ctypes
import time

import models

THREADS = 1


def begin(threads):
    global THREADS
    THREADS = threads
    import llama_cpp

    silence = llama_cpp.llama_log_callback(lambda level, text, data: None)
    begin.silence = silence  # must live as long as it is called
    llama_cpp.llama_log_set(silence, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


def opened(name, kind, rows):
    import llama_cpp as lib

    model = lib.llama_model_load_from_file(
        str(models.gguf(name, kind)).encode(), lib.llama_model_default_params()
    )
    options = lib.llama_context_default_params()
    options.n_ctx = rows
    options.n_batch = options.n_ubatch = 512
    options.n_threads = options.n_threads_batch = THREADS
    return model, lib.llama_init_from_model(model, options)


def first(name, kind, ids):
    import llama_cpp as lib

    _, context = opened(name, kind, 64)
    lib.llama_decode(context, lib.llama_batch_get_one((lib.llama_token * len(ids))(*ids), len(ids)))
    lib.llama_get_logits(context)


def make(line, kind, variant):
    import llama_cpp as lib
    import numpy as np

    work, name = line.split("/")
    rows, fresh = (16, 128) if work == "decode" else (512, 1)
    model, context = opened(name, variant or kind, 1024)
    vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    prompt = (lib.llama_token * rows)(*[7 + 31 * i % 20000 for i in range(rows)])
    one = (lib.llama_token * 1)()

    def step(ids, n):
        if lib.llama_decode(context, lib.llama_batch_get_one(ids, n)):
            raise SystemExit("llama_decode failed")
        return int(np.ctypeslib.as_array(lib.llama_get_logits(context), (vocab,)).argmax())

    def run():
        lib.llama_memory_clear(lib.llama_get_memory(context), True)
        start = time.perf_counter()
        token = step(prompt, rows)
        if fresh == 1:
            return time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(fresh - 1):
            one[0] = token
            token = step(one, 1)
        return time.perf_counter() - start

    return run
