/* trainer.h: what the parts of a training share. The interface stands in heed.h.
 *
 * trainer_open.c makes it, trainer.c runs it, trainer_end.c writes the model.
 * Invariant: `state` describes the weights as they are between two updates; everything that decides
 * how the training goes on is in it, in the recipe, or a function of both.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_TRAINER_H
#define HEED_TRAIN_TRAINER_H

#include "base/tally.h"
#include "train/checkpoint.h"
#include "train/corpus.h"
#include "train/sample.h"
#include "train/schedule.h"
#include "train/texts.h"
#include "train/update.h"
#include "train/validate.h"

enum { HEED_FOLDER_PATH = 4096 };

struct heed_trainer {
    heed_tally tally;              /* in front of the caller's host */
    const heed_host *host;         /* the tally's */
    size_t sampling;               /* bytes that a sample takes */
    size_t data, reading;          /* bytes: what is kept of the data; the most while it was read */
    heed_training_options options; /* recipe and settings in it are not kept */
    heed_notes notes;
    heed_recipe *recipe;
    heed_engine *engine;
    heed_model *model;
    heed_corpus corpus;
    heed_text_corpus texts;
    heed_feed feed; /* pairs or texts */
    heed_updater *updater;
    heed_validator *validator; /* NULL: no validation pairs */
    heed_metrics *metrics;     /* open while it runs */
    heed_schedule schedule;
    heed_train_state state;
    int64_t updates;      /* all that the recipe allows for, 0: not known */
    int64_t an_epoch;     /* updates in one epoch */
    int64_t done;         /* updates of the checkpoint that was resumed */
    double batch_seconds; /* measured before the start */
    double started;       /* clock at the start, less the seconds of earlier runs */
    double run_from;      /* seconds of earlier runs */
    char folder[HEED_FOLDER_PATH], checkpoints[HEED_FOLDER_PATH];
    bool saved;      /* the state is in a checkpoint */
    int64_t stopped; /* step of a checkpoint that only a stop wrote, 0: none */
};

/* trainer_pairs.c, trainer_texts.c: reads the data, makes the model without numbers and its
 * batches. */
bool heed_trainer_read_pairs(heed_trainer *t, bool resumes, heed_error *err);
bool heed_trainer_read_texts(heed_trainer *t, bool resumes, heed_error *err);
/* trained.c: which weights are trained, by the recipe, before anything is planned; and what all of
 * them begin as. */
bool heed_choose_trained(heed_model *model, const heed_recipe *recipe, const heed_notes *notes,
                         heed_error *err);
bool heed_start_weights(heed_model *model, const heed_recipe *recipe, heed_error *err);
/* Seconds of a clock that only goes forward. */
double heed_trainer_clock(void);
heed_need heed_trainer_need(const heed_trainer *t);
/* Fills in what every report has, and hands it to the caller. */
void heed_trainer_tell(const heed_trainer *t, heed_training_progress *progress);
/* Saves a checkpoint of the state and tells the caller. */
bool heed_trainer_save(heed_trainer *t, heed_error *err);
/* Validates, notes the best, tells caller and metrics; `kind` names the line of metrics. */
bool heed_trainer_validate(heed_trainer *t, const char *kind, heed_training_kind event,
                           heed_error *err);
/* Puts the weights that the recipe wants into the model and writes its folder. */
bool heed_trainer_finish(heed_trainer *t, heed_error *err);

#endif
