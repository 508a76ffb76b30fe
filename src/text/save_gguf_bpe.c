/* save_gguf_bpe.c: BPE of a tokenizer.json as the settings of a GGUF file.
 *
 * Pieces of bytes are GGUF's gpt2: merges and the name of an expression. Pieces of characters with
 * bytes for the rest, as Llama and Gemma have them, came from a SentencePiece model and are GGUF's
 * llama: a score for each piece in place of the merges. There two neighbours merge wherever what
 * they make is a piece, the best score first; so scores stand for merges only where every piece
 * that two others make is made by a merge of these two, and those of one piece follow one another.
 * Both are checked.
 * SPDX-License-Identifier: MIT
 */
#include "text/save_gguf_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "text/open_gguf.h"
#include "text/scan.h"
#include "text/spm.h"

static bool is_null(const json_t *object, const char *key) {
    const json_t *v = json_object_get(object, key);
    return !v || json_is_null(v);
}

/* ---- Byte-level BPE ------------------------------------------------------------------------ */

/* One step of cutting words as an expression; *end: the step that ends the list. False: it has
 * none. */
static bool step_of(const json_t *step, const char **regex, bool *end) {
    const char *pattern = json_string_value(heed_json_find(step, "pattern.Regex"));
    *regex = NULL;
    if (heed_json_is_text(step, "type", "Split")) {
        *regex = pattern;
        return pattern && heed_json_is_text(step, "behavior", "Isolated") &&
               !json_is_true(json_object_get(step, "invert"));
    }
    if (heed_json_is_text(step, "type", "Digits")) {
        *regex = "\\p{N}";
        return json_is_true(json_object_get(step, "individual_digits"));
    }
    *end = true;
    if (!json_is_false(json_object_get(step, "use_regex"))) {
        *regex = HEED_REGEX_GPT2;
    }
    return heed_json_is_text(step, "type", "ByteLevel") &&
           !json_is_true(json_object_get(step, "add_prefix_space"));
}

static const char *words_name(const heed_gguf_work *w) {
    const json_t *pre = json_object_get(w->root, "pre_tokenizer");
    const json_t *list = json_object_get(pre, "pretokenizers");
    bool whole = json_is_true(heed_json_find(w->root, "model.ignore_merges")), end = false;
    const char *regex[4] = {NULL};
    size_t steps = list ? json_array_size(list) : 1;
    for (size_t i = 0, n = 0; i < steps; i++) {
        const char *one;
        if (end || n == 4 || !step_of(list ? json_array_get(list, i) : pre, &one, &end)) {
            return NULL;
        }
        if (one) {
            regex[n++] = one;
        }
    }
    return end ? heed_gguf_words_name(regex, whole) : NULL;
}

/* "a b", from that or from ["a", "b"]. */
static bool merge_text(heed_gguf_work *w, const json_t *merge, heed_line *out, heed_error *err) {
    char text[1024];
    if (json_is_string(merge)) {
        *out = (heed_line){json_string_value(merge), json_string_length(merge)};
        return true;
    }
    const char *a = json_string_value(json_array_get(merge, 0));
    const char *b = json_string_value(json_array_get(merge, 1));
    int n = a && b ? snprintf(text, sizeof text, "%s %s", a, b) : -1;
    if (n < 0 || (size_t)n >= sizeof text) {
        return heed_gguf_cannot(err, "a merge of more than 1023 bytes");
    }
    *out = (heed_line){heed_region_text(&w->texts, text, (size_t)n, err), (size_t)n};
    return out->s != NULL;
}

static bool put_merges(heed_gguf_work *w, heed_error *err) {
    const json_t *merges = heed_json_find(w->root, "model.merges");
    size_t n = json_array_size(merges);
    heed_line *list = heed_alloc(w->host, n, sizeof *list, err);
    bool fine = list;
    for (size_t i = 0; fine && i < n; i++) {
        fine = merge_text(w, json_array_get(merges, i), &list[i], err);
    }
    if (fine) {
        heed_gguf_put_texts(w->s, "tokenizer.ggml.merges", list, (int64_t)n);
    }
    heed_free(w->host, list);
    return fine;
}

static bool check_bpe(heed_gguf_work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    const json_t *normal = json_object_get(w->root, "normalizer");
    if (!is_null(model, "dropout") ||
        json_string_length(json_object_get(model, "end_of_word_suffix")) ||
        json_string_length(json_object_get(model, "continuing_subword_prefix"))) {
        return heed_gguf_cannot(err, "BPE with dropout, or with marks on its pieces");
    }
    if (heed_json_is_text(normal, "type", "NFC")) {
        *w->note = "GGUF has no normal form: texts that are not NFC may get other ids";
    } else if (normal && !json_is_null(normal)) {
        return heed_gguf_cannot(err, "its normalizer");
    }
    return true;
}

static bool put_bytes(heed_gguf_work *w, heed_error *err) {
    const char *name = words_name(w);
    if (!check_bpe(w, err)) {
        return false;
    }
    if (!name) {
        return heed_gguf_cannot(
            err, "its pre_tokenizer, which no name of tokenizer.ggml.pre stands for");
    }
    heed_gguf_put_lists(w, "gpt2", false);
    heed_gguf_put_text(w->s, "tokenizer.ggml.pre", name, strlen(name));
    return put_merges(w, err) && heed_gguf_put_ends(w, err);
}

/* ---- BPE of characters --------------------------------------------------------------------- */

/* Spaces are U+2581; does one stand before the text? Only what a SentencePiece model does. */
static bool replaces_spaces(const json_t *normal) {
    const json_t *pattern = json_object_get(normal, "pattern");
    return heed_json_is_text(normal, "type", "Replace") &&
           heed_json_is_text(normal, "content", HEED_SPM_MARK) &&
           (heed_json_is_text(pattern, "String", " ") || heed_json_is_text(pattern, "Regex", " "));
}

static bool normalizer_prefix(const json_t *normal, bool *prefix) {
    const json_t *list = json_object_get(normal, "normalizers");
    if (!normal || json_is_null(normal) || replaces_spaces(normal)) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *step = json_array_get(list, i);
        bool before = i == 0 && heed_json_is_text(step, "type", "Prepend") &&
                      (heed_json_is_text(step, "prepend", HEED_SPM_MARK) ||
                       heed_json_is_text(step, "prepend", " "));
        if (!before && !replaces_spaces(step)) {
            return false;
        }
        *prefix = *prefix || before;
    }
    return json_array_size(list) > 0;
}

static bool pre_tokenizer_prefix(const json_t *pre, bool *prefix) {
    if (!pre || json_is_null(pre)) {
        return true;
    }
    const json_t *list = json_object_get(pre, "pretokenizers");
    pre = json_array_size(list) == 1 ? json_array_get(list, 0) : pre;
    if (heed_json_is_text(pre, "type", "Metaspace")) {
        *prefix = *prefix || !heed_json_is_text(pre, "prepend_scheme", "never");
        return heed_json_is_text(pre, "replacement", HEED_SPM_MARK);
    }
    /* Gemma's, which finds no space: they have been replaced */
    return heed_json_is_text(pre, "type", "Split") &&
           heed_json_is_text(json_object_get(pre, "pattern"), "String", " ") &&
           heed_json_is_text(pre, "behavior", "MergedWithPrevious");
}

/* The id of what a merge "a b" makes; -1 after a refusal. */
static int32_t made_by(const heed_gguf_work *w, heed_line pair, heed_error *err) {
    char text[1024];
    const char *space = memchr(pair.s, ' ', pair.n);
    size_t first = space ? (size_t)(space - pair.s) : 0;
    int32_t id = -1;
    if (space && pair.n <= sizeof text) {
        memcpy(text, pair.s, first);
        memcpy(text + first, space + 1, pair.n - first - 1);
        id = heed_vocab_find(w->t, text, pair.n - 1);
    }
    if (id < 0 || id >= w->n) {
        heed_gguf_cannot(err, "a merge whose piece is not in the vocabulary");
        return -1;
    }
    return id;
}

/* The pairs that merge, "a b". A piece's score is that of its first merge. */
static bool score_merges(heed_gguf_work *w, heed_map *pairs, heed_error *err) {
    const json_t *merges = heed_json_find(w->root, "model.merges");
    size_t n = json_array_size(merges);
    const float none = -(float)n - 1;
    int32_t before = -1;
    for (int64_t id = 0; id < w->n; id++) {
        w->score[id] = none;
    }
    for (size_t i = 0; i < n; i++) {
        heed_line pair;
        bool added;
        if (!merge_text(w, json_array_get(merges, i), &pair, err) ||
            !heed_map_put(pairs, pair.s, pair.n, (int64_t)i, &added, err)) {
            return false;
        }
        int32_t id = made_by(w, pair, err);
        if (id < 0 || (id != before && w->score[id] > none)) {
            return id >= 0 && heed_gguf_cannot(err, "merges in an order that no scores give");
        }
        w->score[id] = id != before ? -(float)i : w->score[id];
        before = id;
    }
    return true;
}

/* Do two pieces make this one without a merge? */
static bool merges_unsaid(const heed_gguf_work *w, const heed_map *pairs, const heed_line *t) {
    char text[2 * HEED_SPM_MAX_PIECE];
    for (size_t cut = 1; cut < t->n && t->n + 1 < sizeof text; cut++) {
        if (((unsigned char)t->s[cut] & 0xc0) == 0x80) {
            continue;
        }
        int32_t a = heed_vocab_find(w->t, t->s, cut);
        int32_t b = heed_vocab_find(w->t, t->s + cut, t->n - cut);
        if (a < 0 || b < 0 || w->type[a] != HEED_SPM_NORMAL || w->type[b] != HEED_SPM_NORMAL) {
            continue;
        }
        memcpy(text, t->s, cut);
        text[cut] = ' ';
        memcpy(text + cut + 1, t->s + cut, t->n - cut);
        if (!heed_map_find(pairs, text, t->n + 1)) {
            return true;
        }
    }
    return false;
}

static bool check_merges(const heed_gguf_work *w, const heed_map *pairs, heed_error *err) {
    for (int64_t id = 0; id < w->n; id++) {
        if (w->type[id] == HEED_SPM_NORMAL && merges_unsaid(w, pairs, &w->token[id])) {
            return heed_fail(err, HEED_VALUE,
                             "GGUF cannot say this of the tokenizer: token %lld '%.60s' is made of "
                             "two others, and there is no such merge",
                             (long long)id, w->token[id].s);
        }
    }
    return true;
}

static void set_types(heed_gguf_work *w) {
    const char *unk = json_string_value(heed_json_find(w->root, "model.unk_token"));
    bool bytes = json_is_true(heed_json_find(w->root, "model.byte_fallback"));
    for (int64_t id = 0; bytes && id < w->n; id++) {
        if (heed_spm_byte(w->token[id].s, w->token[id].n) >= 0) {
            w->type[id] = HEED_SPM_BYTE;
        }
    }
    int32_t id = unk ? heed_token_id(w->t, unk) : -1;
    if (id >= 0 && id < w->n) {
        w->type[id] = HEED_SPM_UNKNOWN;
        w->ids->unk = id;
    }
}

static bool put_characters(heed_gguf_work *w, heed_error *err) {
    heed_map pairs;
    bool prefix = false;
    if (!normalizer_prefix(json_object_get(w->root, "normalizer"), &prefix) ||
        !pre_tokenizer_prefix(json_object_get(w->root, "pre_tokenizer"), &prefix)) {
        return heed_gguf_cannot(err, "BPE of characters that is no SentencePiece model's");
    }
    set_types(w);
    heed_map_init(&pairs, w->host);
    bool fine = score_merges(w, &pairs, err) && check_merges(w, &pairs, err);
    heed_map_free(&pairs);
    if (!fine) {
        return false;
    }
    return heed_gguf_put_llama(w, prefix, false, err);
}

bool heed_gguf_put_bpe(heed_gguf_work *w, heed_error *err) {
    return w->t->byte_level ? put_bytes(w, err) : put_characters(w, err);
}
