/* part.h: what a tokenizer is made of.
 *
 * A component of tokenizer.json is a kind: its "type", how its settings are read, what it does. The
 * kinds of one place (normalizer, pre_tokenizer, decoder ...) stand in one table in one file, so
 * another component is one function and one line there. A Sequence is flattened where it is read,
 * so a chain is always a plain list.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_PART_H
#define HEED_TEXT_PART_H

#include "file/json.h"
#include "text/trie.h"
#include "text/vocab_map.h"
#include "text/work.h"

typedef struct {
    const char *type;
    size_t size; /* of its settings */
    /* Fills the zeroed settings from the component's object; NULL where there are none. Memory
     * comes from the tokenizer's region. */
    bool (*read)(heed_tokenizer *tokenizer, const json_t *json, void *settings, heed_error *err);
    bool (*apply)(const void *settings, heed_work *work);
} heed_part_kind;

typedef struct {
    const heed_part_kind *kind;
    const void *settings;
} heed_part;

typedef struct {
    heed_part *item;
    size_t n, cap;
} heed_chain;

/* The kinds of one place: what tokenizer.json calls it and the key of a Sequence's list there. */
typedef struct {
    const char *place, *list;
    const heed_part_kind *kind;
    size_t n;
} heed_part_table;

extern const heed_part_table heed_normalizers;     /* normalize.c: work->now to work->now */
extern const heed_part_table heed_pre_tokenizers;  /* pretokenize.c: work->now and work->words */
extern const heed_part_table heed_post_processors; /* post.c: work->out from its start on */
extern const heed_part_table heed_decoders;        /* decode.c: work->texts to work->texts */

/* A model cuts bytes [from, to) of work->now, one word, into pieces and emits them. */
typedef struct {
    const char *type;
    size_t size;
    bool (*read)(heed_tokenizer *tokenizer, const json_t *json, void *settings, heed_error *err);
    bool (*encode)(const void *settings, heed_work *work, size_t from, size_t to);
    void (*free)(void *settings);
} heed_model_kind;

extern const heed_model_kind heed_model_bpe, heed_model_unigram, heed_model_words,
    heed_model_word_piece;

typedef struct {
    const char *text; /* NULL where no token has this id */
    size_t n;
    bool model;   /* the model knows it (else only the list of added tokens does) */
    bool special; /* left out by skip_special */
    bool added;   /* stands in the list of added tokens */
    bool named;   /* a special one was added by the name that this id has in the vocabulary */
} heed_piece;

typedef struct {
    int32_t id;
    bool single_word, lstrip, rstrip, special;
} heed_added;

typedef struct {
    heed_added *item; /* what the tries' values index */
    size_t n, cap;
    int64_t next;              /* largest id + 1 */
    heed_trie raw, normalized; /* matched before and after normalising */
} heed_added_tokens;

struct heed_pattern;
typedef struct heed_kept heed_kept;

struct heed_tokenizer {
    const heed_host *host;
    heed_region region;
    char *json; /* the file as it was read: what saving writes; NULL: `print` makes it */
    size_t json_n;
    bool (*print)(const heed_tokenizer *tokenizer, heed_buf *out, heed_error *err);
    heed_kept *kept; /* files that say more than a tokenizer.json: open_keep.c; NULL: none */
    heed_line vocab_json, merges_json; /* of the model, while it is read: file/json_pull.h */
    heed_vocab_map ids;                /* text of every token to its id */
    heed_piece *piece;
    size_t n_pieces, cap_pieces; /* largest id + 1 */
    size_t model_pieces;         /* how many the model has */
    heed_added_tokens added;
    heed_chain normalizer, pre_tokenizer, post_processor, decoder;
    const heed_model_kind *model;
    void *model_settings;
    struct heed_pattern *patterns; /* all of them, to be freed */
    bool byte_level;               /* pieces are spelt in the byte alphabet of GPT-2 */
    heed_truncation truncation;    /* max_length 0: the file has none */
    bool truncates;
    /* NULL, or what takes a token from the front of a text [*from, to) that has no added tokens */
    bool (*lead)(const heed_tokenizer *tokenizer, heed_work *work, size_t *from, size_t to);
};

enum { HEED_MAX_ID = 1 << 24 }; /* a larger id is a damaged file, not a vocabulary */

/* tokenizer.c */
/* One without components; heed_tokenizer_free frees what it gets. */
heed_tokenizer *heed_tokenizer_new(const heed_host *host, heed_error *err);
/* heed_tokenizer_parse of bytes that are taken over, also where it fails; NULL bytes give NULL. */
heed_tokenizer *heed_tokenizer_take(const heed_host *host, char *json, size_t n, const char *name,
                                    heed_error *err);
/* heed_tokenizer_parse of the tree's text, which saving writes. */
heed_tokenizer *heed_tokenizer_from(const heed_host *host, const json_t *root, const char *name,
                                    heed_error *err);

/* open_keep.c */
void heed_kept_free(const heed_tokenizer *tokenizer);

/* chain.c */
bool heed_chain_add(heed_tokenizer *tokenizer, heed_chain *chain, const heed_part_kind *kind,
                    const void *settings, heed_error *err);
bool heed_chain_read(heed_tokenizer *tokenizer, const json_t *json, const heed_part_table *table,
                     heed_chain *chain, heed_error *err);
bool heed_chain_apply(const heed_chain *chain, heed_work *work);
/* A string that is exactly one code point. */
bool heed_read_char(heed_tokenizer *tokenizer, const json_t *json, const char *key,
                    const char **text, size_t *n, heed_error *err);

/* vocab.c */
bool heed_vocab_add(heed_tokenizer *tokenizer, const char *text, size_t n, int64_t id, bool model,
                    heed_error *err);
/* The model's vocab object: token to id. */
bool heed_vocab_read(heed_tokenizer *tokenizer, const json_t *json, heed_error *err);
/* -1 where the model has no such token. */
int32_t heed_vocab_find(const heed_tokenizer *tokenizer, const char *text, size_t n);
/* Whether a token has that id. */
bool heed_vocab_has(const heed_tokenizer *tokenizer, int64_t id);
/* ids[b] = id of "<0xNN>", -1 where absent. */
void heed_vocab_bytes(const heed_tokenizer *tokenizer, int32_t ids[256]);

/* added.c */
bool heed_added_read(heed_tokenizer *tokenizer, const json_t *json, heed_error *err);
void heed_added_free(heed_added_tokens *added);
typedef struct {
    size_t from, to; /* with the spaces that it strips */
    int32_t id;
} heed_added_match;
/* The next added token at or after `at`, false where there is none. */
bool heed_added_next(const heed_added_tokens *added, const heed_trie *trie, const char *text,
                     size_t n, size_t at, heed_added_match *match);

/* encode.c */
/* Normalises text and cuts it into words, left in work->now and work->words: what encoding and
 * training both see. Added tokens are not looked for. */
bool heed_split_text(const heed_tokenizer *tokenizer, heed_work *work, const char *text, size_t n);

#endif
