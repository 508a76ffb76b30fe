/* text.h: tokenizers: text to ids and back, read from tokenizer.json, trained, and written there.
 *
 * A tokenizer is a chain: added tokens are cut out, the rest is normalised, split into words, each
 * word is cut into pieces by the model, and a template puts special tokens round the whole. Every
 * stage keeps for each byte which bytes of the caller's text it came from, so a token knows its
 * place there. The ids are those of the `tokenizers` library for the same file. A file that names a
 * component not known here is refused, so ids are never silently others. SPDX-License-Identifier:
 * MIT
 */
#ifndef HEED_TEXT_TEXT_H
#define HEED_TEXT_TEXT_H

#include "base/mem.h"

/* ---- Opening ------------------------------------------------------------------------------- */

/* Immutable once made: any number of threads may use one at the same time. The host must outlive
 * it. */
typedef struct heed_tokenizer heed_tokenizer;

/* Reads a tokenizer.json. NULL with err: HEED_FILE names the component or key and its place in the
 * file. */
heed_tokenizer *heed_tokenizer_open(const heed_host *host, const char *path, heed_error *err);
/* The same from memory; `name` stands for the file in errors. */
heed_tokenizer *heed_tokenizer_parse(const heed_host *host, const char *json, size_t n,
                                     const char *name, heed_error *err);
void heed_tokenizer_free(heed_tokenizer *tokenizer); /* NULL is allowed */
/* Writes tokenizer.json; opening it again gives the same ids. */
bool heed_tokenizer_save(const heed_tokenizer *tokenizer, const char *path, heed_error *err);

/* ---- Text to ids --------------------------------------------------------------------------- */

typedef struct {
    int32_t id;
    uint32_t begin, end; /* bytes of the caller's text; begin = end for tokens the template added */
} heed_token;

/* Starts as {.host = h}; functions append, so set n = 0 to use it again without allocating. */
typedef struct {
    const heed_host *host;
    heed_token *item;
    size_t n, cap;
} heed_tokens;
void heed_tokens_free(heed_tokens *tokens);

/* Appends the ids of n bytes of text. special: also what the template adds (</s> and the like);
 * special tokens written out in the text are recognised either way. Text that is not UTF-8 is
 * HEED_TEXT with the offset of the first bad byte. After a failure `out` is as it was. */
bool heed_encode(const heed_tokenizer *tokenizer, const char *text, size_t n, bool special,
                 heed_tokens *out, heed_error *err);

/* ---- Ids to text --------------------------------------------------------------------------- */

/* Appends the text of n ids. Bytes that byte pieces leave without meaning become U+FFFD. An id
 * outside [0, heed_vocab_size) or in a gap of it is HEED_VALUE. */
bool heed_decode(const heed_tokenizer *tokenizer, const int32_t *ids, size_t n, bool skip_special,
                 heed_buf *out, heed_error *err);

/* ---- Looking up ---------------------------------------------------------------------------- */

int32_t heed_vocab_size(const heed_tokenizer *tokenizer); /* largest id + 1 */
const char *heed_token_text(const heed_tokenizer *tokenizer,
                            int32_t id); /* as stored; NULL where none */
int32_t heed_token_id(const heed_tokenizer *tokenizer, const char *text); /* -1 where none */
bool heed_token_special(const heed_tokenizer *tokenizer, int32_t id); /* left out by skip_special */
/* Appends one token for a reader: its text with spaces as ▁, control characters as \n or \x1b, a
 * lone byte as <0xE4>; special tokens as stored. False when memory fails. */
bool heed_token_show(const heed_tokenizer *tokenizer, int32_t id, heed_buf *out);

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
