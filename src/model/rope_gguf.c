/* rope_gguf.c: how GGUF speaks of rotary positions: settings "rope.*", and for Llama 3.1 and later
 * a table "rope_freqs.weight" by which the speed of each pair is divided.
 *
 * The table is what convert_hf_to_gguf.py makes of {"rope_type": "llama3"}: 1 for short waves,
 * `factor` for long ones, between them 1 / ((1-s)/factor + s) with s = (original/wave - low) /
 * (high - low), a straight line over 1/wave. Two points of the line give it back, and every entry
 * is then compared: a table that says anything else is refused.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool read_kind(const json_t *v, heed_config *c, heed_error *err) {
    static const struct {
        const char *name;
        heed_rope_kind kind;
    } kinds[] = {{"none", HEED_ROPE_PLAIN}, {"linear", HEED_ROPE_LINEAR}, {"yarn", HEED_ROPE_YARN}};
    const char *name = json_string_value(v);
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name)) {
            c->decoder.rope_scaling.kind = kinds[i].kind;
            return true;
        }
    return heed_fail(err, HEED_VALUE, "rope.scaling.type '%.40s' is not known here",
                     name ? name : "?");
}

static json_t *write_kind(const heed_config *c) {
    heed_rope_kind kind = c->decoder.rope_scaling.kind;
    return kind == HEED_ROPE_LINEAR ? json_string("linear")
           : kind == HEED_ROPE_YARN ? json_string("yarn")
                                    : NULL;
}

/* As older files say it. */
static bool read_linear(const json_t *v, heed_config *c, heed_error *err) {
    double factor = json_is_number(v) ? json_number_value(v) : 0;
    if (!(factor >= 1))
        return heed_fail(err, HEED_VALUE, "rope.scale_linear is %g, wanted 1 or more", factor);
    c->decoder.rope_scaling.kind = factor > 1 ? HEED_ROPE_LINEAR : HEED_ROPE_PLAIN;
    c->decoder.rope_scaling.factor = factor;
    return true;
}

const heed_key heed_rope_gguf_keys[] = {
    HEED_MAY("rope.freq_base", NUMBER, decoder.rope_base),
    HEED_MAY("rope.dimension_count", INT, decoder.rope_turned),
    HEED_READ("rope.scale_linear", read_linear),
    HEED_BOTH_WAYS("rope.scaling.type", read_kind, write_kind),
    HEED_MAY("rope.scaling.factor", NUMBER, decoder.rope_scaling.factor),
    HEED_MAY("rope.scaling.original_context_length", INT, decoder.rope_scaling.original),
    HEED_MAY("rope.scaling.yarn_beta_fast", NUMBER, decoder.rope_scaling.beta_fast),
    HEED_MAY("rope.scaling.yarn_beta_slow", NUMBER, decoder.rope_scaling.beta_slow),
    HEED_ONLY("rope.scaling.attn_factor", "1.0"),
    HEED_ONLY("rope.scaling.yarn_attn_factor", "1.0"),
    HEED_ONLY("rope.scaling.yarn_ext_factor", "1.0"),
    HEED_KNOWN("rope.scaling.finetuned"),
    {0}};

/* ---- rope_freqs.weight ---- */

enum { PAIRS = 512 };

typedef struct {
    int64_t n;
    float factor[PAIRS];
    double frequency[PAIRS]; /* 1 / wave length */
    double most;             /* the largest factor */
} table;

/* 1 / wave length of pair i */
static double turns_a_row(const heed_config *c, int64_t i) {
    double turn = pow(c->decoder.rope_base, -2 * (double)i / (double)c->decoder.rope_turned);
    return turn / (2 * 3.14159265358979323846);
}

/* What the head comment says. */
static double factor_of(const heed_rope_scaling *r, double frequency) {
    double s = ((double)r->original * frequency - r->low_freq_factor) /
               (r->high_freq_factor - r->low_freq_factor);
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    return 1 / ((1 - s) / r->factor + s);
}

static bool read_table(table *t, const heed_tensor *tensor, const heed_config *c, heed_error *err) {
    const heed_stack *s = &c->decoder;
    t->n = heed_tensor_elements(tensor);
    if (t->n != s->rope_turned / 2 || t->n > PAIRS)
        return heed_fail(err, HEED_SHAPE,
                         "rope_freqs.weight has %" PRId64 " numbers for %" PRId64 " pairs", t->n,
                         s->rope_turned / 2);
    if (!heed_tensor_to_f32(tensor, t->factor, err))
        return false;
    t->most = 0;
    for (int64_t i = 0; i < t->n; i++) {
        t->frequency[i] = turns_a_row(c, i);
        t->most = t->factor[i] > t->most ? t->factor[i] : t->most;
    }
    return true;
}

/* s of the head comment, 0 and 1 where it is cut. */
static double line_at(const table *t, int64_t i) {
    return (1 / (double)t->factor[i] - 1 / t->most) / (1 - 1 / t->most);
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-4 * fabs(b);
}

static bool agrees(const table *t, const heed_rope_scaling *r) {
    for (int64_t i = 0; i < t->n; i++)
        if (!near(t->factor[i], factor_of(r, t->frequency[i])))
            return false;
    return true;
}

/* low is 1, which leaves the line all its freedom: it is a/wave - b, b = low / (high - low). One
 * point alone is taken for Llama's own high = 4. */
static bool fit_line(const table *t, heed_rope_scaling *r) {
    int64_t first = -1, last = -1;
    for (int64_t i = 0; i < t->n; i++) {
        double s = line_at(t, i);
        if (!(s > 1e-3 && s < 1 - 1e-3))
            continue;
        first = first < 0 ? i : first;
        last = i;
    }
    if (first < 0)
        return false;
    double b = 1.0 / 3, a = (line_at(t, first) + b) / t->frequency[first];
    if (last > first) {
        a = (line_at(t, first) - line_at(t, last)) / (t->frequency[first] - t->frequency[last]);
        b = a * t->frequency[first] - line_at(t, first);
    }
    r->kind = HEED_ROPE_LLAMA3;
    r->factor = t->most;
    r->low_freq_factor = 1;
    r->high_freq_factor = 1 + 1 / b;
    r->original = (int64_t)floor(a / b + 0.5);
    return b > 0 && agrees(t, r);
}

static bool all_are(const table *t, double factor) {
    for (int64_t i = 0; i < t->n; i++)
        if (!near(t->factor[i], factor))
            return false;
    return true;
}

static bool read_freqs(heed_config *c, const heed_tensor *tensor, heed_error *err) {
    heed_rope_scaling *r = &c->decoder.rope_scaling;
    table t;
    if (!read_table(&t, tensor, c, err))
        return false;
    if (all_are(&t, 1))
        return true;
    if (r->kind != HEED_ROPE_PLAIN)
        return heed_fail(err, HEED_VALUE, "both rope.scaling.type and rope_freqs.weight are there");
    if (all_are(&t, t.most)) {
        r->kind = HEED_ROPE_LINEAR;
        r->factor = t.most;
        return true;
    }
    return fit_line(&t, r) ||
           heed_fail(err, HEED_VALUE,
                     "rope_freqs.weight (1 to %g) is not what Llama 3's scaling makes", t.most);
}

/* ---- Writing ---- */

/* YaRN's other parameters have no keys. */
static bool is_plain_yarn(const heed_config *c) {
    const heed_rope_scaling *r = &c->decoder.rope_scaling;
    return !(r->attention_factor > 0) && !(r->mscale > 0) && !(r->mscale_all_dim > 0) &&
           !r->untruncated;
}

bool heed_rope_gguf_say(heed_config *c, heed_error *err) {
    heed_stack *s = &c->decoder;
    heed_rope_scaling *r = &s->rope_scaling;
    s->head_width = s->head_width ? s->head_width : s->width / s->heads;
    if (!c->window) { /* of layers that have no window, which is none, changes nothing */
        memset(c->windowed, 0, sizeof c->windowed);
        c->first_windowed = 0;
    }
    if (r->kind == HEED_ROPE_DYNAMIC || r->kind == HEED_ROPE_LONGROPE)
        return heed_fail(err, HEED_VALUE, "scaling of rotary positions '%s' cannot be said in GGUF",
                         r->kind == HEED_ROPE_DYNAMIC ? "dynamic" : "longrope");
    if (r->kind == HEED_ROPE_YARN)
        return is_plain_yarn(c) ||
               heed_fail(err, HEED_VALUE,
                         "yarn with an attention_factor, mscale or truncate of its own cannot be "
                         "said in GGUF");
    *r = (heed_rope_scaling){.kind =
                                 r->kind == HEED_ROPE_LINEAR ? HEED_ROPE_LINEAR : HEED_ROPE_PLAIN,
                             .factor = r->kind == HEED_ROPE_LINEAR ? r->factor : 0};
    return true;
}

int64_t heed_rope_gguf_freqs(const heed_config *c, float *out, int64_t most) {
    const heed_rope_scaling *r = &c->decoder.rope_scaling;
    int64_t n = r->kind == HEED_ROPE_LLAMA3 ? c->decoder.rope_turned / 2 : 0;
    for (int64_t i = 0; i < n && i < most; i++)
        out[i] = (float)factor_of(r, turns_a_row(c, i));
    return n < most ? n : most;
}

/* ---- Reading ---- */

bool heed_rope_gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err) {
    int64_t turned = c->decoder.rope_turned;
    const heed_tensor *freqs = heed_tensors_find(tensors, "rope_freqs.weight");
    if (!heed_rope_finish(c, err))
        return false;
    if (turned)
        c->decoder.rope_turned = turned;
    return !freqs || read_freqs(c, freqs, err);
}
