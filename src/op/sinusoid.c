/* sinusoid.c: sinusoidal positions, from a table made once.
 *
 *   interleaved: column 2i is sin(position / 10000^(2i/d)), column 2i+1 its cosine
 *   else:        columns [0, ceil(d/2)) are the sines in that order, the rest the cosines (Marian,
 * Pegasus) Source: Vaswani et al. 2017, section 3.5.
 * SPDX-License-Identifier: MIT
 */
#include "op/sinusoid.h"

#include "graph/op.h"
#include "heed_ops.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
    int64_t interleaved;
} table_attr;

/* Column c of the table: which frequency, and whether its cosine. */
static int64_t frequency(int64_t c, int64_t d, bool interleaved, bool *cosine) {
    int64_t sines = (d + 1) / 2;
    *cosine = interleaved ? c % 2 : c >= sines;
    if (interleaved) {
        return c / 2;
    }
    return *cosine ? c - sines : c;
}

void heed_fill_sinusoids(heed_real *table, int64_t d, bool interleaved, int64_t from, int64_t to) {
    for (int64_t c = 0; c < d; c++) {
        bool cosine;
        int64_t i = frequency(c, d, interleaved, &cosine);
        double speed = pow(10000.0, -2.0 * (double)i / (double)d);
        for (int64_t position = from; position < to; position++) {
            double angle = (double)position * speed;
            table[position * d + c] = (heed_real)(cosine ? cos(angle) : sin(angle));
        }
    }
}

static void table_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const table_attr *a = w->attr;
    heed_fill_sinusoids(w->out[0].data, w->out[0].cols, a->interleaved, from, to);
}

enum { COST = 30 }; /* of a sine, in numbers moved */

static void run(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, table_rows, (void *)w);
}

static const heed_op TABLE = {.name = "sinusoids", .run = run};

heed_value heed_sinusoid(heed_build *b, heed_value positions, int64_t d, int64_t longest,
                         bool interleaved) {
    if (!positions.id) {
        return positions;
    }
    if (d < 1 || longest < 1) {
        return heed_refuse(b, HEED_SHAPE,
                           "sinusoids of width %" PRId64 " for %" PRId64
                           " positions: both must be at least 1",
                           d, longest);
    }
    table_attr attr = {.interleaved = interleaved};
    heed_shape shape = heed_fixed(longest, d);
    heed_value table = heed_record_shared(b, &TABLE, &attr, sizeof attr, 0, NULL, 1, &shape);
    return heed_embed(b, table, positions, 1);
}
