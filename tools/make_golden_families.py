"""Writes tests/golden/families/NAME/: a tiny model of each family as transformers saves it, and
what transformers makes of one batch, in which a row is padded on the left, one on the right, and
one has holes in its mask.

Each folder holds config.json and model.safetensors (float32) as saved, and
  in.safetensors    input_ids, attention_mask, labels, and what else the family takes
  out.safetensors   the run in float64, stored as float32: logits or the last rows, loss, hidden
                    states, attentions, gradients; zeros wherever a row or a key is masked
  generate.json     of a decoder with an output layer: prompts, and the ids that greedy search puts
                    behind them, cut where two tokens are nearly as likely
Labels stand at every place. A label counts where it is real and, in a causal model, the row before
it too; transformers gets -100 elsewhere.

Needs: torch==2.15.0 transformers==5.24.0 safetensors==0.8.0
Run: python tools/make_golden_families.py [NAME ...]
SPDX-License-Identifier: MIT
"""

import copy
import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from safetensors.torch import load_file, save_file

import family_cases
import family_cases_heads  # noqa: F401 (adds its cases)
import family_cases_pairs  # noqa: F401

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/families"
LISTS = (
    "hidden_states",
    "attentions",
    "encoder_hidden_states",
    "decoder_hidden_states",
    "encoder_attentions",
    "decoder_attentions",
    "cross_attentions",
)
VALUES = ("logits", "start_logits", "end_logits", "last_hidden_state", "pooler_output",
          "encoder_last_hidden_state")


def softmax_in_double(values, dim=-1, dtype=None, **_):
    """transformers asks for float32, in which the mask's smallest double becomes minus infinity
    and a row without keys NaN."""
    wide = values.dtype == torch.float64
    return torch.softmax(values, dim, dtype=torch.float64 if wide else dtype)


torch.nn.functional.softmax = softmax_in_double


def new_model(case):
    """Random weights, large enough that no part of the model is close to linear."""
    torch.manual_seed(case["seed"])
    config = getattr(transformers, case["config_class"])(**case["config"])
    config._attn_implementation = "eager"  # the only one that returns attention weights
    model = getattr(transformers, case["class"])(config, **case.get("arguments", {}))
    norms = {
        f"{path}.weight"
        for path, module in model.named_modules()
        if "norm" in type(module).__name__.lower()
    }
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue  # a table of positions
            if name in norms:
                p.normal_(case.get("norm_mean", 1.0), 0.2)
            elif name.endswith("lambda1"):
                p.normal_(1.0, 0.2)  # gains of columns
            elif p.dim() == 1:
                p.normal_(0.0, 0.1)
            elif "embed" in name or "shared" in name or name.endswith(("wte.weight", "wpe.weight")):
                p.normal_(0.0, case.get("embed_std", 0.5))
            else:
                p.normal_(0.0, 1.2 * p.shape[-1] ** -0.5)
        if case.get("logits_bias"):
            model.final_logits_bias.normal_(0.0, 0.5)
        if case.get("untie"):
            weight = torch.empty_like(model.lm_head.weight).normal_(0.0, 0.3)
            model.lm_head.weight = torch.nn.Parameter(weight)
            model.all_tied_weights_keys.pop("lm_head.weight")
    return model.eval()


def patch_config(folder, patch):
    """Keys as published files have them; None takes a key away."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **patch}
    kept = {key: value for key, value in config.items() if patch.get(key, "") is not None}
    path.write_text(json.dumps(kept, indent=2) + "\n")


def real_rows(inputs):
    """(of the encoder or the only stack, of the decoder), as booleans."""
    first = inputs.get("attention_mask")
    second = inputs.get("decoder_attention_mask")
    if first is not None and first.dim() == 3:
        first = first.flatten(0, 1)  # choices are run as sequences of a batch
    return (
        None if first is None else first.bool(),
        None if second is None else second.bool(),
    )


def clear(name, value, rows, decoder_rows, both):
    """Zeros at rows and keys that are masked."""
    if not both:
        side = key = rows
    else:
        side = rows if name.startswith("encoder") else decoder_rows
        key = rows if name.startswith(("encoder", "cross")) else decoder_rows
    if side is not None and value.shape == side.shape:
        value[~side] = 0  # one number for each row
    if side is None or value.dim() < 3:
        return value
    if "attentions" in name:
        value[~side[:, None, :, None].expand_as(value)] = 0
        value[~key[:, None, None, :].expand_as(value)] = 0
    else:
        value[~side] = 0
    return value


def counted_labels(case, inputs):
    """What transformers gets: -100 wherever a label does not count."""
    labels = inputs["labels"].clone()
    rows, decoder_rows = real_rows(inputs)
    rows = decoder_rows if case["kind"] == "both" else rows
    if labels.is_floating_point():
        return labels.double()
    if labels.dim() < 2 or rows is None:
        return labels
    labels[~rows] = -100
    if case["kind"] == "decoder" and not case["class"].endswith("TokenClassification"):
        labels[:, 1:][~rows[:, :-1]] = -100
    return labels


def gradients(model):
    """By the names and in the shapes of the file, which are not always those of the parameters:
    saved as if they were the weights. Tied weights come once."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.grad) if p.grad is not None else p.fill_(torch.nan)
        for b in model.buffers():
            if b.is_floating_point():
                b.fill_(torch.nan)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        saved = load_file(pathlib.Path(folder) / "model.safetensors")
    return {k: v for k, v in saved.items() if v.is_floating_point() and not v.isnan().all()}


def run(case, model, inputs):
    model = model.double()
    given = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    if "labels" in given:
        given["labels"] = counted_labels(case, inputs)
    if case["kind"] != "encoder":
        given["use_cache"] = False
    result = model(**given, **case.get("call", {}), output_hidden_states=True,
                   output_attentions=True)
    rows, decoder_rows = real_rows(inputs)
    values = {name: result[name] for name in VALUES if result.get(name) is not None}
    if "prediction_logits" in result:  # of two heads the one that heed has
        values["logits"] = result["prediction_logits"]
    for part in LISTS:
        for i, value in enumerate(result.get(part) or ()):
            values[f"{part}.{i}"] = value
    both = case["kind"] == "both"
    values = {
        name: clear(name, value.detach().clone(), rows, decoder_rows, both)
        for name, value in values.items()
    }
    loss = result.get("loss")
    if loss is not None:
        values["loss"] = loss.detach()
        loss.backward()
        for name, value in gradients(model).items():
            values[f"grad.{name}"] = value
    return {name: value.float().contiguous() for name, value in values.items()}


PROMPTS = ([1], [1, 5, 9], [1, 17, 4, 11, 8, 3, 20], [6, 14, 9, 3, 7])
MOST_ROWS = 16
MARGIN = 1e-3  # of logits: far above what float32 changes


def continued(model, prompt, settings):
    """Greedy ids behind a prompt, without those from the first close call on."""
    model = copy.deepcopy(model)  # dynamic scaling remembers the longest text
    most = MOST_ROWS - len(prompt)
    ids = torch.tensor([prompt])
    result = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        num_beams=1,
        max_new_tokens=most,
        return_dict_in_generate=True,
        output_logits=True,
        output_scores=True,  # behind what the settings of the search make of the logits
        **settings,
    )
    new, sum_log = result.sequences[0, len(prompt) :].tolist(), 0.0
    for i, (logits, scores) in enumerate(zip(result.logits, result.scores)):
        first, second = scores[0].topk(2).values.tolist()
        if first - second < MARGIN:
            new = new[:i]
            break
        sum_log += logits[0].log_softmax(-1)[new[i]].item()
    return {"prompt": prompt, "ids": new, "log_prob": sum_log, "most": len(new)}


def write_generation(folder, case, model):
    if case["kind"] != "decoder" or not model.can_generate():
        return
    settings = case.get("generation", {})
    if settings:
        (folder / "generation_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    cases = [continued(model.double(), prompt, settings) for prompt in PROMPTS]
    cases = [c for c in cases if c["ids"]]
    assert sum(len(c["ids"]) for c in cases) >= 12, cases
    (folder / "generate.json").write_text(json.dumps({"cases": cases}) + "\n")


def store_as(folder, case):
    """Names and tensors that older files have."""
    path = folder / "model.safetensors"
    stored = {case["stored"](name): value for name, value in load_file(path).items()}
    for name, value in case.get("more_tensors", {}).items():
        stored[name] = torch.tensor(value)
    save_file(stored, path, {"format": "pt"})


def make(name, case):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    model = new_model(case)
    model.save_pretrained(folder)
    if "patch" in case:
        patch_config(folder, case["patch"])
    for extra in folder.glob("generation_config.json"):
        extra.unlink()
    if "stored" in case:
        store_as(folder, case)
    loaded = getattr(transformers, case["class"]).from_pretrained(
        folder, attn_implementation="eager", **case.get("arguments", {})
    )
    inputs = {key: torch.tensor(value) for key, value in case["inputs"].items()}
    fresh = copy.deepcopy(loaded.eval())  # a run leaves gradients in the weights' place
    values = run(case, loaded, inputs)
    if "stored" in case:
        values = {
            f"grad.{case['stored'](n[5:])}" if n.startswith("grad.") else n: value
            for n, value in values.items()
        }
    stored = load_file(folder / "model.safetensors")
    for key in [k for k in values if k.startswith("grad.") and k[5:] not in stored]:
        raise SystemExit(f"{name}: {key} is not called so in the file")
    save_file(inputs, folder / "in.safetensors")
    save_file(values, folder / "out.safetensors")
    write_generation(folder, case, fresh)
    size = sum(f.stat().st_size for f in folder.iterdir())
    assert size < 250_000, (name, size)
    loss = f"loss {values['loss']:.4f}" if "loss" in values else "no loss"
    print(f"{name}: {loss}, {size} bytes")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in sys.argv[1:] or family_cases.CASES:
        make(name, family_cases.CASES[name])


if __name__ == "__main__":
    main()
