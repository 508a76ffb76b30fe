/* dinov2.c: DINOv2 (Oquab et al. 2024): ViT with a gain for each column of what a block adds (layer
 * scale), in its largest form with a gated feed-forward. Classes are told from the class token and
 * the mean of the patches.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_key keys[] = {
    HEED_MAY("mlp_ratio", NUMBER, feed_ratio),
    HEED_MAY("hidden_dropout_prob", NUMBER, embed_dropout),
    HEED_MAY("layerscale_value", NUMBER, layer_scale),
    HEED_MAY("use_swiglu_ffn", BOOL, encoder.gated),
    HEED_KNOWN("drop_path_rate"), /* of the training */
    HEED_KNOWN("use_mask_token"),
    HEED_KNOWN("apply_layernorm"), /* with those that follow of the class for feature maps */
    HEED_KNOWN("reshape_hidden_states"),
    HEED_KNOWN("stage_names"),
    HEED_KNOWN("out_features"),
    HEED_KNOWN("out_indices"),
    HEED_KNOWN("_out_features"),
    HEED_KNOWN("_out_indices"),
    {0}};

static void defaults(heed_config *c) {
    heed_vit_defaults(c);
    c->encoder.eps = 1e-6;
    c->patch[0] = c->patch[1] = 14;
    c->feed_ratio = 4;
    c->layer_scale = 1;
}

/* Gated, the inner width is two thirds of the other form's, up to a multiple of 8. */
static bool finish(heed_config *c, heed_error *err) {
    heed_stack *s = &c->encoder;
    double inner = (double)s->width * c->feed_ratio;
    if (!(inner >= 1 && inner < 1 << 30))
        return heed_fail(err, HEED_VALUE, "mlp_ratio %g of a width of %g is out of range",
                         c->feed_ratio, (double)s->width);
    s->feed_forward = (int64_t)inner;
    if (s->gated)
        s->feed_forward = (s->feed_forward * 2 / 3 + 7) / 8 * 8;
    return heed_vit_finish(c, err);
}

static heed_value gated_feed(heed_build *b, heed_value h, const heed_config *c) {
    int64_t n = c->encoder.feed_forward;
    heed_value all = heed_linear(b, h, "gate_up", 2 * n, true);
    h = heed_gated(b, heed_pick_columns(b, all, 0, n, 0, 1), heed_pick_columns(b, all, n, n, 0, 1),
                   HEED_ACT_SILU);
    return heed_linear(b, h, "down", c->encoder.width, true);
}

static heed_value layer(heed_build *b, heed_value x, int64_t i, const void *ctx) {
    const heed_config *c = ctx;
    (void)i;
    heed_enter(b, "self", -1);
    heed_value h = heed_layernorm(b, x, "norm", c->encoder.eps);
    h = heed_vit_attention(b, h, c);
    x = heed_add(b, x, heed_scale_columns(b, h, "scale", c->layer_scale));
    heed_leave(b);
    heed_enter(b, "feed", -1);
    h = heed_layernorm(b, x, "norm", c->encoder.eps);
    h = c->encoder.gated ? gated_feed(b, h, c) : heed_vit_feed(b, h, c);
    x = heed_add(b, x, heed_scale_columns(b, h, "scale", c->layer_scale));
    heed_leave(b);
    return x;
}

/* The class token beside the mean of the n patches, which is that of all n + 1 rows without it. */
static heed_value joined(heed_build *b, heed_value x, heed_value first, double n) {
    heed_value mean = heed_pool_rows(b, x, HEED_POOL_MEAN);
    mean = heed_add(b, heed_scale(b, mean, (n + 1) / n), heed_scale(b, first, -1 / n));
    return heed_join_columns(b, first, mean);
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    heed_outputs out = {.memory = {0}};
    if (!heed_stack_sound(b, &c->encoder))
        return out;
    heed_value x = heed_vit_embed(b, c, 1, want);
    out.memory =
        heed_vit_layers(b, x, &(heed_layers){"encoder", c->encoder.layers, layer, NULL, c});
    heed_value first = heed_pool_row(b, out.memory, 0);
    int64_t own = c->image[0] / c->patch[0] * (c->image[1] / c->patch[1]);
    int64_t patches = want->grid[0] ? want->grid[0] * want->grid[1] : own;
    if (c->pooler)
        out.pooled = heed_name(b, first, "pooled");
    if (c->head != HEED_HEAD_NONE)
        heed_record_classes(b, joined(b, out.memory, first, (double)patches), "classifier", c, want,
                            &out);
    return out;
}

static const heed_architecture architectures[] = {
    {"Dinov2Model", HEED_HEAD_NONE, true},
    {"Dinov2ForImageClassification", HEED_HEAD_SEQUENCES, false},
    {0}};

static const heed_rename weights[] = {
    {"patches.*", "dinov2.embeddings.patch_embeddings.projection.*"},
    {"class.weight", "dinov2.embeddings.cls_token"},
    {"positions.weight", "dinov2.embeddings.position_embeddings"},
    {"encoder.*.self.norm.*", "dinov2.encoder.layer.*.norm1.*"},
    {"encoder.*.self.q.*", "dinov2.encoder.layer.*.attention.attention.query.*"},
    {"encoder.*.self.k.*", "dinov2.encoder.layer.*.attention.attention.key.*"},
    {"encoder.*.self.v.*", "dinov2.encoder.layer.*.attention.attention.value.*"},
    {"encoder.*.self.out.*", "dinov2.encoder.layer.*.attention.output.dense.*"},
    {"encoder.*.self.scale", "dinov2.encoder.layer.*.layer_scale1.lambda1"},
    {"encoder.*.feed.norm.*", "dinov2.encoder.layer.*.norm2.*"},
    {"encoder.*.feed.up.*", "dinov2.encoder.layer.*.mlp.fc1.*"},
    {"encoder.*.feed.gate_up.*", "dinov2.encoder.layer.*.mlp.weights_in.*"},
    {"encoder.*.feed.down.*", "dinov2.encoder.layer.*.mlp.fc2.*"},
    {"encoder.*.feed.down.*", "dinov2.encoder.layer.*.mlp.weights_out.*"},
    {"encoder.*.feed.scale", "dinov2.encoder.layer.*.layer_scale2.lambda1"},
    {"encoder.norm.*", "dinov2.layernorm.*"},
    {"classifier.*", "classifier.*"},
    {0}};

static const char *const unused[] = {"dinov2.embeddings.mask_token", NULL};

const heed_family heed_family_dinov2 = {
    .type = "dinov2",
    .kind = HEED_ENCODER,
    .architectures = architectures,
    .prefix = "dinov2.",
    .defaults = defaults,
    .keys = (const heed_key *const[]){heed_picture_keys, keys, NULL},
    .finish = finish,
    .record = record,
    .weights = weights,
    .values = heed_encoder_values,
    .unused = unused};
