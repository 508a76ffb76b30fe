"""CTranslate2's form of the models, by its own converter for transformers.

Its converter asks for a tokenizer; one of dummy tokens answers.
SPDX-License-Identifier: MIT
"""

import sys
import types

import models
from ctranslate2.converters import TransformersConverter

QUANTIZATION = {"f32": "float32", "int8": "int8", "bf16": "bfloat16", "f16": "float16"}


class Converter(TransformersConverter):
    def load_model(self, model_class, name, **options):
        model = super().load_model(model_class, name, **options)
        model.config.n_ctx = getattr(model.config, "n_positions", None)
        model.config.position_embedding_type = "absolute"
        return model

    def load_tokenizer(self, tokenizer_class, name, **options):
        config = models.config(name.rsplit("/", 1)[1])
        vocab = {models.VOCAB_DUMMY.format(i): i for i in range(config.vocab_size)}
        if config.model_type == "marian":  # the converter knows it by this name
            vocab["<pad>"] = vocab.popitem()[1]
        token = models.VOCAB_DUMMY.format
        return types.SimpleNamespace(
            get_vocab=lambda: vocab,
            bos_token=token(1),
            eos_token=token(0),
            unk_token=token(2),
            pad_token="<pad>",
            encoder=vocab,
            decoder={i: t for t, i in vocab.items()},
        )


def convert(name, kind, path):
    Converter(str(models.folder(name))).convert(str(path), quantization=QUANTIZATION[kind])


if __name__ == "__main__":
    convert(*sys.argv[1:])
