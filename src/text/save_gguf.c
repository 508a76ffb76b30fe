/* save_gguf.c: a vocabulary as the settings of a GGUF file: open_gguf.c backwards.
 *
 * Three kinds of tokenizer have a form there: byte-level BPE (gpt2), SentencePiece's BPE (llama),
 * WordPiece (bert). A tokenizer.json says more than the settings can; each part is compared with
 * what open_gguf_words.c would make of the settings, and anything else is refused. What is left
 * out with a note is a normal form (NFC): no program that reads GGUF has it.
 * SPDX-License-Identifier: MIT
 */
#include "text/save_gguf_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/open_gguf.h"
#include "text/spm.h"

bool heed_gguf_cannot(heed_error *err, const char *what) {
    return heed_fail(err, HEED_VALUE, "GGUF cannot say this of the tokenizer: %s", what);
}

bool heed_json_is_text(const json_t *object, const char *key, const char *wanted) {
    const char *s = json_string_value(json_object_get(object, key));
    return s && strcmp(s, wanted) == 0;
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* Ids that the model has and the tokenizer does not. */
static bool fill_gap(heed_gguf_work *w, int64_t id, heed_error *err) {
    char text[32];
    int n = snprintf(text, sizeof text, "[PAD%" PRId64 "]", id);
    w->token[id] = (heed_line){heed_region_text(&w->texts, text, (size_t)n, err), (size_t)n};
    w->type[id] = HEED_SPM_UNUSED;
    return w->token[id].s != NULL;
}

static bool take_token(heed_gguf_work *w, int64_t id, heed_error *err) {
    const heed_piece *p = id < (int64_t)w->t->n_pieces ? &w->t->piece[id] : NULL;
    if (!p || !p->text) {
        return fill_gap(w, id, err);
    }
    w->token[id] = (heed_line){p->text, p->n};
    w->type[id] = p->special ? HEED_SPM_CONTROL
                  : p->added ? HEED_SPM_USER_DEFINED
                             : HEED_SPM_NORMAL;
    return true;
}

static bool list_tokens(heed_gguf_work *w, heed_error *err) {
    w->token = heed_alloc(w->host, (size_t)w->n, sizeof *w->token, err);
    w->score = w->token ? heed_alloc(w->host, (size_t)w->n, sizeof *w->score, err) : NULL;
    w->type = w->score ? heed_alloc(w->host, (size_t)w->n, sizeof *w->type, err) : NULL;
    for (int64_t id = 0; w->type && id < w->n; id++) {
        if (!take_token(w, id, err)) {
            return false;
        }
    }
    return w->type != NULL;
}

/* Spaces that a token takes with it, or that it must be a word by itself, has no setting. */
static bool are_plain(const heed_gguf_work *w, heed_error *err) {
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

void heed_gguf_put_lists(heed_gguf_work *w, const char *model, bool scores) {
    heed_gguf_put_text(w->s, "tokenizer.ggml.model", model, strlen(model));
    heed_gguf_put_texts(w->s, "tokenizer.ggml.tokens", w->token, w->n);
    if (scores) {
        heed_gguf_put_reals(w->s, "tokenizer.ggml.scores", w->score, w->n);
    }
    heed_gguf_put_integers(w->s, "tokenizer.ggml.token_type", w->type, w->n);
}

/* ---- Tokens round a text ------------------------------------------------------------------- */

/* What the template puts before and behind a text, at most one each; -1: nothing. */
static bool look_round(const heed_gguf_work *w, int32_t *first, int32_t *last, heed_error *err) {
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
                    heed_gguf_cannot(err, "more than one token before or behind a text"));
}

/* add_bos_token and add_eos_token; what stands there is then the token that they mean. */
bool heed_gguf_put_ends(const heed_gguf_work *w, heed_error *err) {
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

/* ---- WordPiece ----------------------------------------------------------------------------- */

static bool is_berts_normalizer(const json_t *n) {
    const json_t *strip = json_object_get(n, "strip_accents");
    return heed_json_is_text(n, "type", "BertNormalizer") &&
           json_is_true(json_object_get(n, "lowercase")) && !json_is_false(strip) &&
           !json_is_false(json_object_get(n, "clean_text")) &&
           !json_is_false(json_object_get(n, "handle_chinese_chars"));
}

/* ##piece is piece, word is "▁word". */
static bool spell(heed_gguf_work *w, heed_error *err) {
    for (int64_t id = 0; id < w->n; id++) {
        heed_line *t = &w->token[id];
        if (heed_gguf_as_it_is(w->type[id], t->s, t->n)) {
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

static bool put_word_piece(heed_gguf_work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    const char *unk = json_string_value(json_object_get(model, "unk_token"));
    int32_t first, last, mask = heed_token_id(w->t, "[MASK]");
    if (!is_berts_normalizer(json_object_get(w->root, "normalizer")) ||
        !heed_json_is_text(json_object_get(w->root, "pre_tokenizer"), "type", "BertPreTokenizer") ||
        !heed_json_is_text(model, "continuing_subword_prefix", "##")) {
        return heed_gguf_cannot(err, "WordPiece other than that of BERT in lower case");
    }
    w->ids->unk = unk ? heed_token_id(w->t, unk) : -1;
    if (w->ids->unk < 0 || !look_round(w, &first, &last, err) || first < 0 || last < 0) {
        return heed_gguf_cannot(err,
                                "WordPiece without an unknown token, or one at each end of a text");
    }
    if (!spell(w, err)) {
        return false;
    }
    heed_gguf_put_lists(w, "bert", true);
    heed_gguf_put_integer(w->s, "tokenizer.ggml.cls_token_id", first);
    heed_gguf_put_integer(w->s, "tokenizer.ggml.seperator_token_id", last); /* as it is spelt */
    if (mask >= 0) {
        heed_gguf_put_integer(w->s, "tokenizer.ggml.mask_token_id", mask);
    }
    return true;
}

/* ---- SentencePiece ------------------------------------------------------------------------- */

bool heed_gguf_put_llama(heed_gguf_work *w, bool prefix, bool tidy, heed_error *err) {
    heed_gguf_put_lists(w, "llama", true);
    heed_gguf_put_text(w->s, "tokenizer.ggml.pre", "default", 7);
    heed_gguf_put_bool(w->s, "tokenizer.ggml.add_space_prefix", prefix);
    heed_gguf_put_bool(w->s, "tokenizer.ggml.remove_extra_whitespaces", tidy);
    return heed_gguf_put_ends(w, err);
}

static bool put_spm(heed_gguf_work *w, const heed_spm *spm, heed_error *err) {
    if (spm->kind != HEED_SPM_BPE) {
        return heed_gguf_cannot(err, "a SentencePiece model that is not BPE");
    }
    if (spm->suffix || !spm->escape || spm->by_text || spm->map_bytes.n || spm->unmap_bytes.n) {
        return heed_gguf_cannot(
            err, "a SentencePiece model that normalises, or marks the ends of words");
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
    return heed_gguf_put_llama(w, spm->dummy_prefix, spm->tidy, err);
}

/* ---- Which one ----------------------------------------------------------------------------- */

static bool put_json(heed_gguf_work *w, heed_error *err) {
    const json_t *model = json_object_get(w->root, "model");
    if (!are_plain(w, err)) {
        return false;
    }
    if (heed_json_is_text(model, "type", "BPE")) {
        return heed_gguf_put_bpe(w, err);
    }
    return heed_json_is_text(model, "type", "WordPiece")
               ? put_word_piece(w, err)
               : heed_gguf_cannot(err, "a model other than BPE, WordPiece and SentencePiece's BPE");
}

bool heed_tokenizer_to_gguf(const heed_tokenizer *t, int64_t vocab, heed_gguf_ids *ids,
                            heed_gguf_settings *s, const char **note, heed_error *err) {
    const heed_spm *spm = heed_spm_of(t);
    heed_gguf_work w = {.host = t->host,
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
