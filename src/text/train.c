/* train.c: from lines to a tokenizer: options, words, alphabet, model, tokenizer.json.
 *
 * The lines go through the very chain that the tokenizer will use, read from its own
 * tokenizer.json, so that what is learnt from is what will be encoded.
 * Invariant: nothing depends on anything but the lines and the options.
 * SPDX-License-Identifier: MIT
 */
#include "text/train.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static const char *const default_specials[] = {"<pad>", "<s>", "</s>", "<unk>"};

/* ---- Options ------------------------------------------------------------------------------- */

static int32_t find_special(const heed_tokenizer_options *o, const char *name, size_t n) {
    for (size_t i = 0; i < o->n_specials; i++) {
        if (strlen(o->specials[i]) == n && memcmp(o->specials[i], name, n) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

static void fill_defaults(heed_tokenizer_options *o) {
    o->vocab_size = o->vocab_size ? o->vocab_size : 8000;
    if (!o->specials) {
        o->specials = default_specials;
        o->n_specials = sizeof default_specials / sizeof default_specials[0];
    }
    o->coverage = o->coverage != 0 ? o->coverage : 0.9995;
    o->min_count = o->min_count ? o->min_count : 2;
    o->max_piece = o->max_piece ? o->max_piece : 16;
    o->max_line = o->max_line ? o->max_line : 65536;
}

static bool check_ranges(const heed_tokenizer_options *o, heed_error *err) {
    if (o->vocab_size < 1 || o->vocab_size > HEED_MAX_ID) {
        return heed_fail(err, HEED_VALUE, "vocab_size %" PRId32 " is out of range, wanted 1 to %d",
                         o->vocab_size, HEED_MAX_ID);
    }
    if (!(o->coverage > 0 && o->coverage <= 1)) {
        return heed_fail(err, HEED_VALUE, "coverage %g is out of range, wanted above 0, at most 1",
                         o->coverage);
    }
    if (o->min_count < 1 || o->max_piece < 1 || o->max_piece > 256) {
        return heed_fail(err, HEED_VALUE,
                         "min_count %" PRId64 " must be at least 1, max_piece %" PRId32
                         " must be 1 to 256",
                         o->min_count, o->max_piece);
    }
    return true;
}

static bool check_specials(const heed_tokenizer_options *o, heed_error *err) {
    for (size_t i = 0; i < o->n_specials; i++) {
        const char *name = o->specials[i];
        size_t n = strlen(name);
        if (n == 0 || heed_utf8_check(name, n) != n) {
            return heed_fail(err, HEED_VALUE, "special %zu, '%s', is empty or not UTF-8", i, name);
        }
        if (find_special(o, name, n) != (int32_t)i) {
            return heed_fail(err, HEED_VALUE, "special '%s' is given twice", name);
        }
    }
    return true;
}

/* A template is words with spaces between: $A once at least, and specials. */
static bool check_template(const heed_tokenizer_options *o, heed_error *err) {
    bool text = !o->end_template;
    for (const char *at = o->end_template; at && *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        bool is_text = n == 2 && memcmp(at, "$A", 2) == 0;
        if (n > 0 && !is_text && find_special(o, at, n) < 0) {
            return heed_fail(err, HEED_VALUE, "template '%s': '%.*s' is neither $A nor a special",
                             o->end_template, (int)n, at);
        }
        text = text || is_text;
        at += n;
    }
    return text || heed_fail(err, HEED_VALUE, "template '%s' does not say where the text goes: $A",
                             o->end_template);
}

static bool check_unknown(heed_train *train) {
    heed_tokenizer_options *o = &train->set;
    const char *unk = o->unk ? o->unk : "<unk>";
    train->unk = find_special(o, unk, strlen(unk));
    bool can_do_without = o->byte_fallback && o->kind != HEED_TOKENIZER_UNIGRAM && !o->unk;
    o->unk = unk;
    return train->unk >= 0 || can_do_without ||
           heed_fail(train->err, HEED_VALUE, "unknown token '%s' is not among the %zu specials",
                     unk, o->n_specials);
}

static bool take_options(heed_train *train, const heed_tokenizer_options *options) {
    train->set = *options;
    fill_defaults(&train->set);
    return check_ranges(&train->set, train->err) && check_specials(&train->set, train->err) &&
           check_template(&train->set, train->err) && check_unknown(train);
}

/* ---- Words --------------------------------------------------------------------------------- */

static bool count_words(heed_train *train, const heed_work *work) {
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        heed_map_entry *entry = heed_map_put(&train->words, work->now.text + word.from,
                                             word.to - word.from, 0, NULL, train->err);
        if (!entry) {
            return false;
        }
        entry->value++;
    }
    return true;
}

static bool read_line(heed_train *train, const heed_tokenizer *chain, heed_work *work,
                      const char *line, size_t n) {
    train->stats.lines++;
    train->stats.bytes += n;
    if (n > train->set.max_line) {
        train->stats.skipped_lines++;
        train->stats.skipped_bytes += n;
        return true;
    }
    size_t good = heed_utf8_check(line, n);
    if (good != n) {
        return heed_fail(train->err, HEED_TEXT,
                         "line %" PRIu64 " is not UTF-8 at byte %zu (0x%02x)", train->stats.lines,
                         good, (unsigned char)line[good]);
    }
    return heed_split_text(chain, work, line, n) && count_words(train, work);
}

static bool read_lines(heed_train *train, const heed_tokenizer *chain, heed_next_line *next,
                       void *ctx) {
    heed_work work;
    heed_work_init(&work, train->host, train->err);
    bool ok = true;
    const char *line = NULL;
    size_t n = 0;
    while (ok && next(ctx, &line, &n, train->err)) {
        ok = read_line(train, chain, &work, line, n);
    }
    heed_work_free(&work);
    train->stats.words = train->words.count;
    return ok && train->err->code == HEED_OK;
}

static heed_tokenizer *parse_printed(const heed_train *train) {
    heed_buf json = {.host = train->host};
    heed_tokenizer *made = NULL;
    if (heed_train_print(train, &json)) {
        made = heed_tokenizer_parse(train->host, json.data, json.n, "trained", train->err);
    } else {
        heed_fail(train->err, HEED_NOMEM, "out of memory: a tokenizer of %zu pieces",
                  train->n_pieces);
    }
    heed_buf_free(&json);
    return made;
}

/* What is printed before there is a vocabulary names no ids: no added tokens, no template. */
static heed_tokenizer *make_chain(const heed_train *train) {
    heed_train bare = *train;
    bare.set.n_specials = 0;
    bare.set.end_template = NULL;
    bare.unk = -1;
    return parse_printed(&bare);
}

static bool learn_words(heed_train *train, heed_next_line *next, void *ctx) {
    heed_tokenizer *chain = make_chain(train);
    bool ok = chain && read_lines(train, chain, next, ctx);
    heed_tokenizer_free(chain);
    return ok;
}

/* ---- Vocabulary ---------------------------------------------------------------------------- */

int32_t heed_train_add(heed_train *train, const char *text, size_t n, int32_t characters) {
    bool added = false;
    heed_map_entry *entry =
        heed_map_put(&train->ids, text, n, (int64_t)train->n_pieces, &added, train->err);
    if (!entry || !heed_reserve(train->host, (void **)&train->piece, &train->cap_pieces,
                                train->n_pieces + 1, sizeof *train->piece, train->err)) {
        return -1;
    }
    if (added) {
        train->piece[train->n_pieces++] =
            (heed_train_piece){.text = entry->key, .n = n, .characters = characters};
    }
    return (int32_t)entry->value;
}

static bool add_specials(heed_train *train) {
    for (size_t i = 0; i < train->set.n_specials; i++) {
        const char *name = train->set.specials[i];
        if (heed_train_add(train, name, strlen(name), 0) < 0) {
            return false;
        }
    }
    for (unsigned b = 0; train->set.byte_fallback && b < 256; b++) {
        char name[8];
        int n = snprintf(name, sizeof name, "<0x%02X>", b);
        if (heed_train_add(train, name, (size_t)n, 0) < 0) {
            return false;
        }
    }
    return train->n_pieces <= (size_t)train->set.vocab_size ||
           heed_fail(train->err, HEED_VALUE, "vocab_size %d is below the %zu specials and bytes",
                     (int)train->set.vocab_size, train->n_pieces);
}

static bool learn_pieces(heed_train *train) {
    switch (train->set.kind) {
    case HEED_TOKENIZER_BPE:
        return heed_train_bpe(train);
    case HEED_TOKENIZER_UNIGRAM:
        return heed_train_unigram(train);
    case HEED_TOKENIZER_CHARS:
        return true;
    }
    return heed_fail(train->err, HEED_VALUE, "tokenizer kind %d is not known",
                     (int)train->set.kind);
}

static void free_train(heed_train *train) {
    heed_map_free(&train->words);
    heed_map_free(&train->ids);
    heed_free(train->host, train->piece);
    heed_free(train->host, train->merge);
    heed_free(train->host, train->symbol);
    heed_free(train->host, train->segment);
}

heed_tokenizer *heed_tokenizer_train(const heed_host *host, const heed_tokenizer_options *options,
                                     heed_next_line *next, void *ctx, heed_tokenizer_stats *stats,
                                     heed_error *err) {
    heed_error local = {0}; /* the end of the lines and a failure differ only in this box */
    heed_train train = {.host = host, .err = &local};
    heed_map_init(&train.words, host);
    heed_map_init(&train.ids, host);
    heed_tokenizer *made = NULL;
    if (take_options(&train, options) && learn_words(&train, next, ctx) && add_specials(&train) &&
        heed_train_alphabet(&train) && learn_pieces(&train)) {
        made = parse_printed(&train);
    }
    train.stats.vocab_size = (int32_t)train.n_pieces;
    free_train(&train);
    if (stats) {
        *stats = train.stats;
    }
    if (!made) {
        heed_fail(err, local.code, "%s", local.text);
    }
    return made;
}
