/* convert_weights.c: the numbers of weights, moved into the order that another format has.
 *
 * What differs between formats is told by two configs of one family: the order of a rotary pair's
 * rows, gains stored as they are or less 1, matrices input by output. All three are undone exactly,
 * but for a sum that rounds: a gain of 1 + w is what is computed with either way.
 * SPDX-License-Identifier: MIT
 */
#include "model/convert.h"

#include <math.h>
#include <string.h>

/* ---- Which weights ---- */

static int64_t find(const heed_model *m, const char *name) {
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++)
        if (!strcmp(heed_weights_at(m->weights, i)->name, name))
            return i;
    return -1;
}

/* What has no place in the target: a pooler alone may go, since it gives another output. */
static bool tell_left(const heed_conversion *c, heed_error *err) {
    bool told = false;
    for (int64_t i = 0; i < heed_weights_count(c->from->weights); i++) {
        const char *name = heed_weights_at(c->from->weights, i)->name;
        if (heed_weights_find(c->to->weights, name))
            continue;
        if (strncmp(name, "pooler.", 7) != 0)
            return heed_fail(err, HEED_VALUE, "weight '%s' has no place in '%s'", name, c->out);
        if (!told)
            heed_convert_note(c, "the pooler has no place in GGUF and is left out");
        told = true;
    }
    return true;
}

static bool has_same_size(const heed_weight_entry *a, const heed_weight_entry *b) {
    return (a->rows == b->rows && a->cols == b->cols) || (a->rows == b->cols && a->cols == b->rows);
}

bool heed_convert_match(heed_conversion *c, heed_error *err) {
    const heed_host *host = heed_model_host(c->from);
    size_t most = 0;
    for (int64_t i = 0; i < heed_weights_count(c->to->weights); i++) {
        const heed_weight_entry *to = heed_weights_at(c->to->weights, i);
        const heed_weight_entry *from = heed_weights_find(c->from->weights, to->name);
        if (!from || !has_same_size(from, to))
            return heed_fail(err, HEED_VALUE, "'%s' wants a weight '%s', which '%s' does not have",
                             c->out, to->name, c->path);
        size_t n = (size_t)(to->rows * to->cols);
        most = n > most ? n : most;
    }
    if (!tell_left(c, err))
        return false;
    c->read = heed_alloc(host, most, sizeof *c->read, err);
    c->moved = c->read ? heed_alloc(host, most, sizeof *c->moved, err) : NULL;
    c->bytes = c->moved ? heed_alloc(host, most, sizeof(uint16_t), err) : NULL;
    return c->bytes != NULL;
}

void heed_convert_release(heed_conversion *c) {
    if (!c->from)
        return;
    heed_free(heed_model_host(c->from), c->read);
    heed_free(heed_model_host(c->from), c->moved);
    heed_free(heed_model_host(c->from), c->bytes);
}

/* ---- In which order ---- */

typedef enum { AS_IT_IS, TURNED, PAIRED, UNPAIRED, PLUS_ONE, LESS_ONE } move;

static bool is_one_of(const char *name, const char *const *patterns) {
    for (; *patterns; patterns++)
        if (heed_name_matches(*patterns, name))
            return true;
    return false;
}

static move move_of(const heed_conversion *c, const heed_weight_entry *e) {
    static const char *const matrices[] = {"decoder.*.*.*.weight", NULL};
    static const char *const turned[] = {"decoder.*.self.q.*", "decoder.*.self.k.*", NULL};
    static const char *const gains[] = {"decoder.*.*.norm.weight", "decoder.norm.weight", NULL};
    const heed_config *from = &c->from->config, *to = &c->to->config;
    if (from->output_by_input != to->output_by_input && !e->vector && is_one_of(e->name, matrices))
        return TURNED;
    if (from->decoder.positions != to->decoder.positions && is_one_of(e->name, turned))
        return to->decoder.positions == HEED_POSITIONS_ROPE ? UNPAIRED : PAIRED;
    if (from->norm_one_plus != to->norm_one_plus && is_one_of(e->name, gains))
        return from->norm_one_plus ? PLUS_ONE : LESS_ONE;
    return AS_IT_IS;
}

/* to: rows x cols */
static void turn(const float *from, float *to, int64_t rows, int64_t cols) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[i * cols + j] = from[j * rows + i];
}

/* Of each head the first `turned` rows: i and i + turned/2 side by side, or apart again. */
static void pair(const float *from, float *to, const heed_stack *s, int64_t rows, int64_t cols,
                 bool apart) {
    int64_t head = s->head_width ? s->head_width : s->width / s->heads;
    int64_t turned = s->rope_turned ? s->rope_turned : head;
    for (int64_t r = 0; r < rows; r++) {
        int64_t in = r % head, half = in / (turned / 2), i = in % (turned / 2);
        int64_t other = in < turned ? r - in + 2 * i + half : r;
        memcpy(to + (apart ? r : other) * cols, from + (apart ? other : r) * cols,
               (size_t)cols * sizeof *to);
    }
}

/* What is to be written, in c->read or c->moved. */
static const float *moved(heed_conversion *c, const heed_weight_entry *e) {
    move how = move_of(c, e);
    int64_t n = e->rows * e->cols;
    switch (how) {
    case AS_IT_IS:
        return c->read;
    case TURNED:
        turn(c->read, c->moved, e->rows, e->cols);
        break;
    case PAIRED:
    case UNPAIRED: /* a bias is a row for each of its numbers */
        pair(c->read, c->moved, &c->to->config.decoder, e->vector ? n : e->rows,
             e->vector ? 1 : e->cols, how == UNPAIRED);
        break;
    case PLUS_ONE:
    case LESS_ONE:
        for (int64_t i = 0; i < n; i++)
            c->moved[i] = how == PLUS_ONE ? 1 + c->read[i] : c->read[i] - 1;
        break;
    }
    return c->moved;
}

/* ---- As which type ---- */

static bool narrow(heed_conversion *c, const heed_tensor *t, const float *x, heed_error *err) {
    int64_t n = heed_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) {
        uint16_t h = t->type == HEED_F16 ? heed_f16_from_f32(x[i]) : heed_bf16_from_f32(x[i]);
        float back = t->type == HEED_F16 ? heed_f32_from_f16(h) : heed_f32_from_bf16(h);
        if (isinf(back) && !isinf(x[i]))
            return heed_fail(err, HEED_VALUE, "weight '%s' holds %g, which %s cannot; use %s",
                             t->name, (double)x[i], t->type == HEED_F16 ? "f16" : "bf16",
                             t->type == HEED_F16 ? "bf16 or f32" : "f32");
        memcpy(c->bytes + (size_t)i * sizeof h, &h, sizeof h);
    }
    return true;
}

const void *heed_convert_bytes(void *ctx, const heed_tensor *t, heed_error *err) {
    heed_conversion *c = ctx;
    const heed_convert_item *item = t->data;
    const heed_tensor *stored = NULL;
    if (!item->weight)
        return item->table;
    if (!heed_model_stored(c->from, find(c->from, item->weight->name), &stored, err))
        return NULL;
    if (stored && stored->type == t->type && move_of(c, item->weight) == AS_IT_IS)
        return stored->data;
    if (!stored)
        memset(c->read, 0, (size_t)heed_tensor_elements(t) * sizeof *c->read);
    else if (!heed_tensor_to_f32(stored, c->read, err))
        return NULL;
    const float *x = moved(c, item->weight);
    if (t->type == HEED_F32)
        return x;
    return narrow(c, t, x, err) ? c->bytes : NULL;
}
