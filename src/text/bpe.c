/* bpe.c: byte-pair encoding: the characters of a word, merged pair by pair.
 *
 * A word that is a piece and comes out as this piece is not cut again: that is remembered.
 * Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
 * units".
 * SPDX-License-Identifier: MIT
 */
#include "text/bpe.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/json_pull.h"

/* ---- Reading ------------------------------------------------------------------------------- */

/* The id of a token that merge number `rank` names; -1, with an error, where there is none. */
static int32_t find_token(const heed_bpe *b, uint32_t rank, heed_line token, heed_error *err) {
    int32_t id = heed_vocab_find(b->tokenizer, token.s, token.n);
    if (id < 0) {
        heed_fail(err, HEED_FILE, "merges.%u: token '%.*s' is not in vocab", rank, (int)token.n,
                  token.s);
    }
    return id;
}

static bool put_merge(heed_bpe *b, uint32_t rank, heed_line left, heed_line right, heed_line both,
                      heed_error *err) {
    int32_t a = find_token(b, rank, left, err), c = find_token(b, rank, right, err);
    int32_t id = find_token(b, rank, both, err);
    if (a < 0 || c < 0 || id < 0) {
        return false;
    }
    uint64_t *value =
        heed_number_map_put(&b->merges, heed_key_of_two((uint32_t)a, (uint32_t)c), err);
    if (value) { /* of a pair that comes twice the later one counts */
        *value = heed_key_of_two(rank, (uint32_t)id);
    }
    return value != NULL;
}

static bool add_merge(heed_bpe *b, uint32_t rank, heed_line left, heed_line right,
                      heed_error *err) {
    heed_buf both = {.host = b->tokenizer->host};
    if (right.n < b->prefix.n) {
        return heed_fail(err, HEED_FILE,
                         "merges.%u: '%.*s' is shorter than continuing_subword_prefix '%.*s'", rank,
                         (int)right.n, right.s, (int)b->prefix.n, b->prefix.s);
    }
    heed_buf_add(&both, left.s, left.n);
    bool ok = heed_buf_add(&both, right.s + b->prefix.n, right.n - b->prefix.n)
                  ? put_merge(b, rank, left, right, (heed_line){both.data, both.n}, err)
                  : heed_fail(err, HEED_NOMEM, "out of memory: merge %u", rank);
    heed_buf_free(&both);
    return ok;
}

/* "left right", or ["left", "right"]. */
static bool read_merge(heed_bpe *b, uint32_t rank, heed_pull *p, heed_buf *left) {
    heed_line text, right;
    bool more = true;
    if (strcmp(heed_pull_kind(p), "an array") == 0) {
        left->n = 0;
        return heed_pull_open(p, '[') && heed_pull_string(p, &text) &&
               (heed_buf_add(left, text.s, text.n) ||
                heed_fail(p->err, HEED_NOMEM, "out of memory: merge %u", rank)) &&
               heed_pull_more(p, '[', false, &more) && more && heed_pull_string(p, &right) &&
               heed_pull_more(p, '[', false, &more) && !more &&
               add_merge(b, rank, (heed_line){left->data, left->n}, right, p->err);
    }
    const char *space = NULL;
    if (heed_pull_string(p, &text)) {
        space = memchr(text.s, ' ', text.n);
    }
    size_t n = space ? (size_t)(space - text.s) : 0;
    if (!space || memchr(space + 1, ' ', text.n - n - 1)) {
        return false;
    }
    return add_merge(b, rank, (heed_line){text.s, n}, (heed_line){space + 1, text.n - n - 1},
                     p->err);
}

static bool read_merges(heed_bpe *b, const json_t *json, heed_error *err) {
    if (!heed_json_array(json, "merges", err)) {
        return false;
    }
    const heed_host *host = b->tokenizer->host;
    heed_error why = {0};
    heed_pull p = {.text = b->tokenizer->merges_json, .scratch.host = host, .err = &why};
    heed_buf left = {.host = host};
    bool more = true, ok = heed_pull_open(&p, '[');
    uint32_t rank = 0;
    for (; ok && more; rank += ok && more) {
        ok = heed_pull_more(&p, '[', rank == 0, &more) && (!more || read_merge(b, rank, &p, &left));
    }
    if (!ok && (why.code == HEED_OK || strncmp(why.text, "line ", 5) == 0)) {
        heed_fail(err, HEED_FILE, "merges.%u: wanted two tokens with a space between", rank);
    } else if (!ok) {
        heed_fail(err, why.code, "%s", why.text);
    }
    heed_pull_free(&p);
    heed_buf_free(&left);
    return ok;
}

static bool index_chars(heed_bpe *b, heed_error *err) {
    const heed_tokenizer *t = b->tokenizer;
    for (size_t id = 0; id < t->n_pieces; id++) {
        const heed_piece *piece = &t->piece[id];
        uint32_t cp = 0;
        if (!piece->text || piece->n == 0 ||
            (size_t)heed_utf8_next(piece->text, piece->n, &cp) != piece->n) {
            continue;
        }
        uint64_t *value = heed_number_map_put(&b->chars, cp, err);
        if (!value) {
            return false;
        }
        *value = id;
    }
    return true;
}

static bool read_text(heed_tokenizer *t, const json_t *json, const char *key, heed_line *out,
                      heed_error *err) {
    const char *text = NULL;
    if (!heed_json_opt_string(json, key, &text, err)) {
        return false;
    }
    out->n = text ? strlen(text) : 0;
    out->s = heed_region_text(&t->region, text ? text : "", out->n, err);
    return out->s != NULL;
}

/* Random merges would make other ids each time. */
static bool refuse_dropout(const json_t *json, heed_error *err) {
    double dropout = 0;
    if (!heed_json_opt_number(json, "dropout", &dropout, err)) {
        return false;
    }
    return dropout == 0 || /* NaN cannot come from JSON */
           heed_fail(err, HEED_FILE, "dropout %g is not supported: it makes ids random", dropout);
}

static bool read_flags(heed_bpe *b, const json_t *json, heed_error *err) {
    return heed_json_opt_bool(json, "fuse_unk", &b->fuse_unk, err) &&
           heed_json_opt_bool(json, "byte_fallback", &b->byte_fallback, err) &&
           heed_json_opt_bool(json, "ignore_merges", &b->ignore_merges, err);
}

static bool read_bpe(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_bpe *b = settings;
    b->tokenizer = t;
    b->merges.host = b->chars.host = t->host;
    if (!refuse_dropout(json, err) || !read_flags(b, json, err) ||
        !read_text(t, json, "unk_token", &b->unk_text, err) ||
        !read_text(t, json, "continuing_subword_prefix", &b->prefix, err) ||
        !read_text(t, json, "end_of_word_suffix", &b->suffix, err)) {
        return false;
    }
    if (!heed_vocab_read(t, json, err) || !read_merges(b, json, err) || !index_chars(b, err)) {
        return false;
    }
    b->wants_unk = json_is_string(json_object_get(json, "unk_token"));
    b->unk = b->wants_unk ? heed_vocab_find(t, b->unk_text.s, b->unk_text.n) : -1;
    heed_vocab_bytes(t, b->byte);
    b->whole = heed_region_alloc(&t->region, t->n_pieces, sizeof *b->whole, err);
    return b->whole != NULL;
}

static void free_bpe(void *settings) {
    heed_bpe *b = settings;
    heed_number_map_free(&b->merges);
    heed_number_map_free(&b->chars);
}

/* ---- Encoding ------------------------------------------------------------------------------ */

/* Emits the symbols of bytes [from, to), one behind the other; bytes of affixes lie nowhere. */
static bool emit_symbols(heed_work *work, const heed_symbol *s, size_t n, size_t from, size_t to) {
    for (size_t i = 0; i < n; i++) {
        size_t end = s[i].n < to - from ? from + s[i].n : to;
        size_t begin = from < end ? from : end - 1;
        if (!heed_work_emit(work, s[i].id, begin, end)) {
            return false;
        }
        from = end;
    }
    return true;
}

static bool encode_bpe(const void *settings, heed_work *work, size_t from, size_t to) {
    const heed_bpe *b = settings;
    heed_line word = {work->now.text + from, to - from};
    int32_t id = heed_vocab_find(b->tokenizer, word.s, word.n);
    int known = id < 0             ? HEED_WHOLE_NO
                : b->ignore_merges ? HEED_WHOLE_YES
                                   : atomic_load_explicit(&b->whole[id], memory_order_relaxed);
    if (known == HEED_WHOLE_YES) {
        return heed_work_emit(work, id, from, to);
    }
    size_t n = 0;
    heed_symbol *symbols = heed_bpe_cut(b, work, word, &n);
    n = symbols ? heed_bpe_merge(b, work, symbols, n) : SIZE_MAX;
    if (n == SIZE_MAX) {
        return false;
    }
    if (known == HEED_WHOLE_UNKNOWN) {
        bool whole = n == 1 && symbols[0].id == id && symbols[0].n == word.n;
        atomic_store_explicit(&b->whole[id], whole ? HEED_WHOLE_YES : HEED_WHOLE_NO,
                              memory_order_relaxed);
    }
    return emit_symbols(work, symbols, n, from, to);
}

const heed_model_kind heed_model_bpe = {"BPE", sizeof(heed_bpe), read_bpe, encode_bpe, free_bpe};
