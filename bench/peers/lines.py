"""Which peers stand beside which of heed's lines, type by type.

A line is named as `heed bench --list` names it. A peer is a module peer_NAME.py, a variant behind a
colon, and "+mkl" where MKL is told to take its AVX-512 path on any processor. A variant of
llama_cpp and ctranslate2 is the type of the peer's weights where it is not the line's.
SPDX-License-Identifier: MIT
"""

NAMES = {
    "torch": "PyTorch",
    "torch:packed": "oneDNN by PyTorch",
    "torch:dynamic": "oneDNN by PyTorch, rows rounded in the call",
    "onednn:matmul": "oneDNN",
    "onednn:inner": "oneDNN's inner product",
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
    ("product", "f32"): [
        "onednn:matmul",
        "onednn:inner",
        "torch:packed",
        "openblas",
        "torch",
        "torch+mkl",
    ],
    ("product", "bf16"): ["onednn:matmul", "onednn:inner", "torch:packed"],
    ("product", "int8"): ["onednn:matmul", "onednn:inner", "torch:packed", "torch:dynamic"],
    ("attention", "f32"): ["torch", "torch+mkl"],
    ("decode", "f32"): ["llama_cpp", "ctranslate2", "torch", "torch+mkl"],
    ("decode", "f16"): ["llama_cpp"],
    ("decode", "bf16"): ["llama_cpp", "torch"],
    ("decode", "int8"): ["ctranslate2", "llama_cpp:q8_0"],
    ("decode", "q8_0"): ["llama_cpp", "ctranslate2:int8"],
    ("decode", "q4_0"): ["llama_cpp"],
    ("decode", "q4_1"): ["llama_cpp"],
    ("prefill", "q4_0"): ["llama_cpp", "ctranslate2:int8"],
    ("encode", "f32"): ["onnxruntime", "ctranslate2", "torch", "torch+mkl", "torch:compiled+mkl"],
    ("encode", "bf16"): ["torch"],
    ("encode", "int8"): ["onnxruntime", "ctranslate2", "torch"],
    ("sentences", "f32"): ["onnxruntime", "ctranslate2", "torch", "torch+mkl"],
    ("sentences", "bf16"): ["torch"],
    ("sentences", "int8"): ["onnxruntime", "ctranslate2", "torch"],
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
        PEERS.setdefault(("prefill", kind), peers)

# Models that heed opens where a line has one; training begins from fresh ones.
OPENED = ("decode", "prefill", "encode", "sentences", "translate")

# The first of a work's peers, and fewer lines: enough to see that all sides run.
QUICK = ("512x768x768", "attention/512", "gpt2-124m", "minilm-l6", "32x1", "char-128", "vit-192")

# Lines where one size grows; no peer stands beside them.
GROWTH = "grow/"


def name_of(peer):
    plain, _, mkl = peer.partition("+")
    side, _, variant = plain.partition(":")
    name = NAMES[plain] if plain in NAMES else f"{NAMES[side]} {variant}"
    return name + (", MKL on AVX-512" if mkl else "")


def split(line):
    """Work, and the model's name where it has one."""
    work, what = line.split("/", 1)
    return work, what.split("/")[0]


def in_file(work, kind):
    """The weights are those of a file of that type, not float32 that is rounded."""
    return work in ("decode", "prefill") and kind not in ("f32", "int8")
