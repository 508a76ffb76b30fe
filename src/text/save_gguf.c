/* save_gguf.c: a vocabulary as the settings of a GGUF file: open_gguf.c backwards.
 *
 * Three kinds of tokenizer have a form there: byte-level BPE (gpt2), SentencePiece's BPE (llama),
 * WordPiece (bert). A tokenizer.json says more than the settings can; each part is compared with
 * what open_gguf_words.c would make of the settings, and anything else is refused. What is left
 * out with a note is a normal form (NFC): no program that reads GGUF has it.
 * SPDX-License-Identifier: MIT
 */
#include "text/save_gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/open_gguf.h"
#include "text/scan.h"
#include "text/spm.h"

typedef struct {
    const heed_host *host;
    const heed_tokenizer *t;
    heed_gguf_settings *s;
    heed_gguf_ids *ids;
    const char **note;
    json_t *root; /* its tokenizer.json; NULL: a SentencePiece model */
    heed_region texts;
    int64_t n;
    heed_line *token;
    float *score;
    int32_t *type; /* heed_spm_type */
} work;

static bool cannot(heed_error *err, const char *what) {
    return heed_fail(err, HEED_VALUE, "GGUF cannot say this of the tokenizer: %s", what);
}

static bool is_text(const json_t *object, const char *key, const char *wanted) {
    const char *s = json_string_value(json_object_get(object, key));
    return s && strcmp(s, wanted) == 0;
}

static bool is_null(const json_t *object, const char *key) {
    const json_t *v = json_object_get(object, key);
    return !v || json_is_null(v);
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* Ids that the model has and the tokenizer does not. */
static bool fill_gap(work *w, int64_t id, heed_error *err) {
    char text[32];
    int n = snprintf(text, sizeof text, "[PAD%" PRId64 "]", id);
    w->token[id] = (heed_line){heed_region_text(&w->texts, text, (size_t)n, err), (size_t)n};
    w->type[id] = HEED_SPM_UNUSED;
    return w->token[id].s != NULL;
}

static bool list_tokens(work *w, heed_error *err) {
    const heed_tokenizer *t = w->t;
    w->token = heed_alloc(w->host, (size_t)w->n, sizeof *w->token, err);
    w->score = w->token ? heed_alloc(w->host, (size_t)w->n, sizeof *w->score, err) : NULL;
    w->type = w->score ? heed_alloc(w->host, (size_t)w->n, sizeof *w->type, err) : NULL;
    if (!w->type) {
        return false;
    }
    for (int64_t id = 0; id < w->n; id++) {
        const heed_piece *p = id < (int64_t)t->n_pieces ? &t->piece[id] : NULL;
        if (!p || !p->text) {
            if (!fill_gap(w, id, err)) {
                return false;
            }
            continue;
        }
        w->token[id] = (heed_line){p->text, p->n};
        w->type[id] = p->special ? HEED_SPM_CONTROL
                      : p->added ? HEED_SPM_USER_DEFINED
                                 : HEED_SPM_NORMAL;
    }
    return true;
}

/* Spaces that a token takes with it, or that it must be a word by itself, has no setting. */
static bool are_plain(const work *w, heed_error *err) {
    for (size_t i = 0; i < w->t->added.n; i++) {
        const heed_added *a = &w->t->added.item[i];
        if (a->lstrip || a->rstrip || a->single_word) {
            return heed_fail(err, HEED_VALUE,
                             "GGUF cannot say that token '%.60s' is found only as a word, or with "
                             "the spaces beside it",
                             w->t->piece[a->id].text);
        }
    }
    return true;
}

static void put_lists(work *w, const char *model, bool scores) {
    heed_gguf_put_text(w->s, "tokenizer.ggml.model", model, strlen(model));
    heed_gguf_put_texts(w->s, "tokenizer.ggml.tokens", w->token, w->n);
    if (scores) {
        heed_gguf_put_reals(w->s, "tokenizer.ggml.scores", w->score, w->n);
    }
    heed_gguf_put_integers(w->s, "tokenizer.ggml.token_type", w->type, w->n);
}

/* ---- Tokens round a text ------------------------------------------------------------------- */

/* What the template puts before and behind a text, at most one each; -1: nothing. */
static bool look_round(const work *w, int32_t *first, int32_t *last, heed_error *err) {
    heed_tokens tokens = {.host = w->host};
    bool fine = heed_encode(w->t, "a", 1, true, &tokens, err);
    int before = 0, behind = 0;
    *first = *last = -1;
    for (size_t i = 0; fine && i < tokens.n; i++) {
        bool in_text = tokens.item[i].text == 0;
        if (in_text) {
            behind = -1;
        } else if (behind < 0 || (i > 0 && tokens.item[i - 1].text == 0)) {
            *last = tokens.item[i].id;
            behind = behind < 0 ? 1 : behind + 1;
        } else {
            *first = tokens.item[i].id;
            before++;
        }
    }
    heed_tokens_free(&tokens);
    return fine && ((before <= 1 && behind <= 1) ||
                    cannot(err, "more than one token before or behind a text"));
}

/* add_bos_token and add_eos_token; what stands there is then the token that they mean. */
static bool put_ends(const work *w, heed_error *err) {
    int32_t first, last;
    if (!look_round(w, &first, &last, err)) {
        return false;
    }
    if (last >= 0 && w->ids->eos >= 0 && last != w->ids->eos) {
        return heed_fail(err, HEED_VALUE,
                         "the tokenizer ends texts with token %d, the model with %d: GGUF has one "
                         "for both",
                         last, w->ids->eos);
    }
    w->ids->bos = first >= 0 ? first : w->ids->bos;
    w->ids->eos = last >= 0 ? last : w->ids->eos;
    heed_gguf_put_bool(w->s, "tokenizer.ggml.add_bos_token", first >= 0);
    heed_gguf_put_bool(w->s, "tokenizer.ggml.add_eos_token", last >= 0);
    return true;
}

/* ---- Byte-level BPE ------------------------------------------------------------------------ */

/* One step of cutting words as an expression; *end: the step that ends the list. False: it has
 * none. */
static bool step_of(const json_t *step, const char **regex, bool *end) {
    const char *pattern = json_string_value(heed_json_find(step, "pattern.Regex"));
    *regex = NULL;
    if (is_text(step, "type", "Split")) {
        *regex = pattern;
        return pattern && is_text(step, "behavior", "Isolated") &&
               !json_is_true(json_object_get(step, "invert"));
    }
    if (is_text(step, "type", "Digits")) {
        *regex = "\\p{N}";
        return json_is_true(json_object_get(step, "individual_digits"));
    }
    *end = true;
    if (!json_is_false(json_object_get(step, "use_regex"))) {
        *regex = HEED_REGEX_GPT2;
    }
    return is_text(step, "type", "ByteLevel") &&
           !json_is_true(json_object_get(step, "add_prefix_space"));
}

static const char *words_name(const work *w) {
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
static bool merge_text(work *w, const json_t *merge, heed_line *out, heed_error *err) {
    char text[1024];
    if (json_is_string(merge)) {
        *out = (heed_line){json_string_value(merge), json_string_length(merge)};
        return true;
    }
    const char *a = json_string_value(json_array_get(merge, 0));
    const char *b = json_string_value(json_array_get(merge, 1));
    int n = a && b ? snprintf(text, sizeof text, "%s %s", a, b) : -1;
    if (n < 0 || (size_t)n >= sizeof text) {
        return cannot(err, "a merge of more than 1023 bytes");
    }
    *out = (heed_line){heed_region_text(&w->texts, text, (size_t)n, err), (size_t)n};
    return out->s != NULL;
}

static bool put_merges(work *w, heed_error *err) {
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

static bool check_bpe(work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    const json_t *normal = json_object_get(w->root, "normalizer");
    if (!w->t->byte_level) {
        return cannot(err, "a BPE model whose pieces are not bytes");
    }
    if (!is_null(model, "dropout") ||
        json_string_length(json_object_get(model, "end_of_word_suffix")) ||
        json_string_length(json_object_get(model, "continuing_subword_prefix"))) {
        return cannot(err, "BPE with dropout, or with marks on its pieces");
    }
    if (is_text(normal, "type", "NFC")) {
        *w->note = "GGUF has no normal form: texts that are not NFC may get other ids";
    } else if (normal && !json_is_null(normal)) {
        return cannot(err, "its normalizer");
    }
    return true;
}

static bool put_bpe(work *w, heed_error *err) {
    const char *name = words_name(w);
    if (!check_bpe(w, err)) {
        return false;
    }
    if (!name) {
        return cannot(err, "its pre_tokenizer, which no name of tokenizer.ggml.pre stands for");
    }
    put_lists(w, "gpt2", false);
    heed_gguf_put_text(w->s, "tokenizer.ggml.pre", name, strlen(name));
    return put_merges(w, err) && put_ends(w, err);
}

/* ---- WordPiece ----------------------------------------------------------------------------- */

static bool is_berts_normalizer(const json_t *n) {
    const json_t *strip = json_object_get(n, "strip_accents");
    return is_text(n, "type", "BertNormalizer") && json_is_true(json_object_get(n, "lowercase")) &&
           !json_is_false(strip) && !json_is_false(json_object_get(n, "clean_text")) &&
           !json_is_false(json_object_get(n, "handle_chinese_chars"));
}

/* ##piece is piece, word is "▁word"; special tokens are as they are. */
static bool spell(work *w, heed_error *err) {
    for (int64_t id = 0; id < w->n; id++) {
        heed_line *t = &w->token[id];
        bool plain =
            w->type[id] != HEED_SPM_NORMAL || (t->n > 1 && t->s[0] == '[' && t->s[t->n - 1] == ']');
        if (plain) {
            continue;
        }
        if (t->n > 2 && t->s[0] == '#' && t->s[1] == '#') {
            *t = (heed_line){t->s + 2, t->n - 2};
            continue;
        }
        char *text = heed_region_alloc(&w->texts, t->n + HEED_SPM_MARK_BYTES, 1, err);
        if (!text) {
            return false;
        }
        memcpy(text, HEED_SPM_MARK, HEED_SPM_MARK_BYTES);
        memcpy(text + HEED_SPM_MARK_BYTES, t->s, t->n);
        *t = (heed_line){text, t->n + HEED_SPM_MARK_BYTES};
    }
    return true;
}

static bool put_word_piece(work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    const char *unk = json_string_value(json_object_get(model, "unk_token"));
    int32_t first, last, mask = heed_token_id(w->t, "[MASK]");
    if (!is_berts_normalizer(json_object_get(w->root, "normalizer")) ||
        !is_text(json_object_get(w->root, "pre_tokenizer"), "type", "BertPreTokenizer") ||
        !is_text(model, "continuing_subword_prefix", "##")) {
        return cannot(err, "WordPiece other than that of BERT in lower case");
    }
    w->ids->unk = unk ? heed_token_id(w->t, unk) : -1;
    if (w->ids->unk < 0 || !look_round(w, &first, &last, err) || first < 0 || last < 0) {
        return cannot(err, "WordPiece without an unknown token, or one at each end of a text");
    }
    if (!spell(w, err)) {
        return false;
    }
    put_lists(w, "bert", true);
    heed_gguf_put_integer(w->s, "tokenizer.ggml.cls_token_id", first);
    heed_gguf_put_integer(w->s, "tokenizer.ggml.seperator_token_id", last); /* as it is spelt */
    if (mask >= 0) {
        heed_gguf_put_integer(w->s, "tokenizer.ggml.mask_token_id", mask);
    }
    return true;
}

/* ---- SentencePiece ------------------------------------------------------------------------- */

static bool put_spm(work *w, const heed_spm *spm, heed_error *err) {
    if (spm->kind != HEED_SPM_BPE) {
        return cannot(err, "a SentencePiece model that is not BPE");
    }
    if (spm->suffix || !spm->escape || spm->by_text || spm->map_bytes.n || spm->unmap_bytes.n) {
        return cannot(err, "a SentencePiece model that normalises, or marks the ends of words");
    }
    for (size_t i = 0; i < spm->n; i++) {
        const heed_spm_piece *p = &spm->piece[i];
        if (p->id < 0 || p->id >= w->n) {
            continue;
        }
        w->score[p->id] = p->score;
        w->type[p->id] = p->type == HEED_SPM_NONE ? w->type[p->id] : (int32_t)p->type;
        w->ids->unk = p->type == HEED_SPM_UNKNOWN ? p->id : w->ids->unk;
    }
    put_lists(w, "llama", true);
    heed_gguf_put_text(w->s, "tokenizer.ggml.pre", "default", 7);
    heed_gguf_put_bool(w->s, "tokenizer.ggml.add_space_prefix", spm->dummy_prefix);
    heed_gguf_put_bool(w->s, "tokenizer.ggml.remove_extra_whitespaces", spm->tidy);
    return put_ends(w, err);
}

/* ---- Which one ----------------------------------------------------------------------------- */

static bool put_json(work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    if (!are_plain(w, err)) {
        return false;
    }
    if (is_text(model, "type", "BPE")) {
        return put_bpe(w, err);
    }
    return is_text(model, "type", "WordPiece")
               ? put_word_piece(w, err)
               : cannot(err, "a model other than BPE, WordPiece and SentencePiece's BPE");
}

bool heed_tokenizer_to_gguf(const heed_tokenizer *t, int64_t vocab, heed_gguf_ids *ids,
                            heed_gguf_settings *s, const char **note, heed_error *err) {
    const heed_spm *spm = heed_spm_of(t);
    work w = {.host = t->host,
              .t = t,
              .s = s,
              .ids = ids,
              .note = note,
              .n = vocab,
              .texts = {.host = t->host}};
    bool fine = list_tokens(&w, err);
    if (fine && spm) {
        fine = put_spm(&w, spm, err);
    } else if (fine) {
        w.root = heed_json_parse(t->host, "tokenizer.json", t->json, t->json_n, err);
        fine = w.root && put_json(&w, err);
        json_decref(w.root);
    }
    heed_free(t->host, w.token);
    heed_free(t->host, w.score);
    heed_free(t->host, w.type);
    heed_region_free(&w.texts);
    return fine;
}
