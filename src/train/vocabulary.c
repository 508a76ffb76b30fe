/* vocabulary.c: the recipe's tokenizer, learnt from both sides of the training pairs, or from other
 * lines.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "base/error.h"
#include "train/corpus.h"

typedef struct {
    const heed_parallel *text;
    int64_t next; /* sources first, then targets */
} sides;

static bool next_side(void *ctx, const char **line, size_t *n, heed_error *err) {
    sides *s = ctx;
    (void)err;
    if (s->next >= 2 * s->text->n) {
        return false;
    }
    bool source = s->next < s->text->n;
    const heed_pair *pair = &s->text->pair[source ? s->next : s->next - s->text->n];
    const heed_line *side = source ? &pair->source : &pair->target;
    s->next++;
    *line = side->s;
    *n = side->n;
    return true;
}

static heed_norm_kind norm_of(const heed_recipe_text *t) {
    if (t->normalization == HEED_RECIPE_NFKC) {
        return t->lowercase ? HEED_NORM_NFKC_LOWER : HEED_NORM_NFKC;
    }
    return t->lowercase ? HEED_NORM_LOWER : HEED_NORM_NONE;
}

static void tell(const heed_recipe *recipe, const heed_tokenizer_stats *stats,
                 const heed_notes *notes) {
    const heed_recipe_text *t = &recipe->tokenizer;
    bool all = t->type == HEED_RECIPE_CHAR && recipe->model.task == HEED_RECIPE_LM; /* asked for */
    if (!all && stats->vocab_size < t->vocab) {
        heed_note(notes, "the training text gives %d pieces, %" PRId64 " were asked for",
                  stats->vocab_size, t->vocab);
    }
    if (stats->skipped_lines > 0) {
        heed_note(notes, "the tokenizer did not learn from %" PRIu64 " very long lines of %" PRIu64,
                  stats->skipped_lines, stats->lines);
    }
    if (stats->rare_characters > 0) {
        heed_note(notes, "%" PRIu64 " of %" PRIu64 " characters are rare and have no piece: %s",
                  stats->rare_characters, stats->characters,
                  t->byte_fallback ? "they are spelt in bytes" : "they become <unk>");
    }
}

heed_tokenizer *heed_recipe_learn_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                            heed_tokenizer_options options, heed_next_line *next,
                                            void *ctx, const heed_notes *notes, heed_error *err) {
    static const heed_tokenizer_kind kinds[] = {[HEED_RECIPE_BPE] = HEED_TOKENIZER_BPE,
                                                [HEED_RECIPE_UNIGRAM] = HEED_TOKENIZER_UNIGRAM,
                                                [HEED_RECIPE_CHAR] = HEED_TOKENIZER_CHARS};
    const heed_recipe_text *t = &recipe->tokenizer;
    heed_tokenizer_stats stats = {0};
    options.kind = kinds[t->type];
    options.norm = norm_of(t);
    options.vocab_size = (int32_t)t->vocab;
    options.byte_fallback = t->byte_fallback;
    options.split_han = t->split_han;
    options.coverage = t->coverage;
    heed_tokenizer *made = heed_tokenizer_train(host, &options, next, ctx, &stats, err);
    if (made) {
        tell(recipe, &stats, notes);
    } else {
        heed_error_at(err, "tokenizer");
    }
    return made;
}

heed_tokenizer *heed_recipe_open_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                           heed_error *err) {
    char *path = heed_recipe_path(host, recipe->tokenizer.file, err);
    heed_tokenizer *opened = path ? heed_tokenizer_open(host, path, err) : NULL;
    heed_free(host, path);
    return opened;
}

heed_tokenizer *heed_recipe_make_tokenizer(const heed_recipe *recipe, const heed_host *host,
                                           const heed_parallel *text, const heed_notes *notes,
                                           heed_error *err) {
    sides s = {.text = text};
    heed_tokenizer_options options = {.end_template = "$A </s>", .tidy_spaces = true};
    if (recipe->tokenizer.type == HEED_RECIPE_FILE) {
        return heed_recipe_open_tokenizer(recipe, host, err);
    }
    return heed_recipe_learn_tokenizer(recipe, host, options, next_side, &s, notes, err);
}
