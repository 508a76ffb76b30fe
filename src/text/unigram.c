/* unigram.c: the likeliest way to cut a word into pieces, each with a log probability.
 *
 * Method: Viterbi over byte positions; of two ways with the same score the one found first stays,
 * positions from the left and pieces from the shortest. A character that is no piece is unknown at
 * a cost below every piece; neighbouring unknowns are one.
 * Source: Kudo 2018, "Subword regularization". Sums are taken in double in this very order, as the
 * `tokenizers` library takes them, so that near ties fall alike.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/json_pull.h"
#include "text/part.h"

typedef struct {
    const heed_tokenizer *tokenizer;
    heed_trie trie;
    const heed_host *host;
    double *score; /* of each id */
    size_t score_cap;
    double unk_score;
    int32_t unk; /* -1: none, unknown characters are an error */
    int32_t byte[256];
    bool byte_fallback;
} unigram;

typedef struct {
    double score;
    int32_t id;     /* of the piece that ends here */
    uint32_t start; /* where it begins */
    bool reached;
} node;

static const double UNK_PENALTY = 10.0;

/* ["token", score], piece number `id`. */
static bool read_piece(unigram *u, heed_tokenizer *t, size_t id, heed_pull *p) {
    heed_line text;
    double score = 0;
    bool more = true, added = false;
    if (!heed_reserve(t->host, (void **)&u->score, &u->score_cap, id + 1, sizeof *u->score,
                      p->err)) {
        return false;
    }
    /* the token before the score: its text lasts until the next string */
    bool ok = heed_pull_open(p, '[') && heed_pull_string(p, &text);
    if (ok) {
        added = heed_vocab_add(t, text.s, text.n, (int64_t)id, true, p->err) &&
                heed_trie_add(&u->trie, text.s, text.n, (int32_t)id, p->err);
    }
    ok = added && heed_pull_more(p, '[', false, &more) && more && heed_pull_real(p, &score) &&
         heed_pull_more(p, '[', false, &more) && !more;
    if (ok && !isfinite(score)) {
        return heed_fail(p->err, HEED_FILE, "vocab.%zu: the score of '%s' is not finite", id,
                         t->piece[id].text);
    }
    u->score[id] = score;
    return ok;
}

/* The list; one that is not well made is refused by the number of the piece. */
static bool read_pieces(unigram *u, heed_tokenizer *t, size_t *n, heed_error *err) {
    heed_error why = {0};
    heed_pull p = {.text = t->vocab_json, .scratch.host = t->host, .err = &why};
    bool more = true, ok = heed_pull_open(&p, '[');
    for (*n = 0; ok && more; *n += ok && more) {
        ok = heed_pull_more(&p, '[', *n == 0, &more) && (!more || read_piece(u, t, *n, &p));
    }
    if (!ok && (why.code == HEED_OK || strncmp(why.text, "line ", 5) == 0)) {
        heed_fail(err, HEED_FILE, "vocab.%zu: wanted [token, score]", *n);
    } else if (!ok) {
        heed_fail(err, why.code, "%s", why.text);
    }
    heed_pull_free(&p);
    return ok;
}

static bool read_unigram(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    unigram *u = settings;
    u->tokenizer = t;
    u->host = t->host;
    heed_trie_init(&u->trie, t->host);
    int64_t unk = -1;
    size_t n = 0;
    if (!heed_json_array(json, "vocab", err) || !heed_json_opt_int(json, "unk_id", &unk, err) ||
        !heed_json_opt_bool(json, "byte_fallback", &u->byte_fallback, err) ||
        !read_pieces(u, t, &n, err)) {
        return false;
    }
    bool absent = !json_is_integer(json_object_get(json, "unk_id"));
    if (!absent && (unk < 0 || unk >= (int64_t)n)) {
        return heed_fail(err, HEED_FILE, "unk_id %" PRId64 " is not in the vocab of %zu", unk, n);
    }
    u->unk = absent ? -1 : (int32_t)unk;
    double lowest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        lowest = u->score[i] < lowest ? u->score[i] : lowest;
    }
    u->unk_score = lowest - UNK_PENALTY;
    heed_vocab_bytes(t, u->byte);
    return true;
}

static void free_unigram(void *settings) {
    unigram *u = settings;
    heed_trie_free(&u->trie);
    heed_free(u->host, u->score);
}

static void offer(node *to, double score, int32_t id, uint32_t start) {
    if (!to->reached || score > to->score) {
        *to = (node){score, id, start, true};
    }
}

/* Offers every piece that begins at `at` to where it ends. */
static bool extend(const unigram *u, heed_work *work, const char *s, size_t n, size_t at,
                   node *nodes) {
    uint32_t cp = 0, state = 0;
    size_t character = (size_t)heed_utf8_next(s + at, n - at, &cp);
    bool single = false;
    for (size_t end = at; end < n;) {
        state = heed_trie_step(&u->trie, state, (unsigned char)s[end++]);
        if (!state) {
            break;
        }
        int32_t id = u->trie.value[state];
        if (id >= 0) {
            offer(&nodes[end], u->score[id] + nodes[at].score, id, (uint32_t)at);
            single = single || end - at == character;
        }
    }
    if (single) {
        return true;
    }
    double score = u->unk_score + nodes[at].score;
    const node *to = &nodes[at + character];
    if (u->unk < 0 && (!to->reached || score > to->score)) {
        return heed_fail(work->err, HEED_TEXT,
                         "character U+%04X is no piece, and the model has no unk_id", cp);
    }
    offer(&nodes[at + character], score, u->unk, (uint32_t)at);
    return true;
}

/* Each byte has the place of the whole run. */
static bool emit_bytes(const unigram *u, heed_work *work, size_t from, size_t to) {
    uint32_t begin = heed_work_origin(work, from).begin;
    uint32_t end = heed_work_origin(work, to - 1).end;
    for (size_t i = from; i < to; i++) {
        int32_t id = u->byte[(unsigned char)work->now.text[i]];
        if (!heed_work_emit_at(work, id, begin, end)) {
            return false;
        }
    }
    return true;
}

static bool has_bytes(const unigram *u, const char *s, size_t n) {
    bool all = u->byte_fallback;
    for (size_t i = 0; i < n && all; i++) {
        all = u->byte[(unsigned char)s[i]] >= 0;
    }
    return all;
}

/* A run of unknowns: a token all the same where the vocabulary has it whole, else bytes or unk. */
static bool emit_unknown(const unigram *u, heed_work *work, size_t from, size_t to) {
    const char *s = work->now.text + from;
    int32_t whole = heed_vocab_find(u->tokenizer, s, to - from);
    if (whole < 0 && has_bytes(u, s, to - from)) {
        return emit_bytes(u, work, from, to);
    }
    return heed_work_emit(work, whole >= 0 ? whole : u->unk, from, to);
}

typedef struct {
    uint32_t from, to;
    int32_t id;
} step;

/* The best way, from its end to its beginning; unknowns side by side become one step. */
static size_t walk_back(const unigram *u, const node *nodes, size_t n, step *steps) {
    size_t count = 0;
    for (uint32_t end = (uint32_t)n; end > 0; end = nodes[end].start) {
        const node *here = &nodes[end];
        if (count > 0 && u->unk >= 0 && here->id == u->unk && steps[count - 1].id == u->unk) {
            steps[count - 1].from = here->start;
        } else {
            steps[count++] = (step){here->start, end, here->id};
        }
    }
    return count;
}

static bool encode_unigram(const void *settings, heed_work *work, size_t from, size_t to) {
    const unigram *u = settings;
    const char *s = work->now.text + from;
    size_t n = to - from;
    node *nodes = heed_work_room(work, HEED_ROOM_NODES, n + 1, sizeof *nodes);
    step *steps = heed_work_room(work, HEED_ROOM_HEAP, n, sizeof *steps);
    if (!nodes || !steps) {
        return false;
    }
    for (size_t i = 0; i <= n; i++) {
        nodes[i] = (node){0};
    }
    for (size_t at = 0; at < n;) {
        uint32_t cp = 0;
        if (!extend(u, work, s, n, at, nodes)) {
            return false;
        }
        at += (size_t)heed_utf8_next(s + at, n - at, &cp);
    }
    for (size_t i = walk_back(u, nodes, n, steps); i-- > 0;) {
        size_t begin = from + steps[i].from, end = from + steps[i].to;
        if (steps[i].id == u->unk ? !emit_unknown(u, work, begin, end)
                                  : !heed_work_emit(work, steps[i].id, begin, end)) {
            return false;
        }
    }
    return true;
}

const heed_model_kind heed_model_unigram = {"Unigram", sizeof(unigram), read_unigram,
                                            encode_unigram, free_unigram};
