/* rope.c: how config.json speaks of rotary positions: "rope_theta" beside "rope_scaling", or all of
 * it in "rope_parameters" (transformers 5).
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    heed_rope_kind kind;
} kinds[] = {{"default", HEED_ROPE_PLAIN},   {"linear", HEED_ROPE_LINEAR},
             {"dynamic", HEED_ROPE_DYNAMIC}, {"llama3", HEED_ROPE_LLAMA3},
             {"yarn", HEED_ROPE_YARN},       {NULL, HEED_ROPE_PLAIN}};

static bool read_kind(const json_t *v, heed_config *c, heed_error *err) {
    const char *name = json_string_value(v);
    for (int i = 0; name && kinds[i].name; i++)
        if (!strcmp(kinds[i].name, name)) {
            c->decoder.rope_scaling.kind = kinds[i].kind;
            return true;
        }
    return heed_fail(err, HEED_VALUE, "rope type '%.40s' is not known here", name ? name : "?");
}

/* The part of each head that turns; how many numbers that is, is known when the head is. */
static const heed_key inside[] = {
    HEED_READ("rope_type", read_kind),
    HEED_READ("type", read_kind),
    HEED_MAY("rope_theta", NUMBER, decoder.rope_base),
    HEED_MAY("partial_rotary_factor", NUMBER, rotary_part),
    HEED_MAY("factor", NUMBER, decoder.rope_scaling.factor),
    HEED_MAY("original_max_position_embeddings", INT, decoder.rope_scaling.original),
    HEED_MAY("low_freq_factor", NUMBER, decoder.rope_scaling.low_freq_factor),
    HEED_MAY("high_freq_factor", NUMBER, decoder.rope_scaling.high_freq_factor),
    HEED_MAY("beta_fast", NUMBER, decoder.rope_scaling.beta_fast),
    HEED_MAY("beta_slow", NUMBER, decoder.rope_scaling.beta_slow),
    HEED_MAY("attention_factor", NUMBER, decoder.rope_scaling.attention_factor),
    HEED_MAY("mscale", NUMBER, decoder.rope_scaling.mscale),
    HEED_MAY("mscale_all_dim", NUMBER, decoder.rope_scaling.mscale_all_dim),
    HEED_MAY("truncate", BOOL, rope_truncate),
    {0}};

/* The type first: of one that is not known, the other keys are not either. */
static bool read_object(const json_t *value, heed_config *c, heed_error *err) {
    const heed_key *tables[] = {inside, NULL};
    const json_t *kind = json_object_get(value, "rope_type");
    kind = kind ? kind : json_object_get(value, "type");
    if (kind && !read_kind(kind, c, err))
        return false;
    return heed_keys_read(value, "rope", tables, c, err);
}

const heed_key heed_rope_keys[] = {HEED_MAY("rope_theta", NUMBER, decoder.rope_base),
                                   HEED_READ("rope_scaling", read_object),
                                   HEED_READ("rope_parameters", read_object),
                                   {0}};

bool heed_rope_finish(heed_config *c, heed_error *err) {
    heed_stack *s = &c->decoder;
    int64_t head = s->head_width ? s->head_width : s->heads > 0 ? s->width / s->heads : 0;
    s->rope_scaling.untruncated = !c->rope_truncate;
    /* transformers' dynamic form reads no other length. */
    if (!s->rope_scaling.original || s->rope_scaling.kind == HEED_ROPE_DYNAMIC)
        s->rope_scaling.original = s->max_positions;
    if (!(c->rotary_part > 0 && c->rotary_part <= 1))
        return heed_fail(err, HEED_VALUE, "partial_rotary_factor %g is not in (0, 1]",
                         c->rotary_part);
    s->rope_turned = (int64_t)((double)head * c->rotary_part);
    return s->rope_turned > 0 ||
           heed_fail(err, HEED_VALUE,
                     "partial_rotary_factor %g turns no number of a head of %" PRId64,
                     c->rotary_part, head);
}

heed_value heed_turn(heed_build *b, heed_value x, int64_t heads, const heed_stack *s) {
    return heed_rope(
        b, x, heed_positions(b, heed_space_of(b, x)),
        &(heed_rope_options){.heads = heads,
                             .base = s->rope_base,
                             .interleaved = s->positions == HEED_POSITIONS_ROPE_INTERLEAVED,
                             .turned = s->rope_turned,
                             .scaling = s->rope_scaling});
}
