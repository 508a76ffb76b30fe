"""Writes tests/golden/marian-*/, pegasus-*/ and *-beam/: tiny models as transformers saves them,
and what transformers makes of them.

Each folder holds config.json, generation_config.json, model.safetensors (float32) and
  in.safetensors   input_ids, attention_mask, labels; some decoder_input_ids, decoder_attention_mask
  out.safetensors  the run in float64, stored as float32: logits, loss, hidden states, attentions,
                   gradients; zeros wherever a row or a key is padding
  steps.json       losses of ten optimiser steps on that batch, each taken before the step
The folders *-beam hold a model that learnt to turn sequences round, and generate.json: ids and
scores of greedy and beam search. A case is kept only if small changes of the weights leave its ids
alone.

Needs: torch==2.15.0 transformers==5.24.0 safetensors==0.8.0
Run: python tools/make_golden.py [FOLDER ...]
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import shutil
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, GenerationConfig

import golden_cases

OUT = pathlib.Path(__file__).parent.parent / "tests/golden"
FAMILIES = {
    "marian": (transformers.MarianConfig, transformers.MarianMTModel),
    "pegasus": (transformers.PegasusConfig, transformers.PegasusForConditionalGeneration),
    "t5": (transformers.T5Config, transformers.T5ForConditionalGeneration),
    "bart": (transformers.BartConfig, transformers.BartForConditionalGeneration),
    "mbart": (transformers.MBartConfig, transformers.MBartForConditionalGeneration),
    "m2m_100": (transformers.M2M100Config, transformers.M2M100ForConditionalGeneration),
}
NO_DROPOUT = {"dropout": 0.0, "attention_dropout": 0.0}
PARTS = (
    "encoder_hidden_states",
    "decoder_hidden_states",
    "encoder_attentions",
    "decoder_attentions",
    "cross_attentions",
)


def new_model(case, std=1.0):
    """A model of random weights, large enough that no part of it is close to linear."""
    make_config, make_model = FAMILIES[case["family"]]
    torch.manual_seed(case["seed"])
    dropout = {"dropout_rate": 0.0} if case["family"] == "t5" else NO_DROPOUT
    config = make_config(**dropout, **case["config"])
    config._attn_implementation = "eager"  # the only one that returns attention weights
    model = make_model(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue  # the table of positions
            if "norm" in name and name.endswith("weight"):
                p.normal_(1.0, 0.2)
            elif p.dim() == 1:
                p.normal_(0.0, 0.1)
            elif "embed" in name or "shared" in name or "lm_head" in name:
                scaled = getattr(config, "scale_embedding", False)
                p.normal_(0.0, std * p.shape[1] ** -0.5 if scaled else 0.5 * std)
            else:
                p.normal_(0.0, 1.2 * std * p.shape[1] ** -0.5)
        if case.get("logits_bias"):
            model.final_logits_bias.normal_(0.0, 0.5)
    return model.eval()


def load(folder):
    """The tables of positions are no weights: loading would leave them trainable."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    for name, p in model.named_parameters():
        if "embed_positions" in name:
            p.requires_grad_(False)
    return model


def save_model(model, folder, generation):
    model.generation_config = GenerationConfig(**generation)
    model.save_pretrained(folder)
    again = load(folder)
    probe = {"input_ids": torch.tensor([[3, 4, 5]]), "decoder_input_ids": torch.tensor([[3, 6]])}
    with torch.no_grad():
        assert torch.equal(model(**probe).logits, again(**probe).logits), folder
    return again


# ---- one run ------------------------------------------------------------------------------------


def inputs_of(case):
    return {name: torch.tensor(rows, dtype=torch.int64) for name, rows in case["inputs"].items()}


def without_padding(values, inputs):
    """Zeros at rows and keys that are padding."""
    source = inputs["attention_mask"].bool()
    target = inputs.get("decoder_attention_mask", torch.ones(values["logits"].shape[:2])).bool()
    rows = {"encoder": source, "decoder": target, "cross": target, "logits": target}
    keys = {"encoder": source, "decoder": target, "cross": source}
    for name, value in values.items():
        side = name.split("_")[0]
        if "attentions" in name:
            value[~rows[side][:, None, :, None].expand_as(value)] = 0
            value[~keys[side][:, None, None, :].expand_as(value)] = 0
        elif side in rows:
            value[~rows[side]] = 0
    return values


def run(model, inputs):
    model = model.double()
    result = model(**inputs, output_hidden_states=True, output_attentions=True, use_cache=False)
    values = {
        name: getattr(result, name).detach() for name in ("logits", "encoder_last_hidden_state")
    }
    for part in PARTS:
        for i, value in enumerate(getattr(result, part)):
            values[f"{part}.{i}"] = value.detach()
    values = without_padding({name: value.clone() for name, value in values.items()}, inputs)
    values["loss"] = result.loss.detach()
    result.loss.backward()
    for name, p in model.named_parameters():  # tied weights come once, under the stored name
        if p.requires_grad and p.grad is not None:
            values[f"grad.{name}"] = p.grad
    return {name: value.float().contiguous() for name, value in values.items()}


def check_names(folder, model, values):
    """A gradient for every tensor of the file that is trained, and for no other."""
    idle = {"final_logits_bias"} | (
        set() if model.config.tie_word_embeddings else {"model.shared.weight"}
    )
    stored = {
        name
        for name in load_file(folder / "model.safetensors")
        if "embed_positions" not in name and name not in idle
    }
    assert stored == {name[5:] for name in values if name.startswith("grad.")}, stored


# ---- ten steps ----------------------------------------------------------------------------------


def optimizer_of(model, options):
    """Biases and norms are not decayed."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.dim() > 1], "weight_decay": options["weight_decay"]},
        {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0},
    ]
    kind = torch.optim.AdamW if options["optimizer"] == "adamw" else torch.optim.Adam
    return kind(groups, lr=options["lr"], betas=tuple(options["betas"]), eps=options["eps"])


def ten_steps(folder, inputs, options, kind):
    model = load(folder).to(kind)
    optimizer = optimizer_of(model, options)
    losses = []
    for _ in range(10):
        logits = model(**inputs, use_cache=False).logits
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            inputs["labels"].flatten(),
            label_smoothing=options["label_smoothing"],
        )
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        if options["clip"]:
            torch.nn.utils.clip_grad_norm_(model.parameters(), options["clip"])
        optimizer.step()
    return losses


def all_steps(folder, inputs):
    made = []
    for options in golden_cases.STEPS:
        wide = ten_steps(folder, inputs, options, torch.float64)
        single = ten_steps(folder, inputs, options, torch.float32)
        gap = max(abs(a - b) for a, b in zip(wide, single))
        assert gap < 2e-5, (folder, options, gap)
        assert abs(wide[0] - wide[-1]) > 0.05, (folder, options, wide)
        made.append({**options, "losses": wide})
    return made


# ---- searching ----------------------------------------------------------------------------------


def learn_to_turn_round(model, case):
    """Trains until it mostly turns sequences round, and is unsure enough for beams to differ."""
    config = model.config
    generator = torch.Generator().manual_seed(case["seed"])
    first = getattr(config, "forced_bos_token_id", None)
    begin = torch.full((32, 1 if first is not None else 0), first or 0)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    for _ in range(case["updates"]):
        length = int(torch.randint(2, 7, (1,), generator=generator))
        body = torch.randint(3, config.vocab_size - 1, (32, length), generator=generator)
        end = torch.full((32, 1), config.eos_token_id)
        loss = model(
            input_ids=torch.cat([body, end], 1), labels=torch.cat([begin, body.flip(1), end], 1)
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def search(model, options, sentences):
    """The generated ids after the start token, up to and with the end token, and the scores."""
    pad = model.config.pad_token_id
    width = max(map(len, sentences))
    ids = torch.tensor([s + [pad] * (width - len(s)) for s in sentences])
    mask = torch.tensor([[1] * len(s) + [0] * (width - len(s)) for s in sentences])
    with torch.no_grad():
        result = model.generate(
            input_ids=ids,
            attention_mask=mask,
            return_dict_in_generate=True,
            output_scores=True,
            **options,
        )
    found = [trimmed(row[1:].tolist(), model.config) for row in result.sequences]
    scores = result.get("sequences_scores")
    return found, [None] * len(found) if scores is None else [round(float(s), 6) for s in scores]


def trimmed(ids, config):
    if config.eos_token_id in ids:
        return ids[: ids.index(config.eos_token_id) + 1]
    while ids and ids[-1] == config.pad_token_id:
        ids = ids[:-1]
    return ids


def relatives(folder):
    """The model in float32, and with every weight changed by about 1e-4: all must agree."""
    yield load(folder)
    for seed in range(4):
        model = load(folder).double()
        torch.manual_seed(seed)
        with torch.no_grad():
            for p in model.parameters():
                if p.requires_grad:
                    p.mul_(1 + 1e-4 * torch.randn_like(p))
        yield model


def grouped(values, size):
    return [values[i : i + size] for i in range(0, len(values), size)]


def all_searches(folder, case):
    """Each sentence alone, then all of a kind in one batch, which must not change them."""
    model, others = load(folder).double(), list(relatives(folder))
    made, dropped = [], 0
    more = golden_cases.MORE_SEARCHES if case.get("more") else []
    for options in golden_cases.SEARCHES + more:
        if options.get("forced_eos_token_id"):
            options = {**options, "forced_eos_token_id": model.config.eos_token_id}
        found = [search(model, options, [sentence]) for sentence in case["sentences"]]
        answers = [
            grouped(search(other, options, case["sentences"])[0], len(found[0][0]))
            for other in others
        ]
        firm = [
            i for i, (ids, _) in enumerate(found) if all(ids == answer[i] for answer in answers)
        ]
        dropped += len(found) - len(firm)
        kept = [case["sentences"][i] for i in firm]
        ids = [one for i in firm for one in found[i][0]]
        assert search(model, options, kept)[0] == ids, (folder, options)
        made.append(
            {
                "options": options,
                "input_ids": kept,
                "ids": ids,
                "scores": [score for i in firm for score in found[i][1]],
            }
        )
    print(f"{folder.name}: {sum(len(m['input_ids']) for m in made)} kept, {dropped} too close")
    return made


# ---- folders ------------------------------------------------------------------------------------


def write_json(path, value):
    path.write_text(json.dumps(value, separators=(", ", ": ")).replace("}, {", "},\n{") + "\n")


def make(name, case):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    if "inputs" in case:
        model = save_model(new_model(case), folder, golden_cases.generation(case["config"]))
        inputs = inputs_of(case)
        values = run(model, inputs)
        check_names(folder, model, values)
        save_file(inputs, folder / "in.safetensors")
        save_file(values, folder / "out.safetensors")
        write_json(folder / "steps.json", all_steps(folder, inputs))
        print(f"{name}: loss {values['loss']:.4f}")
    else:
        model = new_model(case, std=0.5)
        print(
            f"{name}: loss {learn_to_turn_round(model, case):.3f} after {case['updates']} updates"
        )
        save_model(model, folder, golden_cases.generation(case["config"]))
        write_json(folder / "generate.json", all_searches(folder, case))
    size = sum(f.stat().st_size for f in folder.iterdir())
    assert size < 200_000, (name, size)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in sys.argv[1:] or golden_cases.CASES:
        make(name, golden_cases.CASES[name])


if __name__ == "__main__":
    main()
