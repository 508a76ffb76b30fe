/* rope_angles.c: by which angle each pair of numbers turns at each position.
 *
 * Pair i of d/2 turns by position * speed_i, speed_i = base^(-2i/d), and the scalings that let a
 * model read further than it was trained to:
 *   LINEAR   speed / factor (Chen et al. 2023)
 *   DYNAMIC  base * (factor L / original - (factor - 1))^(d / (d-2)) in the place of base, with L
 *            the larger of `original` and the largest position of the row's sequence in this run
 *            + 1 ("NTK-aware" scaling)
 *   LLAMA3   a wave of at least original/low_freq_factor positions: speed / factor; of less than
 *            original/high_freq_factor: speed; between the two a mixture of both, linear in
 *            original / wave (Llama 3.1)
 *   YARN     from speed to speed / factor along a ramp over i, between the pairs that turn
 *            beta_fast and beta_slow times within `original`; cosines and sines times
 *            attention_factor (Peng et al. 2023)
 *   LONGROPE speed / short_factor_i, or / long_factor_i where the L of DYNAMIC is more than
 *            original; cosines and sines times attention_factor (Ding et al. 2024)
 * As transformers computes them, in double; there L is the longest of a batch, here a sequence does
 * not depend on its batch.
 * SPDX-License-Identifier: MIT
 */
#include "op/rope.h"

#include "op/gemm.h"

#include <inttypes.h>
#include <math.h>

#define TWO_PI 6.283185307179586

/* ---- Speeds ---- */

static double speed_llama3(const heed_rope_angles_attr *a, double speed) {
    double waves = (double)a->original * speed / TWO_PI; /* within `original` */
    if (waves < a->low) {
        return speed / a->factor;
    }
    double share = waves > a->high ? 1 : (waves - a->low) / (a->high - a->low);
    return (1 - share) * speed / a->factor + share * speed;
}

static double speed_yarn(const heed_rope_angles_attr *a, double speed, int64_t i) {
    double ramp = fmin(1, fmax(0, ((double)i - a->low) / (a->high - a->low)));
    return speed / a->factor * ramp + speed * (1 - ramp);
}

/* What a row's sequence decides: the base for DYNAMIC, 1 for LONGROPE beyond `original`. */
static double speed_of(const heed_rope_angles_attr *a, double decided, int64_t i) {
    double base = a->kind == HEED_ROPE_DYNAMIC ? decided : a->base;
    double speed = pow(base, -2.0 * (double)i / (double)a->d);
    switch ((heed_rope_kind)a->kind) {
    case HEED_ROPE_LINEAR:
        return speed / a->factor;
    case HEED_ROPE_LLAMA3:
        return speed_llama3(a, speed);
    case HEED_ROPE_YARN:
        return speed_yarn(a, speed, i);
    case HEED_ROPE_LONGROPE:
        return speed / a->part[decided > 0][i];
    case HEED_ROPE_PLAIN:
    case HEED_ROPE_DYNAMIC:
        break;
    }
    return speed;
}

/* ---- The node ---- */

typedef struct {
    heed_rope_angles_attr a;
    int64_t back; /* 1: turns the other way */
} node_attr;

typedef struct {
    const heed_work *w;
    const double *decided; /* of each row, where its sequence decides something */
} angle_job;

static void angle_rows(void *ctx, int64_t from, int64_t to) {
    const angle_job *j = ctx;
    const node_attr *attr = j->w->attr;
    const heed_rope_angles_attr *a = &attr->a;
    int64_t half = a->d / 2;
    const int32_t *position = j->w->in[0].data;
    heed_real *out = j->w->out[0].data;
    for (int64_t i = 0; i < half; i++) {
        double decided = j->decided ? j->decided[from] : 0, speed = speed_of(a, decided, i);
        for (int64_t r = from; r < to; r++) {
            if (j->decided && j->decided[r] != decided) {
                decided = j->decided[r];
                speed = speed_of(a, decided, i);
            }
            double angle = (double)position[r] * (attr->back ? -speed : speed);
            out[r * a->d + i] = (heed_real)(a->stretch * cos(angle));
            out[r * a->d + half + i] = (heed_real)(a->stretch * sin(angle));
        }
    }
}

static bool by_sequence(const heed_rope_angles_attr *a) {
    return a->kind == HEED_ROPE_DYNAMIC || a->kind == HEED_ROPE_LONGROPE;
}

static double decide(const heed_rope_angles_attr *a, int64_t longest) {
    if (a->kind == HEED_ROPE_LONGROPE) {
        return longest > a->original;
    }
    double length = (double)heed_max(longest, a->original);
    double grown = a->factor * length / (double)a->original - (a->factor - 1);
    return a->base * pow(grown, (double)a->d / (double)(a->d - 2));
}

static void decide_all(const heed_work *w, double *decided) {
    const node_attr *attr = w->attr;
    heed_cut cut = heed_work_cut(w, w->in[0].space);
    const int32_t *position = w->in[0].data;
    for (int64_t s = 0; s < cut.n; s++) {
        int64_t longest = 0;
        for (int64_t r = cut.starts[s]; r < cut.starts[s + 1]; r++) {
            longest = heed_max(longest, (int64_t)position[r] + 1);
        }
        double for_all = decide(&attr->a, longest);
        for (int64_t r = cut.starts[s]; r < cut.starts[s + 1]; r++) {
            decided[r] = for_all;
        }
    }
}

enum { COST = 30 }; /* of a cosine, in numbers moved */

static void run(const heed_work *w) {
    const node_attr *attr = w->attr;
    angle_job j = {.w = w};
    if (by_sequence(&attr->a)) {
        decide_all(w, w->scratch);
        j.decided = w->scratch;
    }
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, angle_rows, &j);
}

static size_t scratch(const heed_work *w) {
    const node_attr *attr = w->attr;
    return by_sequence(&attr->a) ? (size_t)w->in[0].rows * sizeof(double) : 0;
}

static const heed_op ANGLES = {.name = "rope angles", .run = run, .scratch = scratch};

heed_value heed_rope_angles(heed_build *b, heed_value positions, const heed_rope_angles_attr *a,
                            bool back) {
    node_attr attr = {.a = *a, .back = back};
    heed_shape shape = heed_like(b, positions, a->d);
    shape.cell = HEED_CELL_NUMBER;
    return heed_record_shared(b, &ANGLES, &attr, sizeof attr, 1, &positions, 1, &shape);
}

/* ---- From options to what is computed ---- */

/* The pair, as a real number, that turns so many times within `original`. */
static double pair_that_turns(double times, const heed_rope_angles_attr *a) {
    return (double)a->d * log((double)a->original / (times * TWO_PI)) / (2 * log(a->base));
}

static void set_ramp(const heed_rope_scaling *s, heed_rope_angles_attr *a) {
    double low = pair_that_turns(s->beta_fast > 0 ? s->beta_fast : 32, a);
    double high = pair_that_turns(s->beta_slow > 0 ? s->beta_slow : 1, a);
    a->low = fmax(s->untruncated ? low : floor(low), 0);
    a->high = fmin(s->untruncated ? high : ceil(high), (double)(a->d - 1));
    if (a->low == a->high) {
        a->high += 0.001; /* a step instead of a ramp */
    }
}

static double growth(double factor, double times) {
    return factor <= 1 ? 1 : 0.1 * times * log(factor) + 1;
}

static double yarn_stretch(const heed_rope_scaling *s) {
    if (s->attention_factor > 0) {
        return s->attention_factor;
    }
    if (s->mscale != 0 && s->mscale_all_dim != 0) {
        return growth(s->factor, s->mscale) / growth(s->factor, s->mscale_all_dim);
    }
    return growth(s->factor, 1);
}

static double long_stretch(const heed_rope_scaling *s) {
    if (s->attention_factor > 0) {
        return s->attention_factor;
    }
    return s->factor > 1 ? sqrt(1 + log(s->factor) / log((double)s->original)) : 1;
}

/* False, with the reason, where numbers by which pairs are slowed are missing or senseless. */
static bool parts_fit(heed_build *b, const heed_rope_scaling *s, int64_t pairs) {
    const double *part[2] = {s->short_factor, s->long_factor};
    for (int p = 0; p < 2; p++) {
        for (int64_t i = 0; i < pairs; i++) {
            if (!part[p] || !(part[p][i] > 0) || !isfinite(part[p][i])) {
                heed_refuse(b, HEED_VALUE,
                            "longrope wants a number above 0 for each of %" PRId64
                            " pairs as %s_factor",
                            pairs, p ? "long" : "short");
                return false;
            }
        }
    }
    if (s->original > 1) {
        return true;
    }
    heed_refuse(b, HEED_VALUE, "longrope wants a training with more than one position");
    return false;
}

static bool scaling_fits(heed_build *b, const heed_rope_scaling *s, double base, int64_t d) {
    if (s->kind == HEED_ROPE_PLAIN) {
        return true;
    }
    if (!(s->factor >= 1) || !isfinite(s->factor)) {
        heed_refuse(b, HEED_VALUE, "rope scaling wants a factor of at least 1, not %g", s->factor);
    } else if (s->kind != HEED_ROPE_LINEAR && s->original < 1) {
        heed_refuse(b, HEED_VALUE,
                    "rope scaling wants the number of positions of the training, not %" PRId64,
                    s->original);
    } else if (s->kind == HEED_ROPE_DYNAMIC && d < 4) {
        heed_refuse(b, HEED_SHAPE, "dynamic rope scaling wants at least two pairs a head");
    } else if (s->kind == HEED_ROPE_LLAMA3 &&
               !(s->low_freq_factor > 0 && s->high_freq_factor > s->low_freq_factor)) {
        heed_refuse(b, HEED_VALUE,
                    "rope scaling wants 0 < low_freq_factor < high_freq_factor, not %g and %g",
                    s->low_freq_factor, s->high_freq_factor);
    } else if (s->kind == HEED_ROPE_YARN && !(base > 1)) {
        heed_refuse(b, HEED_VALUE, "rope scaling by YaRN wants a base above 1, not %g", base);
    } else if ((unsigned)s->kind > HEED_ROPE_LONGROPE) {
        heed_refuse(b, HEED_VALUE, "there is no rope scaling number %d", (int)s->kind);
    } else {
        return s->kind != HEED_ROPE_LONGROPE || parts_fit(b, s, d / 2);
    }
    return false;
}

bool heed_rope_angles_of(heed_build *b, const heed_rope_options *o, int64_t d,
                         heed_rope_angles_attr *a) {
    const heed_rope_scaling *s = &o->scaling;
    if (!scaling_fits(b, s, o->base, d)) {
        return false;
    }
    *a = (heed_rope_angles_attr){.base = o->base, .stretch = 1, .d = d, .kind = s->kind};
    if (s->kind == HEED_ROPE_PLAIN) {
        return true;
    }
    a->factor = s->factor;
    a->original = s->original;
    if (s->kind == HEED_ROPE_LLAMA3) {
        a->low = s->low_freq_factor;
        a->high = s->high_freq_factor;
    } else if (s->kind == HEED_ROPE_YARN) {
        set_ramp(s, a);
        a->stretch = yarn_stretch(s);
    } else if (s->kind == HEED_ROPE_LONGROPE) {
        size_t bytes = (size_t)(d / 2) * sizeof(double);
        a->part[0] = heed_keep_data(b, s->short_factor, bytes);
        a->part[1] = heed_keep_data(b, s->long_factor, bytes);
        a->stretch = long_stretch(s);
        return a->part[0] && a->part[1];
    }
    return true;
}
