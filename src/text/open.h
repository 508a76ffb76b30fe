/* open.h: what the openers of the vocabulary formats share: a folder's settings, and each opener.
 *
 * A format that tokenizer.json can say is turned into its tree and read from there; SentencePiece
 * models have components of their own (spm.h). Whatever changes ids and is not known is refused.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_OPEN_H
#define HEED_TEXT_OPEN_H

#include "file/gguf.h"
#include "text/part.h"

/* The settings of a folder in Hugging Face's files; those that are absent are empty objects. */
typedef struct {
    const heed_host *host;
    const char *path;
    json_t *tokenizer; /* tokenizer_config.json */
    json_t *special;   /* special_tokens_map.json */
    json_t *added;     /* added_tokens.json */
    char kind[64];     /* tokenizer_class without "Tokenizer" and "Fast", else config.json's
                      model_type; lower case without dashes; empty: unknown */
} heed_folder;

bool heed_folder_open(heed_folder *f, const heed_host *host, const char *path, heed_error *err);
void heed_folder_close(heed_folder *f);
bool heed_folder_has(const heed_folder *f, const char *name);
/* A whole file of the folder (or of `path` itself, where name is NULL). */
char *heed_folder_read(const heed_folder *f, const char *name, size_t *n, heed_error *err);
/* An object of tokens to ids from the bytes of vocab.json; NULL on failure. */
json_t *heed_vocab_json(const heed_host *host, const char *text, size_t n, heed_error *err);
bool heed_folder_flag(const heed_folder *f, const char *key, bool *out, heed_error *err);

/* The text of "unk_token" and the like; `usual` where no file says, NULL where one says null. */
const char *heed_folder_token(const heed_folder *f, const char *key, const char *usual);

/* What a vocabulary gives a text as id, -1 where it has none. */
typedef int64_t heed_find_id(const void *vocabulary, const char *text, size_t n);
/* A token that the family itself knows, with the spaces that it eats. */
typedef struct {
    const char *key;  /* "mask_token" ...; NULL: `text` is the token */
    const char *text; /* NULL: only where a file names one */
    bool lstrip;
} heed_usual_token;
/* The array "added_tokens" of a tokenizer.json: what the files name, what the family has, by id.
 * Those without an id get the next ones from `next` on. NULL on failure; json_decref. */
json_t *heed_folder_added(const heed_folder *f, const heed_usual_token *usual, size_t n_usual,
                          heed_find_id *find, const void *vocabulary, int64_t next,
                          heed_error *err);

/* The next word of a list with spaces between; false at its end, and of no list (*at NULL). */
bool heed_next_word(const char **at, const char **word, size_t *n);

/* ---- tokenizer.json in pieces --------------------------------------------------------------- */

/* {"version": "1.0", ... "model": model}; takes the references over; NULL parts become null. NULL
 * where memory fails or the model is NULL. */
typedef struct {
    json_t *added, *normalizer, *pre_tokenizer, *post_processor, *decoder, *model;
} heed_json_parts;
json_t *heed_json_tokenizer(heed_json_parts parts, heed_error *err);
/* A TemplateProcessing in the making: what stands round one text, round two, and the tokens. */
typedef struct {
    json_t *single, *pair, *tokens;
} heed_json_round;
heed_json_round heed_json_round_begin(void);
/* Appends a token to `items`, which is round->single or round->pair; or the text "A" or "B". */
bool heed_json_round_token(heed_json_round *round, json_t *items, const char *text, size_t n,
                           int64_t id, int type);
bool heed_json_round_text(json_t *items, const char *name, int type);
/* What came of it, where `ok`; NULL on failure. Frees the parts. */
json_t *heed_json_round_end(heed_json_round *round, bool ok, heed_error *err);
/* A TemplateProcessing from "<s> $A </s>" and "<s> $A </s> $B:1 </s>:1", whose other words are
 * tokens of `added`, then of the vocabulary; ":1" puts a word into the second segment. NULL, with
 * an error, where one has no id. */
json_t *heed_json_template(const char *single, const char *pair, heed_find_id *find,
                           const void *vocabulary, const json_t *added, heed_error *err);
/* The same round what `first` and `last` say (NULL: nothing). */
json_t *heed_json_ends(const heed_host *host, const char *first, const char *last,
                       heed_find_id *find, const void *vocabulary, const json_t *added,
                       heed_error *err);
/* ByteLevel as pre-tokenizer, decoder or post-processor. */
json_t *heed_json_byte_level(bool prefix, bool trim, bool regex);
/* Split at every match of an expression, each a word of its own. */
json_t *heed_json_split(const char *regex);
/* BERT's normalizer; strip_accents NULL: as lower case is. */
json_t *heed_json_bert_normalizer(bool lower, bool chinese, const bool *strip_accents);
/* Sets the pre-tokenizer, the model and the decoder of BERT; takes the vocabulary over. */
void heed_json_word_piece(heed_json_parts *parts, const char *unk, size_t unk_n, json_t *vocab);
int64_t heed_find_in_object(const void *vocab, const char *text, size_t n);    /* a json_t */
int64_t heed_find_in_vocab(const void *tokenizer, const char *text, size_t n); /* its model's */

/* Reads "added_tokens" and "post_processor" of a tree into a tokenizer of a SentencePiece model;
 * takes the references over, also where it fails; both may be NULL. */
bool heed_tokenizer_complete(heed_tokenizer *t, json_t *added, json_t *post, heed_error *err);

/* Keeps these files of the folder, and its settings, for heed_tokenizer_save_folder. NULL names
 * are passed over. */
bool heed_keep_files(heed_tokenizer *t, const heed_folder *f, const char *const *names, size_t n,
                     heed_error *err);

/* ---- Openers --------------------------------------------------------------------------------- */

/* Is the vocab.txt of this model_type BERT's? */
bool heed_vocab_txt_of(const char *model_type);
heed_tokenizer *heed_open_bert(const heed_folder *f, const char *name, heed_error *err);
heed_tokenizer *heed_open_merges(const heed_folder *f, heed_error *err);
/* name NULL: the file f->path by itself, with its own ids. */
heed_tokenizer *heed_open_spm(const heed_folder *f, const char *name, heed_error *err);
heed_tokenizer *heed_open_marian(const heed_folder *f, const char *name, heed_error *err);
heed_tokenizer *heed_open_m2m(const heed_folder *f, const char *name, heed_error *err);
heed_tokenizer *heed_open_llama2c(const heed_folder *f, const char *name, heed_error *err);
heed_tokenizer *heed_open_gguf(const heed_host *host, const heed_gguf *gguf, heed_error *err);

/* The same from bytes, for those who have no file. */
heed_tokenizer *heed_spm_parse(const heed_host *host, const char *data, size_t n, heed_error *err);
heed_tokenizer *heed_llama2c_parse(const heed_host *host, const char *data, size_t n,
                                   heed_error *err);
heed_tokenizer *heed_merges_parse(const heed_folder *f, const char *vocab, size_t vocab_n,
                                  const char *merges, size_t merges_n, heed_error *err);
heed_tokenizer *heed_bert_parse(const heed_folder *f, const char *vocab, size_t n, heed_error *err);

#endif
