/* convert.h: a model on its way into another form, and what reading and writing GGUF share. Private
 * to model/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_MODEL_CONVERT_H
#define HEED_MODEL_CONVERT_H

#include "model/family.h"

enum { HEED_SINUSOIDS = 2 }; /* tables in family->sinusoids, at most */

/* `from`: opened, its weights matched and without numbers. `to`: what the written settings say,
 * read back, its weights declared. */
typedef struct {
    heed_model *from, *to;
    const char *path, *out;
    heed_type type; /* of matrices */
    const heed_convert_options *options;
    float *read, *moved; /* room for the numbers of the largest weight */
    unsigned char *bytes;
} heed_conversion;

/* convert.c: a line for the user. */
void heed_convert_note(const heed_conversion *c, const char *format, ...) HEED_PRINTF(2, 3);

/* convert_weights.c: looks up each weight of `to` in `from` and takes the room; what is left over
 * is told, or refused. */
bool heed_convert_match(heed_conversion *c, heed_error *err);
/* What a written tensor's `data` points to: the weight of `to`, or the numbers of a table that is
 * none, in the type that is written. */
typedef struct {
    const heed_weight_entry *weight;
    const void *table;
} heed_convert_item;
/* A heed_tensor_source; ctx is a heed_conversion. */
const void *heed_convert_bytes(void *ctx, const heed_tensor *t, heed_error *err);
void heed_convert_release(heed_conversion *c);

/* convert_folder.c, convert_gguf.c: makes `to` and writes it. */
bool heed_convert_folder(heed_conversion *c, heed_error *err);
bool heed_convert_gguf(heed_conversion *c, heed_error *err);

/* save.c: "float32" and the like. */
const char *heed_dtype_name(heed_type type);
/* A model's config.json; NULL on failure. */
json_t *heed_model_config_json(const heed_model *m, heed_type type, heed_error *err);
/* All but the weights; template: a chat template, NULL: none. */
bool heed_model_save_settings(const heed_model *m, const char *folder, heed_type type,
                              const json_t *template, heed_error *err);
/* Tables that are no weights of ours, behind the weights in list[n]; counts them up. */
bool heed_add_sinusoids(const heed_model *m, heed_region *region, heed_tensor *list, int64_t *n,
                        heed_error *err);
/* ends_gguf.c: one more token that ends a text; and those of a GGUF file that do by their texts. */
bool heed_add_end(heed_config *c, int32_t id, heed_error *err);
bool heed_find_ends(heed_model *m, heed_error *err);
/* load_gguf.c: the form to write; NULL: there is none. Its settings as a tree, as they are read,
 * but for the vocabulary; and settings read into a new model, with the names and shapes of the
 * tensors. Takes both over. */
const heed_form *heed_gguf_form(const heed_family *family);
bool heed_gguf_write_keys(json_t *root, const heed_form *form, const heed_config *c,
                          heed_error *err);
bool heed_gguf_read_back(heed_model *m, heed_gguf *gguf, heed_tensors *tensors, heed_error *err);
/* rope_gguf.c: the numbers of `rope_freqs.weight` for c's scaling, at most `most`; 0: it needs no
 * table. */
int64_t heed_rope_gguf_freqs(const heed_config *c, float *out, int64_t most);
/* fit.c: the tensor of matched weight i, with which all its other names have been compared; NULL:
 * there is none, and the weight is a bias of zeros. */
bool heed_model_stored(const heed_model *m, int64_t i, const heed_tensor **tensor, heed_error *err);
/* model.c: a model whose weights are matched and have no numbers. */
heed_model *heed_model_open_matched(heed_engine *engine, const char *path, heed_error *err);
heed_model *heed_model_without_weights(heed_engine *engine, heed_error *err);
/* No dropout anywhere. */
void heed_config_drop_nothing(heed_config *c);
/* load.c: the config that a config.json says. Takes over root, which may be NULL: then err has
 * told. */
bool heed_model_take_config(heed_model *m, json_t *root, heed_error *err);

#endif
