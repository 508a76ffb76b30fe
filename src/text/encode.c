/* encode.c: the chain from text to ids and from ids to text.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/part.h"

void heed_tokens_free(heed_tokens *tokens) {
    heed_free(tokens->host, tokens->item);
    *tokens = (heed_tokens){.host = tokens->host};
}

/* ---- Text to ids --------------------------------------------------------------------------- */

/* work->now [from, to) as the only word, then cut by the pre-tokenizer. */
static bool split_section(const heed_tokenizer *t, heed_work *work) {
    work->words.n = 0;
    return work->now.n == 0 || (heed_cuts_add(work, &work->words, 0, work->now.n, false) &&
                                heed_chain_apply(&t->pre_tokenizer, work));
}

static bool encode_section(const heed_tokenizer *t, heed_work *work) {
    if (!split_section(t, work)) {
        return false;
    }
    for (size_t i = 0; i < work->words.n; i++) {
        heed_cut word = work->words.item[i];
        if (!t->model->encode(t->model_settings, work, word.from, word.to)) {
            return false;
        }
    }
    return true;
}

/* Puts text [from, to) of the caller's into work->now, each code point with its own place. */
static bool take_text(heed_work *work, const char *text, size_t from, size_t to) {
    work->now.n = 0;
    for (size_t at = from; at < to;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(text + at, to - at, &cp);
        heed_origin from_here = {(uint32_t)at, (uint32_t)(at + n)};
        if (!heed_strand_put(work, &work->now, text + at, n, from_here)) {
            return false;
        }
        at += n;
    }
    return true;
}

bool heed_split_text(const heed_tokenizer *t, heed_work *work, const char *text, size_t n) {
    work->n = n;
    return take_text(work, text, 0, n) && heed_chain_apply(&t->normalizer, work) &&
           split_section(t, work);
}

/* A part of work->whole without added tokens. */
static bool encode_part(const heed_tokenizer *t, heed_work *work, size_t from, size_t to) {
    work->now.n = 0;
    return heed_strand_copy(work, &work->now, &work->whole, from, to) && encode_section(t, work);
}

/* An added token found in the normalised text: emitted with its place in the caller's. */
static bool emit_added(heed_work *work, const heed_added_match *match) {
    work->now.n = 0;
    return heed_strand_copy(work, &work->now, &work->whole, match->from, match->to) &&
           heed_work_emit(work, match->id, 0, work->now.n);
}

/* Text [from, to) of the caller's, in which no added token stands as it is. */
static bool encode_plain(const heed_tokenizer *t, heed_work *work, size_t from, size_t to) {
    if (from == to) {
        return true;
    }
    if (!take_text(work, work->text, from, to) || !heed_chain_apply(&t->normalizer, work)) {
        return false;
    }
    if (t->added.normalized.n == 0) {
        return encode_section(t, work);
    }
    heed_strand whole = work->now;
    work->now = work->whole;
    work->whole = whole;
    size_t at = 0;
    heed_added_match match;
    while (heed_added_next(&t->added, &t->added.normalized, whole.text, whole.n, at, &match)) {
        if (!encode_part(t, work, at, match.from) || !emit_added(work, &match)) {
            return false;
        }
        at = match.to;
    }
    return encode_part(t, work, at, whole.n);
}

static bool encode_text(const heed_tokenizer *t, heed_work *work) {
    size_t at = 0;
    heed_added_match match;
    while (heed_added_next(&t->added, &t->added.raw, work->text, work->n, at, &match)) {
        if (!encode_plain(t, work, at, match.from)) {
            return false;
        }
        work->now.n = 0;
        heed_origin place = {(uint32_t)match.from, (uint32_t)match.to};
        if (!heed_strand_put(work, &work->now, " ", 1, place) ||
            !heed_work_emit(work, match.id, 0, 1)) {
            return false;
        }
        at = match.to;
    }
    return encode_plain(t, work, at, work->n) && heed_chain_apply(&t->post_processor, work);
}

bool heed_encode(const heed_tokenizer *t, const char *text, size_t n, bool special,
                 heed_tokens *out, heed_error *err) {
    if (n > UINT32_MAX - 1) {
        return heed_fail(err, HEED_LIMIT, "text of %zu bytes is above the limit of %u", n,
                         UINT32_MAX - 1);
    }
    size_t good = heed_utf8_check(text, n);
    if (good != n) {
        return heed_fail(err, HEED_TEXT, "text is not UTF-8 at byte %zu (0x%02x)", good,
                         (unsigned char)text[good]);
    }
    heed_work work;
    heed_work_init(&work, out->host, err);
    work.out = out;
    work.first = out->n;
    work.special = special;
    work.text = text;
    work.n = n;
    bool ok = encode_text(t, &work);
    if (!ok) {
        out->n = work.first;
    }
    heed_work_free(&work);
    return ok;
}

/* ---- Ids to text --------------------------------------------------------------------------- */

static bool take_tokens(const heed_tokenizer *t, heed_work *work, const int32_t *ids, size_t n,
                        bool skip_special) {
    for (size_t i = 0; i < n; i++) {
        const heed_piece *piece =
            ids[i] >= 0 && (size_t)ids[i] < t->n_pieces ? &t->piece[ids[i]] : NULL;
        if (!piece || !piece->text) {
            return heed_fail(work->err, HEED_VALUE,
                             "id %" PRId32 " at place %zu is not in the vocabulary of %zu", ids[i],
                             i, t->n_pieces);
        }
        if (skip_special && piece->special) {
            continue;
        }
        if (t->decoder.n == 0 && work->texts.n > 0) { /* without a decoder: words with spaces */
            heed_buf_add(&work->texts.data, " ", 1);
        }
        heed_buf_add(&work->texts.data, piece->text, piece->n);
        work->n = work->texts.data.n;
        if (!heed_texts_end(work, &work->texts)) {
            return false;
        }
    }
    return true;
}

bool heed_decode(const heed_tokenizer *t, const int32_t *ids, size_t n, bool skip_special,
                 heed_buf *out, heed_error *err) {
    heed_work work;
    heed_work_init(&work, out->host, err);
    bool ok = take_tokens(t, &work, ids, n, skip_special) && heed_chain_apply(&t->decoder, &work);
    if (ok && !heed_buf_add(out, work.texts.data.data, work.texts.data.n)) {
        ok = heed_work_full(&work);
    }
    heed_work_free(&work);
    return ok;
}

/* ---- Looking up ---------------------------------------------------------------------------- */

int32_t heed_vocab_size(const heed_tokenizer *t) {
    return (int32_t)t->n_pieces;
}

static const heed_piece *piece_of(const heed_tokenizer *t, int32_t id) {
    return id >= 0 && (size_t)id < t->n_pieces && t->piece[id].text ? &t->piece[id] : NULL;
}

const char *heed_token_text(const heed_tokenizer *t, int32_t id) {
    const heed_piece *piece = piece_of(t, id);
    return piece ? piece->text : NULL;
}

int32_t heed_token_id(const heed_tokenizer *t, const char *text) {
    const heed_map_entry *entry = heed_map_find(&t->ids, text, strlen(text));
    return entry ? (int32_t)entry->value : -1;
}

bool heed_token_special(const heed_tokenizer *t, int32_t id) {
    const heed_piece *piece = piece_of(t, id);
    return piece && piece->special;
}

static void show_char(uint32_t cp, const char *s, size_t n, heed_buf *out) {
    if (cp == ' ') {
        heed_buf_text(out, "\xe2\x96\x81");
    } else if (cp == '\n' || cp == '\t' || cp == '\r') {
        heed_buf_text(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
    } else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) {
        heed_buf_format(out, "\\x%02x", (unsigned)cp);
    } else {
        heed_buf_add(out, s, n);
    }
}

bool heed_token_show(const heed_tokenizer *t, int32_t id, heed_buf *out) {
    const heed_piece *piece = piece_of(t, id);
    if (!piece) {
        return heed_buf_format(out, "<id %" PRId32 ">", id);
    }
    if (piece->special) {
        return heed_buf_add(out, piece->text, piece->n);
    }
    heed_buf bytes = {.host = out->host};
    if (t->byte_level) {
        heed_byte_level_bytes(piece->text, piece->n, &bytes);
    } else {
        heed_buf_add(&bytes, piece->text, piece->n);
    }
    for (size_t at = 0; at < bytes.n && !bytes.failed;) {
        uint32_t cp = 0;
        int n = heed_utf8_next(bytes.data + at, bytes.n - at, &cp);
        if (n > 0) {
            show_char(cp, bytes.data + at, (size_t)n, out);
        } else {
            heed_buf_format(out, "<0x%02X>", (unsigned)(unsigned char)bytes.data[at]);
        }
        at += n > 0 ? (size_t)n : 1;
    }
    out->failed = out->failed || bytes.failed;
    heed_buf_free(&bytes);
    return !out->failed;
}
