/* bpe_cut.c: the characters of a word as the first symbols of byte-pair encoding.
 *
 * What is unknown, in which order and with how many bytes it counts is as in the `tokenizers`
 * library: bytes of a fallback come before an unknown that is still open.
 * SPDX-License-Identifier: MIT
 */

#include "base/error.h"
#include "base/utf8.h"
#include "text/bpe.h"

typedef struct {
    const heed_bpe *model;
    heed_symbol *item;
    size_t n;
    uint32_t unknown; /* bytes of an unknown that may still grow */
} cutter;

static void add_symbol(cutter *c, int32_t id, size_t n) {
    c->item[c->n++] = (heed_symbol){id, (uint32_t)n};
}

static void end_unknown(cutter *c) {
    if (c->unknown > 0) {
        add_symbol(c, c->model->unk, c->unknown);
        c->unknown = 0;
    }
}

/* All bytes of a text as pieces, or none. */
static bool add_bytes(cutter *c, heed_line text) {
    for (size_t i = 0; i < text.n; i++) {
        if (c->model->byte[(unsigned char)text.s[i]] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < text.n; i++) {
        add_symbol(c, c->model->byte[(unsigned char)text.s[i]], 1);
    }
    return true;
}

static bool add_unknown(cutter *c, heed_work *work, size_t n) {
    const heed_bpe *b = c->model;
    if (!b->wants_unk) {
        return true;
    }
    if (b->unk < 0) {
        return heed_fail(work->err, HEED_TEXT,
                         "a character is no piece, and unk_token '%.*s' is not in vocab",
                         (int)b->unk_text.n, b->unk_text.s);
    }
    if (!b->fuse_unk) {
        end_unknown(c);
    }
    c->unknown += (uint32_t)n;
    return true;
}

/* A character with what it carries inside and at the end of a word, in `buf`. */
static heed_line dress(const heed_bpe *b, heed_line c, bool first, bool last, heed_buf *buf) {
    buf->n = 0;
    heed_buf_add(buf, b->prefix.s, first ? 0 : b->prefix.n);
    heed_buf_add(buf, c.s, c.n);
    heed_buf_add(buf, b->suffix.s, last ? b->suffix.n : 0);
    return (heed_line){buf->data, buf->n};
}

/* A character as it is, c, and as it is looked for, text; its piece's id or -1. */
static bool add_character(cutter *c, heed_work *work, size_t bytes, heed_line text, int32_t id) {
    if (id >= 0) {
        end_unknown(c);
        add_symbol(c, id, bytes);
        return true;
    }
    return (c->model->byte_fallback && add_bytes(c, text)) || add_unknown(c, work, bytes);
}

static bool add_plain(cutter *c, heed_work *work, heed_line word) {
    for (size_t at = 0; at < word.n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(word.s + at, word.n - at, &cp);
        const uint64_t *id = heed_number_map_find(&c->model->chars, cp);
        if (!add_character(c, work, n, (heed_line){word.s + at, n}, id ? (int32_t)*id : -1)) {
            return false;
        }
        at += n;
    }
    return true;
}

static bool add_dressed(cutter *c, heed_work *work, heed_line word) {
    heed_buf buf = {.host = work->host};
    bool ok = true;
    for (size_t at = 0; at < word.n && ok;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(word.s + at, word.n - at, &cp);
        heed_line text =
            dress(c->model, (heed_line){word.s + at, n}, at == 0, at + n == word.n, &buf);
        ok = buf.failed ? heed_work_full(work)
                        : add_character(c, work, n, text,
                                        heed_vocab_find(c->model->tokenizer, text.s, text.n));
        at += n;
    }
    heed_buf_free(&buf);
    return ok;
}

heed_symbol *heed_bpe_cut(const heed_bpe *b, heed_work *work, heed_line word, size_t *n) {
    size_t affixes = b->prefix.n + b->suffix.n; /* bytes of the fallback as well */
    cutter c = {.model = b};
    c.item = heed_work_room(work, HEED_ROOM_NODES, word.n * (1 + affixes), sizeof *c.item);
    if (!c.item || !(affixes > 0 ? add_dressed : add_plain)(&c, work, word)) {
        return NULL;
    }
    end_unknown(&c);
    *n = c.n;
    return c.item;
}
