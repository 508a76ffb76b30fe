/* checkpoint.h: a training stopped at one update, in one file, from which it goes on to the same
 * bits.
 *
 * FOLDER/step-N.safetensors holds the weights under their names, Adam's moments as adam.m.NAME and
 * adam.v.NAME, and the state as metadata. A file is whole or not there: it is written beside,
 * synced and renamed, so a kill at any moment leaves the newest one usable.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_CHECKPOINT_H
#define HEED_TRAIN_CHECKPOINT_H

#include "train/metrics.h"
#include "train/optimizer.h"

/* What a training is besides weights and moments. Random numbers are functions of seed and step, so
 * those two are their state. The one list: kind (whole, number), name. */
#define HEED_TRAIN_STATE(X)                                                                        \
    X(whole, step)  /* updates done */                                                             \
    X(whole, epoch) /* where the next batch comes from */                                          \
    X(whole, batch)                                                                                \
    X(whole, seed)                                                                                 \
    X(whole, tokens)   /* target tokens seen */                                                    \
    X(number, seconds) /* spent in training */                                                     \
    X(number, loss)    /* sum since the last line of metrics, and its tokens */                    \
    X(whole, loss_tokens)                                                                          \
    X(number, norm) /* sum of gradient norms since then, and their number */                       \
    X(whole, norms)                                                                                \
    X(whole, validations)                                                                          \
    X(whole, valid_step) /* of the last validation */                                              \
    X(number, best)      /* best value of the metric; of validation number best_at, 0: none */     \
    X(whole, best_at)                                                                              \
    X(whole, best_step)                                                                            \
    X(whole, lines) /* bytes of the metrics' files */                                              \
    X(whole, events)

typedef int64_t heed_state_whole;
typedef double heed_state_number;
typedef struct {
#define HEED_STATE_FIELD(kind, name) heed_state_##kind name;
    HEED_TRAIN_STATE(HEED_STATE_FIELD)
#undef HEED_STATE_FIELD
} heed_train_state;

/* Which checkpoints may stay. */
typedef struct {
    int64_t keep;    /* so many of the newest; 0: none */
    int64_t best;    /* this one too; 0: none */
    int64_t stopped; /* this one goes, as if it had never been: only a stop wrote it; 0: none */
    int64_t newest;  /* those of later steps (damaged, passed over) are left alone, uncounted */
} heed_checkpoint_rule;

/* Writes the checkpoint of state->step, then takes away what the rule does not keep; `keep` at
 * least 1, best and newest are the state's. */
bool heed_checkpoint_save(const heed_host *host, const char *folder, const heed_train_state *state,
                          const heed_param *params, int64_t count, heed_checkpoint_rule rule,
                          heed_error *err);

/* Steps that have a checkpoint, rising; `step` is freed with heed_free. No folder: none. */
typedef struct {
    int64_t *step;
    size_t n;
} heed_checkpoints;
bool heed_checkpoint_list(const heed_host *host, const char *folder, heed_checkpoints *list,
                          heed_error *err);

/* Takes away what the rule does not keep. */
bool heed_checkpoint_prune(const heed_host *host, const char *folder, heed_checkpoint_rule rule,
                           heed_error *err);

/* Path of the checkpoint of a step. */
enum { HEED_CHECKPOINT_PATH = 4096 };
bool heed_checkpoint_path(char out[HEED_CHECKPOINT_PATH], const char *folder, int64_t step,
                          heed_error *err);

/* Fills weights, moments and state from the newest checkpoint that can be read; *damaged counts
 * newer ones that cannot. *found is false where there is none: then nothing was changed. A
 * checkpoint of another model is an error that names the first difference. */
bool heed_checkpoint_resume(const heed_host *host, const char *folder, heed_train_state *state,
                            const heed_param *params, int64_t count, bool *found, int64_t *damaged,
                            heed_error *err);

/* Sets the weights to those of a step, or to the mean of several (summed in double, in their
 * order); moments stay as they are. */
bool heed_checkpoint_average(const heed_host *host, const char *folder, const int64_t *steps,
                             size_t n, const heed_param *params, int64_t count, heed_error *err);

#endif
