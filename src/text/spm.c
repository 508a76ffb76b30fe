/* spm.c: the pieces of a SentencePiece model, checked and indexed, and a tokenizer made of them.
 * SPDX-License-Identifier: MIT
 */
#include "text/spm.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static const float UNK_PENALTY = 10.0f;

void heed_spm_init(heed_spm *spm, const heed_host *host) {
    *spm = (heed_spm){.host = host, .kind = HEED_SPM_UNIGRAM, .unk = -1};
    spm->dummy_prefix = spm->tidy = spm->escape = true;
    spm->unk_surface = " \xe2\x81\x87 "; /* U+2047 */
    spm->unk_surface_n = strlen(spm->unk_surface);
    heed_map_init(&spm->index, host);
    heed_trie_init(&spm->pieces, host);
    heed_trie_init(&spm->symbols, host);
}

void heed_spm_free(heed_spm *spm) {
    heed_free(spm->host, spm->piece);
    heed_map_free(&spm->index);
    heed_trie_free(&spm->pieces);
    heed_trie_free(&spm->symbols);
}

bool heed_spm_add(heed_spm *spm, const char *text, size_t n, float score, heed_spm_type type,
                  heed_error *err) {
    if (spm->n >= HEED_MAX_ID) {
        return heed_fail(err, HEED_FILE, "more than %d pieces", HEED_MAX_ID);
    }
    if (!heed_reserve(spm->host, (void **)&spm->piece, &spm->cap, spm->n + 1, sizeof *spm->piece,
                      err)) {
        return false;
    }
    spm->piece[spm->n] = (heed_spm_piece){text, n, score, type, (int32_t)spm->n};
    spm->n++;
    return true;
}

/* ---- Checking and indexing ----------------------------------------------------------------- */

static bool text_is_sound(size_t place, const heed_spm_piece *p, heed_error *err) {
    size_t good = p->n > 0 ? heed_utf8_check(p->text, p->n) : 0;
    if (p->n == 0 || p->n > HEED_SPM_MAX_PIECE || good != p->n || memchr(p->text, '\0', p->n)) {
        const char *why = p->n == 0                   ? "is empty"
                          : p->n > HEED_SPM_MAX_PIECE ? "is too long"
                          : good != p->n              ? "is not UTF-8"
                                                      : "holds a zero byte";
        return heed_fail(err, HEED_FILE, "piece %zu of %zu bytes %s", place, p->n, why);
    }
    return isfinite(p->score) ||
           heed_fail(err, HEED_FILE, "the score of piece %zu is not finite", place);
}

int heed_spm_byte(const char *text, size_t n) {
    static const char digits[] = "0123456789ABCDEF";
    if (n != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') {
        return -1;
    }
    const char *high = memchr(digits, text[3], 16), *low = memchr(digits, text[4], 16);
    return high && low ? (int)(high - digits) * 16 + (int)(low - digits) : -1;
}

static bool take_byte(heed_spm *spm, size_t place, heed_error *err) {
    const heed_spm_piece *p = &spm->piece[place];
    int byte = heed_spm_byte(p->text, p->n);
    if (byte < 0 || !spm->byte_fallback) {
        return heed_fail(err, HEED_FILE, "piece %zu '%.*s' is a byte's, but %s", place, (int)p->n,
                         p->text, byte < 0 ? "has no byte's name" : "byte_fallback is off");
    }
    spm->byte[byte] = (int32_t)place;
    return true;
}

/* Normal pieces, user-defined and unused ones are found in text, the others are not. */
static bool take_text(heed_spm *spm, size_t place, heed_error *err) {
    const heed_spm_piece *p = &spm->piece[place];
    if (p->type == HEED_SPM_USER_DEFINED &&
        !heed_trie_add(&spm->symbols, p->text, p->n, (int32_t)place, err)) {
        return false;
    }
    if (p->type == HEED_SPM_NORMAL) { /* of no normal piece at all the top stays at FLT_MIN */
        spm->unk_score = p->score < spm->unk_score ? p->score : spm->unk_score;
        spm->top_score = p->score > spm->top_score ? p->score : spm->top_score;
    }
    spm->has_unused = spm->has_unused || p->type == HEED_SPM_UNUSED;
    return spm->kind != HEED_SPM_UNIGRAM ||
           heed_trie_add(&spm->pieces, p->text, p->n, (int32_t)place, err);
}

static bool take_piece(heed_spm *spm, size_t place, heed_error *err) {
    const heed_spm_piece *p = &spm->piece[place];
    bool added = false;
    if (!text_is_sound(place, p, err) ||
        !heed_map_put(&spm->index, p->text, p->n, (int64_t)place, &added, err)) {
        return false;
    }
    if (!added) {
        return heed_fail(err, HEED_FILE, "piece %zu '%.*s' stands there twice", place, (int)p->n,
                         p->text);
    }
    switch (p->type) {
    case HEED_SPM_UNKNOWN:
        if (spm->unk >= 0) {
            return heed_fail(err, HEED_FILE, "pieces %d and %zu are both the unknown one",
                             (int)spm->unk, place);
        }
        spm->unk = (int32_t)place;
        return true;
    case HEED_SPM_BYTE:
        return take_byte(spm, place, err);
    case HEED_SPM_NORMAL:
    case HEED_SPM_USER_DEFINED:
    case HEED_SPM_UNUSED:
        return take_text(spm, place, err);
    default:
        return true;
    }
}

bool heed_spm_ready(heed_spm *spm, heed_error *err) {
    spm->unk_score = FLT_MAX;
    spm->top_score = FLT_MIN; /* so the library: where all scores are negative, this is the top */
    for (int b = 0; b < 256; b++) {
        spm->byte[b] = -1;
    }
    for (size_t i = 0; i < spm->n; i++) {
        if (!take_piece(spm, i, err)) {
            return false;
        }
    }
    spm->unk_score -= UNK_PENALTY;
    if (spm->unk < 0) {
        return heed_fail(err, HEED_FILE, "none of %zu pieces is the unknown one", spm->n);
    }
    for (int b = 0; spm->byte_fallback && b < 256; b++) {
        if (spm->byte[b] < 0) {
            return heed_fail(err, HEED_FILE, "byte_fallback is on, but byte 0x%02X has no piece",
                             (unsigned)b);
        }
    }
    return true;
}

/* ---- Looking up ---------------------------------------------------------------------------- */

int32_t heed_spm_find(const heed_spm *spm, const char *text, size_t n) {
    const heed_map_entry *entry = heed_map_find(&spm->index, text, n);
    return entry ? (int32_t)entry->value : -1;
}

size_t heed_spm_symbol(const heed_spm *spm, const char *s, size_t n) {
    size_t best = 0;
    uint32_t node = 0;
    for (size_t i = 0; spm->symbols.n > 0 && i < n; i++) {
        node = heed_trie_step(&spm->symbols, node, (unsigned char)s[i]);
        if (!node) {
            break;
        }
        best = spm->symbols.value[node] >= 0 ? i + 1 : best;
    }
    return best;
}

size_t heed_spm_step(const heed_spm *spm, const char *s, size_t n, bool *frozen) {
    uint32_t cp = 0;
    size_t symbol = heed_spm_symbol(spm, s, n);
    *frozen = symbol > 0;
    return symbol > 0 ? symbol : (size_t)heed_utf8_next(s, n, &cp);
}

/* ---- What a word gives --------------------------------------------------------------------- */

/* All bytes have the place where the character begins, the last one the whole of it. */
static bool emit_bytes(heed_spm_out *out, size_t from, size_t to) {
    heed_work *work = out->work;
    for (size_t i = from; i < to; i++) {
        int32_t place = out->spm->byte[(unsigned char)work->now.text[i]];
        if (!heed_work_emit(work, out->spm->piece[place].id, from, to)) {
            return false;
        }
        heed_token *token = &work->out->item[work->out->n - 1];
        token->end = i + 1 < to ? token->begin : token->end;
    }
    return true;
}

bool heed_spm_end(heed_spm_out *out) {
    if (!out->open) {
        return true;
    }
    const heed_spm *spm = out->spm;
    out->open = false;
    int32_t id = spm->by_text ? heed_vocab_find(spm->tokenizer, out->work->now.text + out->from,
                                                out->to - out->from)
                              : -1;
    return heed_work_emit(out->work, id >= 0 ? id : spm->piece[spm->unk].id, out->from, out->to);
}

bool heed_spm_emit(heed_spm_out *out, int32_t place, size_t from, size_t to) {
    const heed_spm *spm = out->spm;
    bool unknown = place < 0 || place == spm->unk;
    if (!unknown) {
        int32_t id = spm->piece[place].id;
        return heed_spm_end(out) &&
               heed_work_emit(out->work, id >= 0 ? id : spm->piece[spm->unk].id, from, to);
    }
    if (spm->byte_fallback) {
        return emit_bytes(out, from, to);
    }
    out->from = out->open ? out->from : from;
    out->open = true;
    out->to = to;
    return true;
}

/* ---- A tokenizer --------------------------------------------------------------------------- */

static void free_settings(void *settings) {
    heed_spm_free(settings);
}

static const heed_model_kind kinds[] = {
    {"SentencePiece unigram", sizeof(heed_spm), NULL, heed_spm_encode_unigram, free_settings},
    {"SentencePiece bpe", sizeof(heed_spm), NULL, heed_spm_encode_bpe, free_settings},
    {"SentencePiece word", sizeof(heed_spm), NULL, heed_spm_encode_words, free_settings},
    {"SentencePiece char", sizeof(heed_spm), NULL, heed_spm_encode_chars, free_settings},
};

heed_spm *heed_spm_of(const heed_tokenizer *t) {
    bool own = t->model >= kinds && t->model < kinds + sizeof kinds / sizeof kinds[0];
    return own ? t->model_settings : NULL;
}

/* The piece joins the vocabulary, and its text is from now on the vocabulary's. */
static bool join(heed_tokenizer *t, heed_spm_piece *p, heed_error *err) {
    if (p->id < 0) {
        p->text = heed_region_text(&t->region, p->text, p->n, err);
        return p->text != NULL;
    }
    if (!heed_vocab_add(t, p->text, p->n, p->id, true, err)) {
        return false;
    }
    p->text = t->piece[p->id].text;
    t->piece[p->id].special = p->type == HEED_SPM_CONTROL;
    return true;
}

static bool open_map(heed_tokenizer *t, heed_line bytes, heed_charsmap *map, heed_error *err) {
    return bytes.n == 0 || heed_charsmap_open(t, (const unsigned char *)bytes.s, bytes.n, map, err);
}

static bool keep(heed_tokenizer *t, heed_spm *spm, heed_error *err) {
    for (size_t i = 0; i < spm->n; i++) {
        if (!join(t, &spm->piece[i], err)) {
            return false;
        }
    }
    spm->n_types = t->n_pieces;
    spm->type_of = heed_region_alloc(&t->region, spm->n_types, sizeof *spm->type_of, err);
    spm->unk_surface = heed_region_text(&t->region, spm->unk_surface, spm->unk_surface_n, err);
    if (!spm->type_of || !spm->unk_surface || !open_map(t, spm->map_bytes, &spm->map, err) ||
        !open_map(t, spm->unmap_bytes, &spm->unmap, err)) {
        return false;
    }
    for (size_t i = 0; i < spm->n; i++) {
        if (spm->piece[i].id >= 0) {
            spm->type_of[spm->piece[i].id] = spm->piece[i].type;
        }
    }
    return true;
}

heed_tokenizer *heed_spm_tokenizer(heed_spm *given, heed_error *err) {
    heed_tokenizer *t = heed_tokenizer_new(given->host, err);
    heed_spm *spm = t ? heed_region_alloc(&t->region, 1, sizeof *spm, err) : NULL;
    if (!spm) {
        heed_spm_free(given);
        heed_tokenizer_free(t);
        return NULL;
    }
    *spm = *given;
    spm->tokenizer = t;
    t->model = &kinds[spm->kind - HEED_SPM_UNIGRAM];
    t->model_settings = spm;
    t->print = heed_spm_print;
    if (!heed_spm_ready(spm, err) || !keep(t, spm, err) ||
        !heed_chain_add(t, &t->normalizer, &heed_spm_normalizer, spm, err) ||
        !heed_chain_add(t, &t->decoder, &heed_spm_decoder, spm, err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}
