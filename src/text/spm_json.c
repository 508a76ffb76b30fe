/* spm_json.c: a SentencePiece tokenizer as the nearest tokenizer.json.
 *
 * What the `tokenizers` library makes of the file is what `sentencepiece` makes of the model, but
 * for what its components cannot say: ways that tie (it adds in doubles), rules of the charsmap (it
 * applies them to whole characters with their marks first), special pieces written out in the text
 * (it knows them there), user-defined pieces of several spaces (it has made one of them before),
 * and a space in front of a text where only a text's beginning gets one. What it would get wrong
 * throughout is refused: spaces that end words, models of words (unknown ones side by side are
 * one), a denormalizer, and a vocabulary that is not the model's (Marian, M2M-100).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/spm.h"

static void print_text(heed_buf *out, const char *s, size_t n) {
    heed_json_print_string(out, s, n);
}

static const char *name_of(bool yes) {
    return yes ? "true" : "false";
}

/* ---- Components ---------------------------------------------------------------------------- */

static void print_base64(heed_buf *out, const unsigned char *data, size_t n) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t three = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                         (left > 2 ? data[i + 2] : 0);
        char four[4] = {letters[three >> 18], letters[three >> 12 & 63],
                        left > 1 ? letters[three >> 6 & 63] : '=',
                        left > 2 ? letters[three & 63] : '='};
        heed_buf_add(out, four, sizeof four);
    }
}

static void print_charsmap(const heed_charsmap *map, heed_buf *out) {
    size_t trie = (size_t)(map->texts - (const char *)map->trie);
    unsigned char size[4] = {(unsigned char)trie, (unsigned char)(trie >> 8),
                             (unsigned char)(trie >> 16), (unsigned char)(trie >> 24)};
    heed_buf blob = {.host = out->host};
    heed_buf_add(&blob, size, sizeof size);
    heed_buf_add(&blob, map->trie, trie + map->n);
    heed_buf_text(out, "\n    {\"type\": \"Precompiled\", \"precompiled_charsmap\": \"");
    if (!blob.failed) {
        print_base64(out, (const unsigned char *)blob.data, blob.n);
    }
    out->failed = out->failed || blob.failed;
    heed_buf_free(&blob);
    heed_buf_text(out, "\"},");
}

static void print_replace(const char *regex, const char *content, const char *end, heed_buf *out) {
    heed_buf_format(out,
                    "\n    {\"type\": \"Replace\", \"pattern\": {\"Regex\": \"%s\"}, "
                    "\"content\": \"%s\"}%s",
                    regex, content, end);
}

static void print_normalizer(const heed_spm *spm, heed_buf *out) {
    heed_buf_text(out, "  \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [");
    if (spm->map.units > 0) {
        print_charsmap(&spm->map, out);
    }
    if (spm->tidy) {
        print_replace("\\\\A +", "", ",", out);
        print_replace(" {2,}", " ", ",", out);
    }
    if (spm->dummy_prefix && !spm->first_only) {
        heed_buf_text(out, "\n    {\"type\": \"Prepend\", \"prepend\": \" \"},");
    }
    print_replace(" ", spm->escape ? HEED_SPM_MARK : " ", spm->tidy ? "," : "", out);
    if (spm->tidy) { /* marks of the text's own go as well */
        print_replace(spm->escape ? HEED_SPM_MARK "+\\\\z" : " +\\\\z", "", "", out);
    }
    heed_buf_text(out, "\n  ]},\n");
}

/* Letters that mean something in a regular expression get a backslash. */
static void print_regex(const heed_spm_piece *p, heed_buf *out) {
    heed_buf plain = {.host = out->host};
    for (size_t i = 0; i < p->n; i++) {
        if (strchr("\\.[]{}()*+?^$|-&", p->text[i])) {
            heed_buf_text(&plain, "\\");
        }
        heed_buf_add(&plain, p->text + i, 1);
    }
    if (!plain.failed) { /* inside a JSON string, without its quotes */
        heed_buf quoted = {.host = out->host};
        print_text(&quoted, plain.data, plain.n);
        if (!quoted.failed) {
            heed_buf_add(out, quoted.data + 1, quoted.n - 2);
        }
        plain.failed = quoted.failed;
        heed_buf_free(&quoted);
    }
    out->failed = out->failed || plain.failed;
    heed_buf_free(&plain);
}

static int by_length(const void *a, const void *b) {
    const heed_spm_piece *const *p = a, *const *q = b;
    return (*p)->n != (*q)->n ? ((*p)->n < (*q)->n ? 1 : -1) : strcmp((*p)->text, (*q)->text);
}

/* User-defined pieces stand alone: the longest first, as they are looked for. */
static bool print_symbols(const heed_spm *spm, heed_buf *out, heed_error *err) {
    const heed_spm_piece **symbol = heed_alloc(out->host, spm->n, sizeof *symbol, err);
    size_t n = 0;
    for (size_t i = 0; symbol && i < spm->n; i++) {
        if (spm->piece[i].type == HEED_SPM_USER_DEFINED) {
            symbol[n++] = &spm->piece[i];
        }
    }
    if (symbol && n > 0) {
        qsort(symbol, n, sizeof *symbol, by_length);
    }
    for (size_t i = 0; i < n; i++) {
        heed_buf_text(out, i > 0 ? "|" : "    {\"type\": \"Split\", \"pattern\": {\"Regex\": \"");
        print_regex(symbol[i], out);
    }
    heed_buf_text(out, n > 0 ? "\"}, \"behavior\": \"Isolated\", \"invert\": false}" : "");
    heed_free(out->host, symbol);
    return symbol != NULL;
}

static bool print_words(const heed_spm *spm, heed_buf *out, heed_error *err) {
    bool first = spm->dummy_prefix && spm->first_only;
    bool split = spm->symbols.n > 0 && spm->kind != HEED_SPM_UNIGRAM;
    if (!first && !split) {
        return heed_buf_text(out, "  \"pre_tokenizer\": null,\n");
    }
    heed_buf_text(out, "  \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [\n");
    if (first) {
        heed_buf_format(out,
                        "    {\"type\": \"Metaspace\", \"replacement\": \"" HEED_SPM_MARK
                        "\", \"prepend_scheme\": \"first\", \"split\": false}%s\n",
                        split ? "," : "");
    }
    if (split && !print_symbols(spm, out, err)) {
        return false;
    }
    return heed_buf_text(out, "\n  ]},\n");
}

static void print_decoder(const heed_spm *spm, heed_buf *out) {
    heed_buf_text(out, "  \"decoder\": {\"type\": \"Sequence\", \"decoders\": [\n"
                       "    {\"type\": \"Replace\", \"pattern\": {\"String\": \"" HEED_SPM_MARK
                       "\"}, \"content\": \" \"},\n");
    heed_buf_text(out, spm->byte_fallback ? "    {\"type\": \"ByteFallback\"},\n" : "");
    heed_buf_text(out, "    {\"type\": \"Fuse\"}");
    heed_buf_text(out, spm->dummy_prefix || spm->tidy
                           ? ",\n    {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, "
                             "\"stop\": 0}"
                           : "");
    heed_buf_text(out, "\n  ]},\n");
}

/* ---- Added tokens -------------------------------------------------------------------------- */

static void print_token(const heed_tokenizer *t, int32_t id, const heed_added *flags,
                        heed_buf *out) {
    heed_buf_format(out,
                    "%s\n    {\"id\": %d, \"content\": ", out->data[out->n - 1] == '[' ? "" : ",",
                    (int)id);
    print_text(out, t->piece[id].text, t->piece[id].n);
    heed_buf_format(out,
                    ", \"single_word\": %s, \"lstrip\": %s, \"rstrip\": %s, \"normalized\": false, "
                    "\"special\": %s}",
                    name_of(flags->single_word), name_of(flags->lstrip), name_of(flags->rstrip),
                    name_of(t->piece[id].special));
}

static const heed_added *added_of(const heed_tokenizer *t, int32_t id) {
    for (size_t i = 0; i < t->added.n; i++) {
        if (t->added.item[i].id == id) {
            return &t->added.item[i];
        }
    }
    return NULL;
}

/* What is special has to be told: control pieces by themselves, and whatever the folder added. */
static void print_added(const heed_tokenizer *t, heed_buf *out) {
    static const heed_added plain = {0};
    heed_buf_text(out, "  \"added_tokens\": [");
    for (size_t id = 0; id < t->n_pieces && !out->failed; id++) {
        bool special = t->piece[id].text && t->piece[id].special;
        const heed_added *flags = special || t->added.n > 0 ? added_of(t, (int32_t)id) : NULL;
        if (special || flags) {
            print_token(t, (int32_t)id, flags ? flags : &plain, out);
        }
    }
    heed_buf_text(out, "\n  ],\n");
}

/* ---- Model --------------------------------------------------------------------------------- */

/* The piece that has the id, NULL of a token that only the family has. */
static const heed_spm_piece *piece_of(const heed_tokenizer *t, const heed_spm *spm, size_t id) {
    int32_t place = heed_spm_find(spm, t->piece[id].text, t->piece[id].n);
    return place >= 0 && spm->piece[place].id == (int32_t)id ? &spm->piece[place] : NULL;
}

static bool no_gaps(const heed_tokenizer *t, heed_error *err) {
    for (size_t id = 0; id < t->n_pieces; id++) {
        if (!t->piece[id].text) {
            return heed_fail(err, HEED_VALUE,
                             "id %zu of %zu has no token: a tokenizer.json of a unigram model has "
                             "no gaps",
                             id, t->n_pieces);
        }
    }
    return true;
}

static bool print_unigram(const heed_tokenizer *t, const heed_spm *spm, heed_buf *out,
                          heed_error *err) {
    if (!no_gaps(t, err)) {
        return false;
    }
    heed_buf_format(out,
                    "\"type\": \"Unigram\", \"unk_id\": %d, \"byte_fallback\": %s, \"vocab\": [",
                    (int)spm->piece[spm->unk].id, name_of(spm->byte_fallback));
    for (size_t id = 0; id < t->n_pieces; id++) {
        char score[32];
        const heed_spm_piece *piece = piece_of(t, spm, id);
        heed_json_format_real(piece ? heed_spm_score(spm, piece) : 0, score);
        heed_buf_text(out, id > 0 ? ",\n    [" : "\n    [");
        print_text(out, t->piece[id].text, t->piece[id].n);
        heed_buf_format(out, ", %s]", score);
    }
    return heed_buf_text(out, "\n  ]");
}

static void print_vocab(const heed_tokenizer *t, heed_buf *out) {
    bool first = true;
    heed_buf_text(out, "\"vocab\": {");
    for (size_t id = 0; id < t->n_pieces; id++) {
        if (t->piece[id].text && t->piece[id].model) {
            heed_buf_text(out, first ? "\n    " : ",\n    ");
            print_text(out, t->piece[id].text, t->piece[id].n);
            heed_buf_format(out, ": %zu", id);
            first = false;
        }
    }
    heed_buf_text(out, "\n  }");
}

static int by_score(const void *a, const void *b) {
    const heed_spm_piece *const *p = a, *const *q = b;
    if ((*p)->score != (*q)->score) {
        return (*p)->score < (*q)->score ? 1 : -1;
    }
    return *p < *q ? -1 : *p > *q;
}

static bool is_normal(const heed_spm *spm, const char *s, size_t n) {
    int32_t place = heed_spm_find(spm, s, n);
    return place >= 0 && spm->piece[place].type == HEED_SPM_NORMAL;
}

/* Every way to make the piece of two. */
static void print_merges_of(const heed_spm *spm, const heed_spm_piece *p, heed_buf *out) {
    uint32_t cp = 0;
    size_t at = (size_t)heed_utf8_next(p->text, p->n, &cp);
    for (; at < p->n; at += (size_t)heed_utf8_next(p->text + at, p->n - at, &cp)) {
        if (!is_normal(spm, p->text, at) || !is_normal(spm, p->text + at, p->n - at)) {
            continue;
        }
        heed_buf_text(out, out->data[out->n - 1] == '[' ? "\n    [" : ",\n    [");
        print_text(out, p->text, at);
        heed_buf_text(out, ", ");
        print_text(out, p->text + at, p->n - at);
        heed_buf_text(out, "]");
    }
}

static bool print_merges(const heed_spm *spm, heed_buf *out, heed_error *err) {
    const heed_spm_piece **order = heed_alloc(out->host, spm->n, sizeof *order, err);
    size_t n = 0;
    for (size_t i = 0; order && i < spm->n; i++) {
        if (spm->piece[i].type == HEED_SPM_NORMAL) {
            order[n++] = &spm->piece[i];
        }
    }
    if (order && n > 0) {
        qsort(order, n, sizeof *order, by_score);
    }
    heed_buf_text(out, "\"merges\": [");
    for (size_t i = 0; i < n && !out->failed && spm->kind == HEED_SPM_BPE; i++) {
        print_merges_of(spm, order[i], out);
    }
    heed_buf_text(out, "\n  ]");
    heed_free(out->host, order);
    return order != NULL;
}

static bool print_bpe(const heed_tokenizer *t, const heed_spm *spm, heed_buf *out,
                      heed_error *err) {
    const heed_spm_piece *unk = &spm->piece[spm->unk];
    heed_buf_text(out, "\"type\": \"BPE\", \"dropout\": null, \"unk_token\": ");
    print_text(out, unk->text, unk->n);
    heed_buf_format(out,
                    ", \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, "
                    "\"fuse_unk\": true, \"byte_fallback\": %s, \"ignore_merges\": %s,\n  ",
                    name_of(spm->byte_fallback), name_of(spm->symbols.n > 0));
    print_vocab(t, out);
    heed_buf_text(out, ",\n  ");
    return print_merges(spm, out, err);
}

static bool print_model(const heed_tokenizer *t, const heed_spm *spm, heed_buf *out,
                        heed_error *err) {
    heed_buf_text(out, "  \"model\": {");
    bool ok = spm->kind == HEED_SPM_UNIGRAM ? print_unigram(t, spm, out, err)
                                            : print_bpe(t, spm, out, err);
    return ok && heed_buf_text(out, "}\n}\n");
}

/* What no tokenizer.json can say of the model; NULL: nothing. */
static const char *unsayable(const heed_spm *spm) {
    if (spm->by_text) {
        return "a vocabulary beside its model";
    }
    if (spm->suffix) {
        return "spaces that end words";
    }
    if (spm->kind == HEED_SPM_WORD) {
        return "a model of words";
    }
    return spm->unmap.units > 0          ? "a denormalizer"
           : spm->piece[spm->unk].id < 0 ? "an unknown piece without an id"
                                         : NULL;
}

static bool can_be_said(const heed_spm *spm, heed_error *err) {
    const char *what = unsayable(spm);
    return !what || heed_fail(err, HEED_VALUE,
                              "this tokenizer cannot be written as tokenizer.json (it has %s): "
                              "keep its own files",
                              what);
}

bool heed_spm_print(const heed_tokenizer *t, heed_buf *out, heed_error *err) {
    const heed_spm *spm = heed_spm_of(t);
    if (!can_be_said(spm, err)) {
        return false;
    }
    heed_buf_text(out,
                  "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n");
    print_added(t, out);
    print_normalizer(spm, out);
    bool ok = print_words(spm, out, err);
    heed_buf_text(out, "  \"post_processor\": ");
    heed_buf_text(out, spm->template ? spm->template : "null");
    heed_buf_text(out, ",\n");
    print_decoder(spm, out);
    ok = ok && print_model(t, spm, out, err);
    return ok && (!out->failed ||
                  heed_fail(err, HEED_NOMEM, "out of memory: a tokenizer.json grew too long"));
}
