/* text.h: tokenizers: text to ids and back, read from tokenizer.json, trained, and written there.
 *
 * A tokenizer is a chain: added tokens are cut out, the rest is normalised, split into words, each
 * word is cut into pieces by the model, and a template puts special tokens round the whole. Every
 * stage keeps for each byte which bytes of the caller's text it came from, so a token knows its
 * place there. The ids are those of the `tokenizers` library for the same file. A file that names a
 * component not known here is refused, so ids are never silently others.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_TEXT_H
#define HEED_TEXT_TEXT_H

#include "base/mem.h"

/* ---- Opening ------------------------------------------------------------------------------- */

/* heed_tokenizer, heed_tokens, opening, encoding, decoding and looking up stand in heed.h. */

/* heed_tokenizer_open from memory; `name` stands for the file in errors. */
heed_tokenizer *heed_tokenizer_parse(const heed_host *host, const char *json, size_t n,
                                     const char *name, heed_error *err);
/* A folder's tokenizer, from the first of: tokenizer.json; source.spm, target.spm and vocab.json
 * (Marian: two tokenizers); tokenizer.model, spiece.model (SentencePiece, with the ids of the
 * family that tokenizer_config.json or config.json names); sentencepiece.bpe.model and vocab.json
 * (M2M-100); sentencepiece.bpe.model; vocab.json and merges.txt; vocab.txt; tokenizer.bin
 * (llama2.c). HEED_FILE where there is none (the line says what was looked for), where the family
 * is not known, or where a file is damaged. */
typedef struct {
    heed_tokenizer *source;
    heed_tokenizer *target; /* of what is written; NULL: `source` serves both */
} heed_tokenizer_pair;
bool heed_tokenizer_open_folder(const heed_host *host, const char *folder, heed_tokenizer_pair *out,
                                heed_error *err);
/* Whether there is any of them; a vocab.txt alone counts for model types whose is BERT's: others
 * have tokenizers of their own, and take token ids here. */
bool heed_tokenizer_in_folder(const char *folder, const char *model_type);
/* The path of the vocabulary beside a model of llama2.c: tokenizer.bin, or tok512.bin for one of
 * 512 tokens; "" where there is neither. */
bool heed_llama2c_vocabulary(const char *model, int64_t tokens, char *out, size_t size,
                             heed_error *err);
/* Writes into a folder what heed_tokenizer_open_folder opens with the same ids: tokenizer.json; or,
 * of what was opened from a folder with a SentencePiece model, that folder's own files. *own tells:
 * then its tokenizer_config.json, where it had one, is among them, and no other should be
 * written. */
bool heed_tokenizer_save_folder(const heed_tokenizer *tokenizer, const char *folder, bool *own,
                                heed_error *err);
/* Writes tokenizer.json; opening it again gives the same ids, but for a SentencePiece model (see
 * spm_json.c). HEED_VALUE for one that no tokenizer.json can say. */
bool heed_tokenizer_save(const heed_tokenizer *tokenizer, const char *path, heed_error *err);

/* ---- Training ------------------------------------------------------------------------------ */

typedef enum {
    HEED_TOKENIZER_BPE,
    HEED_TOKENIZER_UNIGRAM,
    HEED_TOKENIZER_CHARS
} heed_tokenizer_kind;
typedef enum {
    HEED_NORM_NFKC,
    HEED_NORM_NFKC_LOWER,
    HEED_NORM_NONE,
    HEED_NORM_LOWER
} heed_norm_kind;

/* Zero means the default, so {0} is a usable set: BPE, 8,000 pieces, NFKC, words marked with ▁. */
typedef struct {
    heed_tokenizer_kind kind;
    heed_norm_kind norm;
    int32_t vocab_size;          /* whole vocabulary, specials and bytes included; 0: 8000 */
    const char *const *specials; /* ids 0, 1, 2 ... in this order; NULL: <pad> <s> </s> <unk> */
    size_t n_specials;
    const char *unk; /* which special stands for what is unknown; NULL: <unk> */
    const char
        *end_template;  /* what encode adds, e.g. "$A </s>"; NULL: nothing. Names are specials */
    bool byte_fallback; /* 256 byte pieces, used for rare characters instead of unk */
    bool tidy_spaces;   /* runs of spaces become one, spaces at both ends go */
    bool split_digits;  /* each digit is a word of its own */
    bool split_han;     /* so is each Chinese character and each kana */
    bool no_first_mark; /* no ▁ before a text's first word (it is then not the word it is elsewhere)
                         */
    double coverage;    /* share of characters that get a piece, 0 < c <= 1; 0: 0.9995 */
    int64_t min_count; /* BPE: a pair seen less often is not merged; 0: 2 */
    int32_t max_piece; /* longest piece in characters; 0: 16 */
    size_t max_line;   /* longer lines (bytes) are skipped and counted; 0: 65536 */
} heed_tokenizer_options;

typedef struct {
    uint64_t lines, bytes;                 /* given */
    uint64_t skipped_lines, skipped_bytes; /* over max_line: not used */
    uint64_t words;                        /* different words after splitting */
    uint64_t characters, rare_characters;  /* occurrences; and of those without a piece */
    int32_t alphabet;                      /* different characters with a piece */
    int32_t vocab_size; /* reached; below the wish when the text has no more pairs */
} heed_tokenizer_stats;

/* Gives the next line without its end; false at the end, or with err filled when reading failed.
 * The line stays valid until the next call. */
typedef bool heed_next_line(void *ctx, const char **line, size_t *n, heed_error *err);

/* Learns a tokenizer. The same lines and options give the same tokenizer on any machine. stats may
 * be NULL. Fails with HEED_TEXT for a line that is not UTF-8 (with its number), HEED_VALUE for
 * options that cannot be met, such as a vocab_size below specials + bytes + alphabet (both numbers
 * are said). */
heed_tokenizer *heed_tokenizer_train(const heed_host *host, const heed_tokenizer_options *options,
                                     heed_next_line *next, void *ctx, heed_tokenizer_stats *stats,
                                     heed_error *err);

#endif
