/* trace_inputs.c: padded tensors of a file to the rows and integers of a run.
 * SPDX-License-Identifier: MIT
 */
#include "look/trace.h"

#include <inttypes.h>

heed_padded *heed_trace_side(heed_trace_run *t) {
    return t->config->kind == HEED_ENCODER ? &t->source : &t->target;
}

void heed_trace_add(heed_trace_run *t, const char *name, const heed_padded *side, int64_t *cell) {
    t->input[t->inputs++] = (heed_trace_input){name, side, cell, false, 0};
}

void heed_trace_add_labels(heed_trace_run *t, const char *name, const heed_padded *side,
                           int64_t *cell, int64_t idle) {
    t->input[t->inputs++] = (heed_trace_input){name, side, cell, true, idle};
    t->loss = true;
}

/* Tensors of batch x width that come along with the ids of one side. */
typedef struct {
    int64_t batch, width;
    int64_t *ids, *mask, *positions;
} cells;

/* A tensor of batch x width; where sequences are choices, of questions x choices x width. */
static int64_t *read_cells(heed_trace_run *t, const heed_tensors *file, const char *name, cells *c,
                           heed_error *err) {
    bool several = t->config->head == HEED_HEAD_CHOICE;
    return heed_padded_ints(t->host, file, name, several ? &t->choices : NULL, &c->batch, &c->width,
                            err);
}

static void free_cells(heed_trace_run *t, cells *c) {
    heed_free(t->host, c->mask);
    heed_free(t->host, c->positions);
    *c = (cells){0};
}

/* Each column's number of rows before it. Where transformers makes positions from ids (RoBERTa) it
 * counts tokens; where `first` rows of the table come before theirs, the pad token's is the last of
 * those. */
static int64_t *count(const heed_trace_run *t, const cells *c, heed_place place, int64_t first,
                      heed_error *err) {
    int64_t *out = heed_alloc(t->host, (size_t)(c->batch * c->width), sizeof *out, err);
    int64_t before = 0;
    for (int64_t i = 0; out && i < c->batch * c->width; i++) {
        bool row = !c->mask || c->mask[i], token = c->ids[i] != t->config->pad;
        before = i % c->width ? before : 0;
        out[i] = first && !token ? -1 : before;
        before += place == HEED_PLACE_TOKEN ? token : row;
    }
    return out;
}

/* Rows of a side: what the mask leaves, at the positions given or the family's own. Of RoBERTa
 * those given are rows of the table. */
static bool make_side(heed_trace_run *t, heed_padded *side, cells *c, heed_error *err) {
    heed_place place = heed_model_place(t->model);
    int64_t first = place == HEED_PLACE_TOKEN ? t->config->encoder.first_position : 0;
    for (int64_t i = 0; c->positions && i < c->batch * c->width; i++) {
        if (c->positions[i] < 0)
            return heed_fail(err, HEED_VALUE, "position_ids hold %" PRId64, c->positions[i]);
        c->positions[i] -= first;
    }
    if (!c->positions && place != HEED_PLACE_COLUMN) {
        c->positions = count(t, c, place, first, err);
        if (!c->positions)
            return false;
    }
    return heed_padded_make(side, t->host, c->batch, c->width, c->mask, c->positions, first, err);
}

/* input_ids, attention_mask and position_ids, for the encoder or the only stack. */
static bool read_ids(heed_trace_run *t, const heed_tensors *file, heed_padded *side, cells *c,
                     heed_error *err) {
    heed_error inner = {0};
    c->ids = read_cells(t, file, "input_ids", c, &inner);
    if (!c->ids && !inner.code)
        return heed_fail(err, HEED_NAME, "there is no tensor 'input_ids'");
    heed_trace_add(t, "input_ids", side, c->ids);
    c->mask = read_cells(t, file, "attention_mask", c, &inner);
    c->positions = read_cells(t, file, "position_ids", c, &inner);
    if (!inner.code)
        make_side(t, side, c, &inner);
    return !inner.code || heed_fail(err, inner.code, "%s", inner.text);
}

/* ---- An encoder and a decoder ---- */

/* What stands before a row of labels: the start token, or the last token of the row. */
static int64_t begin(const heed_trace_run *t, const int64_t *label, int64_t width) {
    int64_t tokens = 0, pad = t->config->pad;
    if (!t->config->labels_wrap)
        return t->config->decoder_start;
    for (int64_t i = 0; i < width; i++)
        tokens += label[i] != -100 && label[i] != pad;
    return tokens ? label[tokens - 1] : pad; /* padding stands behind the tokens */
}

/* Labels, or the ids of the source, shifted right. */
static int64_t *shift_right(heed_trace_run *t, const int64_t *from, int64_t batch, int64_t width,
                            heed_error *err) {
    int64_t *ids = heed_alloc(t->host, (size_t)(batch * width), sizeof *ids, err);
    for (int64_t i = 0; ids && i < batch * width; i++) {
        int64_t before = i % width ? from[i - 1] : begin(t, from + i, width);
        ids[i] = before == -100 ? t->config->pad : before;
    }
    return ids;
}

/* Ids that the file leaves out: of a text that is to be written, from its labels; of one that is
 * classified, the same as the encoder's. */
static bool make_decoder_ids(heed_trace_run *t, const cells *source, cells *c, heed_error *err) {
    const int64_t *from = t->labels;
    if (t->config->head == HEED_HEAD_SEQUENCES || t->config->head == HEED_HEAD_SPAN) {
        from = source->ids;
        c->batch = source->batch;
        c->width = source->width;
    }
    if (!from)
        return heed_fail(err, HEED_NAME, "there is neither 'decoder_input_ids' nor 'labels'");
    c->ids = shift_right(t, from, c->batch, c->width, err);
    return c->ids != NULL;
}

static bool read_answers(heed_trace_run *t, const heed_tensors *file, const cells *c,
                         heed_error *err) {
    if (t->config->head == HEED_HEAD_SEQUENCES)
        return heed_trace_read_each(t, file, c->batch, err);
    if (t->config->head == HEED_HEAD_CHOICE)
        return heed_trace_read_choice(t, file, c->batch, err);
    return t->config->head != HEED_HEAD_SPAN ||
           heed_trace_read_span(t, file, heed_trace_side(t), c->batch, c->width, err);
}

static bool read_decoder_ids(heed_trace_run *t, const heed_tensors *file, const cells *source,
                             cells *c, heed_error *err) {
    heed_error inner = {0};
    if (t->config->head == HEED_HEAD_VOCAB)
        t->labels = read_cells(t, file, "labels", c, &inner);
    if (t->labels)
        heed_trace_add_labels(t, "labels", &t->target, t->labels, -100);
    c->ids = inner.code ? NULL : read_cells(t, file, "decoder_input_ids", c, &inner);
    if (!c->ids && !inner.code)
        make_decoder_ids(t, source, c, &inner);
    heed_trace_add(t, "decoder_input_ids", &t->target, c->ids);
    if (!inner.code)
        c->mask = read_cells(t, file, "decoder_attention_mask", c, &inner);
    if (inner.code)
        return heed_fail(err, inner.code, "%s", inner.text);
    return c->batch == source->batch ||
           heed_fail(err, HEED_SHAPE,
                     "input_ids has a batch of %" PRId64 ", the decoder's %" PRId64, source->batch,
                     c->batch);
}

static bool read_both(heed_trace_run *t, const heed_tensors *file, heed_error *err) {
    cells source = {0}, target = {0};
    bool ok = read_ids(t, file, &t->source, &source, err) &&
              read_decoder_ids(t, file, &source, &target, err) &&
              read_answers(t, file, &target, err) && make_side(t, &t->target, &target, err);
    free_cells(t, &source);
    free_cells(t, &target);
    return ok;
}

/* ---- One stack ---- */

/* Causal labels move one row to the left: a label counts when its own row is real too. */
static void shift_left(heed_trace_run *t, const cells *c) {
    for (int64_t i = 0; i < c->batch * c->width; i++) {
        bool last = (i + 1) % c->width == 0;
        t->labels[i] = last || (c->mask && !c->mask[i + 1]) ? -100 : t->labels[i + 1];
    }
}

/* Labels of rows. */
static bool read_labels(heed_trace_run *t, const heed_tensors *file, heed_padded *side, cells *c,
                        heed_error *err) {
    heed_error inner = {0};
    heed_head head = t->config->head;
    if (head != HEED_HEAD_VOCAB && head != HEED_HEAD_ROWS && head != HEED_HEAD_MARKS)
        return read_answers(t, file, c, err);
    t->labels = read_cells(t, file, "labels", c, &inner);
    if (inner.code)
        return heed_fail(err, inner.code, "%s", inner.text);
    if (t->labels)
        heed_trace_add_labels(t, "labels", side, t->labels, -100);
    if (t->labels && t->config->kind == HEED_DECODER && head == HEED_HEAD_VOCAB)
        shift_left(t, c);
    return true;
}

/* Absent: all of type 0. */
static bool read_types(heed_trace_run *t, const heed_tensors *file, heed_padded *side, cells *c,
                       heed_error *err) {
    heed_error inner = {0};
    if (!t->config->types)
        return true;
    int64_t *types = read_cells(t, file, "token_type_ids", c, &inner);
    if (!types && !inner.code)
        types = heed_alloc(t->host, (size_t)(c->batch * c->width), sizeof *types, &inner);
    heed_trace_add(t, "token_type_ids", side, types);
    return !inner.code || heed_fail(err, inner.code, "%s", inner.text);
}

static bool read_one(heed_trace_run *t, const heed_tensors *file, heed_error *err) {
    heed_padded *side = heed_trace_side(t);
    cells c = {0};
    bool ok = read_ids(t, file, side, &c, err) && read_types(t, file, side, &c, err) &&
              read_labels(t, file, side, &c, err);
    free_cells(t, &c);
    return ok;
}

bool heed_trace_read(heed_trace_run *t, const char *path, heed_error *err) {
    heed_tensors *file = heed_tensors_open(t->host, path, err);
    if (!file)
        return false;
    bool both = t->config->kind == HEED_ENCODER_DECODER;
    bool ok = t->config->channels ? heed_trace_read_pictures(t, file, err)
              : both              ? read_both(t, file, err)
                                  : read_one(t, file, err);
    heed_tensors_free(file);
    if (ok && t->options->grads && !t->loss)
        ok = heed_fail(err, HEED_NAME, "gradients want '%s'",
                       t->config->head == HEED_HEAD_SPAN ? "start_positions" : "labels");
    if (!ok)
        heed_error_at(err, "'%s'", path);
    return ok;
}
