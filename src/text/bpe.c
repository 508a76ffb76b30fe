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

enum { WAITING = 16 };

typedef struct {
    heed_line text;
    uint64_t hash;
} token;

/* The list while it is read. Merges make the tokens of the vocabulary one by one, mostly in the
 * order of their ids, and some files name every way to make one: the last and the one behind it are
 * looked at before all are searched. */
typedef struct {
    heed_bpe *model;
    heed_region *region;
    heed_pull pull;
    heed_buf left, both;
    uint32_t rank;
    int32_t last; /* what the merge before made */
    /* Merges that wait for their tokens' places in the vocabulary to come from memory, and pairs
     * that wait for theirs among the merges. */
    struct {
        token left, right;
        uint32_t rank;
    } named[WAITING];
    struct {
        uint64_t pair, value;
    } found[WAITING];
    size_t n_named, n_found;
} merges;

/* A token that is to be found soon. */
static token prepare(const merges *m, heed_line text) {
    return (token){text, heed_vocab_map_prefetch(&m->model->tokenizer->ids, text.s, text.n)};
}

/* The id of a token; -1, with an error, where there is none. */
static int32_t find_token(merges *m, token asked) {
    heed_line text = asked.text;
    int32_t id = heed_vocab_map_find_hashed(&m->model->tokenizer->ids, text.s, text.n, asked.hash);
    if (id < 0) {
        heed_fail(m->pull.err, HEED_FILE, "merges.%u: token '%.*s' is not in vocab", m->rank,
                  (int)text.n, text.s);
    }
    return id;
}

/* Whether two texts one behind the other are the token of an id. */
static bool is_made(const heed_tokenizer *t, size_t id, heed_line left, heed_line right) {
    return id < t->n_pieces && t->piece[id].model && t->piece[id].n == left.n + right.n &&
           memcmp(t->piece[id].text, left.s, left.n) == 0 &&
           memcmp(t->piece[id].text + left.n, right.s, right.n) == 0;
}

static int32_t find_made(merges *m, heed_line left, heed_line right) {
    size_t last = (size_t)m->last; /* of -1 the largest number, and one more is 0 */
    if (is_made(m->model->tokenizer, last + 1, left, right)) {
        return m->last + 1;
    }
    if (is_made(m->model->tokenizer, last, left, right)) {
        return m->last;
    }
    m->both.n = 0;
    heed_buf_add(&m->both, left.s, left.n);
    if (!heed_buf_add(&m->both, right.s, right.n)) {
        heed_fail(m->pull.err, HEED_NOMEM, "out of memory: merge %u", m->rank);
        return -1;
    }
    return find_token(m, prepare(m, (heed_line){m->both.data, m->both.n}));
}

/* Of a pair that comes twice the later merge counts. */
static bool put_found(merges *m) {
    for (size_t i = 0; i < m->n_found; i++) {
        uint64_t *value = heed_number_map_put(&m->model->merges, m->found[i].pair, m->pull.err);
        if (!value) {
            return false;
        }
        *value = m->found[i].value;
    }
    m->n_found = 0;
    return true;
}

static bool add_merge(merges *m, token first, token second) {
    heed_line prefix = m->model->prefix, left = first.text, right = second.text;
    if (right.n < prefix.n) {
        return heed_fail(m->pull.err, HEED_FILE,
                         "merges.%u: '%.*s' is shorter than continuing_subword_prefix '%.*s'",
                         m->rank, (int)right.n, right.s, (int)prefix.n, prefix.s);
    }
    int32_t a = find_token(m, first), c = find_token(m, second);
    int32_t id = find_made(m, left, (heed_line){right.s + prefix.n, right.n - prefix.n});
    if (a < 0 || c < 0 || id < 0) {
        return false;
    }
    m->last = id;
    heed_seams_add(&m->model->seams, left, right);
    uint64_t pair = heed_key_of_two((uint32_t)a, (uint32_t)c);
    heed_number_map_prefetch(&m->model->merges, pair);
    m->found[m->n_found].pair = pair;
    m->found[m->n_found++].value = heed_key_of_two(m->rank, (uint32_t)id);
    return m->n_found < WAITING || put_found(m);
}

/* Looks up the tokens of the merges that wait, in their order. */
static bool look_up(merges *m) {
    uint32_t rank = m->rank;
    for (size_t i = 0; i < m->n_named; i++) {
        m->rank = m->named[i].rank;
        if (!add_merge(m, m->named[i].left, m->named[i].right)) {
            return false;
        }
    }
    m->n_named = 0;
    m->rank = rank;
    return true;
}

/* Whether a text stands in the file itself, not in a buffer that the next string overwrites. */
static bool lasts(const merges *m, heed_line text) {
    uintptr_t begin = (uintptr_t)m->pull.text.s, at = (uintptr_t)text.s;
    return at >= begin && at < begin + m->pull.text.n;
}

static bool take_merge(merges *m, heed_line left, heed_line right) {
    if (!lasts(m, left) || !lasts(m, right)) {
        return look_up(m) && add_merge(m, prepare(m, left), prepare(m, right));
    }
    m->named[m->n_named].left = prepare(m, left);
    m->named[m->n_named].right = prepare(m, right);
    m->named[m->n_named++].rank = m->rank;
    return m->n_named < WAITING || look_up(m);
}

/* ["left", "right"] */
static bool read_pair(merges *m) {
    heed_line left, right;
    bool more = true;
    if (!heed_pull_open(&m->pull, '[') || !heed_pull_string(&m->pull, &left)) {
        return false;
    }
    if (!lasts(m, left)) {
        m->left.n = 0;
        if (!heed_buf_add(&m->left, left.s, left.n)) {
            return heed_fail(m->pull.err, HEED_NOMEM, "out of memory: merge %u", m->rank);
        }
        left = (heed_line){m->left.data, m->left.n};
    }
    return heed_pull_more(&m->pull, '[', false, &more) && more &&
           heed_pull_string(&m->pull, &right) && heed_pull_more(&m->pull, '[', false, &more) &&
           !more && take_merge(m, left, right);
}

/* "left right" */
static bool read_line(merges *m) {
    heed_line text;
    if (!heed_pull_string(&m->pull, &text)) {
        return false;
    }
    const char *space = memchr(text.s, ' ', text.n);
    size_t n = space ? (size_t)(space - text.s) : 0;
    if (!space || memchr(space + 1, ' ', text.n - n - 1)) {
        return false;
    }
    return take_merge(m, (heed_line){text.s, n}, (heed_line){space + 1, text.n - n - 1});
}

static bool read_list(merges *m) {
    heed_pull *p = &m->pull;
    bool more = true;
    size_t most = p->text.n / 6; /* "a b", takes six bytes */
    if (!heed_pull_open(p, '[')) {
        return false;
    }
    bool pairs = strcmp(heed_pull_kind(p), "an array") == 0;
    size_t n = heed_pull_quotes(p) / (pairs ? 4 : 2);
    n = n < most ? n : most;
    bool ok = heed_number_map_reserve(&m->model->merges, n, p->err) &&
              (m->model->prefix.n > 0 || /* seen inside a word only, and gone in what is made */
               heed_seams_init(&m->model->seams, m->region, n, p->err));
    for (; ok && more; m->rank += ok && more) {
        ok = heed_pull_more(p, '[', m->rank == 0, &more) &&
             (!more || (pairs ? read_pair(m) : read_line(m)));
    }
    return ok;
}

static bool read_merges(heed_bpe *b, heed_region *region, const json_t *json, heed_error *err) {
    if (!heed_json_array(json, "merges", err)) {
        return false;
    }
    const heed_host *host = b->tokenizer->host;
    heed_error why = {0};
    merges m = {.model = b, .region = region, .left.host = host, .both.host = host, .last = -1};
    m.pull = (heed_pull){.text = b->tokenizer->merges_json, .scratch.host = host, .err = &why};
    bool ok = read_list(&m) && look_up(&m) && put_found(&m);
    if (!ok && (why.code == HEED_OK || strncmp(why.text, "line ", 5) == 0)) {
        heed_fail(err, HEED_FILE, "merges.%u: wanted two tokens with a space between", m.rank);
    } else if (!ok) {
        heed_fail(err, why.code, "%s", why.text);
    }
    heed_pull_free(&m.pull);
    heed_buf_free(&m.left);
    heed_buf_free(&m.both);
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
    if (!heed_vocab_read(t, json, err) || !read_merges(b, &t->region, json, err) ||
        !index_chars(b, err)) {
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
