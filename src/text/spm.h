/* spm.h: SentencePiece models: read from their file, normalising, cutting and joining as the
 * `sentencepiece` library does.
 *
 * One heed_spm stands behind the normalizer, the model and the decoder of a tokenizer. Its pieces
 * keep their order in the file; `id` says which id each has in the tokenizer, since the families of
 * Hugging Face shift them. Invariant after heed_spm_ready: texts of pieces are UTF-8, not empty and
 * differ; there is one unknown piece; with byte_fallback every byte has a piece.
 * Source: Kudo and Richardson 2018, "SentencePiece"; sentencepiece_model.proto.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_SPM_H
#define HEED_TEXT_SPM_H

#include "base/map.h"
#include "text/normalizers.h"
#include "text/part.h"

typedef enum { HEED_SPM_UNIGRAM = 1, HEED_SPM_BPE, HEED_SPM_WORD, HEED_SPM_CHAR } heed_spm_kind;

typedef enum {
    HEED_SPM_NONE, /* a token that the model does not know: one that a family adds */
    HEED_SPM_NORMAL,
    HEED_SPM_UNKNOWN,
    HEED_SPM_CONTROL,
    HEED_SPM_USER_DEFINED,
    HEED_SPM_UNUSED,
    HEED_SPM_BYTE
} heed_spm_type;

typedef struct {
    const char *text; /* in the model's region, or in the bytes it was read from */
    size_t n;
    float score;
    heed_spm_type type;
    int32_t id; /* in the tokenizer; -1: it has none there, and counts as unknown */
} heed_spm_piece;

typedef struct {
    const heed_host *host;
    heed_tokenizer *tokenizer;
    heed_spm_piece *piece;
    size_t n, cap;
    heed_spm_kind kind;
    bool byte_fallback;
    bool suffix;       /* spaces end words, they do not begin them */
    bool dummy_prefix; /* a space before (with `suffix`: behind) the text */
    bool first_only;   /* that space only where the caller's text begins */
    bool tidy;         /* spaces at both ends go, runs of them become one */
    bool escape;       /* spaces become U+2581 */
    bool by_text;      /* an unknown run that is a token all the same is that token (Marian) */
    const char *unk_surface; /* what an unknown piece becomes in decoding */
    size_t unk_surface_n;
    heed_line map_bytes, unmap_bytes; /* the normalizer's precompiled_charsmap; the other's */
    /* Filled by heed_spm_tokenizer: */
    heed_charsmap map, unmap; /* units = 0: none */
    heed_map index;           /* text to place in `piece` */
    heed_trie pieces;         /* normal, user-defined and unused ones, to their place */
    heed_trie symbols;        /* user-defined ones: cut out before all else */
    int32_t unk;              /* places in `piece` */
    int32_t byte[256];
    float unk_score, top_score; /* of unigram models */
    bool has_unused;
    heed_spm_type *type_of; /* of each id of the tokenizer */
    size_t n_types;
    const char *template; /* what the post-processor was read from; NULL: none */
} heed_spm;

#define HEED_SPM_MARK "\xe2\x96\x81" /* U+2581 */
enum { HEED_SPM_MARK_BYTES = 3, HEED_SPM_MAX_PIECE = 8000 };

/* An empty model with the defaults of the file's format. */
void heed_spm_init(heed_spm *spm, const heed_host *host);
void heed_spm_free(heed_spm *spm);
bool heed_spm_add(heed_spm *spm, const char *text, size_t n, float score, heed_spm_type type,
                  heed_error *err);
/* Fills an initialised model from the bytes of a .model file. What it points at lies in them. */
bool heed_spm_read(heed_spm *spm, const char *data, size_t n, heed_error *err);
/* Whether bytes look like such a file: they begin with a piece. */
bool heed_spm_looks(const char *data, size_t n);

/* A tokenizer with the model as its normalizer, model and decoder, whose pieces have the ids that
 * they say. Takes the model over, also where it fails; texts are copied. Nothing is added to the
 * vocabulary but pieces with an id. */
heed_tokenizer *heed_spm_tokenizer(heed_spm *spm, heed_error *err);
/* The model of such a tokenizer, NULL of another. */
heed_spm *heed_spm_of(const heed_tokenizer *tokenizer);

/* ---- Inside ------------------------------------------------------------------------------- */

/* spm.c: checks the pieces and indexes them. */
bool heed_spm_ready(heed_spm *spm, heed_error *err);
/* The byte of "<0xNN>", in capitals; -1 of another text. */
int heed_spm_byte(const char *text, size_t n);
/* The place of a text, -1 where no piece has it. */
int32_t heed_spm_find(const heed_spm *spm, const char *text, size_t n);
/* Bytes of the longest user-defined piece that begins at s, 0 where none does. */
size_t heed_spm_symbol(const heed_spm *spm, const char *s, size_t n);
/* Bytes of the code point at s, or of the user-defined piece; *frozen tells which. */
size_t heed_spm_step(const heed_spm *spm, const char *s, size_t n, bool *frozen);

/* What a piece counts in a unigram model: a user-defined one nearly nothing, so that it wins. */
static inline double heed_spm_score(const heed_spm *spm, const heed_spm_piece *piece) {
    return piece->type == HEED_SPM_USER_DEFINED ? (double)((float)piece->n * spm->top_score) - 0.1
                                                : (double)piece->score;
}

/* What one word gives, piece by piece: unknown ones are gathered, since a run of them is one. */
typedef struct {
    const heed_spm *spm;
    heed_work *work;
    bool open; /* an unknown run [from, to) that may grow */
    size_t from, to;
} heed_spm_out;
/* Piece `place` (-1: unknown) for bytes [from, to) of work->now. */
bool heed_spm_emit(heed_spm_out *out, int32_t place, size_t from, size_t to);
bool heed_spm_end(heed_spm_out *out);

extern const heed_part_kind heed_spm_normalizer, heed_spm_decoder; /* settings: the heed_spm */
/* spm_bpe.c, spm_unigram.c, spm_words.c: settings: the heed_spm */
bool heed_spm_encode_bpe(const void *settings, heed_work *work, size_t from, size_t to);
bool heed_spm_encode_unigram(const void *settings, heed_work *work, size_t from, size_t to);
bool heed_spm_encode_words(const void *settings, heed_work *work, size_t from, size_t to);
bool heed_spm_encode_chars(const void *settings, heed_work *work, size_t from, size_t to);

/* spm_json.c: the nearest tokenizer.json. */
bool heed_spm_print(const heed_tokenizer *tokenizer, heed_buf *out, heed_error *err);

#endif
