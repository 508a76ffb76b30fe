/* convert.h: a model on its way into another form. Private to model/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_MODEL_CONVERT_H
#define HEED_MODEL_CONVERT_H

#include "model/inside.h"

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

/* convert_files.c: does a folder hold files of a model? Takes them away; copies those beside
 * config.json and the weights. */
bool heed_convert_is_model(const char *folder);
bool heed_convert_clear(const char *folder, heed_error *err);
bool heed_convert_copy_files(const heed_conversion *c, heed_error *err);

/* convert_folder.c, convert_gguf.c: makes `to` and writes it. */
bool heed_convert_folder(heed_conversion *c, heed_error *err);
bool heed_convert_gguf(heed_conversion *c, heed_error *err);

#endif
