/* family.h: what a family is: data and one function. Private to model/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_MODEL_FAMILY_H
#define HEED_MODEL_FAMILY_H

#include "base/error.h"
#include "file/json.h"
#include "file/safetensors.h"
#include "model/model.h"

typedef enum {
    HEED_KEY_INT,       /* int64_t */
    HEED_KEY_ID,        /* int32_t token id; null or absent: -1 */
    HEED_KEY_NUMBER,    /* double */
    HEED_KEY_BOOL,      /* bool */
    HEED_KEY_ACT,       /* heed_act_kind by its name in transformers */
    HEED_KEY_POSITIONS, /* heed_position_kind by the recipe's name */
    HEED_KEY_SAME,      /* an integer that must equal the field (read only) */
    HEED_KEY_TRUE,      /* must be true where present: the model has no other form here */
    HEED_KEY_STOP,      /* heed_stop: false, true or "never" */
    HEED_KEY_HARMLESS   /* known, changes nothing that is computed here */
} heed_key_kind;

/* One key of config.json: where it goes in heed_config, once or twice (`also` 0: once). */
typedef struct {
    const char *key;
    heed_key_kind kind;
    size_t at, also;
    bool required;
} heed_key;
#define HEED_AT(field) offsetof(heed_config, field)

/* Reads every key of `root` through the tables (each ends with key NULL); a key in none of them is
 * HEED_NAME. */
bool heed_keys_read(const json_t *root, const char *file, const heed_key *const *tables,
                    heed_config *c, heed_error *err);
/* Adds the tables' keys with the values of c. */
bool heed_keys_write(json_t *root, const heed_key *const *tables, const heed_config *c,
                     heed_error *err);
/* Keys that any config.json may hold. */
extern const heed_key heed_common_keys[], heed_generation_keys[];
enum { HEED_SEARCH_KEYS = 6 }; /* of heed_generation_keys the first; token ids follow them */

/* Names between ours and theirs: '*' stands for one part between dots, in order. Several rows with
 * the same `ours`: other names under which a file may hold the same tensor. */
typedef struct {
    const char *ours, *theirs;
} heed_rename;
/* Applies the n-th row that matches `ours`. False where there are not as many, or it does not fit
 * in size. */
bool heed_renamed(const heed_rename *table, const char *ours, int n, char *theirs, size_t size);
bool heed_name_matches(const char *pattern, const char *name);

typedef struct heed_family {
    const char *type;         /* model_type */
    const char *architecture; /* of config.json */
    const heed_key *keys;
    /* Sets what the keys leave open (norms, ties); refuses what the family does not have. */
    bool (*finish)(heed_config *c, heed_error *err);
    /* True where the family can say all of c; else `why` names the first thing it cannot. */
    bool (*expresses)(const heed_config *c, char *why, size_t size);
    heed_outputs (*record)(heed_build *b, const heed_config *c, const heed_want *want);
    const heed_rename *weights, *values;
    const char *const *unused; /* patterns of tensors that may stand in a file and are not needed */
    /* Tables of positions that transformers wants to find in the file; NULL: none. */
    const char *const *sinusoids;
} heed_family;
#define HEED_FAMILY(name) extern const heed_family heed_family_##name;
#include "model/families.def"
#undef HEED_FAMILY
const heed_family *heed_family_called(const char *type); /* NULL: unknown */
const heed_family *heed_family_at(int i);                /* NULL behind the last */

/* encoder_decoder.c */
heed_outputs heed_record_encoder_decoder(heed_build *b, const heed_config *c,
                                         const heed_want *want);

/* bart.c: shared by marian and pegasus. */
extern const heed_key heed_bart_keys[];
extern const heed_rename heed_bart_weights[], heed_bart_values[];
extern const char *const heed_bart_unused[];
void heed_bart_finish(heed_config *c, bool pre_norm);
bool heed_bart_expresses(const heed_config *c, bool pre_norm, char *why, size_t size);

struct heed_model {
    heed_engine *engine;
    const heed_family *family;
    heed_config config;
    heed_weights *weights;
    heed_tensors *tensors; /* the mapped file that weights borrow from, or NULL */
    heed_tokenizer *tokenizer;
};
/* model.c: lets the family declare its weights. */
bool heed_model_declare(heed_model *m, heed_error *err);
/* load.c */
bool heed_model_load(heed_model *m, const char *folder, heed_error *err);

#endif
