/* embed_pieces.c: texts to the sequences that are run: encoded, and cut where they are too long.
 *
 * What the tokenizer's template puts round a text ([CLS], [SEP], an end token) stands round each
 * piece; a cut takes tokens of the text only.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "base/utf8.h"
#include "data/lines.h"
#include "generate/embedder.h"
#include "text/unicode.h"

#include <inttypes.h>
#include <string.h>

void heed_pieces_free(heed_pieces *pieces, const heed_host *host) {
    heed_free(host, pieces->ids.id);
    heed_free(host, pieces->piece);
    *pieces = (heed_pieces){0};
}

/* ---- The text ---- */

static bool add_lower(heed_buf *out, heed_line line) {
    for (size_t i = 0; i < line.n;) {
        uint32_t cp, lower[2];
        int n = heed_utf8_next(line.s + i, line.n - i, &cp);
        if (!n) /* not UTF-8: the tokenizer says where */
            return heed_buf_add(out, line.s + i, line.n - i);
        int count = heed_lower_letter(cp, lower);
        for (int k = 0; k < count; k++) {
            char bytes[4];
            if (!heed_buf_add(out, bytes, (size_t)heed_utf8_put(lower[k], bytes)))
                return false;
        }
        i += (size_t)n;
    }
    return true;
}

/* Prompt and text as the tokenizer gets them, into buf. */
static bool prepare(const heed_embedder *e, heed_line text, heed_buf *buf, heed_error *err) {
    heed_line prompt = {e->rules.prompt, strlen(e->rules.prompt)};
    heed_buf whole = {.host = e->host};
    bool fine = heed_buf_add(&whole, prompt.s, prompt.n) && heed_buf_add(&whole, text.s, text.n);
    heed_line line = heed_line_trim((heed_line){whole.data, whole.n});
    buf->n = 0;
    fine = fine && (e->rules.lower ? add_lower(buf, line) : heed_buf_add(buf, line.s, line.n));
    heed_buf_free(&whole);
    return fine || heed_fail(err, HEED_NOMEM, "no memory for a text");
}

/* ---- Pieces ---- */

static bool add_piece(const heed_embedder *e, heed_pieces *p, heed_piece piece, heed_error *err) {
    if (!heed_reserve(e->host, (void **)&p->piece, &p->piece_cap, (size_t)p->n + 1,
                      sizeof *p->piece, err))
        return false;
    p->piece[p->n++] = piece;
    return true;
}

static bool add_ids(const heed_embedder *e, heed_pieces *p, const heed_token *token, int64_t n,
                    heed_error *err) {
    if (!heed_reserve(e->host, (void **)&p->ids.id, &p->ids.id_cap, (size_t)(p->n_ids + n) + 1,
                      sizeof *p->ids.id, err))
        return false;
    for (int64_t i = 0; i < n; i++)
        p->ids.id[p->n_ids++] = token[i].id;
    return true;
}

/* A text's tokens: before + plain + behind, where plain are the text's own. */
typedef struct {
    const heed_token *all, *plain;
    int64_t n, plain_n, before, behind;
} parts;

/* Finds the plain tokens inside of all. */
static bool split(parts *p, heed_error *err) {
    for (p->before = 0; p->before + p->plain_n <= p->n; p->before++) {
        int64_t i = 0;
        while (i < p->plain_n && p->all[p->before + i].id == p->plain[i].id)
            i++;
        p->behind = p->n - p->plain_n - p->before;
        if (i == p->plain_n)
            return true;
    }
    return heed_fail(err, HEED_VALUE,
                     "the tokenizer's template takes the text apart, so that it "
                     "cannot be cut");
}

/* One piece with the plain tokens [from, from + n). */
static bool add_part(const heed_embedder *e, heed_pieces *out, const parts *p, int64_t text,
                     int64_t from, int64_t n, heed_error *err) {
    heed_piece piece = {
        .text = text, .start = out->n_ids, .n = p->before + n + p->behind, .weight = n};
    return add_ids(e, out, p->all, p->before, err) && add_ids(e, out, p->plain + from, n, err) &&
           add_ids(e, out, p->all + p->n - p->behind, p->behind, err) &&
           add_piece(e, out, piece, err);
}

/* A text that is longer than the embedder takes. */
static bool add_long(const heed_embedder *e, heed_pieces *out, parts *p, int64_t text,
                     heed_embedded *told, heed_error *err) {
    if (e->options.on_long == HEED_EMBED_ERROR)
        return heed_fail(err, HEED_LIMIT, "%" PRId64 " tokens are more than the %" PRId64 " of %s",
                         p->n, e->most, e->most_from);
    if (!split(p, err))
        return false;
    int64_t room = e->most - p->before - p->behind;
    if (room < 1)
        return heed_fail(err, HEED_LIMIT,
                         "%" PRId64 " tokens (%s) hold nothing beside the tokenizer's own %" PRId64,
                         e->most, e->most_from, p->before + p->behind);
    bool all = e->options.on_long == HEED_EMBED_WINDOWS;
    told->tokens = told->windows = 0;
    told->dropped = all ? 0 : p->plain_n - room;
    for (int64_t from = 0; from == 0 || (all && from < p->plain_n); from += room) {
        int64_t n = p->plain_n - from < room ? p->plain_n - from : room;
        if (!add_part(e, out, p, text, from, n, err))
            return false;
        told->tokens += out->piece[out->n - 1].n;
        told->windows++;
    }
    return true;
}

static bool add_text(const heed_embedder *e, heed_line line, int64_t text, heed_pieces *out,
                     heed_tokens *tokens, heed_embedded *told, heed_error *err) {
    const heed_tokenizer *tokenizer = heed_model_tokenizer(e->model);
    tokens->n = 0;
    if (!heed_encode(tokenizer, line.s, line.n, true, tokens, err))
        return false;
    int64_t n = (int64_t)tokens->n;
    *told = (heed_embedded){.tokens = n, .windows = 1};
    if (!n)
        return heed_fail(err, HEED_TEXT, "it has no tokens, so it has no vector");
    if (n <= e->most) {
        heed_piece piece = {.text = text, .start = out->n_ids, .n = n, .weight = n};
        return add_ids(e, out, tokens->item, n, err) && add_piece(e, out, piece, err);
    }
    if (!heed_encode(tokenizer, line.s, line.n, false, tokens, err))
        return false;
    parts p = {
        .all = tokens->item, .n = n, .plain = tokens->item + n, .plain_n = (int64_t)tokens->n - n};
    return add_long(e, out, &p, text, told, err);
}

bool heed_cut_texts(const heed_embedder *e, const heed_line *texts, int64_t n, heed_pieces *pieces,
                    heed_vectors *out, heed_error *err) {
    heed_tokens tokens = {.host = e->host};
    heed_buf buf = {.host = e->host};
    heed_error inner = {0};
    int64_t i = 0;
    for (; i < n && !inner.code; i++) {
        if (prepare(e, texts[i], &buf, &inner))
            add_text(e, (heed_line){buf.data ? buf.data : "", buf.n}, i, pieces, &tokens,
                     &out->text[i], &inner);
    }
    heed_tokens_free(&tokens);
    heed_buf_free(&buf);
    return !inner.code || heed_fail(err, inner.code, "text %" PRId64 ": %s", i, inner.text);
}
