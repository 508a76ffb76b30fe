"""The models that the comparison runs: random weights of seed 0, shapes of cli/bench_models.c.

  python bench/peers/models.py [NAME ...]

Everything goes into $HEED_BENCH_CACHE (default ~/.cache/heed-bench) and is made once:
  NAME/            config.json, model.safetensors, as transformers saves them
  NAME.TYPE.gguf   llama.cpp; matrices of the type, positions and vectors f32
  NAME.TYPE.ct2/   CTranslate2
  NAME.TYPE.onnx   onnxruntime, exported by torch.onnx; int8 by quantize_dynamic
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

def sentences(batch):
    """How many are translated for a figure: one after the other they would take long."""
    return 100 if batch > 1 else 20


VOCAB_DUMMY = "t{}"  # tokens of the peers that want strings


def cache():
    root = os.environ.get("HEED_BENCH_CACHE", "~/.cache/heed-bench")
    return pathlib.Path(root).expanduser()


def gpt2(width, heads, layers, vocab, positions):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=width,
        n_head=heads,
        n_layer=layers,
        vocab_size=vocab,
        n_positions=positions,
        resid_pdrop=0,
        attn_pdrop=0,
        embd_pdrop=0,
        bos_token_id=None,
        eos_token_id=None,
    )
    return GPT2LMHeadModel, config


def llama(width, heads, layers, feed, vocab, positions):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=feed,
        vocab_size=vocab,
        max_position_embeddings=positions,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    return LlamaForCausalLM, config


def bert(width, heads, layers, feed, vocab):
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=feed,
        vocab_size=vocab,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    return BertModel, config


def marian(width, heads, layers, feed, vocab):
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        d_model=width,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_ffn_dim=feed,
        decoder_ffn_dim=feed,
        vocab_size=vocab,
        max_position_embeddings=512,
        activation_function="relu",
        scale_embedding=True,
        dropout=0,
        attention_dropout=0,
        activation_dropout=0,
        eos_token_id=0,
        forced_eos_token_id=0,
        pad_token_id=vocab - 1,  # CTranslate2's converter takes the last one out
        decoder_start_token_id=vocab - 1,
    )
    return MarianMTModel, config


def vit(width, heads, layers, feed, image, patch):
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=feed,
        image_size=image,
        patch_size=patch,
        num_labels=10,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    return ViTForImageClassification, config


MODELS = {
    "gpt2-124m": (gpt2, 768, 12, 12, 50257, 1024),
    "llama-110m": (llama, 768, 12, 12, 2048, 32000, 1024),
    "bert-base": (bert, 768, 12, 12, 3072, 30522),
    "minilm-l6": (bert, 384, 12, 6, 1536, 30522),
    "marian-base": (marian, 512, 8, 6, 2048, 32000),
    "char-128": (gpt2, 128, 4, 4, 65, 64),
    "char-384": (gpt2, 384, 6, 6, 65, 256),
    "pairs-256": (marian, 256, 4, 3, 1024, 8000),
    "vit-192": (vit, 192, 3, 6, 768, 32, 4),
}


def fresh(name):
    """A model of random weights, not saved."""
    import torch

    make, *shape = MODELS[name]
    kind, config = make(*shape)
    torch.manual_seed(0)
    return kind(config).eval()


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
        config = json.loads((part / "config.json").read_text())
        if config["model_type"] == "gpt2":  # transformers 5 leaves out what converters ask for
            config["n_ctx"] = config["n_positions"]
        if config["model_type"] == "bert":
            config["position_embedding_type"] = "absolute"
        (part / "config.json").write_text(json.dumps(config, indent=2) + "\n")

    return once(cache() / name, make)


def converted(name, kind, ending):
    """In a process of its own: a peer's memory is not that of a converter."""
    folder(name)
    script = pathlib.Path(__file__).with_name(f"models_{ending}.py")

    def make(part):
        subprocess.run([sys.executable, script, name, kind, part], check=True, stdout=sys.stderr)

    return once(cache() / f"{name}.{kind}.{ending}", make)


def gguf(name, kind):
    return converted(name, kind, "gguf")


def opened(name, kind):
    """What heed opens: the folder, or a file of the type."""
    return folder(name) if kind in ("f32", "int8") else gguf(name, kind)


def ctranslate2(name, kind):
    return converted(name, kind, "ct2")


def onnx(name, kind):
    return converted(name, kind, "onnx")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        print(folder(wanted))
