/* open_gguf.c: the vocabulary inside a GGUF file.
 *
 * tokenizer.ggml.model says which kind it is: llama (a SentencePiece BPE model), gpt2 (byte-level
 * BPE whose words tokenizer.ggml.pre names) or bert (WordPiece, spelt with marks in front of words
 * instead of ## inside them). Tokens have a type each, as SentencePiece numbers them.
 * Source: ggml, gguf.md; llama.cpp, llama-vocab.cpp, for the defaults.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/open_gguf.h"
#include "text/spm.h"

/* ---- Settings ------------------------------------------------------------------------------ */

static const heed_gguf_value *find(const heed_gguf *g, const char *key) {
    char name[96];
    snprintf(name, sizeof name, "tokenizer.ggml.%s", key);
    return heed_gguf_find(g, name);
}

static bool wrong_kind(const char *key, const char *wanted, heed_error *err) {
    return heed_fail(err, HEED_FILE, "tokenizer.ggml.%s is not %s", key, wanted);
}

static bool read_flag(const heed_gguf *g, const char *key, bool *out, heed_error *err) {
    const heed_gguf_value *v = find(g, key);
    if (v && v->kind != HEED_GGUF_BOOL) {
        return wrong_kind(key, "true or false", err);
    }
    *out = v ? v->integer != 0 : *out;
    return true;
}

static bool read_id(const heed_gguf_vocab *v, const char *key, int64_t *out, heed_error *err) {
    const heed_gguf_value *value = find(v->gguf, key);
    if (!value) {
        return true;
    }
    if (value->kind != HEED_GGUF_INTEGER) {
        return wrong_kind(key, "an integer", err);
    }
    *out = value->integer;
    return (*out >= 0 && *out < v->n) ||
           heed_fail(err, HEED_FILE,
                     "tokenizer.ggml.%s is %" PRId64 ", there are %" PRId64 " tokens", key, *out,
                     v->n);
}

/* An array with an item for each token; NULL in *found where it is absent. */
static bool find_array(const heed_gguf_vocab *v, const char *key, heed_gguf_kind kind,
                       const heed_gguf_value **found, heed_error *err) {
    *found = find(v->gguf, key);
    if (!*found) {
        return true;
    }
    if ((*found)->kind != HEED_GGUF_ARRAY || (*found)->item != kind) {
        return wrong_kind(
            key, kind == HEED_GGUF_REAL ? "an array of reals" : "an array of integers", err);
    }
    return (*found)->count == v->n ||
           heed_fail(err, HEED_FILE,
                     "tokenizer.ggml.%s has %" PRId64 " items for %" PRId64 " tokens", key,
                     (*found)->count, v->n);
}

static bool read_texts(const heed_host *host, const heed_gguf *g, const char *key,
                       heed_gguf_text **out, int64_t *n, heed_error *err) {
    const heed_gguf_value *value = find(g, key);
    if (!value || value->kind != HEED_GGUF_ARRAY || value->item != HEED_GGUF_TEXT) {
        return heed_fail(err, HEED_FILE, "tokenizer.ggml.%s is %s", key,
                         value ? "not an array of texts" : "missing");
    }
    *n = value->count;
    if (*n > 4 * (int64_t)HEED_MAX_ID) {
        return heed_fail(err, HEED_FILE, "tokenizer.ggml.%s has %" PRId64 " items", key, *n);
    }
    *out = heed_alloc(host, (size_t)*n, sizeof **out, err);
    return *out && heed_gguf_items_text(value, *out, err);
}

static bool read_scores(heed_gguf_vocab *v, heed_error *err) {
    const heed_gguf_value *scores = NULL;
    if (!find_array(v, "scores", HEED_GGUF_REAL, &scores, err)) {
        return false;
    }
    v->score = heed_alloc(v->host, (size_t)v->n, sizeof *v->score, err);
    return v->score && (!scores || heed_gguf_items_f32(scores, v->score, err));
}

/* Where the file has no types, the texts tell. */
static int64_t guess_type(const heed_gguf_vocab *v, int64_t id) {
    heed_gguf_text t = v->token[id];
    return id == v->unk                      ? HEED_SPM_UNKNOWN
           : id == v->bos || id == v->eos    ? HEED_SPM_CONTROL
           : heed_spm_byte(t.data, t.n) >= 0 ? HEED_SPM_BYTE
                                             : HEED_SPM_NORMAL;
}

static bool read_types(heed_gguf_vocab *v, heed_error *err) {
    const heed_gguf_value *types = NULL;
    if (!find_array(v, "token_type", HEED_GGUF_INTEGER, &types, err)) {
        return false;
    }
    v->type = heed_alloc(v->host, (size_t)v->n, sizeof *v->type, err);
    if (!v->type || (types && !heed_gguf_items_i64(types, v->type, err))) {
        return false;
    }
    for (int64_t id = 0; id < v->n; id++) {
        v->type[id] = types ? v->type[id] : guess_type(v, id);
        if (v->type[id] < HEED_SPM_NORMAL || v->type[id] > HEED_SPM_BYTE) {
            return heed_fail(err, HEED_FILE,
                             "tokenizer.ggml.token_type.%" PRId64 " is %" PRId64 ", wanted 1 to 6",
                             id, v->type[id]);
        }
    }
    return true;
}

static bool read_tokens(heed_gguf_vocab *v, heed_error *err) {
    if (!read_texts(v->host, v->gguf, "tokens", &v->token, &v->n, err)) {
        return false;
    }
    for (int64_t id = 0; id < v->n; id++) {
        heed_gguf_text t = v->token[id];
        if (t.n > HEED_SPM_MAX_PIECE || heed_utf8_check(t.data, t.n) != t.n) {
            return heed_fail(err, HEED_FILE, "tokenizer.ggml.tokens.%" PRId64 " of %zu bytes is %s",
                             id, t.n, t.n > HEED_SPM_MAX_PIECE ? "too long" : "not UTF-8");
        }
    }
    return v->n > 0 || heed_fail(err, HEED_FILE, "tokenizer.ggml.tokens is empty");
}

static bool read_vocab(heed_gguf_vocab *v, heed_error *err) {
    v->unk = v->bos = v->eos = v->pad = v->sep = v->cls = v->mask = -1;
    return read_tokens(v, err) && read_id(v, "unknown_token_id", &v->unk, err) &&
           read_id(v, "bos_token_id", &v->bos, err) && read_id(v, "eos_token_id", &v->eos, err) &&
           read_id(v, "padding_token_id", &v->pad, err) &&
           read_id(v, "seperator_token_id", &v->sep, err) && /* as the format spells it */
           read_id(v, "cls_token_id", &v->cls, err) && read_id(v, "mask_token_id", &v->mask, err) &&
           read_scores(v, err) && read_types(v, err);
}

static void free_vocab(heed_gguf_vocab *v) {
    heed_free(v->host, v->token);
    heed_free(v->host, v->merge);
    heed_free(v->host, v->score);
    heed_free(v->host, v->type);
}

/* ---- Tokens round a text ------------------------------------------------------------------- */

/* Token `id` of a template, -1: none. Its name in there is its text. */
static bool add_special(const heed_gguf_vocab *v, int64_t id, int type, heed_json_round *round,
                        json_t *items) {
    return id < 0 ||
           heed_json_round_token(round, items, v->token[id].data, v->token[id].n, id, type);
}

/* A text between the two, and a pair with the second text and `last` in the second segment; with
 * `again` the second begins with `first` too. */
json_t *heed_gguf_template(const heed_gguf_vocab *v, int64_t first, int64_t last, bool again,
                           heed_error *err) {
    heed_json_round r = heed_json_round_begin();
    bool ok = add_special(v, first, 0, &r, r.single) && heed_json_round_text(r.single, "A", 0) &&
              add_special(v, last, 0, &r, r.single) && json_array_extend(r.pair, r.single) == 0 &&
              add_special(v, again ? first : -1, 1, &r, r.pair) &&
              heed_json_round_text(r.pair, "B", 1) && add_special(v, last, 1, &r, r.pair);
    return heed_json_round_end(&r, ok, err);
}

/* The template that add_bos_token and add_eos_token ask for; `bos` where the file does not say. */
json_t *heed_gguf_ends(const heed_gguf_vocab *v, bool bos, heed_error *err) {
    bool eos = false;
    if (!read_flag(v->gguf, "add_bos_token", &bos, err) ||
        !read_flag(v->gguf, "add_eos_token", &eos, err)) {
        return NULL;
    }
    if ((bos && v->bos < 0) || (eos && v->eos < 0)) {
        heed_fail(err, HEED_FILE, "tokenizer.ggml.%s is true, but there is no such token",
                  bos && v->bos < 0 ? "add_bos_token" : "add_eos_token");
        return NULL;
    }
    return heed_gguf_template(v, bos ? v->bos : -1, eos ? v->eos : -1, true, err);
}

/* ---- llama --------------------------------------------------------------------------------- */

static heed_tokenizer *open_spm(heed_gguf_vocab *v, heed_error *err) {
    heed_spm spm;
    heed_spm_init(&spm, v->host);
    spm.kind = HEED_SPM_BPE;
    spm.tidy = false;
    bool ok = read_flag(v->gguf, "add_space_prefix", &spm.dummy_prefix, err) &&
              read_flag(v->gguf, "remove_extra_whitespaces", &spm.tidy, err);
    for (int64_t id = 0; ok && id < v->n; id++) {
        spm.byte_fallback = spm.byte_fallback || v->type[id] == HEED_SPM_BYTE;
        ok = heed_spm_add(&spm, v->token[id].data, v->token[id].n, v->score[id],
                          (heed_spm_type)v->type[id], err);
    }
    if (!ok) {
        heed_spm_free(&spm);
        return NULL;
    }
    heed_tokenizer *t = heed_spm_tokenizer(&spm, err);
    json_t *post = t ? heed_gguf_ends(v, v->bos >= 0, err) : NULL;
    if (!post || !heed_tokenizer_complete(t, NULL, post, err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static heed_tokenizer *open_kind(heed_gguf_vocab *v, heed_error *err) {
    static const struct {
        const char *name;
        heed_tokenizer *(*open)(heed_gguf_vocab *v, heed_error *err);
    } kinds[] = {{"llama", open_spm}, {"gpt2", heed_gguf_open_bpe}, {"bert", heed_gguf_open_bert}};
    const heed_gguf_value *model = find(v->gguf, "model");
    if (!model || model->kind != HEED_GGUF_TEXT) {
        heed_fail(err, HEED_FILE, "the file has no vocabulary: tokenizer.ggml.model is %s",
                  model ? "not a text" : "missing");
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == model->text.n &&
            memcmp(kinds[i].name, model->text.data, model->text.n) == 0) {
            return read_vocab(v, err) ? kinds[i].open(v, err) : NULL;
        }
    }
    heed_fail(err, HEED_FILE,
              "tokenizer.ggml.model '%.*s' is not known, wanted llama, gpt2 or bert",
              (int)(model->text.n < 64 ? model->text.n : 64), model->text.data);
    return NULL;
}

bool heed_gguf_merges(heed_gguf_vocab *v, heed_error *err) {
    return read_texts(v->host, v->gguf, "merges", &v->merge, &v->merges, err);
}

bool heed_gguf_pre(const heed_gguf_vocab *v, heed_gguf_text *out, heed_error *err) {
    const heed_gguf_value *pre = find(v->gguf, "pre");
    if (pre && pre->kind != HEED_GGUF_TEXT) {
        return wrong_kind("pre", "a text", err);
    }
    *out = pre ? pre->text : (heed_gguf_text){"default", 7};
    return true;
}

heed_tokenizer *heed_open_gguf(const heed_host *host, const heed_gguf *gguf, heed_error *err) {
    heed_gguf_vocab v = {.host = host, .gguf = gguf};
    heed_tokenizer *t = open_kind(&v, err);
    free_vocab(&v);
    return t;
}
