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
             {"yarn", HEED_ROPE_YARN},       {"longrope", HEED_ROPE_LONGROPE},
             {"su", HEED_ROPE_LONGROPE},     {NULL, HEED_ROPE_PLAIN}};

static bool read_kind(const json_t *v, heed_config *c, heed_error *err) {
    const char *name = json_string_value(v);
    for (int i = 0; name && kinds[i].name; i++)
        if (!strcmp(kinds[i].name, name)) {
            c->decoder.rope_scaling.kind = kinds[i].kind;
            return true;
        }
    return heed_fail(err, HEED_VALUE, "rope type '%.40s' is not known here", name ? name : "?");
}

static json_t *write_kind(const heed_config *c) {
    for (int i = 0; kinds[i].name; i++)
        if (kinds[i].kind == c->decoder.rope_scaling.kind)
            return json_string(kinds[i].name);
    return NULL;
}

static json_t *write_list(const heed_config *c, const heed_rope_list *list) {
    json_t *out = c->decoder.rope_scaling.kind == HEED_ROPE_LONGROPE ? json_array() : NULL;
    for (int64_t i = 0; out && i < list->n; i++)
        json_array_append_new(out, json_real(list->at[i]));
    return out;
}

static json_t *write_short(const heed_config *c) {
    return write_list(c, &c->rope_short);
}

static json_t *write_long(const heed_config *c) {
    return write_list(c, &c->rope_long);
}

static bool read_list(const json_t *v, const char *key, heed_rope_list *list, heed_error *err) {
    size_t n = json_array_size(v);
    if (!n || n > HEED_ROPE_PAIRS)
        return heed_fail(err, HEED_LIMIT, "key '%s' has %zu numbers, wanted 1 to %d", key, n,
                         HEED_ROPE_PAIRS);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(v, i);
        if (!json_is_number(x))
            return heed_fail(err, HEED_VALUE, "key '%s' holds %s, wanted numbers", key,
                             heed_json_kind(x));
        list->at[i] = json_number_value(x);
    }
    list->n = (int64_t)n;
    return true;
}

static bool read_short(const json_t *v, heed_config *c, heed_error *err) {
    return read_list(v, "short_factor", &c->rope_short, err);
}

static bool read_long(const json_t *v, heed_config *c, heed_error *err) {
    return read_list(v, "long_factor", &c->rope_long, err);
}

/* The part of each head that turns; how many numbers that is, is known when the head is. */
static const heed_key inside[] = {
    HEED_BOTH_WAYS("rope_type", read_kind, write_kind),
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
    HEED_BOTH_WAYS("short_factor", read_short, write_short),
    HEED_BOTH_WAYS("long_factor", read_long, write_long),
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

/* What belongs to another kind of scaling is left out, and transformers need not warn of it. */
static json_t *write_object(const heed_config *c) {
    static const struct {
        const char *key;
        heed_rope_kind kind;
    } own[] = {{"low_freq_factor", HEED_ROPE_LLAMA3},
               {"high_freq_factor", HEED_ROPE_LLAMA3},
               {"beta_fast", HEED_ROPE_YARN},
               {"beta_slow", HEED_ROPE_YARN},
               {"mscale", HEED_ROPE_YARN},
               {"mscale_all_dim", HEED_ROPE_YARN},
               {"truncate", HEED_ROPE_YARN}};
    const heed_key *tables[] = {inside, NULL};
    heed_rope_kind kind = c->decoder.rope_scaling.kind;
    json_t *root = kind == HEED_ROPE_PLAIN ? NULL : json_object();
    if (root && !heed_keys_write_short(root, tables, c, NULL)) {
        json_decref(root);
        return NULL;
    }
    for (size_t i = 0; root && i < sizeof own / sizeof *own; i++)
        if (own[i].kind != kind)
            json_object_del(root, own[i].key);
    if (kind == HEED_ROPE_LINEAR)
        json_object_del(root, "original_max_position_embeddings");
    json_object_del(root, "partial_rotary_factor"); /* the family's key says it */
    return root;
}

/* Of two the older form counts, as in transformers. */
const heed_key heed_rope_keys[] = {HEED_MAY("rope_theta", NUMBER, decoder.rope_base),
                                   HEED_READ("rope_parameters", read_object),
                                   HEED_BOTH_WAYS("rope_scaling", read_object, write_object),
                                   {0}};

/* Both lists have a number for each pair; the factor, left out, is how far beyond the training. */
static bool finish_longrope(heed_config *c, heed_error *err) {
    heed_stack *s = &c->decoder;
    const heed_rope_list *list[2] = {&c->rope_short, &c->rope_long};
    for (int i = 0; i < 2; i++)
        if (list[i]->n != s->rope_turned / 2)
            return heed_fail(err, HEED_SHAPE,
                             "longrope has %" PRId64 " numbers in '%s', wanted %" PRId64,
                             list[i]->n, i ? "long_factor" : "short_factor", s->rope_turned / 2);
    if (s->rope_scaling.original < 1)
        return heed_fail(err, HEED_VALUE, "original_max_position_embeddings is %" PRId64,
                         s->rope_scaling.original);
    double beyond = (double)s->max_positions / (double)s->rope_scaling.original;
    if (!(s->rope_scaling.factor > 0))
        s->rope_scaling.factor = beyond > 1 ? beyond : 1;
    return true;
}

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
    if (s->rope_turned < 1)
        return heed_fail(err, HEED_VALUE,
                         "partial_rotary_factor %g turns no number of a head of %" PRId64,
                         c->rotary_part, head);
    return s->rope_scaling.kind != HEED_ROPE_LONGROPE || finish_longrope(c, err);
}

heed_value heed_turn(heed_build *b, heed_value x, int64_t heads, const heed_config *c) {
    const heed_stack *s = &c->decoder;
    heed_rope_scaling scaling = s->rope_scaling;
    scaling.short_factor = c->rope_short.at;
    scaling.long_factor = c->rope_long.at;
    return heed_rope(
        b, x, heed_positions(b, heed_space_of(b, x)),
        &(heed_rope_options){.heads = heads,
                             .base = s->rope_base,
                             .interleaved = s->positions == HEED_POSITIONS_ROPE_INTERLEAVED,
                             .turned = s->rope_turned,
                             .scaling = scaling});
}
