/* Attention of one head, forward and backward, against the formulas in double.
 *
 * The bounds follow from the arithmetic: a score s is off by e(s) = (width+4) u (sum |q k| scale +
 * |bias| + |s|), and by 8 u |s| more where it is capped; the slope of the cap by 2 e(s)/cap + 12 u;
 * a weight, as exp of a difference of scores, by the share 2 max e + (keys + 16) u of itself, and
 * sums add (terms + 2) u.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

/* A weight below the smallest normal number may come out as 0, in its piece or in the merge. */
#define FLOOR 0x1p-124

enum { MAX_KEYS = 200, MAX_QUERIES = 40, MAX_WIDTH = 264, ROWS = 256 };

typedef struct {
    int64_t queries, keys, width, value_width;
    bool causal, window, mask, bias, slope, cap, drop, gather, watch, steep;
    int64_t reach; /* of the bias */
    int shift;
} setup;

static float q[MAX_QUERIES * MAX_WIDTH + 16], k[ROWS * MAX_WIDTH + 16], v[ROWS * MAX_WIDTH + 16];
static float d_out[MAX_QUERIES * MAX_WIDTH + 16], bias[2 * ROWS];
static float d_bias[2 * ROWS];
static int32_t rows[ROWS], begin[MAX_QUERIES], end[MAX_QUERIES], q_pos[MAX_QUERIES], k_pos[ROWS];
static uint8_t mask[MAX_QUERIES * MAX_KEYS], keep[MAX_QUERIES * MAX_KEYS];
static walled out_w, lse_w, d_q_w;
static float weights[MAX_QUERIES * (MAX_KEYS + 1)];
static float d_k[MAX_KEYS * MAX_WIDTH + 1], d_v[MAX_KEYS * MAX_WIDTH + 1];

static bool allowed(const heed_attention *a, int64_t i, int64_t j) {
    return j >= a->begin[i] && j < a->end[i] && (!a->mask || a->mask[i * a->mask_stride + j]);
}

static void fill(float *to, int64_t n, dice *d, float size) {
    for (int64_t i = 0; i < n; i++) {
        to[i] = roll_between(d, -size, size);
    }
}

static void fill_limits(const setup *s, dice *d) {
    for (int64_t i = 0; i < s->queries; i++) {
        begin[i] = 0;
        end[i] = (int32_t)s->keys;
        if (s->causal) {
            end[i] = (int32_t)(s->keys - s->queries + i + 1 < 0 ? 0 : s->keys - s->queries + i + 1);
        }
        if (s->window) {
            begin[i] = end[i] > 7 ? end[i] - 7 : 0;
        }
        q_pos[i] = (int32_t)(s->keys - s->queries + i);
        for (int64_t j = 0; j < s->keys; j++) {
            mask[i * MAX_KEYS + j] =
                roll(d) % 4 != 0 && i % 5 != 3; /* every fifth query sees nothing */
            keep[i * MAX_KEYS + j] = roll(d) % 8 != 0;
        }
    }
    for (int64_t j = 0; j < s->keys; j++) {
        k_pos[j] = (int32_t)j;
    }
}

/* Every row of k and v that no key uses, or that no query may see, becomes NaN. */
static void poison(const heed_attention *a, const setup *s) {
    bool used[ROWS] = {false};
    for (int64_t j = 0; j < a->keys; j++) {
        for (int64_t i = 0; i < a->queries; i++) {
            used[a->rows ? a->rows[j] : j] |= allowed(a, i, j);
        }
    }
    for (int64_t r = 0; r < ROWS; r++) {
        if (used[r]) {
            continue;
        }
        for (int64_t x = 0; x < s->width; x++) {
            k[s->shift + r * s->width + x] = NAN;
        }
        for (int64_t x = 0; x < s->value_width; x++) {
            v[s->shift + r * s->value_width + x] = NAN;
        }
    }
}

static heed_attention make(const setup *s, dice *d) {
    fill(q, MAX_QUERIES * MAX_WIDTH + 16, d, 2);
    fill(k, ROWS * MAX_WIDTH + 16, d, 2);
    fill(v, ROWS * MAX_WIDTH + 16, d, 2);
    fill(d_out, MAX_QUERIES * MAX_WIDTH + 16, d, 2);
    fill(bias, 2 * ROWS, d, 3);
    fill_limits(s, d);
    for (int32_t j = 0; j < ROWS; j++) {
        rows[j] = (j * 37 + 11) % ROWS;
    }
    memset(d_bias, 0, sizeof d_bias);
    memset(d_k, 0, sizeof d_k);
    memset(d_v, 0, sizeof d_v);
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        weights[i] = NAN;
    }
    heed_attention a = {.queries = s->queries,
                        .keys = s->keys,
                        .width = s->width,
                        .value_width = s->value_width,
                        .q = q + s->shift,
                        .q_stride = s->width,
                        .k = k + s->shift,
                        .k_stride = s->width,
                        .v = v + s->shift,
                        .v_stride = s->value_width,
                        .rows = s->gather ? rows : NULL,
                        .scale = (s->steep ? 100 : 1) / sqrtf((float)s->width),
                        .begin = begin,
                        .end = end,
                        .mask = s->mask ? mask : NULL,
                        .mask_stride = MAX_KEYS,
                        .bias = s->bias ? bias + ROWS : NULL,
                        .bias_reach = s->reach,
                        .slope = s->slope ? 0.3 : 0,
                        .cap = s->cap ? 2.5f : 0,
                        .q_pos = q_pos,
                        .k_pos = k_pos,
                        .keep = s->drop ? keep : NULL,
                        .keep_stride = MAX_KEYS,
                        .keep_scale = 8.0f / 7,
                        .out = walled_make(&out_w, s->queries * s->value_width, s->shift),
                        .out_stride = s->value_width,
                        .lse = walled_make(&lse_w, s->queries, s->shift),
                        .weights = s->watch ? weights : NULL,
                        .weights_stride = MAX_KEYS + 1,
                        .d_out = d_out + s->shift,
                        .d_out_stride = s->value_width,
                        .d_q = walled_make(&d_q_w, s->queries * s->width, s->shift),
                        .d_q_stride = s->width,
                        .d_k = d_k,
                        .d_k_stride = s->width,
                        .d_v = d_v,
                        .d_v_stride = s->value_width,
                        .d_bias = s->bias ? d_bias + ROWS : NULL};
    memset(a.d_q, 0, (size_t)(s->queries * s->width) * sizeof *a.d_q);
    poison(&a, s);
    return a;
}

/* ---- The formulas, in double, with their bounds ---- */

typedef struct {
    double score[MAX_KEYS], weight[MAX_KEYS], lse, off; /* off: relative error of a weight */
    double grown[MAX_KEYS], grown_off[MAX_KEYS];        /* slope of the cap, and its error */
    double out[MAX_WIDTH], out_size[MAX_WIDTH], lost[MAX_WIDTH];
} truth;

static const float *key_of(const heed_attention *a, int64_t j) {
    return a->k + (a->rows ? a->rows[j] : j) * a->k_stride;
}
static const float *value_of(const heed_attention *a, int64_t j) {
    return a->v + (a->rows ? a->rows[j] : j) * a->v_stride;
}
static double kept(const heed_attention *a, int64_t i, int64_t j) {
    if (!a->keep) {
        return 1;
    }
    return a->keep[i * a->keep_stride + j] ? (double)a->keep_scale : 0;
}

/* The place of a pair's bias, and what the distance adds to the score. */
static int64_t bias_place(const heed_attention *a, int64_t i, int64_t j) {
    int64_t d = (int64_t)a->k_pos[j] - a->q_pos[i], most = a->bias_reach;
    return d < -most ? -most : d > most ? most : d;
}
static double bias_of(const heed_attention *a, int64_t i, int64_t j, double *size) {
    double far = a->slope * fabs((double)a->k_pos[j] - (double)a->q_pos[i]);
    double b = a->bias ? (double)a->bias[bias_place(a, i, j)] : 0;
    *size = far + fabs(b);
    return b - far;
}

/* Caps a score that is off by e; returns the error of the result. */
static double cap_score(const heed_attention *a, int64_t j, double e, truth *t) {
    double s = t->score[j], cap = (double)a->cap;
    t->grown[j] = 1;
    t->grown_off[j] = 0;
    if (cap == 0) {
        return e;
    }
    t->score[j] = cap * tanh(s / cap);
    t->grown[j] = 1 - tanh(s / cap) * tanh(s / cap);
    t->grown_off[j] = 2 * e / cap + 12 * U;
    return e + 8 * U * fabs(s);
}

static void true_scores(const heed_attention *a, int64_t i, truth *t) {
    double worst = 0, max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < a->keys; j++) {
        if (!allowed(a, i, j)) {
            continue;
        }
        double s = 0, size = 0;
        for (int64_t x = 0; x < a->width; x++) {
            double y = (double)a->q[i * a->q_stride + x] * (double)key_of(a, j)[x];
            s += y;
            size += fabs(y);
        }
        double b_size, b = bias_of(a, i, j, &b_size);
        t->score[j] = (double)a->scale * s;
        double off = (double)(a->width + 4) * U * (size * (double)a->scale + fabs(t->score[j]));
        off = cap_score(a, j, off, t);
        t->score[j] += b;
        off += (double)(a->width + 4) * U * (b_size + fabs(t->score[j]));
        worst = fmax(worst, off);
        max = fmax(max, t->score[j]);
    }
    for (int64_t j = 0; j < a->keys; j++) {
        if (allowed(a, i, j)) {
            sum += exp(t->score[j] - max);
        }
    }
    t->lse = sum > 0 ? max + log(sum) : -INFINITY;
    t->off = 2 * worst + (double)(a->keys + 16) * U;
    for (int64_t j = 0; j < a->keys; j++) {
        t->weight[j] = allowed(a, i, j) ? exp(t->score[j] - t->lse) : 0;
    }
}

static void true_out(const heed_attention *a, int64_t i, truth *t) {
    for (int64_t x = 0; x < a->value_width; x++) {
        t->out[x] = t->out_size[x] = t->lost[x] = 0;
        for (int64_t j = 0; j < a->keys; j++) {
            if (!allowed(a, i, j)) {
                continue;
            }
            double y = t->weight[j] * kept(a, i, j) * (double)value_of(a, j)[x];
            t->out[x] += y;
            t->out_size[x] += fabs(y);
            t->lost[x] += FLOOR * fabs((double)value_of(a, j)[x]);
        }
    }
}

static void check_forward(const heed_kernels *set, const heed_attention *a) {
    static truth t;
    for (int64_t i = 0; i < a->queries; i++) {
        true_scores(a, i, &t);
        true_out(a, i, &t);
        double sums = t.off + (double)(a->keys + 8) * U;
        for (int64_t x = 0; x < a->value_width; x++) {
            check_near((double)a->out[i * a->out_stride + x], t.out[x],
                       sums * t.out_size[x] + t.lost[x], set->isa, x, i);
        }
        check_near((double)a->lse[i], t.lse, t.off + 4 * U * fabs(t.lse), "lse", i, a->queries);
        for (int64_t j = 0; a->weights && j < a->keys; j++) {
            check_near((double)a->weights[i * a->weights_stride + j], t.weight[j],
                       (2 * t.off + 4 * U * fabs(t.lse)) * t.weight[j] + FLOOR, "weights", j, i);
        }
    }
}

static double want_q[MAX_QUERIES * MAX_WIDTH], size_q[MAX_QUERIES * MAX_WIDTH];
static double want_k[MAX_KEYS * MAX_WIDTH], size_k[MAX_KEYS * MAX_WIDTH];
static double want_v[MAX_KEYS * MAX_WIDTH], size_v[MAX_KEYS * MAX_WIDTH];
static double want_bias[2 * ROWS], size_bias[2 * ROWS];

static void add_pair(const heed_attention *a, int64_t i, int64_t j, const truth *t, double d_score,
                     double off) {
    double w = t->weight[j] * kept(a, i, j), d_dot = d_score * t->grown[j];
    double dot_off = off * (t->grown[j] + t->grown_off[j]) + fabs(d_score) * t->grown_off[j];
    for (int64_t x = 0; x < a->value_width; x++) {
        double y = w * (double)a->d_out[i * a->d_out_stride + x];
        want_v[j * a->value_width + x] += y;
        size_v[j * a->value_width + x] +=
            fabs(y) * 2 * t->off + FLOOR * fabs((double)a->d_out[i * a->d_out_stride + x]);
    }
    for (int64_t x = 0; x < a->width; x++) {
        double from_q = (double)a->scale * (double)a->q[i * a->q_stride + x];
        double from_k = (double)a->scale * (double)key_of(a, j)[x];
        want_k[j * a->width + x] += d_dot * from_q;
        size_k[j * a->width + x] += dot_off * fabs(from_q);
        want_q[i * a->width + x] += d_dot * from_k;
        size_q[i * a->width + x] += dot_off * fabs(from_k);
    }
    if (a->bias) {
        want_bias[ROWS + bias_place(a, i, j)] += d_score;
        size_bias[ROWS + bias_place(a, i, j)] += off;
    }
}

static void add_query(const heed_attention *a, int64_t i) {
    static truth t;
    true_scores(a, i, &t);
    true_out(a, i, &t);
    double share = 0, share_size = 0;
    for (int64_t x = 0; x < a->value_width; x++) {
        share += (double)a->d_out[i * a->d_out_stride + x] * t.out[x];
        share_size += fabs((double)a->d_out[i * a->d_out_stride + x]) * t.out_size[x];
    }
    for (int64_t j = 0; j < a->keys; j++) {
        if (!allowed(a, i, j)) {
            continue;
        }
        double d_w = 0, size = 0;
        for (int64_t x = 0; x < a->value_width; x++) {
            double y = kept(a, i, j) * (double)a->d_out[i * a->d_out_stride + x] *
                       (double)value_of(a, j)[x];
            d_w += y;
            size += fabs(y);
        }
        /* the weight and the share are off by t.off, the two dot products by their lengths; the
         * sums over keys or queries that take it in add their own lengths */
        double off = 2 * t.off + (double)(a->value_width + a->keys + a->queries + 8) * U;
        add_pair(a, i, j, &t, t.weight[j] * (d_w - share),
                 (2 * off * t.weight[j] + FLOOR) * (size + share_size));
    }
}

static void check_all(const float *got, const double *want, const double *allowed_error, int64_t n,
                      const char *what) {
    for (int64_t i = 0; i < n; i++) {
        check_near((double)got[i], want[i], allowed_error[i], what, i, n);
    }
}

static void check_back(const heed_kernels *set, const heed_attention *a) {
    memset(want_q, 0, sizeof want_q), memset(size_q, 0, sizeof size_q);
    memset(want_k, 0, sizeof want_k), memset(size_k, 0, sizeof size_k);
    memset(want_v, 0, sizeof want_v), memset(size_v, 0, sizeof size_v);
    memset(want_bias, 0, sizeof want_bias), memset(size_bias, 0, sizeof size_bias);
    for (int64_t i = 0; i < a->queries; i++) {
        add_query(a, i);
    }
    set->attention_back(a);
    check_all(a->d_q, want_q, size_q, a->queries * a->width, "d_q");
    check_all(a->d_k, want_k, size_k, a->keys * a->width, "d_k");
    check_all(a->d_v, want_v, size_v, a->keys * a->value_width, "d_v");
    if (a->d_bias) {
        check_all(d_bias, want_bias, size_bias, 2 * ROWS, "d_bias");
    }
}

static setup random_setup(dice *d) {
    static const int64_t WIDTHS[] = {1,  2,  5,  8,  15, 16, 24,  31,  32, 33,
                                     40, 63, 64, 65, 72, 80, 128, 256, 264};
    enum { COUNT = sizeof WIDTHS / sizeof WIDTHS[0] };
    setup s = {.queries = roll_below(d, MAX_QUERIES + 1),
               .width = WIDTHS[roll_below(d, COUNT)],
               .keys = roll(d) % 3 ? roll_below(d, 50) : roll_below(d, MAX_KEYS + 1),
               .value_width = WIDTHS[roll_below(d, COUNT)],
               .causal = roll(d) % 2,
               .window = roll(d) % 4 == 0,
               .mask = roll(d) % 3 == 0,
               .bias = roll(d) % 3 == 0,
               .slope = roll(d) % 4 == 0,
               .cap = roll(d) % 4 == 0,
               .reach = roll(d) % 2 ? ROWS - 1 : roll_below(d, 9),
               .drop = roll(d) % 3 == 0,
               .gather = roll(d) % 3 == 0,
               .watch = roll(d) % 2,
               .steep = roll(d) % 4 == 0,
               .shift = (int)roll_below(d, 16)};
    return s;
}

static void check_attention(const heed_kernels *set) {
    dice d = {2};
    for (int round = 0; round < 300; round++) {
        setup s = random_setup(&d);
        heed_attention a = make(&s, &d);
        set->attention(&a);
        check_forward(set, &a);
        check_back(set, &a);
        walled_check(&out_w, set->isa);
        walled_check(&lse_w, set->isa);
        walled_check(&d_q_w, set->isa);
    }
}

static void test_attention(void **state) {
    (void)state;
    FOR_EACH_SET(attention, check_attention);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
