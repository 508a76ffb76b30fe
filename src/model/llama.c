/* llama.c: Llama (Touvron et al. 2023) and what its kin share: a decoder with RMSNorm before each
 * block, rotary positions, grouped heads and a gated feed-forward.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <string.h>

static bool read_bias(const json_t *value, heed_config *c, heed_error *err) {
    c->qkv_bias = c->out_bias = json_is_true(value);
    return json_is_boolean(value) ||
           heed_fail(err, HEED_VALUE, "key 'attention_bias' is %s, wanted true or false",
                     heed_json_kind(value));
}

/* Qwen2 has biases on three of the four, and no key for it. */
static json_t *write_bias(const heed_config *c) {
    return c->qkv_bias == c->out_bias ? json_boolean(c->qkv_bias) : NULL;
}

const heed_key heed_llama_keys[] = {
    HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_MUST("hidden_size", INT, decoder.width),
    HEED_MUST("num_hidden_layers", INT, decoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY("num_key_value_heads", INT, decoder.kv_heads),
    HEED_MAY_OR_NONE("head_dim", INT, decoder.head_width),
    HEED_MUST("intermediate_size", INT, decoder.feed_forward),
    HEED_MAY("hidden_act", ACT, decoder.act),
    HEED_MAY("max_position_embeddings", INT, decoder.max_positions),
    HEED_MAY("rms_norm_eps", NUMBER, decoder.eps),
    HEED_MAY("attention_dropout", NUMBER, decoder.attention_dropout),
    HEED_MAY("classifier_dropout", NUMBER, head_dropout),
    HEED_BOTH_WAYS("attention_bias", read_bias, write_bias),
    HEED_MAY("mlp_bias", BOOL, feed_bias),
    HEED_MAY("tie_word_embeddings", BOOL, tie_output),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_ONLY("is_decoder", "false"),
    HEED_KNOWN("initializer_range"),
    HEED_KNOWN("pretraining_tp"), /* cuts products into slices; the values are the same */
    {0}};

void heed_llama_defaults(heed_config *c) {
    heed_single_defaults(c);
    c->head_dropout = 0.1;
    c->tie_output = false;
    c->pad_still = true;
    c->decoder.act = HEED_ACT_SILU;
    c->decoder.eps = 1e-6;
    c->decoder.rms = c->decoder.gated = c->decoder.pre_norm = c->decoder.final_norm = true;
    c->decoder.positions = HEED_POSITIONS_ROPE;
    c->decoder.max_positions = 2048;
    c->rotary_part = 1;
    c->rope_truncate = true;
}

bool heed_read_layer_types(const json_t *value, heed_config *c, heed_error *err) {
    size_t n = json_array_size(value);
    if (!n || n > HEED_WINDOWED)
        return heed_fail(err, HEED_LIMIT, "key 'layer_types' has %zu layers, wanted 1 to %d", n,
                         HEED_WINDOWED);
    memset(c->windowed, 0, sizeof c->windowed);
    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(value, i));
        if (type && !strcmp(type, "sliding_attention"))
            c->windowed[i / 64] |= (uint64_t)1 << i % 64;
        else if (!type || strcmp(type, "full_attention") != 0)
            return heed_fail(err, HEED_VALUE, "key 'layer_types': '%.40s' is not known here",
                             type ? type : "?");
    }
    return true;
}

static int64_t window_of(const heed_config *c, int64_t i) {
    return i < HEED_WINDOWED && (c->windowed[i / 64] >> i % 64 & 1) ? c->window : 0;
}

static heed_value norm(heed_build *b, heed_value x, const char *name, int64_t heads,
                       const heed_config *c) {
    return heed_rmsnorm_with(
        b, x, name,
        &(heed_norm_options){.eps = c->decoder.eps, .heads = heads, .one_plus = c->norm_one_plus});
}

/* Query or key: its product, its norm where there is one, turned. */
static heed_value turned(heed_build *b, heed_value x, const char *name, int64_t heads,
                         const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_value y = heed_linear(b, x, name, heads * s->head_width, c->qkv_bias);
    if (c->norm_heads)
        y = norm(b, y, name[0] == 'q' ? "q_norm" : "k_norm", heads, c);
    return heed_turn(b, y, heads, c);
}

static heed_value self(heed_build *b, heed_value x, int64_t i, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_attention_options o = {.heads = s->heads,
                                .kv_heads = s->kv_heads,
                                .causal = true,
                                .window = window_of(c, i),
                                .cache = "self",
                                .dropout = s->attention_dropout};
    heed_enter(b, "self", -1);
    heed_value h = norm(b, x, "norm", 1, c);
    heed_value q = turned(b, h, "q", s->heads, c), k = turned(b, h, "k", s->kv_heads, c);
    heed_value v = heed_linear(b, h, "v", s->kv_heads * s->head_width, c->qkv_bias);
    heed_value a = heed_attend(b, q, k, v, &o);
    x = heed_add(b, x, heed_linear(b, a, "out", s->width, c->out_bias));
    heed_leave(b);
    return x;
}

static heed_value feed(heed_build *b, heed_value x, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_enter(b, "feed", -1);
    heed_value h = norm(b, x, "norm", 1, c);
    heed_value gate = heed_linear(b, h, "gate", s->feed_forward, c->feed_bias);
    heed_value up = heed_linear(b, h, "up", s->feed_forward, c->feed_bias);
    h = heed_linear(b, heed_gated(b, gate, up, s->act), "down", s->width, c->feed_bias);
    x = heed_add(b, x, h);
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    return feed(b, self(b, x, i, ctx), ctx);
}

static heed_value end(heed_build *b, heed_value x, const void *ctx) {
    return norm(b, x, "norm", 1, ctx);
}

heed_outputs heed_record_llama(heed_build *b, const heed_config *given, const heed_want *want) {
    heed_config c = *given;
    heed_stack *s = &c.decoder;
    if (!s->head_width && s->heads > 0)
        s->head_width = s->width / s->heads;
    return heed_record_decoder(b, &c, &(heed_decoder){.layer = layer, .end = end}, want);
}

const heed_rename heed_llama_weights[] = {
    {"tokens.weight", "model.embed_tokens.weight"},
    {"tokens.weight", "lm_head.weight"},
    {"head.weight", "lm_head.weight"},
    {"decoder.*.self.norm.*", "model.layers.*.input_layernorm.*"},
    {"decoder.*.self.q_norm.*", "model.layers.*.self_attn.q_norm.*"},
    {"decoder.*.self.k_norm.*", "model.layers.*.self_attn.k_norm.*"},
    {"decoder.*.self.out.*", "model.layers.*.self_attn.o_proj.*"},
    {"decoder.*.self.*.*", "model.layers.*.self_attn.*_proj.*"},
    {"decoder.*.feed.norm.*", "model.layers.*.post_attention_layernorm.*"},
    {"decoder.*.feed.*.*", "model.layers.*.mlp.*_proj.*"},
    {"decoder.norm.*", "model.norm.*"},
    {"score.weight", "score.weight"},
    {"classes.*", "score.*"},
    {NULL, NULL}};

/* The speeds of the rotary positions, that older files hold. */
const char *const heed_llama_unused[] = {"model.layers.*.self_attn.rotary_emb.inv_freq", NULL};

/* ---- GGUF ---- */

static bool read_value_width(const json_t *value, heed_config *c, heed_error *err) {
    int64_t width = json_is_integer(value) ? json_integer_value(value) : -1;
    int64_t key = c->decoder.head_width;
    return width == (key ? key : c->decoder.width / (c->decoder.heads ? c->decoder.heads : 1)) ||
           heed_fail(err, HEED_VALUE,
                     "attention.value_length %" PRId64 " is another than that of the keys", width);
}

static json_t *write_value_width(const heed_config *c) {
    return json_integer(c->decoder.head_width);
}

static const heed_key gguf_keys[] = {
    HEED_MUST("block_count", INT, decoder.layers),
    HEED_MUST("context_length", INT, decoder.max_positions),
    HEED_MUST("embedding_length", INT, decoder.width),
    HEED_MUST("feed_forward_length", INT, decoder.feed_forward),
    HEED_MUST_BOTH("attention.head_count", INT, decoder.heads, decoder.kv_heads),
    HEED_MAY("attention.head_count_kv", INT, decoder.kv_heads),
    HEED_MAY("attention.key_length", INT, decoder.head_width),
    HEED_BOTH_WAYS("attention.value_length", read_value_width, write_value_width),
    HEED_MUST("attention.layer_norm_rms_epsilon", NUMBER, decoder.eps),
    HEED_MAY_BOTH("vocab_size", INT, vocab, source_vocab),
    HEED_ONLY("attention.causal", "true"),
    HEED_ONLY("use_parallel_residual", "false"),
    HEED_ONLY("expert_count", "0"),
    HEED_ONLY("expert_used_count", "0"),
    HEED_KNOWN("tensor_data_layout"), /* in whose order the pairs of q and k lie: always turned */
    {0}};
const heed_key *const heed_llama_gguf_keys[] = {gguf_keys, heed_rope_gguf_keys, NULL};

const heed_rename heed_llama_gguf_weights[] = {{"tokens.weight", "token_embd.weight"},
                                               {"head.weight", "output.weight"},
                                               {"decoder.*.self.norm.*", "blk.*.attn_norm.*"},
                                               {"decoder.*.self.q_norm.*", "blk.*.attn_q_norm.*"},
                                               {"decoder.*.self.k_norm.*", "blk.*.attn_k_norm.*"},
                                               {"decoder.*.self.out.*", "blk.*.attn_output.*"},
                                               {"decoder.*.self.*.*", "blk.*.attn_*.*"},
                                               {"decoder.*.feed.norm.*", "blk.*.ffn_norm.*"},
                                               {"decoder.*.feed.*.*", "blk.*.ffn_*.*"},
                                               {"decoder.norm.*", "output_norm.*"},
                                               {NULL, NULL}};

/* Scaled speeds of the rotary positions, which heed_rope_gguf_finish has read, and older files'
 * plain ones. */
const char *const heed_llama_gguf_unused[] = {"rope_freqs.weight", "blk.*.attn_rot_embd.weight",
                                              NULL};

/* GGUF says by their being there which products have a bias and whether the head is its own; gains
 * of 1 + weight are stored added up. */
bool heed_llama_gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    c->tie_output = !heed_tensors_find(tensors, "output.weight");
    c->qkv_bias = heed_tensors_find(tensors, "blk.0.attn_q.bias");
    c->out_bias = heed_tensors_find(tensors, "blk.0.attn_output.bias");
    c->feed_bias = heed_tensors_find(tensors, "blk.0.ffn_up.bias");
    c->norm_one_plus = false;
    return heed_rope_gguf_finish(c, tensors, err);
}

/* The rows of q and k are in another order here than in transformers' files, so that the two
 * numbers of a pair stand side by side. */
static bool gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    c->decoder.positions = HEED_POSITIONS_ROPE_INTERLEAVED;
    return heed_llama_gguf_finish(c, tensors, err);
}

/* ---- llama2.c ---- */

static const heed_key llama2c_keys[] = {HEED_MUST("dim", INT, decoder.width),
                                        HEED_MUST("hidden_dim", INT, decoder.feed_forward),
                                        HEED_MUST("n_layers", INT, decoder.layers),
                                        HEED_MUST("n_heads", INT, decoder.heads),
                                        HEED_MUST("n_kv_heads", INT, decoder.kv_heads),
                                        HEED_MUST_BOTH("vocab_size", INT, vocab, source_vocab),
                                        HEED_MUST("max_seq_len", INT, decoder.max_positions),
                                        HEED_KNOWN("version"),
                                        HEED_KNOWN("tied"),
                                        HEED_KNOWN("group_size"),
                                        {0}};

static const heed_rename llama2c_weights[] = {
    {"tokens.weight", "tok_embeddings.weight"},
    {"head.weight", "output.weight"},
    {"decoder.*.self.norm.*", "layers.*.attention_norm.*"},
    {"decoder.*.self.out.*", "layers.*.attention.wo.*"},
    {"decoder.*.self.*.*", "layers.*.attention.w*.*"},
    {"decoder.*.feed.norm.*", "layers.*.ffn_norm.*"},
    {"decoder.*.feed.gate.*", "layers.*.feed_forward.w1.*"},
    {"decoder.*.feed.down.*", "layers.*.feed_forward.w2.*"},
    {"decoder.*.feed.up.*", "layers.*.feed_forward.w3.*"},
    {"decoder.norm.*", "norm.*"},
    {NULL, NULL}};

/* What its header leaves unsaid: the sizes of the norm's epsilon, pairs side by side, the ids of
 * SentencePiece; its texts follow one another with the token that begins them between. */
static bool llama2c_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    c->tie_output = !heed_tensors_find(tensors, "output.weight");
    c->decoder.eps = 1e-5;
    c->decoder.positions = HEED_POSITIONS_ROPE_INTERLEAVED;
    c->unk = 0;
    c->bos = c->end[1] = 1;
    c->eos = c->end[0] = 2;
    c->ends = 2;
    return heed_rope_finish(c, err);
}

static const heed_form forms[] = {HEED_LLAMA_GGUF("llama", gguf_finish),
                                  {.format = "llama2.c",
                                   .head = HEED_HEAD_VOCAB,
                                   .keys = (const heed_key *const[]){llama2c_keys, NULL},
                                   .weights = llama2c_weights,
                                   .finish = llama2c_finish},
                                  {0}};

static const heed_architecture architectures[] = {
    {"LlamaForCausalLM", HEED_HEAD_VOCAB, false},
    {"LlamaModel", HEED_HEAD_NONE, false},
    {"LlamaForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"LlamaForTokenClassification", HEED_HEAD_ROWS, false},
    {0}};

const heed_family heed_family_llama = {
    .type = "llama",
    .architectures = architectures,
    .defaults = heed_llama_defaults,
    .keys = (const heed_key *const[]){heed_llama_keys, heed_rope_keys, NULL},
    .finish = heed_rope_finish,
    HEED_LLAMA_KIN,
    .forms = forms};
