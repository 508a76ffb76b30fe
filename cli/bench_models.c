/* bench_models.c: the shapes that are measured, with weights that are random.
 *
 * No dropout, and no token that ends a text, so that every run is the same work.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"
#include "heed_bench.h"

#include <string.h>

enum { SEED = 0 };

#define GPT2(width, heads, layers, vocab, positions)                                               \
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": " #width     \
    ", \"n_head\": " #heads ", \"n_layer\": " #layers ", \"vocab_size\": " #vocab                  \
    ", \"n_positions\": " #positions ", \"activation_function\": \"gelu_new\", "                   \
    "\"resid_pdrop\": 0, \"attn_pdrop\": 0, \"embd_pdrop\": 0, \"eos_token_id\": -1, "             \
    "\"bos_token_id\": -1}"
#define LLAMA(width, heads, keys, layers, feed, vocab, positions)                                  \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "                      \
    "\"hidden_size\": " #width ", \"num_attention_heads\": " #heads                                \
    ", \"num_key_value_heads\": " #keys ", \"num_hidden_layers\": " #layers                        \
    ", \"intermediate_size\": " #feed ", \"vocab_size\": " #vocab                                  \
    ", \"max_position_embeddings\": " #positions                                                   \
    ", \"hidden_act\": \"silu\", \"eos_token_id\": -1, \"bos_token_id\": -1}"
#define BERT(width, heads, layers, feed, vocab)                                                    \
    "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"hidden_size\": " #width      \
    ", \"num_attention_heads\": " #heads ", \"num_hidden_layers\": " #layers                       \
    ", \"intermediate_size\": " #feed ", \"vocab_size\": " #vocab                                  \
    ", \"max_position_embeddings\": 512, \"type_vocab_size\": 2, \"hidden_act\": \"gelu\", "       \
    "\"hidden_dropout_prob\": 0, \"attention_probs_dropout_prob\": 0}"
#define MARIAN(width, heads, layers, feed, vocab, pad)                                             \
    "{\"model_type\": \"marian\", \"architectures\": [\"MarianMTModel\"], \"d_model\": " #width    \
    ", \"encoder_attention_heads\": " #heads ", \"decoder_attention_heads\": " #heads              \
    ", \"encoder_layers\": " #layers ", \"decoder_layers\": " #layers                              \
    ", \"encoder_ffn_dim\": " #feed ", \"decoder_ffn_dim\": " #feed ", \"vocab_size\": " #vocab    \
    ", \"max_position_embeddings\": 512, \"activation_function\": \"relu\", "                      \
    "\"scale_embedding\": true, \"static_position_embeddings\": true, \"dropout\": 0, "            \
    "\"attention_dropout\": 0, \"activation_dropout\": 0, \"eos_token_id\": 0, "                   \
    "\"forced_eos_token_id\": 0, \"pad_token_id\": " #pad ", \"decoder_start_token_id\": " #pad    \
    "}"
#define VIT(width, heads, layers, feed, image, patch)                                              \
    "{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], "               \
    "\"hidden_size\": " #width ", \"num_attention_heads\": " #heads                                \
    ", \"num_hidden_layers\": " #layers ", \"intermediate_size\": " #feed                          \
    ", \"image_size\": " #image ", \"patch_size\": " #patch                                        \
    ", \"num_labels\": 10, \"hidden_dropout_prob\": 0, \"attention_probs_dropout_prob\": 0}"

/* A small decoder: what grows is one of its sizes. */
#define GROWN(layers, vocab)                                                                       \
    {                                                                                              \
        "grown-" #layers "x" #vocab, GPT2(256, 4, layers, vocab, 1024), 256, 4, 1024, vocab, 0,    \
            layers, false, 0                                                                       \
    }

static const bench_model MODELS[] = {
    {"gpt2-124m", GPT2(768, 12, 12, 50257, 1024), 768, 12, 3072, 50257, 0, 12, false, 0},
    {"llama-110m", LLAMA(768, 12, 12, 12, 2048, 32000, 1024), 768, 12, 2048, 32000, 0, 12, true, 0},
    {"smollm2-135m", LLAMA(576, 9, 3, 30, 1536, 49152, 8192), 576, 9, 1536, 49152, 0, 30, true, 3},
    {"bert-base", BERT(768, 12, 12, 3072, 30522), 768, 12, 3072, 30522, 12, 0, false, 0},
    {"minilm-l6", BERT(384, 12, 6, 1536, 30522), 384, 12, 1536, 30522, 6, 0, false, 0},
    {"marian-base", MARIAN(512, 8, 6, 2048, 32000, 31999), 512, 8, 2048, 32000, 6, 6, false, 0},
    {"char-128", GPT2(128, 4, 4, 65, 64), 128, 4, 512, 65, 0, 4, false, 0},
    {"char-384", GPT2(384, 6, 6, 65, 256), 384, 6, 1536, 65, 0, 6, false, 0},
    {"pairs-256", MARIAN(256, 4, 3, 1024, 8000, 7999), 256, 4, 1024, 8000, 3, 3, false, 0},
    {"vit-192", VIT(192, 3, 6, 768, 32, 4), 192, 3, 768, 10, 6, 0, false, 0},
    GROWN(1, 4000),
    GROWN(2, 4000),
    GROWN(4, 4000),
    GROWN(8, 4000),
    GROWN(16, 4000),
    GROWN(2, 1000),
    GROWN(2, 16000),
    GROWN(2, 64000),
    {0}};

const bench_model *bench_model_called(const char *name) {
    const bench_model *m = MODELS;
    while (m->name && strcmp(m->name, name) != 0) {
        m++;
    }
    return m->name ? m : NULL;
}

heed_model *bench_open(const bench_line *line, heed_engine *engine, const char *path,
                       heed_error *err) {
    const bench_model *m = bench_model_called(line->model);
    heed_compute way = bench_compute(line);
    return path ? heed_model_open_with(engine, path, &(heed_open_options){.compute = way}, err)
                : heed_model_random(engine, m->config, strlen(m->config), SEED, way, err);
}

static const struct {
    const char *name;
    double bytes; /* of a number of the weights, scales included */
    bool stored;  /* a file's own: random weights in memory are no such numbers */
} TYPES[] = {{"f32", 4, false},      {"f16", 2, true},       {"bf16", 2, true},
             {"q8_0", 1.0625, true}, {"q4_0", 0.5625, true}, {"q4_1", 0.625, true},
             {"int8", 1, false},     {NULL, 0, false}};

static int type_called(const char *name) {
    int i = 0;
    while (TYPES[i].name && strcmp(TYPES[i].name, name) != 0) {
        i++;
    }
    return i;
}

double bench_bytes(const char *type) {
    return TYPES[type_called(type)].bytes;
}

bool bench_stored(const bench_line *line) {
    return TYPES[type_called(line->type)].stored && line->make == bench_make_decode;
}

/* Rows are rounded as other programs round them where weights are bf16, a file's too. */
heed_compute bench_compute(const bench_line *line) {
    return strcmp(line->type, "bf16") == 0   ? HEED_COMPUTE_BF16
           : strcmp(line->type, "int8") == 0 ? HEED_COMPUTE_INT8
                                             : HEED_COMPUTE_KEPT;
}

double bench_layer(const bench_model *m, bool cross) {
    double width = (double)m->width, feed = (double)m->feed;
    double keys = m->shared ? width / (double)m->shared : width;
    return (cross ? 2 : 1) * 2 * width * (width + keys) + (m->gated ? 3 : 2) * width * feed;
}

double bench_matrices(const bench_model *m) {
    return (double)m->encoders * bench_layer(m, false) +
           (double)m->decoders * bench_layer(m, m->encoders > 0);
}

double bench_attention(const bench_model *m, double sequences, double n, bool causal) {
    double pairs = causal ? n * (n + 1) / 2 : n * n;
    return 4 * sequences * pairs * (double)m->width;
}
