/* trace_labels.c: what a sequence as a whole is told to be: its class, its numbers, where an answer
 * stands in it, or which of several sequences is right.
 *
 * transformers has positions of answers as columns; here they are marks at rows, so that one at
 * padding marks nothing.
 * SPDX-License-Identifier: MIT
 */
#include "look/trace.h"

#include <inttypes.h>

enum { IGNORED = -100 };

/* batch x labels; where there is one label, batch alone will do. */
static bool read_numbers(heed_trace_run *t, const heed_tensor *labels, int64_t batch,
                         heed_error *err) {
    int64_t n = t->config->labels;
    bool flat = n == 1 && labels->rank == 1, both = labels->rank == 2 && labels->dim[1] == n;
    char shape[180];
    if ((!flat && !both) || labels->dim[0] != batch)
        return heed_fail(err, HEED_SHAPE,
                         "'labels' is %s, wanted (%" PRId64 ",%" PRId64
                         "): numbers for each sequence",
                         heed_tensor_shape(labels, shape), batch, n);
    t->numbers = heed_alloc(t->host, (size_t)(batch * n), sizeof *t->numbers, err);
    t->n_numbers = t->counted = batch * n;
    t->loss = true;
    return t->numbers && heed_tensor_to_f32(labels, t->numbers, err);
}

bool heed_trace_read_each(heed_trace_run *t, const heed_tensors *file, int64_t batch,
                          heed_error *err) {
    const heed_tensor *labels = heed_tensors_find(file, "labels");
    if (!labels)
        return true;
    t->floats = heed_type_is_float(labels->type);
    if (heed_problem_of(t->config, t->floats) != HEED_PROBLEM_CLASS)
        return read_numbers(t, labels, batch, err);
    int64_t *list = heed_padded_list(t->host, file, "labels", batch, err);
    if (list)
        heed_trace_add_labels(t, "labels", NULL, list, IGNORED);
    return list != NULL;
}

/* 1 at column list[i] of row i, as transformers has it: none where it lies behind the rows. */
static int64_t *marks_of(const heed_trace_run *t, const int64_t *list, int64_t n, int64_t width,
                         heed_error *err) {
    int64_t *out = heed_alloc(t->host, (size_t)(n * width), sizeof *out, err);
    for (int64_t i = 0; out && i < n; i++)
        if (list[i] < width)
            out[i * width + (list[i] > 0 ? list[i] : 0)] = 1;
    return out;
}

static bool read_marks(heed_trace_run *t, const heed_tensors *file, const char *name,
                       const heed_padded *side, int64_t n, int64_t width, heed_error *err) {
    int64_t *list = heed_padded_list(t->host, file, name, n, err);
    int64_t *marks = list ? marks_of(t, list, n, width, err) : NULL;
    heed_free(t->host, list);
    if (marks)
        heed_trace_add_labels(t, name, side, marks, 0);
    return marks != NULL;
}

bool heed_trace_read_span(heed_trace_run *t, const heed_tensors *file, const heed_padded *side,
                          int64_t batch, int64_t width, heed_error *err) {
    static const char *const names[] = {"start_positions", "end_positions"};
    bool start = heed_tensors_find(file, names[0]), end = heed_tensors_find(file, names[1]);
    if (!start && !end)
        return true;
    if (!start || !end)
        return heed_fail(err, HEED_NAME, "'%s' comes without '%s'", names[!start], names[start]);
    return read_marks(t, file, names[0], side, batch, width, err) &&
           read_marks(t, file, names[1], side, batch, width, err);
}

bool heed_trace_read_choice(heed_trace_run *t, const heed_tensors *file, int64_t batch,
                            heed_error *err) {
    if (!heed_tensors_find(file, "labels"))
        return true;
    return read_marks(t, file, "labels", NULL, batch / t->choices, t->choices, err);
}
