"""CTranslate2: decoders, encoders, translation.
SPDX-License-Identifier: MIT
"""

import sys
import time

import models

THREADS = 1


def begin(threads):
    global THREADS
    THREADS = threads
    sys.modules["torch"] = None  # else its package imports it, for its converters
    import ctranslate2  # noqa: F401


def opened(kind_of_model, name, kind):
    import ctranslate2

    return getattr(ctranslate2, kind_of_model)(
        str(models.ctranslate2(name, kind)),
        device="cpu",
        inter_threads=1,
        intra_threads=THREADS,
        compute_type={"f32": "float32", "int8": "int8"}[kind],
    )


def tokens(ids):
    return [models.VOCAB_DUMMY.format(i) for i in ids]


def continued(name, kind, rows, fresh):
    generator = opened("Generator", name, kind)
    prompt = tokens(7 + 31 * i % 20000 for i in range(rows))
    first = 0.0

    def seen(step):
        nonlocal first
        if step.step == 0:
            first = time.perf_counter()
        return False

    def run():
        start = time.perf_counter()
        generator.generate_batch(
            [prompt],
            max_length=fresh,
            min_length=fresh,
            beam_size=1,
            include_prompt_in_result=False,
            callback=seen,
        )
        return time.perf_counter() - first if fresh > 1 else first - start

    return run


def sentence(j, rows):
    return [(7 + 31 * (i + 5 * j)) % 30000 for i in range(rows)]


def encode(what, kind):
    name, batch, rows = models.sizes(what)
    encoder = opened("Encoder", name, kind)
    ids = [sentence(j, rows) for j in range(batch)]

    def run():
        encoder.forward_batch(ids)

    return run


def sentences(what, kind):
    name, count = models.sizes(what)
    encoder = opened("Encoder", name, kind)
    batches = [
        [sentence(j, rows) for j, rows in enumerate(lengths)] for lengths in models.batches(count)
    ]

    def run():
        for ids in batches:
            encoder.forward_batch(ids)

    return run


def translate(what, kind):
    name, batch, beams, count = models.translation(what)
    translator = opened("Translator", name, kind)
    lines = [
        tokens(10 + (7 + 31 * i + 977 * j) % 30000 for i in range(models.LENGTH))
        for j in range(count)
    ]

    def run():
        translator.translate_batch(
            lines,
            max_batch_size=batch,
            beam_size=beams,
            min_decoding_length=models.LENGTH,
            max_decoding_length=models.LENGTH,
        )

    return run


def make(line, kind, variant):
    work, what = line.split("/", 1)
    kind = variant or kind
    if work == "decode":
        return continued(what, kind, 16, 128)
    if work == "prefill":
        return continued(what, kind, 512, 1)
    others = {"encode": encode, "sentences": sentences, "translate": translate}
    return others[work](what, kind)


def first(name, kind, ids):
    opened("Generator", name, kind).generate_batch([tokens(ids)], max_length=1, beam_size=1)
