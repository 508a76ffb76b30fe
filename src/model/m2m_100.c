/* m2m_100.c: M2M-100 (Fan et al. 2021) and NLLB (Costa-jussa et al. 2022): BART's layers with the
 * norm before each block, no bias on the logits, and sinusoidal positions as fairseq has them: of
 * width d the first d/2 numbers are sin(p * 10000^(-i/(d/2 - 1))), the others the cosines; p counts
 * the tokens that are not padding, from the pad id + 1 on; padding has a position of zeros. Angles
 * are made in float, as the models were trained with them.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include "graph/op.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    int64_t pad;
} place_attr;

/* ---- Angles of one position: 1 x d/2 ---- */

static void run_speeds(const heed_work *w) {
    heed_number *out = w->out[0].data;
    int64_t half = w->out[0].cols;
    float step = (float)(log(10000.0) / (double)(half - 1));
    for (int64_t i = 0; i < half; i++)
        out[i] = (heed_number)expf((float)i * -step);
}

static const heed_op SPEEDS = {.name = "speeds of sinusoids", .run = run_speeds};

/* ---- Rows: speeds, positions R x 1, ids R x 1 -> R x d ---- */

static void place_row(heed_number *out, int64_t d, const heed_mat *speeds, float position) {
    const heed_number *speed = speeds->data;
    int64_t half = speeds->cols;
    for (int64_t i = 0; i < half; i++) {
        float angle = position * (float)speed[i];
        out[i] = (heed_number)sin((double)angle);
        out[half + i] = (heed_number)cos((double)angle);
    }
    if (d % 2)
        out[d - 1] = 0;
}

static void place_rows(void *ctx, int64_t from, int64_t to) {
    const heed_work *w = ctx;
    const place_attr *a = w->attr;
    const int32_t *position = w->in[1].data, *id = w->in[2].data;
    int64_t d = w->out[0].cols;
    heed_number *out = w->out[0].data;
    for (int64_t r = from; r < to; r++) {
        if (id[r] == a->pad)
            memset(out + r * d, 0, (size_t)d * sizeof *out);
        else
            place_row(out + r * d, d, &w->in[0], (float)(position[r] + a->pad + 1));
    }
}

enum { COST = 30 }; /* of a sine, in numbers moved */

static void run_places(const heed_work *w) {
    heed_rows_run(w, w->out[0].rows, w->out[0].cols * COST, place_rows, (void *)w);
}

static const heed_op PLACES = {.name = "fairseq positions", .run = run_places};

static heed_value places(heed_build *b, heed_value ids, const heed_config *c) {
    int64_t d = c->decoder.width;
    heed_shape half = heed_fixed(1, d / 2), rows = heed_like(b, ids, d);
    rows.cell = HEED_CELL_NUMBER;
    heed_value in[] = {heed_record_shared(b, &SPEEDS, NULL, 0, 0, NULL, 1, &half),
                       heed_positions(b, heed_space_of(b, ids)), ids};
    place_attr attr = {c->pad};
    return heed_record(b, &PLACES, &attr, sizeof attr, 3, in, 1, &rows);
}

static heed_value rows_of(heed_build *b, const heed_config *c, heed_value table, heed_value ids) {
    return heed_add(b, heed_token_rows(b, c, table, ids), places(b, ids, c));
}

static heed_outputs record(heed_build *b, const heed_config *c, const heed_want *want) {
    return heed_record_pair(b, c, want, rows_of);
}

/* ---- The family ---- */

static void defaults(heed_config *c) {
    heed_bart_defaults(c);
    c->scale_embedding = true;
    c->forced_eos = -1;
    c->encoder.act = c->decoder.act = HEED_ACT_RELU;
}

static bool finish(heed_config *c, heed_error *err) {
    heed_bart_finish(c, true);
    c->encoder.positions = c->decoder.positions = HEED_POSITIONS_NONE;
    c->logits_bias = false;
    return (c->decoder.width >= 4 && c->pad >= 0) ||
           heed_fail(err, HEED_VALUE,
                     "positions want a d_model of at least 4 and a pad_token_id, not %" PRId64
                     " and %d",
                     c->decoder.width, c->pad);
}

static const char *const unused[] = {"model.encoder.embed_positions.weights",
                                     "model.decoder.embed_positions.weights", "model.shared.weight",
                                     NULL};

static const heed_architecture architectures[] = {
    {"M2M100ForConditionalGeneration", HEED_HEAD_VOCAB, false},
    {"M2M100Model", HEED_HEAD_NONE, false},
    {0}};

const heed_family heed_family_m2m_100 = {.type = "m2m_100",
                                         .kind = HEED_ENCODER_DECODER,
                                         .architectures = architectures,
                                         .place = HEED_PLACE_TOKEN,
                                         .prefix = "model.",
                                         .defaults = defaults,
                                         .keys = (const heed_key *const[]){heed_bart_keys, NULL},
                                         .finish = finish,
                                         .record = record,
                                         .weights = heed_bart_weights,
                                         .values = heed_bart_values,
                                         .unused = unused};
