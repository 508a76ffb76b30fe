"""PyTorch: training steps of transformers' models. Variants: "eager", "fused" (AdamW in one pass),
"compiled".
SPDX-License-Identifier: MIT
"""

import contextlib

import models
import torch


def begin(threads):
    torch.set_num_threads(threads)
    torch.manual_seed(0)


def ready(line):
    import torch._dynamo  # noqa: F401: optimizers import it too

    models.imported(line)


def decoder_loss(model, config, sequences, rows):
    ids = torch.randint(0, config.vocab_size, (sequences, rows))
    labels = torch.randint(0, config.vocab_size, (sequences * rows,))

    def loss():
        logits = model(ids, use_cache=False).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels)

    return loss


def pairs_loss(model, config, sequences, rows):
    source, target = (torch.randint(2, config.vocab_size, (sequences, rows)) for _ in range(2))
    labels = torch.randint(2, config.vocab_size, (sequences * rows,))

    def loss():
        logits = model(input_ids=source, decoder_input_ids=target, use_cache=False).logits
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), labels, label_smoothing=0.1
        )

    return loss


def pictures_loss(model, config, sequences, _):
    side = config.image_size
    pictures = torch.rand(sequences, 3, side, side) * 2 - 1
    labels = torch.randint(0, 10, (sequences,))
    return lambda: torch.nn.functional.cross_entropy(model(pictures).logits.float(), labels)


LOSSES = {"gpt2": decoder_loss, "marian": pairs_loss, "vit": pictures_loss}


def make(line, kind, variant):
    _, name, shape = line.split("/")
    sequences, rows = map(int, shape.split("x"))
    model = models.fresh(name).train()
    fused = True if variant != "eager" else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=fused)
    called = torch.compile(model) if variant == "compiled" else model
    loss = LOSSES[model.config.model_type](called, model.config, sequences, rows)

    def run():
        reduced = torch.autocast("cpu", dtype=torch.bfloat16)
        with reduced if kind == "bf16" else contextlib.nullcontext():
            value = loss()
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        optimizer.step()

    return run
