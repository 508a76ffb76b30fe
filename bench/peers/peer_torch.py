"""PyTorch: products, attention, encoders, decoders, translation by transformers.

Variants: "packed" (oneDNN with packed weights; what goes in is of the type), "dynamic" (the same
for int8, but float32 goes in and is rounded), "compiled" (torch.compile with frozen weights), ""
(eager). The LD_PRELOAD that unlocks MKL is set by who starts this.
SPDX-License-Identifier: MIT
"""

import time

import models
import torch

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
HEADS, WIDTH = 8, 64


def begin(threads):
    torch.set_num_threads(threads)
    torch.manual_seed(0)


def ready(line):
    models.imported(line)


def int8_product(m, n, k, variant):
    """Weights with a scale for each column, rows with one for all, and float32 out."""
    w, scales = torch.randint(-128, 128, (n, k), dtype=torch.int8), torch.full((n,), 0.01)
    zeros = torch.zeros(n, dtype=torch.int64)
    if variant == "dynamic":
        torch.backends.quantized.engine = "onednn"
        whole = torch._make_per_channel_quantized_tensor(w, scales.double(), zeros, 0)
        packed = torch.ops.quantized.linear_prepack(whole, None)
        x = torch.randn(m, k)

        def rounding():
            torch.ops.quantized.linear_dynamic(x, packed)

        return rounding
    x = torch.randint(0, 256, (m, k), dtype=torch.uint8)
    packed = torch.ops.onednn.qlinear_prepack(w, [m, k])
    one_x, one_y = (torch.tensor(0.02), torch.tensor(128)), (1.0, 0)

    def run():
        torch.ops.onednn.qlinear_pointwise(
            x, *one_x, packed, scales, zeros, None, *one_y, torch.float32, "none", [], ""
        )

    return run


def product(shape, kind, variant):
    m, n, k = map(int, shape.split("x"))
    if kind == "int8":
        return int8_product(m, n, k, variant)
    x, w = torch.randn(m, k, dtype=TYPES[kind]), torch.randn(n, k, dtype=TYPES[kind])
    if variant == "packed":
        w = torch.ops.mkldnn._reorder_linear_weight(w, m)

    @torch.no_grad()
    def run():
        if variant == "packed":
            torch.ops.mkldnn._linear_pointwise(x, w, None, "none", [], "")
        else:
            torch.nn.functional.linear(x, w)

    return run


def attention(what, kind):
    n, mode = what.split("/")
    back, causal = mode.startswith("both"), mode.endswith("causal")
    q, k, v = (
        torch.randn(1, HEADS, int(n), WIDTH, dtype=TYPES[kind], requires_grad=back)
        for _ in range(3)
    )

    def run():
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        if back:
            q.grad = k.grad = v.grad = None
            out.sum().backward()

    return run


def opened(name, kind, auto):
    import transformers

    auto = getattr(transformers, auto)
    return auto.from_pretrained(models.folder(name), dtype=TYPES[kind]).eval()


def decode(name, kind):
    model = opened(name, kind, "AutoModelForCausalLM")
    prompt = torch.tensor([[7 + 31 * i % 20000 for i in range(16)]])

    @torch.inference_mode()
    def run():
        out = model(prompt, use_cache=True, logits_to_keep=1)
        token, start = out.logits[:, -1:].argmax(-1), time.perf_counter()
        for _ in range(127):
            out = model(token, past_key_values=out.past_key_values, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        return time.perf_counter() - start

    return run


def prefill(name, kind):
    model = opened(name, kind, "AutoModelForCausalLM")
    prompt = torch.tensor([[7 + 31 * i % 20000 for i in range(512)]])

    @torch.inference_mode()
    def run():
        model(prompt, use_cache=True, logits_to_keep=1).logits[:, -1].argmax(-1)

    return run


def encoder(name, kind):
    model = opened(name, "f32" if kind == "int8" else kind, "AutoModel")
    if kind == "int8":
        model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    return model


def sentences(what, kind):
    name, count = models.sizes(what)
    model, batches = encoder(name, kind), []
    for lengths in models.batches(count):
        mask = torch.arange(lengths[0])[None, :] < torch.tensor(lengths)[:, None]
        batches.append((torch.randint(0, 30000, mask.shape), mask.long()))

    @torch.inference_mode()
    def run():
        for ids, mask in batches:
            model(ids, attention_mask=mask)

    return run


def encode(what, kind, variant):
    name, batch, rows = models.sizes(what)
    model = encoder(name, kind)
    if variant == "compiled":
        from torch._inductor import config

        config.freezing = True
        model = torch.compile(model)
    ids = torch.randint(0, 30000, (batch, rows))

    @torch.inference_mode()
    def run():
        model(ids)

    return run


def translate(what, kind):
    name, batch, beams, count = models.translation(what)
    model = opened(name, kind, "AutoModelForSeq2SeqLM")
    ids = torch.randint(10, 30000, (count, models.LENGTH))

    @torch.inference_mode()
    def run():
        for part in ids.split(batch):
            model.generate(
                part,
                attention_mask=torch.ones_like(part),
                num_beams=beams,
                min_new_tokens=models.LENGTH,
                max_new_tokens=models.LENGTH,
                do_sample=False,
            )

    return run


def make(line, kind, variant):
    work, what = line.split("/", 1)
    if work == "product":
        return product(what, kind, variant)
    if work == "encode":
        return encode(what, kind, variant)
    others = {
        "attention": attention,
        "decode": decode,
        "prefill": prefill,
        "sentences": sentences,
        "translate": translate,
    }
    return others[work](what, kind)


def first(name, kind, ids):
    model = opened(name, kind, "AutoModelForCausalLM")
    with torch.inference_mode():
        model(torch.tensor([ids]), logits_to_keep=1).logits.argmax(-1)
