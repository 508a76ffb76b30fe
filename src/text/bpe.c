/* bpe.c: byte-pair encoding: the characters of a word, merged pair by pair, lowest rank first.
 *
 * Method: a linked list of symbols and a heap of the pairs that have a merge, ordered by rank and
 * then by place; a pair that has changed since it went in is passed over when it comes out. A word
 * of n characters takes n log n.
 * Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
 * units". What is unknown, and in which order, is as in the `tokenizers` library.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/number_map.h"
#include "text/part.h"

typedef struct {
    heed_number_map merges; /* pair of ids to rank and id: heed_key_of_two(rank, id) */
    heed_number_map chars;  /* code point to id */
    const heed_tokenizer *tokenizer;
    int32_t unk; /* -1: none, unknown characters vanish */
    int32_t byte[256];
    bool *whole; /* of each id: a word with its text comes out as this one piece */
    bool fuse_unk, byte_fallback, ignore_merges;
} bpe;

typedef struct {
    int32_t id;
    uint32_t from, to;     /* bytes of the strand; from == to: merged into another */
    uint32_t before, next; /* NONE at the ends */
} symbol;

typedef struct {
    uint32_t rank, at;
    int32_t id;
} merge;

static const uint32_t NONE = UINT32_MAX;

/* ---- Reading ------------------------------------------------------------------------------- */

typedef struct {
    const char *s;
    size_t n;
} span;

/* The id of a token that merge number `rank` names; -1, with an error, where there is none. */
static int32_t find_token(const bpe *b, uint32_t rank, span token, heed_error *err) {
    int32_t id = heed_vocab_find(b->tokenizer, token.s, token.n);
    if (id < 0) {
        heed_fail(err, HEED_FILE, "merges.%u: token '%.*s' is not in vocab", rank, (int)token.n,
                  token.s);
    }
    return id;
}

static bool put_merge(bpe *b, uint32_t rank, span left, span right, span both, heed_error *err) {
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

static bool add_merge(bpe *b, uint32_t rank, span left, span right, heed_error *err) {
    heed_buf both = {.host = b->tokenizer->host};
    heed_buf_add(&both, left.s, left.n);
    bool ok = heed_buf_add(&both, right.s, right.n)
                  ? put_merge(b, rank, left, right, (span){both.data, both.n}, err)
                  : heed_fail(err, HEED_NOMEM, "out of memory: merge %u", rank);
    heed_buf_free(&both);
    return ok;
}

/* "left right", or ["left", "right"]. */
static bool read_merge(bpe *b, uint32_t rank, const json_t *json, heed_error *err) {
    const json_t *left = json_array_get(json, 0), *right = json_array_get(json, 1);
    if (json_array_size(json) == 2 && json_is_string(left) && json_is_string(right)) {
        return add_merge(b, rank, (span){json_string_value(left), json_string_length(left)},
                         (span){json_string_value(right), json_string_length(right)}, err);
    }
    const char *s = json_string_value(json);
    const char *space = s ? strchr(s, ' ') : NULL;
    if (!space || strchr(space + 1, ' ')) {
        return heed_fail(err, HEED_FILE, "merges.%u: wanted two tokens with a space between", rank);
    }
    size_t n = (size_t)(space - s);
    return add_merge(b, rank, (span){s, n}, (span){space + 1, json_string_length(json) - n - 1},
                     err);
}

static bool read_merges(bpe *b, const json_t *json, heed_error *err) {
    const json_t *merges = heed_json_array(json, "merges", err);
    if (!merges) {
        return false;
    }
    size_t n = json_array_size(merges);
    for (size_t i = 0; i < n; i++) {
        if (!read_merge(b, (uint32_t)i, json_array_get(merges, i), err)) {
            return false;
        }
    }
    return true;
}

static bool index_chars(bpe *b, heed_error *err) {
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

/* Marks the pieces that their own text comes out as: words with such a text need no merging. */
static bool mark_whole(bpe *b, heed_error *err);

/* Settings that change ids and that only later components could serve. */
static bool refuse_rest(const json_t *json, heed_error *err) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (int i = 0; i < 2; i++) {
        const char *text = NULL;
        if (!heed_json_opt_string(json, affixes[i], &text, err)) {
            return false;
        }
        if (text && *text) {
            return heed_fail(err, HEED_FILE, "%s '%s' is not supported", affixes[i], text);
        }
    }
    double dropout = 0;
    if (!heed_json_opt_number(json, "dropout", &dropout, err)) {
        return false;
    }
    return dropout == 0 || /* NaN cannot come from JSON */
           heed_fail(err, HEED_FILE, "dropout %g is not supported: it makes ids random", dropout);
}

static bool read_bpe(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    bpe *b = settings;
    b->tokenizer = t;
    b->merges.host = b->chars.host = t->host;
    if (!refuse_rest(json, err) || !heed_json_opt_bool(json, "fuse_unk", &b->fuse_unk, err) ||
        !heed_json_opt_bool(json, "byte_fallback", &b->byte_fallback, err) ||
        !heed_json_opt_bool(json, "ignore_merges", &b->ignore_merges, err)) {
        return false;
    }
    if (!heed_vocab_read(t, json, err) || !heed_vocab_read_id(t, json, "unk_token", &b->unk, err) ||
        !read_merges(b, json, err) || !index_chars(b, err)) {
        return false;
    }
    heed_vocab_bytes(t, b->byte);
    return mark_whole(b, err);
}

static void free_bpe(void *settings) {
    bpe *b = settings;
    heed_number_map_free(&b->merges);
    heed_number_map_free(&b->chars);
}

/* ---- Symbols of a word --------------------------------------------------------------------- */

typedef struct {
    const bpe *model;
    symbol *item;
    uint32_t n;
    bool pending; /* an unknown that may still grow */
    uint32_t unk_from, unk_to;
} word;

static void add_symbol(word *w, int32_t id, size_t from, size_t to) {
    uint32_t before = w->n > 0 ? w->n - 1 : NONE;
    if (w->n > 0) {
        w->item[before].next = w->n;
    }
    w->item[w->n++] = (symbol){id, (uint32_t)from, (uint32_t)to, before, NONE};
}

static void end_unknown(word *w) {
    if (w->pending) {
        add_symbol(w, w->model->unk, w->unk_from, w->unk_to);
        w->pending = false;
    }
}

/* All bytes of the character as pieces, or none. They come before an unknown that is still open. */
static bool add_bytes(word *w, const char *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (w->model->byte[(unsigned char)text[i]] < 0) {
            return false;
        }
    }
    for (size_t i = from; i < to; i++) {
        add_symbol(w, w->model->byte[(unsigned char)text[i]], i, i + 1);
    }
    return true;
}

static void add_unknown(word *w, size_t from, size_t to) {
    if (w->pending && w->model->fuse_unk) {
        w->unk_to = (uint32_t)to;
        return;
    }
    end_unknown(w);
    w->pending = true;
    w->unk_from = (uint32_t)from;
    w->unk_to = (uint32_t)to;
}

static void add_characters(word *w, const char *text, size_t from, size_t to) {
    for (size_t at = from; at < to;) {
        uint32_t cp = 0;
        size_t end = at + (size_t)heed_utf8_next(text + at, to - at, &cp);
        const uint64_t *id = heed_number_map_find(&w->model->chars, cp);
        if (id) {
            end_unknown(w);
            add_symbol(w, (int32_t)*id, at, end);
        } else if (!(w->model->byte_fallback && add_bytes(w, text, at, end)) &&
                   w->model->unk >= 0) {
            add_unknown(w, at, end);
        }
        at = end;
    }
    end_unknown(w);
}

/* ---- Merging ------------------------------------------------------------------------------- */

static bool before(merge a, merge b) {
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

typedef struct {
    merge *item;
    size_t n;
} heap;

static void push(heap *h, merge m) {
    size_t at = h->n++;
    while (at > 0 && before(m, h->item[(at - 1) / 2])) {
        h->item[at] = h->item[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->item[at] = m;
}

static merge pop(heap *h) {
    merge top = h->item[0], last = h->item[--h->n];
    size_t at = 0;
    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && before(h->item[child + 1], h->item[child])) {
            child++;
        }
        if (!before(h->item[child], last)) {
            break;
        }
        h->item[at] = h->item[child];
        at = child;
    }
    h->item[at] = last;
    return top;
}

static const uint64_t *find_merge(const word *w, uint32_t at) {
    const symbol *s = &w->item[at];
    if (s->next == NONE) {
        return NULL;
    }
    uint64_t key = heed_key_of_two((uint32_t)s->id, (uint32_t)w->item[s->next].id);
    return heed_number_map_find(&w->model->merges, key);
}

static void push_pair(const word *w, heap *h, uint32_t at) {
    const uint64_t *found = find_merge(w, at);
    if (found) {
        push(h, (merge){(uint32_t)(*found >> 32), at, (int32_t)(uint32_t)*found});
    }
}

/* Each merge takes one symbol away and adds at most two pairs: 3n places are enough. */
static void merge_all(word *w, heap *h) {
    for (uint32_t i = 0; i + 1 < w->n; i++) {
        push_pair(w, h, i);
    }
    while (h->n > 0) {
        merge m = pop(h);
        symbol *s = &w->item[m.at];
        const uint64_t *found = s->from == s->to ? NULL : find_merge(w, m.at);
        if (!found || (int32_t)(uint32_t)*found != m.id) {
            continue;
        }
        symbol *right = &w->item[s->next];
        s->id = m.id;
        s->to = right->to;
        s->next = right->next;
        right->from = right->to;
        if (s->next != NONE) {
            w->item[s->next].before = m.at;
        }
        if (s->before != NONE) {
            push_pair(w, h, s->before);
        }
        push_pair(w, h, m.at);
    }
}

/* Cuts bytes [from, to) of the strand into symbols; those that are left have from < to. */
static bool cut_word(const bpe *b, heed_work *work, size_t from, size_t to, word *w) {
    *w = (word){.model = b};
    w->item = heed_work_room(work, HEED_ROOM_NODES, to - from, sizeof(symbol));
    heap h = {.item = heed_work_room(work, HEED_ROOM_HEAP, 3 * (to - from), sizeof(merge))};
    if (!w->item || !h.item) {
        return false;
    }
    add_characters(w, work->now.text, from, to);
    merge_all(w, &h);
    return true;
}

static bool mark_whole(bpe *b, heed_error *err) {
    heed_tokenizer *t = (heed_tokenizer *)(uintptr_t)b->tokenizer;
    b->whole = heed_region_alloc(&t->region, t->n_pieces, sizeof *b->whole, err);
    heed_work work;
    heed_work_init(&work, t->host, err);
    bool ok = b->whole != NULL;
    for (size_t id = 0; ok && id < t->n_pieces; id++) {
        word w = {.n = 0};
        const heed_piece *piece = &t->piece[id];
        work.now.n = 0;
        work.n = piece->n;
        if (!piece->text || piece->n == 0) {
            continue;
        }
        ok = heed_strand_put(&work, &work.now, piece->text, piece->n, (heed_origin){0, 0}) &&
             cut_word(b, &work, 0, piece->n, &w);
        const symbol *first = w.item;
        b->whole[id] =
            ok && w.n > 0 && first->id == (int32_t)id && first->from == 0 && first->to == piece->n;
    }
    heed_work_free(&work);
    return ok;
}

static bool encode_bpe(const void *settings, heed_work *work, size_t from, size_t to) {
    const bpe *b = settings;
    int32_t id = heed_vocab_find(b->tokenizer, work->now.text + from, to - from);
    if (id >= 0 && (b->ignore_merges || b->whole[id])) {
        return heed_work_emit(work, id, from, to);
    }
    word w;
    if (!cut_word(b, work, from, to, &w)) {
        return false;
    }
    for (uint32_t i = 0; i < w.n; i++) {
        const symbol *s = &w.item[i];
        if (s->from < s->to && !heed_work_emit(work, s->id, s->from, s->to)) {
            return false;
        }
    }
    return true;
}

const heed_model_kind heed_model_bpe = {"BPE", sizeof(bpe), read_bpe, encode_bpe, free_bpe};
