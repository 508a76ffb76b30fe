"""Writes tests/golden/embed/NAME/: tiny models as sentence-transformers saves them, one for each
way of pooling, with the older or the newer form of their settings, and the vectors that it makes.

expected.json holds {"texts", "vectors"}; the run is in float64.

Needs: torch==2.15.0 transformers==5.24.0 tokenizers==0.23.3 sentence-transformers==6.2.0
Run: python tools/make_golden_embed.py
SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import shutil

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from sentence_transformers import SentenceTransformer, models
from safetensors.torch import load_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

OUT = pathlib.Path(__file__).parent.parent / "tests/golden/embed"
WORDS = "the a sun rain sea sings falls and we walk home at night 我 爱 茶 ##s ##ing".split()
TEXTS = [
    "The sun sings",
    "rain falls and we walk home",
    "  我爱茶  ",
    "sea",
    "",
    "THE SEA sings and the sun falls at night and we walk home and the rain sings and the sea "
    "falls",
    "walking suns at nights",
]
SIZES = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
         "intermediate_size": 12, "max_position_embeddings": 24}


def tokenizer(folder, lower):
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    t = Tokenizer(WordPiece(vocab, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lower)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]", model_max_length=20)
    fast.save_pretrained(folder)
    return len(vocab)


def random_weights(model, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0,
                      0.3 if p.dim() < 2 else 0.8)


T5_SIZES = {"d_model": 8, "d_kv": 4, "num_heads": 2, "d_ff": 12, "num_layers": 1,
            "relative_attention_num_buckets": 6, "relative_attention_max_distance": 9}
ACTS = {"Identity": torch.nn.Identity(), "Tanh": torch.nn.Tanh(), "GELU": torch.nn.GELU()}


def as_pickle(folder):
    """As files were written before safetensors."""
    file = folder / "model.safetensors"
    torch.save(load_file(file), folder / "pytorch_model.bin")
    file.unlink()


def make(name, seed, mode, normalize, lower=True, decoder=False, old=None, prompts=None,
         default=None, t5=None, dense=(), pickle=False):
    """t5: class of the model; dense: (width, has a bias, activation) of layers behind pooling."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    base = folder / "model"
    vocab = tokenizer(base, lower)
    if decoder:
        config = transformers.LlamaConfig(vocab_size=vocab, pad_token_id=0, **SIZES)
        model = transformers.LlamaModel(config)
    elif t5:
        config = transformers.T5Config(vocab_size=vocab, pad_token_id=0, eos_token_id=3,
                                       decoder_start_token_id=0, **T5_SIZES)
        model = getattr(transformers, t5)(config)
    else:
        config = transformers.BertConfig(vocab_size=vocab, pad_token_id=0, **SIZES)
        model = transformers.BertModel(config, add_pooling_layer=False)
    random_weights(model, seed)
    model.save_pretrained(base)
    parts = [models.Transformer(str(base)), models.Pooling(SIZES["hidden_size"], pooling_mode=mode)]
    width = SIZES["hidden_size"]
    for to, bias, act in dense:
        parts.append(models.Dense(width, to, bias=bias, activation_function=ACTS[act]))
        random_weights(parts[-1], seed + 100)
        width = to
    if normalize:
        parts.append(models.Normalize())
    whole = SentenceTransformer(modules=parts, prompts=prompts, default_prompt_name=default)
    saved = folder / "saved"
    whole.save(str(saved))
    shutil.rmtree(base)
    for file in saved.iterdir():
        shutil.move(file, folder / file.name)
    saved.rmdir()
    for extra in ("README.md", "generation_config.json"):
        (folder / extra).unlink(missing_ok=True)
    if old:
        older(folder, mode, old)
    if t5:  # sentence-transformers saves the encoder; its folders may hold both stacks
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
    if pickle:
        for place in folder.glob("*_Dense"):
            as_pickle(place)
    loaded = SentenceTransformer(str(folder), device="cpu").double()
    vectors = loaded.encode(TEXTS, convert_to_numpy=True, batch_size=3)
    expected = {"texts": TEXTS, "vectors": [[float(x) for x in row] for row in vectors]}
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")
    size = sum(f.stat().st_size for f in folder.rglob("*.*"))
    print(name, vectors.shape, loaded.max_seq_length, size)


OLD_KEYS = {
    "cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "weightedmean": "weightedmean_tokens",
    "lasttoken": "lasttoken",
}


def older(folder, mode, settings):
    """The settings as earlier versions wrote them."""
    flags = {f"pooling_mode_{key}": key == OLD_KEYS[mode] for key in OLD_KEYS.values()}
    (folder / "1_Pooling/config.json").write_text(
        json.dumps({"word_embedding_dimension": SIZES["hidden_size"], **flags}))
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    modules = json.loads((folder / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].split(".")[-1]
    (folder / "modules.json").write_text(json.dumps(modules))


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    make("mean", 1, "mean", True, old={"max_seq_length": 12, "do_lower_case": False})
    make("cls-lower", 2, "cls", False, lower=False,
         old={"max_seq_length": 24, "do_lower_case": True})
    make("max", 3, "max", True)
    make("sqrt", 4, "mean_sqrt_len_tokens", False,
         old={"max_seq_length": None, "do_lower_case": False})
    make("weighted", 5, "weightedmean", True, prompts={"query": "we walk: ", "other": "sea "},
         default="query")
    make("last", 6, "lasttoken", True, decoder=True)
    make("t5-dense", 7, "mean", True, t5="T5EncoderModel", dense=[(6, False, "Identity")],
         pickle=True)
    make("t5-both", 8, "mean", False, t5="T5ForConditionalGeneration",
         dense=[(12, True, "Tanh"), (5, True, "GELU")])


if __name__ == "__main__":
    main()
