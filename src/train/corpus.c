/* corpus.c: from the recipe's files to pairs of ids.
 *
 * Every pair that is left out is counted, and the user is told which line was the first.
 * SPDX-License-Identifier: MIT
 */
#include "train/corpus.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

void heed_note(const heed_notes *notes, const char *format, ...) {
    if (!notes->note) {
        return;
    }
    char line[500];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    notes->note(notes->ctx, line);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Files of one part, before ${NAME} is replaced. */
typedef struct {
    const char *name, *source, *target, *both;
    heed_part part;
} part_files;

static part_files train_files(const heed_recipe_data *d) {
    bool split = d->split_valid > 0.0 || d->split_test > 0.0;
    return (part_files){"train", d->train_source, d->train_target, d->train,
                        split ? HEED_PART_TRAIN : HEED_PART_ALL};
}

static part_files valid_files(const heed_recipe_data *d) {
    if (d->split_valid > 0.0) {
        return (part_files){"valid", d->train_source, d->train_target, d->train, HEED_PART_VALID};
    }
    return (part_files){"valid", d->valid_source, d->valid_target, d->valid, HEED_PART_ALL};
}

bool heed_recipe_validates(const heed_recipe *recipe) {
    part_files f = valid_files(&recipe->data);
    if (recipe->model.task == HEED_RECIPE_LM) {
        return *recipe->data.valid_text || recipe->data.split_valid > 0.0;
    }
    return *f.source || *f.both;
}

static void tell_empty(const part_files *f, const heed_parallel_report *r,
                       const heed_notes *notes) {
    int64_t empty = r->empty_source + r->empty_target + r->empty_both;
    if (empty > 0) {
        heed_note(notes,
                  "data.%s: %" PRId64 " of %" PRId64 " pairs have an empty side and are left out, "
                  "the first in line %" PRId64,
                  f->name, empty, r->lines, r->first_empty);
    }
}

static bool read_files(heed_parallel *text, const heed_host *host, const heed_recipe_data *d,
                       const part_files *f, heed_error *err) {
    char *source = heed_recipe_path(host, *f->both ? f->both : f->source, err);
    char *target = source && !*f->both ? heed_recipe_path(host, f->target, err) : NULL;
    heed_parallel_opts opts = {.source = source,
                               .target = target,
                               .source_column = d->source_column,
                               .target_column = d->target_column,
                               .part = f->part,
                               .valid = d->split_valid,
                               .test = d->split_test,
                               .by_source = d->split_by == HEED_RECIPE_BY_SOURCE};
    bool ok = source && (*f->both || target) && heed_parallel_read(text, host, &opts, err);
    heed_free(host, source);
    heed_free(host, target);
    return ok;
}

static bool read_part(heed_parallel *text, const heed_host *host, const heed_recipe_data *d,
                      const part_files *f, const heed_notes *notes, heed_error *err) {
    if (!read_files(text, host, d, f, err)) {
        return false;
    }
    tell_empty(f, &text->report, notes);
    if (text->n == 0) {
        return heed_fail(err, HEED_VALUE, "data.%s has no pairs in its %" PRId64 " lines", f->name,
                         text->report.lines);
    }
    return true;
}

/* ---- Encoding ------------------------------------------------------------------------------- */

typedef struct {
    const heed_tokenizer *tokenizer;
    heed_tokens tokens;
    int32_t *id[2];
    size_t n[2], cap[2];
} encoder;

static bool encode_side(encoder *e, int side, heed_line text, heed_error *err) {
    e->tokens.n = 0;
    if (!heed_encode(e->tokenizer, text.s, text.n, false, &e->tokens, err) ||
        !heed_reserve(e->tokens.host, (void **)&e->id[side], &e->cap[side], e->tokens.n,
                      sizeof(int32_t), err)) {
        return false;
    }
    for (size_t i = 0; i < e->tokens.n; i++) {
        e->id[side][i] = e->tokens.item[i].id;
    }
    e->n[side] = e->tokens.n;
    return true;
}

static bool encode_all(heed_pairs *pairs, const heed_host *host, const heed_tokenizer *tokenizer,
                       const heed_parallel *text, heed_error *err) {
    encoder e = {.tokenizer = tokenizer, .tokens = {.host = host}};
    bool ok = true;
    for (int64_t i = 0; ok && i < text->n; i++) {
        const heed_pair *p = &text->pair[i];
        ok =
            encode_side(&e, 0, p->source, err) && encode_side(&e, 1, p->target, err) &&
            heed_pairs_add(pairs, e.id[0], (int64_t)e.n[0], e.id[1], (int64_t)e.n[1], p->line, err);
        if (!ok) {
            heed_error_at(err, "line %" PRId64, p->line);
        }
    }
    heed_free(host, e.id[0]);
    heed_free(host, e.id[1]);
    heed_tokens_free(&e.tokens);
    return ok;
}

/* ---- Both parts ------------------------------------------------------------------------------ */

static bool read_both(heed_corpus *c, heed_parallel *train, const heed_recipe *recipe,
                      const heed_notes *notes, heed_error *err) {
    part_files files = train_files(&recipe->data);
    if (!read_part(train, c->host, &recipe->data, &files, notes, err)) {
        return false;
    }
    if (!heed_recipe_validates(recipe)) {
        return true;
    }
    files = valid_files(&recipe->data);
    int64_t seen = 0;
    if (!read_part(&c->valid_text, c->host, &recipe->data, &files, notes, err) ||
        !heed_count_seen(c->host, train, &c->valid_text, &seen, err)) {
        return false;
    }
    if (seen > 0) {
        heed_note(notes,
                  "%" PRId64 " of %" PRId64 " validation pairs stand in the training pairs too: "
                  "validation flatters the model",
                  seen, c->valid_text.n);
    }
    return true;
}

static bool make_ids(heed_corpus *c, const heed_parallel *train, const heed_recipe *recipe,
                     const char *tokenizer, const heed_notes *notes, heed_error *err) {
    c->tokenizer = tokenizer ? heed_tokenizer_open(c->host, tokenizer, err)
                             : heed_recipe_make_tokenizer(recipe, c->host, train, notes, err);
    if (!c->tokenizer || !encode_all(&c->train, c->host, c->tokenizer, train, err) ||
        !encode_all(&c->valid, c->host, c->tokenizer, &c->valid_text, err)) {
        return false;
    }
    c->source_tokens = c->train.source.start[c->train.n];
    c->target_tokens = c->train.target.start[c->train.n];
    return true;
}

bool heed_corpus_read(heed_corpus *corpus, const heed_host *host, const heed_recipe *recipe,
                      const char *tokenizer, const heed_notes *notes, heed_error *err) {
    heed_parallel train = {.host = host};
    corpus->host = corpus->train.host = corpus->valid.host = corpus->valid_text.host = host;
    bool ok = read_both(corpus, &train, recipe, notes, err) &&
              make_ids(corpus, &train, recipe, tokenizer, notes, err);
    heed_parallel_free(&train);
    return ok;
}

void heed_corpus_free(heed_corpus *corpus) {
    heed_tokenizer_free(corpus->tokenizer);
    heed_pairs_free(&corpus->train);
    heed_pairs_free(&corpus->valid);
    heed_parallel_free(&corpus->valid_text);
}
