/* diff.c: two models, or two forms of one, on the same input: where their values part.
 *
 * Both are run with all their named values watched; what has the same path in both is compared, in
 * the order in which the first computes it. Nothing is computed a second time.
 * SPDX-License-Identifier: MIT
 */
#include "heed_look.h"

#include "base/error.h"
#include "base/mem.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    const heed_model *model;
    heed_plan *plan;
    heed_session *session;
} side;

static void drop(side *s) {
    heed_session_free(s->session);
    heed_plan_free(s->plan);
}

static bool plan(side *s, const heed_diff_input *in, heed_error *err) {
    const heed_config *c = heed_model_config(s->model);
    static const char *const watch[] = {"**", NULL};
    heed_build *b =
        heed_build_new(heed_model_engine(s->model), HEED_INFER, heed_model_weights(s->model), err);
    if (!b)
        return false;
    heed_model_record(s->model, b, &(heed_want){.logits = c->head != HEED_HEAD_NONE});
    heed_capacity capacity[3] = {{0}};
    int spaces = 0;
    if (c->kind != HEED_DECODER)
        capacity[spaces++] = (heed_capacity){"source", in->n, 1, in->n, 0};
    if (c->kind == HEED_DECODER)
        capacity[spaces++] = (heed_capacity){"target", in->n, 1, in->n, 0};
    else if (c->kind == HEED_ENCODER_DECODER)
        capacity[spaces++] = (heed_capacity){"target", in->targets, 1, in->targets, 0};
    s->plan = heed_plan_new(b, &(heed_plan_options){.capacity = capacity, .watch = watch}, err);
    s->session = s->plan ? heed_session_new(s->plan, err) : NULL;
    return s->session != NULL;
}

static bool cut(side *s, const char *space, int64_t rows, heed_error *err) {
    const int64_t starts[] = {0, rows};
    return heed_set_rows(s->session, space, 1, starts, NULL, err);
}

static void fill(side *s, const char *name, const int32_t *id, int64_t n) {
    int32_t *to = heed_ints(s->session, name);
    for (int64_t i = 0; to && i < n; i++)
        to[i] = id ? id[i] : 0;
}

static bool run(side *s, const heed_diff_input *in, heed_error *err) {
    const heed_config *c = heed_model_config(s->model);
    heed_model_kind kind = c->kind;
    if (c->channels)
        return heed_fail(err, HEED_VALUE, "family '%s' reads pictures, not token ids", c->family);
    if (kind == HEED_ENCODER_DECODER && in->targets < 1)
        return heed_fail(err, HEED_VALUE, "an encoder-decoder wants ids for its decoder too");
    if (!plan(s, in, err) || (kind != HEED_DECODER && !cut(s, "source", in->n, err)))
        return false;
    if (kind != HEED_ENCODER && !cut(s, "target", kind == HEED_DECODER ? in->n : in->targets, err))
        return false;
    fill(s, "input_ids", in->id, in->n);
    fill(s, "token_type_ids", NULL, in->n);
    fill(s, "decoder_input_ids", in->target, in->targets);
    return heed_run(s->session, err);
}

static double largest(heed_matrix m) {
    double most = 0;
    for (int64_t i = 0; i < m.rows * m.cols; i++)
        most = fabs((double)m.data[i]) > most ? fabs((double)m.data[i]) : most;
    return most;
}

/* Two numbers that are no numbers are the same; one alone is as far off as can be. */
static double apart(double x, double y) {
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    return x == y ? 0 : fabs(x - y);
}

static void compare(heed_difference *d, heed_matrix a, heed_matrix b) {
    d->rows = a.rows;
    d->cols = a.cols;
    d->same_shape = a.rows == b.rows && a.cols == b.cols;
    if (!d->same_shape) {
        d->other_rows = b.rows;
        d->other_cols = b.cols;
        d->difference = INFINITY;
        return;
    }
    d->other_rows = a.rows;
    d->other_cols = a.cols;
    d->largest = largest(a);
    for (int64_t i = 0; i < a.rows * a.cols; i++) {
        double by = apart((double)a.data[i], (double)b.data[i]);
        if (i && !(by > d->difference))
            continue;
        d->difference = by;
        d->row = i / a.cols;
        d->col = i % a.cols;
        d->a = (double)a.data[i];
        d->b = (double)b.data[i];
    }
}

/* Named values that are numbers. */
static int64_t numbers(const side *s) {
    int64_t n = 0;
    for (int64_t i = 0; i < heed_watched_count(s->plan); i++)
        n += heed_read(s->session, heed_watched_path(s->plan, i)).data != NULL;
    return n;
}

static bool beyond(const heed_difference *d, double bound) {
    return !(d->difference <= bound * (d->largest > 0 ? d->largest : 1));
}

static bool compare_all(const side *a, const side *b, double bound, heed_differences *out,
                        heed_error *err) {
    int64_t n = heed_watched_count(a->plan);
    out->item = heed_alloc(out->host, (size_t)n, sizeof *out->item, err);
    if (!out->item)
        return false;
    for (int64_t i = 0; i < n; i++) {
        const char *path = heed_watched_path(a->plan, i);
        heed_difference *d = &out->item[out->n];
        heed_matrix x = heed_read(a->session, path);
        if (!x.data) /* integers that were given */
            continue;
        heed_matrix y = heed_read(b->session, path);
        if (!y.data) {
            out->lonely++;
            continue;
        }
        *d = (heed_difference){.path = heed_copy_text(out->host, path, strlen(path), err)};
        if (!d->path)
            return false;
        compare(d, x, y);
        if (out->first < 0 && beyond(d, bound))
            out->first = out->n;
        out->n++;
    }
    out->lonely += numbers(b) - out->n;
    return true;
}

bool heed_diff(heed_model *a, heed_model *b, const heed_diff_input *input, double bound,
               heed_differences *out, heed_error *err) {
    side sides[2] = {{.model = a}, {.model = b}};
    *out = (heed_differences){.host = heed_model_host(a), .first = -1};
    if (input->n < 1 || !(bound >= 0))
        return heed_fail(err, HEED_VALUE,
                         "%" PRId64 " ids and a bound of %g: wanted 1 or more, and "
                         "0 or more",
                         input->n, bound);
    bool fine = run(&sides[0], input, err) && run(&sides[1], input, err) &&
                compare_all(&sides[0], &sides[1], bound, out, err);
    drop(&sides[0]);
    drop(&sides[1]);
    if (!fine)
        heed_differences_free(out);
    return fine;
}

void heed_differences_free(heed_differences *out) {
    for (int64_t i = 0; i < out->n; i++)
        heed_free(out->host, (char *)(uintptr_t)out->item[i].path);
    heed_free(out->host, out->item);
    *out = (heed_differences){.first = -1};
}
