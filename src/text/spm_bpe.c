/* spm_bpe.c: SentencePiece's byte-pair encoding: of all neighbours that form a piece, those of the
 * highest score are joined first, of equal ones the leftmost.
 *
 * Unlike bpe.c there is no list of merges: two symbols may be joined where their joint text is a
 * piece, even where one of them is none. User-defined pieces are never joined. A piece that is not
 * in use may stand in between; at the end it falls apart into what it was last joined from.
 * Source: Sennrich, Haddow and Birch 2016; Kudo and Richardson 2018.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "text/merge_heap.h"
#include "text/number_map.h"
#include "text/spm.h"

typedef struct {
    uint32_t from, to;     /* bytes of the strand; from == to: joined into another */
    uint32_t before, next; /* NONE at the ends */
    bool frozen;
} symbol;

static const uint32_t NONE = UINT32_MAX;

typedef struct {
    const heed_spm *spm;
    heed_work *work;
    symbol *item;
    uint32_t n;
    heed_merge_heap heap;
    heed_number_map parted; /* an unused piece to the bytes of its left half */
} word;

/* Floats as integers in the same order, turned round: the highest score has the lowest rank. */
static uint32_t rank_of(float score) {
    uint32_t bits;
    float plain = score == 0 ? 0 : score; /* no negative zero */
    memcpy(&bits, &plain, sizeof bits);
    uint32_t order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ~order;
}

static bool push_pair(word *w, uint32_t left, uint32_t right) {
    if (left == NONE || right == NONE || w->item[left].frozen || w->item[right].frozen) {
        return true;
    }
    uint32_t from = w->item[left].from, n = w->item[right].to - from;
    int32_t place = heed_spm_find(w->spm, w->work->now.text + from, n);
    const heed_spm_piece *piece = place >= 0 ? &w->spm->piece[place] : NULL;
    bool found = piece && (piece->type == HEED_SPM_NORMAL || piece->type == HEED_SPM_UNUSED ||
                           piece->type == HEED_SPM_USER_DEFINED);
    if (!found) {
        return true;
    }
    heed_merge_push(&w->heap, (heed_merge){rank_of(piece->score), left, (int32_t)n});
    if (piece->type != HEED_SPM_UNUSED) {
        return true;
    }
    uint64_t *half = heed_number_map_put(&w->parted, (uint64_t)place, w->work->err);
    if (half) {
        *half = w->item[left].to - from;
    }
    return half != NULL;
}

static void add_symbols(word *w, size_t from, size_t to) {
    const char *s = w->work->now.text;
    for (size_t at = from; at < to; w->n++) {
        bool frozen = false;
        size_t n = heed_spm_step(w->spm, s + at, to - at, &frozen);
        uint32_t next = at + n < to ? w->n + 1 : NONE;
        w->item[w->n] =
            (symbol){(uint32_t)at, (uint32_t)(at + n), w->n > 0 ? w->n - 1 : NONE, next, frozen};
        at += n;
    }
}

/* Whether the pair is still as it was when it went into the heap. */
static bool is_fresh(const word *w, heed_merge m) {
    const symbol *s = &w->item[m.at];
    return s->from < s->to && s->next != NONE && w->item[s->next].to - s->from == (uint32_t)m.id;
}

/* Each join takes one symbol away and adds at most two pairs: 3n places are enough. */
static bool join_all(word *w) {
    for (uint32_t i = 0; i + 1 < w->n; i++) {
        if (!push_pair(w, i, i + 1)) {
            return false;
        }
    }
    while (w->heap.n > 0) {
        heed_merge m = heed_merge_pop(&w->heap);
        if (!is_fresh(w, m)) {
            continue;
        }
        symbol *s = &w->item[m.at], *right = &w->item[s->next];
        s->to = right->to;
        s->next = right->next;
        right->from = right->to;
        if (s->next != NONE) {
            w->item[s->next].before = m.at;
        }
        if (!push_pair(w, s->before, m.at) || !push_pair(w, m.at, s->next)) {
            return false;
        }
    }
    return true;
}

/* Halves are shorter than the whole, so this ends; depth is bounded by the longest piece. */
static bool emit(const word *w, heed_spm_out *out, size_t from, size_t to) {
    int32_t place = heed_spm_find(w->spm, w->work->now.text + from, to - from);
    const uint64_t *half = place >= 0 && w->spm->piece[place].type == HEED_SPM_UNUSED
                               ? heed_number_map_find(&w->parted, (uint64_t)place)
                               : NULL;
    if (!half) {
        return heed_spm_emit(out, place, from, to);
    }
    return emit(w, out, from, from + *half) && emit(w, out, from + *half, to);
}

static bool emit_all(const word *w) {
    heed_spm_out out = {.spm = w->spm, .work = w->work};
    for (uint32_t i = 0; i < w->n; i++) {
        const symbol *s = &w->item[i];
        if (s->from < s->to && !emit(w, &out, s->from, s->to)) {
            return false;
        }
    }
    return heed_spm_end(&out);
}

bool heed_spm_encode_bpe(const void *settings, heed_work *work, size_t from, size_t to) {
    word w = {.spm = settings, .work = work, .parted = {.host = work->host}};
    w.item = heed_work_room(work, HEED_ROOM_NODES, to - from, sizeof *w.item);
    w.heap.item = heed_work_room(work, HEED_ROOM_HEAP, 3 * (to - from), sizeof *w.heap.item);
    bool ok = w.item && w.heap.item;
    if (ok) {
        add_symbols(&w, from, to);
        ok = join_all(&w) && emit_all(&w);
    }
    heed_number_map_free(&w.parted);
    return ok;
}
