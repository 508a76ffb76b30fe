/* search.c: from the options of a search to the library's.
 * SPDX-License-Identifier: MIT
 */
#include "cli/search.h"

#include <inttypes.h>
#include <stdlib.h>

/* In the order of heed_stop. */
const char *const cli_stops[] = {"auto", "first", "never", NULL};

/* A token by its text, or by its number where the model has no tokenizer. */
static bool find_token(const heed_model *model, const char *text, int32_t *id) {
    const heed_tokenizer *tokenizer = heed_model_target_tokenizer(model);
    char *end;
    long number = strtol(text, &end, 10);
    if (tokenizer) {
        *id = heed_token_id(tokenizer, text);
        if (*id < 0) {
            cli_warn("the model's tokenizer has no token '%s'", text);
        }
        return *id >= 0;
    }
    if (*end || end == text || number < 0 || number > INT32_MAX) {
        cli_warn("'%s' is no token id, and the model has no tokenizer to look it up", text);
        return false;
    }
    *id = (int32_t)number;
    return true;
}

bool cli_search(const heed_model *model, const cli_search_values *v, cli_tokens *tokens,
                heed_translate_options *out) {
    heed_translate_options o = heed_translate_defaults(model);
    if ((v->start && !find_token(model, v->start, &tokens->start)) ||
        (v->first && !find_token(model, v->first, &tokens->first))) {
        return false;
    }
    o.start = v->start ? &tokens->start : NULL;
    o.first = v->first ? &tokens->first : NULL;
    o.beam = v->beam.set ? v->beam.value : o.beam;
    o.stop = v->stop.set ? (heed_stop)v->stop.value : o.stop;
    o.length_penalty = v->length_penalty.set ? v->length_penalty.value : o.length_penalty;
    o.min_length = v->min_length.set ? v->min_length.value : o.min_length;
    o.max_length = v->max_length.set ? v->max_length.value : o.max_length;
    o.no_repeat = v->no_repeat.set ? v->no_repeat.value : o.no_repeat;
    o.repetition_penalty =
        v->repetition_penalty.set ? v->repetition_penalty.value : o.repetition_penalty;
    if (v->max_ratio.set) {
        o.max_ratio = v->max_ratio.value;
        o.max_extra = 10;
    }
    o.max_source = v->max_source.value;
    o.batch_tokens = v->batch_tokens.value;
    o.no_unk = v->no_unk;
    o.limit = heed_most_bytes();
    *out = o;
    return true;
}

void cli_report_sources(const heed_translations *t, const char *what) {
    int64_t cut = 0, empty = 0, first_cut = 0, first_empty = 0;
    for (int64_t i = 0; i < t->lines; i++) {
        if (t->source[i] == HEED_SOURCE_CUT && cut++ == 0) {
            first_cut = i + 1;
        } else if (t->source[i] == HEED_SOURCE_EMPTY && empty++ == 0) {
            first_empty = i + 1;
        }
    }
    if (cut) {
        cli_warn("%s %" PRId64 " is longer than the model holds and was cut; %" PRId64
                 " of %" PRId64 " were",
                 what, first_cut, cut, t->lines);
    }
    if (empty) {
        cli_warn("%s %" PRId64 " is empty, and so is its translation; %" PRId64 " of %" PRId64
                 " are",
                 what, first_empty, empty, t->lines);
    }
}
