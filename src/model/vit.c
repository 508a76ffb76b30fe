/* vit.c: ViT (Dosovitskiy et al. 2021): an encoder over the patches of a picture, behind a class
 * token, with the norm before each block; and what its kin share.
 *
 * The rows that come in are patches; "class" and positions are added behind that, so that hidden
 * states have a row more for each picture. A picture of another size has its positions resized.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>

/* One number for both sides, or [height, width]. */
static bool read_sides(const json_t *value, const char *key, int64_t side[2], heed_error *err) {
    for (size_t i = 0; i < 2; i++) {
        const json_t *v = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_integer(v) || (json_is_array(value) && json_array_size(value) != 2))
            return heed_fail(err, HEED_VALUE, "key '%s' is neither a number nor two numbers", key);
        side[i] = json_integer_value(v);
    }
    return true;
}

static bool read_image(const json_t *value, heed_config *c, heed_error *err) {
    return read_sides(value, "image_size", c->image, err);
}

static bool read_patch(const json_t *value, heed_config *c, heed_error *err) {
    return read_sides(value, "patch_size", c->patch, err);
}

const heed_key heed_picture_keys[] = {
    HEED_MUST("hidden_size", INT, encoder.width),
    HEED_MUST("num_hidden_layers", INT, encoder.layers),
    HEED_MUST_BOTH("num_attention_heads", INT, encoder.heads, encoder.kv_heads),
    HEED_MAY("hidden_act", ACT, encoder.act),
    HEED_MAY("attention_probs_dropout_prob", NUMBER, encoder.attention_dropout),
    HEED_MAY("layer_norm_eps", NUMBER, encoder.eps),
    HEED_MAY("qkv_bias", BOOL, qkv_bias),
    HEED_READ("image_size", read_image),
    HEED_READ("patch_size", read_patch),
    HEED_MAY("num_channels", INT, channels),
    HEED_ONLY("is_encoder_decoder", "false"),
    HEED_KNOWN("initializer_range"),
    {0}};

const heed_key heed_vit_keys[] = {
    HEED_MUST("intermediate_size", INT, encoder.feed_forward),
    HEED_MAY_BOTH("hidden_dropout_prob", NUMBER, encoder.dropout, embed_dropout),
    HEED_MAY("pooler_output_size", INT, pooler_width),
    HEED_MAY("pooler_act", ACT, pooler_act),
    HEED_KNOWN("encoder_stride"), /* of the head for masked pictures */
    {0}};

void heed_vit_defaults(heed_config *c) {
    heed_single_defaults(c);
    c->encoder.act = HEED_ACT_GELU;
    c->encoder.eps = 1e-12;
    c->encoder.pre_norm = c->encoder.final_norm = c->qkv_bias = true;
    c->encoder.positions = HEED_POSITIONS_LEARNED;
    c->channels = 3;
    c->image[0] = c->image[1] = 224;
    c->patch[0] = c->patch[1] = 16;
    c->pooler_act = HEED_ACT_TANH;
}

enum { LONGEST = 1 << 15 }; /* of a picture's side, in pixels */

bool heed_vit_finish(heed_config *c, heed_error *err) {
    if (c->channels < 1 || c->channels > LONGEST)
        return heed_fail(err, HEED_VALUE, "num_channels is %" PRId64 ", wanted 1 to %d",
                         c->channels, LONGEST);
    for (int i = 0; i < 2; i++)
        if (c->patch[i] < 1 || c->image[i] < c->patch[i] || c->image[i] > LONGEST)
            return heed_fail(err, HEED_VALUE,
                             "patches of %" PRId64 " x %" PRId64
                             " do not fit in pictures of %" PRId64 " x %" PRId64
                             ", which may have sides up to %d",
                             c->patch[0], c->patch[1], c->image[0], c->image[1], LONGEST);
    if (!c->pooler_width)
        c->pooler_width = c->encoder.width;
    return true;
}

heed_value heed_vit_embed(heed_build *b, const heed_config *c, int64_t tokens,
                          const heed_want *want) {
    heed_init init = {HEED_INIT_NORMAL, 0.02};
    int64_t width = c->encoder.width;
    heed_grid g = {.before = tokens,
                   .rows = c->image[0] / c->patch[0],
                   .cols = c->image[1] / c->patch[1],
                   .to_rows = want->grid[0],
                   .to_cols = want->grid[1]};
    heed_value x = heed_input_numbers(b, "pixel_values", heed_rows(b, "source"),
                                      c->channels * c->patch[0] * c->patch[1]);
    x = heed_linear(b, x, "patches", width, true);
    if (tokens > 1)
        x = heed_prepend(b, x, heed_weight(b, "distillation.weight", 1, width, init));
    x = heed_prepend(b, x, heed_weight(b, "class.weight", 1, width, init));
    heed_value table = heed_weight(b, "positions.weight", tokens + g.rows * g.cols, width, init);
    if (g.to_rows && (g.to_rows != g.rows || g.to_cols != g.cols))
        table = heed_resize_grid(b, table, &g);
    x = heed_add(b, x, heed_embed(b, table, heed_positions(b, heed_space_of(b, x)), 1));
    return heed_dropout(b, x, "dropout", c->embed_dropout);
}

heed_value heed_vit_attention(heed_build *b, heed_value h, const heed_config *c) {
    const heed_stack *s = &c->encoder;
    heed_attention_options o = {.heads = s->heads, .dropout = s->attention_dropout};
    heed_value q = heed_linear(b, h, "q", s->width, c->qkv_bias);
    heed_value k = heed_linear(b, h, "k", s->width, c->qkv_bias);
    heed_value v = heed_linear(b, h, "v", s->width, c->qkv_bias);
    h = heed_linear(b, heed_attend(b, q, k, v, &o), "out", s->width, true);
    return heed_dropout(b, h, "dropout", s->dropout);
}

heed_value heed_vit_feed(heed_build *b, heed_value h, const heed_config *c) {
    const heed_stack *s = &c->encoder;
    h = heed_act(b, heed_linear(b, h, "up", s->feed_forward, true), s->act);
    return heed_dropout(b, heed_linear(b, h, "down", s->width, true), "dropout", s->dropout);
}

heed_value heed_vit_layers(heed_build *b, heed_value x, const heed_layers *l) {
    const heed_config *c = l->ctx;
    x = heed_block_layers(b, x, l);
    heed_enter(b, "encoder", -1);
    x = heed_layernorm(b, x, "norm", c->encoder.eps);
    heed_leave(b);
    return x;
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    heed_enter(b, "self", -1);
    heed_value h = heed_layernorm(b, x, "norm", c->encoder.eps);
    x = heed_add(b, x, heed_vit_attention(b, h, c));
    heed_leave(b);
    heed_enter(b, "feed", -1);
    h = heed_layernorm(b, x, "norm", c->encoder.eps);
    x = heed_add(b, x, heed_vit_feed(b, h, c));
    heed_leave(b);
    return x;
}

heed_outputs heed_vit_record(heed_build *b, const heed_config *c, int64_t tokens,
                             const heed_want *want) {
    heed_outputs out = {.memory = {0}};
    if (!heed_stack_sound(b, &c->encoder))
        return out;
    heed_value x = heed_vit_embed(b, c, tokens, want);
    out.memory =
        heed_vit_layers(b, x, &(heed_layers){"encoder", c->encoder.layers, layer, NULL, c});
    if (c->pooler) {
        heed_value first = heed_pool_row(b, out.memory, 0);
        first = heed_act(b, heed_linear(b, first, "pooler", c->pooler_width, true), c->pooler_act);
        out.pooled = heed_name(b, first, "pooled");
    }
    return out;
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = heed_vit_record(b, c, 1, want);
    if (out.memory.id && c->head != HEED_HEAD_NONE)
        heed_record_classes(b, heed_pool_row(b, out.memory, 0), "classifier", c, want, &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"ViTModel", HEED_HEAD_NONE, true},
    {"ViTForImageClassification", HEED_HEAD_SEQUENCES, false},
    {0}};

static const heed_rename weights[] = {
    HEED_VIT_NAMES("vit."), {"classifier.*", "classifier.*"}, {0}};

/* Of heads that the chosen class does not have. */
static const char *const unused[] = {"vit.pooler.dense.*", "vit.embeddings.mask_token", NULL};

const heed_family heed_family_vit = {
    .type = "vit",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "vit.",
    .defaults = heed_vit_defaults,
    .keys = (const heed_key *const[]){heed_picture_keys, heed_vit_keys, NULL},
    .finish = heed_vit_finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
