/* small_training.h: a training on a small corpus in a folder of its own, and how to compare two.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_SMALL_TRAINING_H
#define HEED_TESTS_SMALL_TRAINING_H

#include "support.h"

static char folder[TEST_PATH];

/* Sentences "a b c" with their words turned round: enough to learn from, in no time. */
static inline void write_corpus(void) {
    static const char *const word[] = {"red", "blue", "tall", "small", "dog", "cat", "sun", "sea"};
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/pairs.tsv", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 320; i++) {
        const char *a = word[i % 8], *b = word[i / 8 % 8], *c = word[(i / 64 + i) % 8];
        fprintf(f, "%s %s %s\t%s %s %s\n", a, b, c, c, b, a);
    }
    fclose(f);
}

static inline int make_folder(void **state) {
    (void)state;
    temp_folder(folder);
    write_corpus();
    return 0;
}
static inline int drop_folder(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

typedef struct {
    char text[24][TEST_PATH + 64];
    int n;
} settings;

static inline void set(settings *s, const char *format, ...) HEED_PRINTF(2, 3);
static inline void set(settings *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->text[s->n], sizeof s->text[0], format, args);
    va_end(args);
    s->n++;
}

static inline settings small(const char *out) {
    settings s = {.n = 0};
    set(&s, "data.train=%s/pairs.tsv", folder);
    set(&s, "data.split_valid=0.1");
    set(&s, "out.folder=%s/%s", folder, out);
    set(&s, "model.width=16");
    set(&s, "model.heads=2");
    set(&s, "model.feed_forward=32");
    set(&s, "model.encoder_layers=1");
    set(&s, "model.decoder_layers=1");
    set(&s, "model.max_positions=32");
    set(&s, "tokenizer.vocab=300");
    set(&s, "train.batch_tokens=128");
    set(&s, "train.warmup=10");
    set(&s, "train.lr=5e-3");
    set(&s, "train.steps=40");
    set(&s, "train.log_every=1");
    set(&s, "train.save_every=10");
    return s;
}

typedef struct {
    double first, last, valid;
    int steps, valids, saves, dones, notes;
    int64_t stop_at, best; /* best: update of the last best validation */
    int64_t epoch, firsts; /* the last that was told; updates of the first */
    volatile bool cancel;
    int samples;
    char sample[400]; /* the last */
    char said[2000];  /* all notes */
} seen;

static inline void on_note(void *ctx, const char *line) {
    seen *s = ctx;
    assert_true(strlen(line) > 0);
    s->notes++;
    size_t n = strlen(s->said);
    snprintf(s->said + n, sizeof s->said - n, "%s\n", line);
}

static inline void on_progress(void *ctx, const heed_training_progress *p) {
    seen *s = ctx;
    s->epoch = p->epoch;
    switch (p->kind) {
    case HEED_TRAINING_STEP:
        s->firsts += p->epoch == 1;
        s->first = s->steps++ == 0 ? p->loss : s->first;
        s->last = p->loss;
        assert_true(p->lr > 0 && p->norm > 0 && p->bytes > 0 && p->seconds_left >= 0);
        break;
    case HEED_TRAINING_VALID:
        s->valids++;
        s->valid = p->loss;
        s->best = p->best ? p->step : s->best;
        break;
    case HEED_TRAINING_SAVED:
        s->saves++;
        break;
    case HEED_TRAINING_SAMPLE:
        s->samples++;
        snprintf(s->sample, sizeof s->sample, "%s", p->text);
        break;
    case HEED_TRAINING_DONE:
        s->dones++;
        break;
    }
    s->cancel = s->stop_at > 0 && p->step >= s->stop_at;
}

static inline heed_trainer *opened(const settings *s, heed_start start, int threads, seen *what,
                                   heed_error *err) {
    const char *list[24];
    for (int i = 0; i < s->n; i++) {
        list[i] = s->text[i];
    }
    heed_training_options o = {.settings = list,
                               .n_settings = s->n,
                               .start = start,
                               .threads = threads,
                               .note = on_note,
                               .progress = on_progress,
                               .ctx = what,
                               .cancel = &what->cancel};
    return heed_trainer_new(&o, err);
}

static inline void run(const settings *s, heed_start start, int threads, seen *what) {
    heed_error err = {0};
    heed_trainer *t = opened(s, start, threads, what, &err);
    if (!t || !heed_trainer_run(t, &err)) {
        fail_msg("%s", err.text);
    }
    heed_trainer_free(t);
}

static inline char *file_of(const char *out, const char *name, size_t *n) {
    char path[TEST_PATH + 128];
    snprintf(path, sizeof path, "%s/%s/%s", folder, out, name);
    return slurp(path, n);
}

static inline void expect_same_file(const char *a, const char *b, const char *name) {
    size_t n, m;
    char *x = file_of(a, name, &n), *y = file_of(b, name, &m);
    if (n != m || memcmp(x, y, n) != 0) {
        fail_msg("%s differs between %s and %s", name, a, b);
    }
    free(x);
    free(y);
}

/* All lines of metrics but those of the clock. */
static inline void expect_same_metrics(const char *a, const char *b) {
    char *x = file_of(a, "metrics.jsonl", NULL), *y = file_of(b, "metrics.jsonl", NULL);
    char *p, *q, *line = strtok_r(x, "\n", &p), *other = strtok_r(y, "\n", &q);
    int compared = 0;
    while (line && other) {
        if (!strstr(line, "\"speed\"")) {
            assert_string_equal(line, other);
            compared++;
        }
        line = strtok_r(NULL, "\n", &p);
        other = strtok_r(NULL, "\n", &q);
    }
    assert_null(line);
    assert_null(other);
    assert_true(compared > 40);
    free(x);
    free(y);
}

#endif
