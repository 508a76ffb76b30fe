/* heed_bench.h: what the machine could do, and the work of whole models, to be measured.
 *
 * Whoever measures takes the time himself; `heed bench` does.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_BENCH_H
#define HEED_BENCH_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ceilings ------------------------------------------------------------------------------- */

/* The best of many short runs of the engine's threads together. */
typedef struct {
    /* Multiply-adds of the engine's instruction set, in operations a second, two each; 0: it has no
     * instruction for that type. */
    double f32, bf16, int8;
    double read; /* bytes a second out of memory, best of 1 to 16 streams for each thread */
    double fork; /* seconds from handing nothing to all threads to having it back */
} heed_ceiling;
/* Takes about a second, and 256 MiB while it reads. */
HEED_API bool heed_ceiling_of(heed_engine *engine, heed_ceiling *out, heed_error *err);

/* ---- Work of whole models ------------------------------------------------------------------- */

/* Rows of each sequence in the encoder's and the decoder's row space; what the model does not have
 * is not read, and an encoder of pictures has as many rows as a picture has patches. */
typedef struct {
    int64_t sequences; /* pictures */
    int64_t source, target;
    /* A training step: forward, backward, AdamW (rate 1e-4, decay 0.01). Else one pass forward up
     * to the last hidden rows, with weights that were packed before. */
    bool train;
    double smoothing; /* of labels, in training */
    uint64_t seed;    /* of ids, labels and pictures, which are random */
    /* Rows of each sequence, longest first, in place of `source` and `target`; must outlive the
     * drill. NULL: all have as many. Forward alone, and not of pictures (HEED_VALUE). */
    const int64_t *lengths;
    int64_t
        batch_rows; /* with lengths: sequences are run in batches of at most so many rows, though
                           at least one; 0: all at once */
} heed_drill_options;

/* The same batch again and again. A model to train must own its weights (heed_model_random), and
 * belongs to the drill alone. The model must outlive it. HEED_LIMIT for more rows than the model
 * has positions, HEED_VALUE for one without a loss. */
typedef struct heed_drill heed_drill;
HEED_API heed_drill *heed_drill_new(heed_model *model, const heed_drill_options *options,
                                    heed_error *err);
HEED_API void heed_drill_free(heed_drill *drill);
HEED_API bool heed_drill_run(heed_drill *drill, heed_error *err);
HEED_API heed_need heed_drill_need(const heed_drill *drill);
/* Loss of the last step, a mean over labels; 0 before it. */
HEED_API double heed_drill_loss(const heed_drill *drill);

#ifdef __cplusplus
}
#endif
#endif
