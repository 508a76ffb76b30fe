/* trace.h: a trace on its way from padded inputs through one run to padded outputs. Inside of
 * look/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_LOOK_TRACE_H
#define HEED_LOOK_TRACE_H

#include "base/error.h"
#include "heed_look.h"
#include "look/padded.h"
#include "model/model.h"

enum { HEED_TRACE_INPUTS = 4 };

/* An input of the plan: integers for the rows of a side, or one for each sequence. */
typedef struct {
    const char *name;
    const heed_padded *side; /* NULL: one for each sequence */
    int64_t *cell;           /* batch x width, or batch */
    bool label;
    int64_t idle; /* of labels: what does not count */
} heed_trace_input;

typedef struct {
    heed_model *model;
    const heed_host *host;
    const heed_trace_options *options;
    const heed_config *config;
    heed_padded source, target; /* start NULL: the model has no such side */
    heed_trace_input input[HEED_TRACE_INPUTS];
    int inputs;
    int64_t *labels; /* of each row: the input's cells; NULL: none */
    float *numbers;  /* labels that are numbers; NULL: none */
    int64_t n_numbers;
    bool floats, loss; /* labels are stored as numbers; there are labels */
    int64_t choices;   /* sequences of a question */
    float *patches;    /* of pictures, in the rows of `source`; NULL: tokens are read */
    int64_t grid[2];   /* rows and columns of patches in a picture */
    heed_outputs value;
    heed_plan *plan;
    heed_session *session;
    int64_t counted; /* labels that count */
} heed_trace_run;

/* The side on which a model of one stack has its rows. */
heed_padded *heed_trace_side(heed_trace_run *t);
/* trace_inputs.c: reads and checks the file; gives the rows their integers. trace_pictures.c: its
 * pictures, and their labels. */
bool heed_trace_read(heed_trace_run *t, const char *path, heed_error *err);
bool heed_trace_read_pictures(heed_trace_run *t, const heed_tensors *file, heed_error *err);
/* Takes the cells. */
void heed_trace_add(heed_trace_run *t, const char *name, const heed_padded *side, int64_t *cell);
void heed_trace_add_labels(heed_trace_run *t, const char *name, const heed_padded *side,
                           int64_t *cell, int64_t idle);
/* trace_labels.c: "labels" of the sequences of a batch; positions of answers in rows of `side`,
 * batch x width cells; the right choices among the sequences. Absent ones are no error. */
bool heed_trace_read_each(heed_trace_run *t, const heed_tensors *file, int64_t batch,
                          heed_error *err);
bool heed_trace_read_span(heed_trace_run *t, const heed_tensors *file, const heed_padded *side,
                          int64_t batch, int64_t width, heed_error *err);
bool heed_trace_read_choice(heed_trace_run *t, const heed_tensors *file, int64_t batch,
                            heed_error *err);
/* trace_outputs.c: writes what the run left, under the names of transformers. */
bool heed_trace_write(heed_trace_run *t, const char *path, heed_error *err);

#endif
