/* open_gguf_words.c: GGUF's byte-level BPE and WordPiece as trees of a tokenizer.json.
 *
 * For BPE the file names the expression that cuts words, but does not hold it; the ones listed here
 * are followed, others refused. Several are applied one after the other, each to what the one
 * before left.
 * Source: llama.cpp, llama-vocab.cpp (llm_tokenizer_bpe, llm_tokenizer_wpm).
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "text/open_gguf.h"
#include "text/scan.h"
#include "text/spm.h"

#define GPT2 HEED_REGEX_GPT2
#define LLAMA3 HEED_REGEX_LLAMA3
#define QWEN2 HEED_REGEX_QWEN2
#define DIGIT "\\p{N}"

typedef struct {
    const char *name;
    const char *regex[4]; /* NULL: no more */
    bool whole;           /* a word that is a token is that token, whatever the merges say */
    bool bos;             /* add_bos_token where the file does not say */
} words;

static const words known[] = {
    {"default", {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}, false, false},
    {"gpt-2", {GPT2}, false, false},
    {"phi-2", {GPT2}, false, false},
    {"roberta-bpe", {GPT2}, false, false},
    {"olmo", {GPT2}, false, false},
    {"mpt", {GPT2}, false, false},
    {"dbrx", {LLAMA3}, false, false},
    {"llama-bpe", {LLAMA3}, true, true},
    {"llama3", {LLAMA3}, true, true},
    {"smaug-bpe", {LLAMA3}, false, false},
    {"qwen2", {QWEN2}, false, false},
    {"deepseek-r1-qwen", {QWEN2}, false, false},
    {"stablelm2", {QWEN2}, false, false},
    {"smollm", {DIGIT, GPT2}, false, false},
    {"starcoder", {DIGIT, GPT2}, false, false},
    {"refact", {DIGIT, GPT2}, false, false},
    {"codeshell", {DIGIT, GPT2}, false, false},
    {"command-r", {DIGIT, GPT2}, false, false},
    {"exaone", {DIGIT, GPT2}, false, false},
};

static const words *words_of(const heed_gguf_vocab *v, heed_error *err) {
    heed_gguf_text pre;
    if (!heed_gguf_pre(v, &pre, err)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].name) == pre.n && memcmp(known[i].name, pre.data, pre.n) == 0) {
            return &known[i];
        }
    }
    heed_fail(err, HEED_FILE, "tokenizer.ggml.pre '%.*s' is not known",
              (int)(pre.n < 64 ? pre.n : 64), pre.data);
    return NULL;
}

const char *heed_gguf_words_name(const char *const regex[4], bool whole) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool same = known[i].whole == whole;
        for (int k = 0; same && k < 4; k++) {
            const char *a = known[i].regex[k], *b = regex[k];
            same = a && b ? strcmp(a, b) == 0 : a == b;
        }
        if (same) {
            return known[i].name;
        }
    }
    return NULL;
}

static json_t *no_memory(heed_error *err) {
    heed_fail(err, HEED_NOMEM, "out of memory: the vocabulary of a GGUF file");
    return NULL;
}

/* ---- Parts --------------------------------------------------------------------------------- */

static json_t *pre_tokenizer(const words *w) {
    json_t *list = json_array();
    for (int i = 0; i < 4 && w->regex[i]; i++) {
        json_array_append_new(list, heed_json_split(w->regex[i]));
    }
    json_array_append_new(list, heed_json_byte_level(false, false, false));
    return json_pack("{s:s, s:o}", "type", "Sequence", "pretokenizers", list);
}

static json_t *vocab_of(const heed_gguf_vocab *v, heed_error *err) {
    json_t *vocab = json_object();
    for (int64_t id = 0; vocab && id < v->n; id++) {
        heed_gguf_text t = v->token[id];
        if (json_object_getn(vocab, t.data, t.n)) {
            heed_fail(err, HEED_FILE, "tokenizer.ggml.tokens.%lld '%.*s' stands there twice",
                      (long long)id, (int)t.n, t.data);
            json_decref(vocab);
            return NULL;
        }
        if (json_object_setn_new(vocab, t.data, t.n, json_integer((json_int_t)id)) != 0) {
            json_decref(vocab);
            vocab = NULL;
        }
    }
    return vocab ? vocab : no_memory(err);
}

/* Control tokens are special; user-defined ones are only cut out. */
static json_t *added_of(const heed_gguf_vocab *v, heed_error *err) {
    json_t *list = json_array();
    for (int64_t id = 0; list && id < v->n; id++) {
        bool control = v->type[id] == HEED_SPM_CONTROL || v->type[id] == HEED_SPM_UNKNOWN;
        if ((!control && v->type[id] != HEED_SPM_USER_DEFINED) || v->token[id].n == 0) {
            continue;
        }
        json_t *one = json_pack("{s:I, s:s%, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)id,
                                "content", v->token[id].data, v->token[id].n, "single_word", 0,
                                "lstrip", 0, "rstrip", 0, "normalized", 0, "special", control);
        if (!one || json_array_append_new(list, one) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list ? list : no_memory(err);
}

static json_t *merges_of(heed_gguf_vocab *v, heed_error *err) {
    json_t *list = heed_gguf_merges(v, err) ? json_array() : NULL;
    for (int64_t i = 0; list && i < v->merges; i++) {
        json_t *merge = json_stringn(v->merge[i].data, v->merge[i].n);
        if (!merge || json_array_append_new(list, merge) != 0) {
            heed_fail(err, HEED_FILE, "tokenizer.ggml.merges.%lld is not UTF-8", (long long)i);
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static heed_tokenizer *make(const heed_gguf_vocab *v, heed_json_parts p, heed_error *err) {
    json_t *root = heed_json_tokenizer(p, err);
    heed_tokenizer *t = root ? heed_tokenizer_from(v->host, root, "tokenizer.ggml", err) : NULL;
    json_decref(root);
    return t;
}

static void drop(heed_json_parts *p) {
    json_decref(p->added);
    json_decref(p->post_processor);
    json_decref(p->model);
}

/* ---- Byte-level BPE ------------------------------------------------------------------------ */

heed_tokenizer *heed_gguf_open_bpe(heed_gguf_vocab *v, heed_error *err) {
    const words *w = words_of(v, err);
    json_t *vocab = w ? vocab_of(v, err) : NULL;
    json_t *merges = vocab ? merges_of(v, err) : NULL;
    heed_json_parts p = {0};
    p.added = merges ? added_of(v, err) : NULL;
    p.post_processor = p.added ? heed_gguf_ends(v, w->bos, err) : NULL;
    if (!p.post_processor) {
        json_decref(vocab);
        json_decref(merges);
        drop(&p);
        return NULL;
    }
    p.pre_tokenizer = pre_tokenizer(w);
    p.decoder = heed_json_byte_level(true, true, true);
    p.model =
        json_pack("{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout",
                  "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", 0,
                  "byte_fallback", 0, "ignore_merges", w->whole, "vocab", vocab, "merges", merges);
    return make(v, p, err);
}

/* ---- WordPiece ----------------------------------------------------------------------------- */

bool heed_gguf_as_it_is(int64_t type, const char *s, size_t n) {
    return type != HEED_SPM_NORMAL || (n > 1 && s[0] == '[' && s[n - 1] == ']');
}

/* "▁word" is word, "piece" is ##piece. */
static json_t *pieces_of(const heed_gguf_vocab *v, heed_error *err) {
    json_t *vocab = json_object();
    heed_buf text = {.host = v->host};
    for (int64_t id = 0; vocab && id < v->n; id++) {
        heed_gguf_text t = v->token[id];
        bool word =
            t.n > HEED_SPM_MARK_BYTES && memcmp(t.data, HEED_SPM_MARK, HEED_SPM_MARK_BYTES) == 0;
        bool plain = heed_gguf_as_it_is(v->type[id], t.data, t.n);
        size_t skip = word ? HEED_SPM_MARK_BYTES : 0;
        text.n = 0;
        heed_buf_text(&text, word || plain ? "" : "##");
        heed_buf_add(&text, t.data + skip, t.n - skip);
        if (text.failed ||
            json_object_setn_new(vocab, text.data, text.n, json_integer((json_int_t)id)) != 0) {
            json_decref(vocab);
            vocab = NULL;
        }
    }
    heed_buf_free(&text);
    return vocab ? vocab : no_memory(err);
}

heed_tokenizer *heed_gguf_open_bert(heed_gguf_vocab *v, heed_error *err) {
    if (v->unk < 0 || v->sep < 0 || (v->cls < 0 && v->bos < 0)) {
        heed_fail(err, HEED_FILE, "the vocabulary names no %s token",
                  v->unk < 0   ? "unknown"
                  : v->sep < 0 ? "separating"
                               : "first");
        return NULL;
    }
    heed_json_parts p = {0};
    json_t *vocab = pieces_of(v, err);
    p.added = vocab ? added_of(v, err) : NULL;
    p.post_processor =
        p.added ? heed_gguf_template(v, v->cls >= 0 ? v->cls : v->bos, v->sep, false, err) : NULL;
    if (!p.post_processor) {
        json_decref(vocab);
        drop(&p);
        return NULL;
    }
    p.normalizer = heed_json_bert_normalizer(true, true, NULL);
    heed_json_word_piece(&p, v->token[v->unk].data, v->token[v->unk].n, vocab);
    return make(v, p, err);
}
