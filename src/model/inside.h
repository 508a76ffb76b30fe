/* inside.h: inside of heed_model, for the files that open, fit, save and convert it. Private to
 * model/.
 *
 * Opening goes: heed_model_read (load.c) finds out what is at a path, lets load_gguf.c or
 * load_llama2c.c read it, or reads a folder itself, and has the family declare its weights; then
 * fit.c matches their names and shapes with the file, and takes the numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_MODEL_INSIDE_H
#define HEED_MODEL_INSIDE_H

#include "base/map.h"
#include "file/gguf.h"
#include "model/family.h"

struct heed_model {
    heed_engine *engine;
    const heed_family *family;
    heed_config config;
    heed_weights *weights;
    /* The mapped file that weights borrow from, and its names of them; NULL: a new model. */
    const heed_tensors *tensors; /* in `own` or `gguf` */
    heed_tensors *own;
    heed_gguf *gguf;
    const heed_rename *names;
    const char *prefix;
    const char *const *unused;
    heed_map claims;     /* fit.c: names of the file that weights may have, to their weights */
    const char **stored; /* the file's names of the weights, in their order; NULL: not there */
    bool encoder_alone;  /* of both stacks, where the family can */
    bool untie;          /* the head is its own, whatever the file says */
    bool bare;           /* no weights and no tokenizer: only what is known without them */
    char vocabulary[96]; /* the file that the tokenizer is in; "": none */
    heed_tokenizer *tokenizer;
    heed_tokenizer *target_tokenizer; /* of what the decoder writes; NULL: the same */
};

/* ---- model.c ---- */

heed_model *heed_model_without_weights(heed_engine *engine, heed_error *err);
/* A model whose weights are matched and have no numbers. */
heed_model *heed_model_open_matched(heed_engine *engine, const char *path, heed_error *err);
/* Lets the family declare its weights. */
bool heed_model_declare(heed_model *m, heed_error *err);
/* Have the tokenizers no more ids than the model? */
bool heed_model_tokenizer_fits(const heed_model *m, heed_error *err);
/* No dropout anywhere. */
void heed_config_drop_nothing(heed_config *c);

/* ---- load.c ---- */

/* Finds out what is at a path, reads all but the weights and declares these. */
bool heed_model_read(heed_model *m, const char *path, heed_error *err);
/* Family and settings from the text of a config.json. */
bool heed_model_read_config(heed_model *m, const char *text, size_t n, heed_error *err);
/* The same from its tree. Takes over root, which may be NULL: then err has told. */
bool heed_model_take_config(heed_model *m, json_t *root, heed_error *err);
/* Opens it, unless the model is bare. */
bool heed_model_read_tokenizer(heed_model *m, const char *path, heed_error *err);

/* ---- load_gguf.c, load_llama2c.c, ends_gguf.c ---- */

/* As heed_model_read for a GGUF file, without declaring. */
bool heed_model_read_gguf(heed_model *m, const char *path, heed_error *err);
/* The same for any other file, of which those of llama2.c alone are models. */
bool heed_model_read_llama2c(heed_model *m, const char *path, heed_error *err);
/* Defaults and names of m->family in a form. */
void heed_model_take_form(heed_model *m, const heed_form *form);
/* The form to write; NULL: there is none. Its settings as a tree, as they are read, but for the
 * vocabulary; and settings read into a new model, with the names and shapes of the tensors. Takes
 * both over. */
const heed_form *heed_gguf_form(const heed_family *family);
bool heed_gguf_write_keys(json_t *root, const heed_form *form, const heed_config *c,
                          heed_error *err);
bool heed_gguf_read_back(heed_model *m, heed_gguf *gguf, heed_tensors *tensors, heed_error *err);
#define HEED_CHAT_TEMPLATE "tokenizer.chat_template"
/* The text of that setting; NULL: there is none. */
const heed_gguf_text *heed_gguf_template_of(const heed_model *m);
/* One more token that ends a text; and those of a GGUF file that do by their texts. */
bool heed_add_end(heed_config *c, int32_t id, heed_error *err);
bool heed_find_ends(heed_model *m, heed_error *err);

/* ---- fit.c ---- */

/* A tensor by its name, without the prefix, or of a LayerNorm by what older files call its weight
 * and bias; NULL: absent. */
const heed_tensor *heed_find_tensor(const heed_model *m, const char *name);
/* Finds each weight's tensor, by name and shape alone. False where something is missing, has
 * another shape or is left over: the first of each kind and their numbers are told, and put into
 * the object `list` (NULL: no), all of them. */
bool heed_model_match(heed_model *m, json_t *list, heed_error *err);
/* Gives the matched weights their numbers. */
bool heed_model_take(heed_model *m, heed_error *err);
/* The tensor of matched weight i, with which all its other names have been compared; NULL: there is
 * none, and the weight is a bias of zeros. */
bool heed_model_stored(const heed_model *m, int64_t i, const heed_tensor **tensor, heed_error *err);

/* ---- save.c ---- */

enum { HEED_SINUSOIDS = 2 }; /* tables in family->sinusoids, at most */

/* "float32" and the like. */
const char *heed_dtype_name(heed_type type);
/* A model's config.json; NULL on failure. */
json_t *heed_model_config_json(const heed_model *m, heed_type type, heed_error *err);
/* All but the weights; template: a chat template, NULL: none. */
bool heed_model_save_settings(const heed_model *m, const char *folder, heed_type type,
                              const json_t *template, heed_error *err);
/* Name and shape of a weight in the folder that heed_model_save writes; `t` is otherwise left as it
 * is. */
bool heed_model_describe_weight(const heed_model *m, heed_region *names, const heed_weight_entry *e,
                                heed_tensor *t, heed_error *err);
/* Tables that are no weights of ours, behind the weights in list[n]; counts them up. */
bool heed_add_sinusoids(const heed_model *m, heed_region *region, heed_tensor *list, int64_t *n,
                        heed_error *err);

#endif
