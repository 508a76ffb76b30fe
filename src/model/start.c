/* start.c: a model that a training goes on from: opened without numbers, so that the training can
 * be planned first, then given floats of its own, since a mapped file is never written.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static bool is_own_format(const heed_model *m) {
    return m->names == m->family->weights;
}

heed_model *heed_model_open_sketch(heed_engine *engine, const char *path, const char *folder,
                                   heed_error *err) {
    heed_model *m = heed_model_open_matched(engine, path, err);
    if (!m || is_own_format(m) || !folder)
        return m;
    heed_model_free(m);
    heed_convert_options options = {.to = HEED_TO_FOLDER, .type = "f32", .over = true};
    if (!heed_convert(engine, path, folder, &options, err))
        return NULL;
    return heed_model_open_matched(engine, folder, err);
}

static bool fill(heed_model *m, int64_t i, heed_error *err) {
    heed_weight_entry *e = heed_weights_at(m->weights, i);
    const heed_tensor *t;
    return heed_model_stored(m, i, &t, err) && heed_weights_own(m->weights, e->name, NULL, err) &&
           (!t || heed_tensor_to_f32(t, e->data, err));
}

bool heed_model_fill(heed_model *m, heed_error *err) {
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++)
        if (!fill(m, i, err))
            return false;
    return true;
}

bool heed_model_take_tokenizer(heed_model *m, heed_tokenizer *tokenizer, heed_error *err) {
    heed_tokenizer_free(m->tokenizer);
    m->tokenizer = tokenizer;
    return heed_model_tokenizer_fits(m, err);
}

/* Marks in `wanted` the weights whose name in the checkpoint the pattern matches; how many. */
static int64_t match_names(const heed_model *m, const char *pattern, bool *wanted) {
    char name[256];
    int64_t found = 0;
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++)
        if (heed_model_weight_name(m, heed_weights_at(m->weights, i)->name, name, sizeof name) &&
            heed_name_matches(pattern, name)) {
            wanted[i] = true;
            found++;
        }
    return found;
}

static bool match_patterns(const heed_model *m, const char *patterns, bool *wanted,
                           heed_error *err) {
    char pattern[256];
    for (const char *at = patterns + strspn(patterns, " "); *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(pattern, sizeof pattern, "%.*s", n < sizeof pattern ? (int)n : 0, at);
        if (!match_names(m, pattern, wanted))
            return heed_fail(err, HEED_NAME, "no weight of the model is called '%.*s'", (int)n, at);
        at += n;
    }
    return true;
}

bool heed_model_train_only(heed_model *m, const char *patterns, heed_error *err) {
    const heed_host *host = heed_model_host(m);
    int64_t n = heed_weights_count(m->weights);
    bool *wanted = heed_alloc(host, (size_t)n, sizeof *wanted, err);
    bool fine = wanted && match_patterns(m, patterns, wanted, err);
    for (int64_t i = 0; fine && i < n; i++) {
        heed_weight_entry *e = heed_weights_at(m->weights, i);
        e->frozen = e->frozen || !wanted[i];
    }
    heed_free(host, wanted);
    return fine;
}
