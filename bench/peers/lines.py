"""Which peers stand beside which of heed's lines, type by type.

A line is named as `heed bench --list` names it. A peer is a module peer_NAME.py, a variant behind a
colon, and "+mkl" where MKL is told to take its AVX-512 path on any processor.
SPDX-License-Identifier: MIT
"""

NAMES = {
    "torch": "PyTorch",
    "torch:packed": "oneDNN, packed weights",
    "torch:compiled": "torch.compile",
    "training:eager": "PyTorch, eager",
    "training:fused": "PyTorch, fused AdamW",
    "training:compiled": "torch.compile",
    "openblas": "OpenBLAS",
    "llama_cpp": "llama.cpp",
    "ctranslate2": "CTranslate2",
    "onnxruntime": "onnxruntime",
}

PEERS = {
    ("product", "f32"): ["torch:packed", "openblas", "torch", "torch+mkl"],
    ("product", "bf16"): ["torch:packed"],
    ("attention", "f32"): ["torch", "torch+mkl"],
    ("decode", "f32"): ["llama_cpp", "ctranslate2", "torch", "torch+mkl"],
    ("decode", "f16"): ["llama_cpp"],
    ("decode", "bf16"): ["llama_cpp", "torch"],
    ("decode", "int8"): ["ctranslate2"],
    ("decode", "q8_0"): ["llama_cpp"],
    ("decode", "q4_0"): ["llama_cpp"],
    ("encode", "f32"): ["onnxruntime", "ctranslate2", "torch", "torch+mkl", "torch:compiled+mkl"],
    ("encode", "bf16"): ["torch"],
    ("encode", "int8"): ["onnxruntime", "ctranslate2", "torch"],
    ("translate", "f32"): ["ctranslate2", "torch+mkl"],
    ("translate", "bf16"): ["torch"],
    ("translate", "int8"): ["ctranslate2"],
    ("train", "f32"): [
        "training:eager",
        "training:fused",
        "training:fused+mkl",
        "training:compiled+mkl",
    ],
    ("train", "bf16"): ["training:fused"],
}
for (work, kind), peers in list(PEERS.items()):
    if work == "decode":
        PEERS["prefill", kind] = peers

# Models that heed opens where a line has one; training begins from fresh ones.
OPENED = ("decode", "prefill", "encode", "translate")

# The first of a work's peers, and fewer lines: enough to see that all sides run.
QUICK = ("512x768x768", "attention/512", "gpt2-124m", "minilm-l6", "32x1", "char-128", "vit-192")


def name_of(peer):
    plain, _, mkl = peer.partition("+")
    return NAMES[plain] + (", MKL on AVX-512" if mkl else "")


def split(line):
    """Work, and the model's name where it has one."""
    work, what = line.split("/", 1)
    return work, what.split("/")[0]
