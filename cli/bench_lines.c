/* bench_lines.c: what `heed bench` runs: one line each. bench/peers/ has the others' side of it.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"

#define PRODUCT(kind, m, n, k)                                                                     \
    {                                                                                              \
        "product/" #m "x" #n "x" #k, kind, "Gop/s", bench_make_product, NULL, {m, n, k}, false,    \
            false                                                                                  \
    }
#define ATTENTION(kind, rows)                                                                      \
    {"attention/" #rows "/forward", kind, "ms", bench_make_attention, NULL, {rows}, false, false}, \
        {"attention/" #rows "/forward-causal",                                                     \
         kind,                                                                                     \
         "ms",                                                                                     \
         bench_make_attention,                                                                     \
         NULL,                                                                                     \
         {rows},                                                                                   \
         true,                                                                                     \
         false},                                                                                   \
        {"attention/" #rows "/both", kind, "ms", bench_make_attention, NULL, {rows}, false, true}, \
    {                                                                                              \
        "attention/" #rows "/both-causal", kind, "ms", bench_make_attention, NULL, {rows}, true,   \
            true                                                                                   \
    }
#define GROWN(what, model, sequences, rows)                                                        \
    { "grow/" what, "f32", "ms", bench_make_train, model, {sequences, rows}, false, false }
#define GROWN_ATTENTION(rows)                                                                      \
    {"grow/attention-forward/" #rows,                                                              \
     "f32",                                                                                        \
     "ms",                                                                                         \
     bench_make_attention,                                                                         \
     NULL,                                                                                         \
     {rows},                                                                                       \
     false,                                                                                        \
     false},                                                                                       \
    {                                                                                              \
        "grow/attention-both/" #rows, "f32", "ms", bench_make_attention, NULL, {rows}, false, true \
    }
#define DECODER(kind, model)                                                                       \
    {"decode/" model, kind, "tokens/s", bench_make_decode, model, {16, 128}, false, false}, {      \
        "prefill/" model, kind, "tokens/s", bench_make_decode, model, {512, 1}, false, false       \
    }
#define ENCODER(kind, model)                                                                       \
    {"encode/" model "/1x128", kind, "ms", bench_make_encode, model, {1, 128}, false, false}, {    \
        "encode/" model "/32x128", kind, "sequences/s", bench_make_encode, model, {32, 128},       \
            false, false                                                                           \
    }
#define SENTENCES(kind, model, sentences)                                                          \
    {                                                                                              \
        "sentences/" model "/" #sentences, kind, "sentences/s", bench_make_sentences, model,       \
            {sentences, 4096}, false, false                                                        \
    }
#define TRANSLATE(kind, batch, beams, sentences)                                                   \
    {                                                                                              \
        "translate/marian-base/" #batch "x" #beams, kind, "sentences/s", bench_make_translate,     \
            "marian-base", {batch, beams, sentences}, false, false                                 \
    }
#define TRAIN(kind, model, unit, sequences, rows)                                                  \
    {                                                                                              \
        "train/" model "/" #sequences "x" #rows, kind, unit, bench_make_train, model,              \
            {sequences, rows}, false, false                                                        \
    }

/* clang-format off */
const bench_line bench_lines[] = {
    PRODUCT("f32", 1024, 1024, 1024),
    PRODUCT("f32", 512, 768, 768),
    PRODUCT("f32", 16, 3072, 768),
    PRODUCT("f32", 4, 768, 768),
    PRODUCT("f32", 1, 3072, 768),
    PRODUCT("bf16", 1024, 1024, 1024),
    PRODUCT("bf16", 512, 768, 768),
    PRODUCT("bf16", 16, 3072, 768),
    PRODUCT("bf16", 4, 768, 768),
    PRODUCT("bf16", 1, 3072, 768),
    PRODUCT("int8", 1024, 1024, 1024),
    PRODUCT("int8", 512, 768, 768),
    PRODUCT("int8", 16, 3072, 768),
    PRODUCT("int8", 4, 768, 768),
    PRODUCT("int8", 1, 3072, 768),
    ATTENTION("f32", 512),
    ATTENTION("f32", 2048),
    ATTENTION("f32", 8192),
    DECODER("f32", "gpt2-124m"),
    DECODER("f16", "gpt2-124m"),
    DECODER("bf16", "gpt2-124m"),
    DECODER("q8_0", "gpt2-124m"),
    DECODER("q4_0", "gpt2-124m"),
    DECODER("int8", "gpt2-124m"),
    DECODER("f32", "llama-110m"),
    DECODER("f16", "llama-110m"),
    DECODER("bf16", "llama-110m"),
    DECODER("q8_0", "llama-110m"),
    DECODER("q4_0", "llama-110m"),
    DECODER("int8", "llama-110m"),
    DECODER("q4_1", "smollm2-135m"),
    ENCODER("f32", "bert-base"),
    ENCODER("bf16", "bert-base"),
    ENCODER("int8", "bert-base"),
    ENCODER("f32", "minilm-l6"),
    ENCODER("bf16", "minilm-l6"),
    ENCODER("int8", "minilm-l6"),
    SENTENCES("f32", "minilm-l6", 1000),
    SENTENCES("bf16", "minilm-l6", 1000),
    SENTENCES("int8", "minilm-l6", 1000),
    TRANSLATE("f32", 32, 1, 100),
    TRANSLATE("f32", 32, 4, 100),
    TRANSLATE("f32", 1, 1, 20),
    TRANSLATE("f32", 1, 4, 20),
    TRANSLATE("bf16", 32, 1, 100),
    TRANSLATE("int8", 32, 1, 100),
    TRANSLATE("int8", 1, 1, 20),
    TRAIN("f32", "gpt2-124m", "tokens/s", 4, 64),
    TRAIN("f32", "gpt2-124m", "tokens/s", 4, 256),
    TRAIN("f32", "char-128", "tokens/s", 12, 64),
    TRAIN("f32", "char-384", "tokens/s", 16, 256),
    TRAIN("f32", "pairs-256", "sentences/s", 64, 24),
    TRAIN("f32", "vit-192", "images/s", 64, 64),
    TRAIN("bf16", "gpt2-124m", "tokens/s", 4, 64),
    TRAIN("bf16", "gpt2-124m", "tokens/s", 4, 256),
    TRAIN("bf16", "char-384", "tokens/s", 16, 256),
    GROWN_ATTENTION(512),
    GROWN_ATTENTION(1024),
    GROWN_ATTENTION(2048),
    GROWN_ATTENTION(4096),
    GROWN_ATTENTION(8192),
    GROWN_ATTENTION(16384),
    GROWN_ATTENTION(32768),
    GROWN("length/64", "grown-2x4000", 8, 64),
    GROWN("length/128", "grown-2x4000", 8, 128),
    GROWN("length/256", "grown-2x4000", 8, 256),
    GROWN("length/512", "grown-2x4000", 8, 512),
    GROWN("length/1024", "grown-2x4000", 8, 1024),
    GROWN("batch/1", "grown-2x4000", 1, 128),
    GROWN("batch/2", "grown-2x4000", 2, 128),
    GROWN("batch/4", "grown-2x4000", 4, 128),
    GROWN("batch/8", "grown-2x4000", 8, 128),
    GROWN("batch/16", "grown-2x4000", 16, 128),
    GROWN("batch/32", "grown-2x4000", 32, 128),
    GROWN("layers/1", "grown-1x4000", 8, 128),
    GROWN("layers/2", "grown-2x4000", 8, 128),
    GROWN("layers/4", "grown-4x4000", 8, 128),
    GROWN("layers/8", "grown-8x4000", 8, 128),
    GROWN("layers/16", "grown-16x4000", 8, 128),
    GROWN("vocabulary/1000", "grown-2x1000", 8, 128),
    GROWN("vocabulary/4000", "grown-2x4000", 8, 128),
    GROWN("vocabulary/16000", "grown-2x16000", 8, 128),
    GROWN("vocabulary/64000", "grown-2x64000", 8, 128),
    {0}};
/* clang-format on */
