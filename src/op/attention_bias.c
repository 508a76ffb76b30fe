/* attention_bias.c: biases that are a function of the distance key position - query position.
 *
 *   ALiBi: -slope * |distance|. Slopes of n heads, n a power of two: 2^(-8i/n), i = 1 ... n; for
 * other n those of the power below, then every second one of the power above. T5: a learned number
 * for each bucket of distances: small distances have one bucket each, larger ones share buckets
 * that widen logarithmically up to max_distance. Causal: distances behind a query only; otherwise
 *   half of the buckets belong to keys before it and half to keys behind.
 * Source: Press et al. 2022; Raffel et al. 2020 and its published code, whose float arithmetic
 * decides where a bucket ends.
 * SPDX-License-Identifier: MIT
 */
#include "op/attention.h"

#include "op/gemm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- ALiBi ---- */

static double slope_of_power(int64_t power, int64_t i) {
    return exp2(-8.0 * (double)(i + 1) / (double)power);
}

double heed_attend_slope(int64_t heads, int64_t head) {
    int64_t power = 1;
    while (2 * power <= heads) {
        power *= 2;
    }
    return head < power ? slope_of_power(power, head)
                        : slope_of_power(2 * power, 2 * (head - power));
}

/* ---- T5 ---- */

typedef struct {
    int64_t buckets, max_distance, causal;
} bucket_attr;

/* Bucket of a distance that is not negative, among `buckets` of one direction. */
static int64_t bucket_one_way(int64_t distance, int64_t buckets, int64_t max_distance) {
    int64_t exact = buckets / 2;
    if (distance < exact) {
        return distance;
    }
    float share = logf((float)distance / (float)exact) /
                  (float)log((double)max_distance / (double)exact) * (float)(buckets - exact);
    return heed_min(exact + (int64_t)share, buckets - 1);
}

static int64_t bucket_of(const bucket_attr *a, int64_t distance) {
    if (a->causal) {
        return bucket_one_way(heed_max(0, -distance), a->buckets, a->max_distance);
    }
    int64_t half = a->buckets / 2;
    int64_t bucket = bucket_one_way(distance < 0 ? -distance : distance, half, a->max_distance);
    return distance > 0 ? half + bucket : bucket;
}

static void run_buckets(const heed_work *w) {
    const bucket_attr *a = w->attr;
    int32_t *out = w->out[0].data;
    for (int64_t i = 0; i < w->out[0].rows; i++) {
        out[i] = (int32_t)bucket_of(a, i - a->max_distance);
    }
}

static const heed_op BUCKETS = {.name = "distance buckets", .run = run_buckets};

heed_value heed_attend_bucket_of(heed_build *b, int64_t buckets, int64_t max_distance,
                                 bool causal) {
    int64_t one_way = causal ? buckets : buckets / 2;
    if (one_way < 2 || (!causal && buckets % 2) || max_distance <= one_way / 2) {
        return heed_refuse(b, HEED_SHAPE,
                           "%" PRId64 " buckets up to distance %" PRId64 " cannot be cut", buckets,
                           max_distance);
    }
    bucket_attr attr = {.buckets = buckets, .max_distance = max_distance, .causal = causal};
    heed_shape shape = heed_fixed(2 * max_distance + 1, 1);
    shape.cell = HEED_CELL_INT;
    return heed_record_shared(b, &BUCKETS, &attr, sizeof attr, 0, NULL, 1, &shape);
}

/* Bucket of a distance in [-reach, reach]. */
static int32_t bucket_at(const heed_attend_frame *f, int64_t distance) {
    const int32_t *bucket = f->w->in[HEED_ATTEND_BUCKET_OF].data;
    return bucket[distance + f->reach];
}

/* ---- Tables by distance: beyond max_distance all share the last bucket ---- */

static int64_t span_of(const heed_attend_frame *f) {
    return 2 * f->reach + 1;
}

static void fill_heads(void *ctx, int64_t from, int64_t to) {
    const heed_attend_frame *f = ctx;
    const heed_real *table = f->w->in[HEED_ATTEND_BUCKETS].data;
    for (int64_t h = from; h < to; h++) {
        heed_real *zero = f->bias + h * span_of(f) + f->reach;
        for (int64_t d = -f->reach; d <= f->reach; d++) {
            zero[d] = table[bucket_at(f, d) * f->a->heads + h];
        }
    }
}

void heed_attend_fill_bias(const heed_attend_frame *f) {
    heed_rows_run(f->w, f->a->heads, 2 * span_of(f), fill_heads, (void *)f);
}

void heed_attend_clear_d_bias(const heed_attend_frame *f, int64_t head) {
    memset(f->d_bias + head * span_of(f), 0, (size_t)span_of(f) * sizeof *f->d_bias);
}

void heed_attend_add_d_bias(const heed_attend_frame *f, int64_t head) {
    heed_real *sum = f->w->in[HEED_ATTEND_D_BUCKETS].data;
    const heed_real *zero = f->d_bias + head * span_of(f) + f->reach;
    for (int64_t d = -f->reach; d <= f->reach; d++) {
        sum[bucket_at(f, d) * f->a->heads + head] += zero[d];
    }
}
