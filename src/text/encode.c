/* encode.c: the chain from text to ids and from ids to text.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/part.h"
#include "text/post.h"

void heed_tokens_free(heed_tokens *tokens) {
    heed_free(tokens->host, tokens->item);
    *tokens = (heed_tokens){.host = tokens->host};
}

/* ---- Text to ids --------------------------------------------------------------------------- */

static bool run(const heed_chain *chain, heed_work *work, const char *place) {
    for (size_t i = 0; i < chain->n; i++) {
        if (!chain->item[i].kind->apply(chain->item[i].settings, work) ||
            !heed_work_show(work, place, chain->item[i].kind->type)) {
            return false;
        }
    }
    return true;
}

/* work->now as the only word, then cut by the pre-tokenizer. */
static bool split_section(const heed_tokenizer *t, heed_work *work) {
    work->words.n = 0;
    return work->now.n == 0 || (heed_cuts_add(work, &work->words, 0, work->now.n, false) &&
                                run(&t->pre_tokenizer, work, "pre_tokenizer"));
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

/* Text [from, to) of the caller's, normalised. */
static bool normalize(const heed_tokenizer *t, heed_work *work, size_t from, size_t to) {
    work->base = (uint32_t)from;
    work->words.n = 0;
    heed_work_view(work, from, to);
    return heed_work_show(work, "text", "") && run(&t->normalizer, work, "normalizer");
}

bool heed_split_text(const heed_tokenizer *t, heed_work *work, const char *text, size_t n) {
    work->tokenizer = t;
    work->text = text;
    work->n = n;
    return normalize(t, work, 0, n) && split_section(t, work);
}

/* A part without added tokens of the normalised section. */
static bool encode_part(const heed_tokenizer *t, heed_work *work, const heed_strand *whole,
                        size_t from, size_t to) {
    if (!whole->from) {
        heed_work_view(work, work->base + from, work->base + to);
        return encode_section(t, work);
    }
    work->now.n = 0;
    return heed_strand_copy(work, &work->now, whole, from, to) && encode_section(t, work);
}

/* An added token found in the normalised text: emitted with its place in the caller's. */
static bool emit_added(heed_work *work, const heed_strand *whole, const heed_added_match *match) {
    uint32_t begin = work->base + (uint32_t)match->from, end = work->base + (uint32_t)match->to;
    return whole->from ? heed_work_emit_at(work, match->id, whole->from[match->from].begin,
                                           whole->from[match->to - 1].end)
                       : heed_work_emit_at(work, match->id, begin, end);
}

/* The normalised section, cut at the added tokens that are looked for in there. One that is not
 * plain changes places with `whole`, so that its parts have a strand of their own. */
static bool encode_parts(const heed_tokenizer *t, heed_work *work) {
    heed_strand whole = work->now;
    if (!work->plain) {
        work->now = work->whole;
        work->whole = whole;
    }
    size_t at = 0;
    heed_added_match match;
    while (heed_added_next(&t->added, &t->added.normalized, whole.text, whole.n, at, &match)) {
        if (!encode_part(t, work, &whole, at, match.from) || !emit_added(work, &whole, &match)) {
            return false;
        }
        at = match.to;
    }
    return encode_part(t, work, &whole, at, whole.n);
}

/* Text [from, to) of the caller's, in which no added token stands as it is. */
static bool encode_plain(const heed_tokenizer *t, heed_work *work, size_t from, size_t to) {
    if (t->lead && !t->lead(t, work, &from, to)) {
        return false;
    }
    if (from == to) {
        return true;
    }
    return normalize(t, work, from, to) &&
           (t->added.normalized.n > 0 && work->now.n > 0 ? encode_parts(t, work)
                                                         : encode_section(t, work));
}

/* One of the two texts: its tokens become a part. */
static bool encode_text(const heed_tokenizer *t, heed_work *work, heed_line text) {
    size_t at = 0, begin = work->out->n;
    heed_added_match match;
    work->text = text.s;
    work->n = text.n;
    while (heed_added_next(&t->added, &t->added.raw, work->text, work->n, at, &match)) {
        if (!encode_plain(t, work, at, match.from) ||
            !heed_work_emit_at(work, match.id, (uint32_t)match.from, (uint32_t)match.to)) {
            return false;
        }
        at = match.to;
    }
    return encode_plain(t, work, at, work->n) &&
           heed_cuts_add(work, &work->parts, begin, work->out->n, false);
}

static bool check_text(heed_line text, heed_error *err) {
    if (text.n > UINT32_MAX - 1) {
        return heed_fail(err, HEED_LIMIT, "text of %zu bytes is above the limit of %u", text.n,
                         UINT32_MAX - 1);
    }
    size_t good = heed_utf8_check(text.s, text.n);
    return good == text.n || heed_fail(err, HEED_TEXT, "text is not UTF-8 at byte %zu (0x%02x)",
                                       good, (unsigned char)text.s[good]);
}

static bool encode_both(const heed_tokenizer *t, heed_work *work, heed_line text,
                        const heed_encode_options *options) {
    bool pair = options->pair.s != NULL;
    work->texts_of[0] = text.s;
    work->texts_of[1] = options->pair.s;
    if (!encode_text(t, work, text)) {
        return false;
    }
    work->which = 1;
    size_t second = work->out->n;
    if (pair && !encode_text(t, work, options->pair)) {
        return false;
    }
    for (size_t i = second; i < work->out->n; i++) {
        work->out->item[i].type = 1;
    }
    return heed_work_show_tokens(work, "model", t->model->type) &&
           heed_post_truncate(work, &t->post_processor, &options->truncate) &&
           heed_chain_apply(&t->post_processor, work) &&
           heed_work_show_tokens(work, "post_processor", "");
}

static bool encode(const heed_tokenizer *t, heed_line text, const heed_encode_options *options,
                   heed_stage_fn *fn, void *ctx, heed_tokens *out, heed_error *err) {
    if (!check_text(text, err) || (options->pair.s && !check_text(options->pair, err))) {
        return false;
    }
    heed_work work;
    heed_work_init(&work, out->host, err);
    work.tokenizer = t;
    work.out = out;
    work.first = out->n;
    work.special = !options->no_special;
    work.show = fn;
    work.show_ctx = ctx;
    bool ok = encode_both(t, &work, text, options);
    if (!ok) {
        out->n = work.first;
    }
    heed_work_free(&work);
    return ok;
}

bool heed_encode_with(const heed_tokenizer *t, heed_line text, const heed_encode_options *options,
                      heed_tokens *out, heed_error *err) {
    return encode(t, text, options, NULL, NULL, out, err);
}

bool heed_encode(const heed_tokenizer *t, const char *text, size_t n, bool special,
                 heed_tokens *out, heed_error *err) {
    heed_encode_options options = {.no_special = !special};
    return encode(t, (heed_line){text, n}, &options, NULL, NULL, out, err);
}

bool heed_explain(const heed_tokenizer *t, heed_line text, heed_stage_fn *fn, void *ctx,
                  heed_error *err) {
    heed_tokens tokens = {.host = t->host};
    bool ok = encode(t, text, &(heed_encode_options){0}, fn, ctx, &tokens, err);
    heed_tokens_free(&tokens);
    return ok;
}

/* ---- Ids to text --------------------------------------------------------------------------- */

static const heed_piece *piece_of(const heed_tokenizer *t, int32_t id) {
    return heed_vocab_has(t, id) ? &t->piece[id] : NULL;
}

static bool take_tokens(const heed_tokenizer *t, heed_work *work, const int32_t *ids, size_t n,
                        bool skip_special) {
    for (size_t i = 0; i < n; i++) {
        const heed_piece *piece = piece_of(t, ids[i]);
        if (!piece) {
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

const char *heed_token_text(const heed_tokenizer *t, int32_t id) {
    const heed_piece *piece = piece_of(t, id);
    return piece ? piece->text : NULL;
}

int32_t heed_token_id(const heed_tokenizer *t, const char *text) {
    return heed_vocab_map_find(&t->ids, text, strlen(text));
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
