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
    HEED_KEY_ONLY,      /* must equal `only` where present: the model has no other form here */
    HEED_KEY_STOP,      /* heed_stop: false, true or "never" */
    HEED_KEY_READ,      /* `read` takes the value, where there is one other than null */
    HEED_KEY_HARMLESS   /* known, changes nothing that is computed here */
} heed_key_kind;

/* One key of config.json: where it goes in heed_config, once or twice (`also` 0: once). */
typedef struct {
    const char *key;
    heed_key_kind kind;
    size_t at, also;
    bool required;
    const char *only; /* compact JSON: "true", "\"absolute\""; null passes too */
    bool (*read)(const json_t *value, heed_config *c, heed_error *err);
    /* READ backwards; NULL where there is nothing to say (no row: never). */
    json_t *(*write)(const heed_config *c);
    bool unsaid; /* 0 is what holds where the key is absent, and is not written */
} heed_key;
#define HEED_AT(field) offsetof(heed_config, field)
/* Rows of a table: a key that must be there, one that may; known and without effect; with one value
 * alone. */
#define HEED_MUST_BOTH(name, type, field, second)                                                  \
    {                                                                                              \
        .key = (name), .kind = HEED_KEY_##type, .at = HEED_AT(field), .also = HEED_AT(second),     \
        .required = true                                                                           \
    }
#define HEED_MUST(name, type, field)                                                               \
    { .key = (name), .kind = HEED_KEY_##type, .at = HEED_AT(field), .required = true }
#define HEED_MAY_BOTH(name, type, field, second)                                                   \
    { .key = (name), .kind = HEED_KEY_##type, .at = HEED_AT(field), .also = HEED_AT(second) }
#define HEED_MAY(name, type, field)                                                                \
    { .key = (name), .kind = HEED_KEY_##type, .at = HEED_AT(field) }
#define HEED_MAY_OR_NONE(name, type, field)                                                        \
    { .key = (name), .kind = HEED_KEY_##type, .at = HEED_AT(field), .unsaid = true }
#define HEED_KNOWN(name)                                                                           \
    { .key = (name), .kind = HEED_KEY_HARMLESS }
#define HEED_ONLY(name, json)                                                                      \
    { .key = (name), .kind = HEED_KEY_ONLY, .only = (json) }
#define HEED_MUST_BE(name, json)                                                                   \
    { .key = (name), .kind = HEED_KEY_ONLY, .only = (json), .required = true }
#define HEED_READ(name, function)                                                                  \
    { .key = (name), .kind = HEED_KEY_READ, .read = (function) }
#define HEED_BOTH_WAYS(name, reads, writes)                                                        \
    { .key = (name), .kind = HEED_KEY_READ, .read = (reads), .write = (writes) }

/* Reads every key of `root` through the tables (each ends with key NULL); a key in none of them is
 * HEED_NAME. */
bool heed_keys_read(const json_t *root, const char *file, const heed_key *const *tables,
                    heed_config *c, heed_error *err);
/* Adds the tables' keys with the values of c. */
bool heed_keys_write(json_t *root, const heed_key *const *tables, const heed_config *c,
                     heed_error *err);
/* The same without keys that may be absent and hold 0, no token or their one value. */
bool heed_keys_write_short(json_t *root, const heed_key *const *tables, const heed_config *c,
                           heed_error *err);
/* Keys that any config.json may hold. */
extern const heed_key heed_common_keys[];
/* generation.c: keys of generation_config.json; the second table is read only. */
extern const heed_key heed_generation_keys[], heed_generation_more_keys[];
enum {
    HEED_TABLES = 4,
    HEED_SEARCH_KEYS = 7
}; /* HEED_SEARCH_KEYS: of heed_generation_keys the first; token ids follow them */

/* Names between ours and theirs: '*' stands for one part between dots, in order. Several rows with
 * the same `ours`: other names under which a file may hold the same tensor. */
typedef struct {
    const char *ours, *theirs;
} heed_rename;
/* Applies the n-th row that matches `ours`. False where there are not as many, or it does not fit
 * in size. */
bool heed_renamed(const heed_rename *table, const char *ours, int n, char *theirs, size_t size);
bool heed_name_matches(const char *pattern, const char *name);

/* A class of transformers: the family with one head. */
typedef struct {
    const char *name;
    heed_head head;
    bool pooler;
} heed_architecture;

/* How another file format tells a family: its keys and its names, where those of config.json and
 * model.safetensors stand in heed_family. */
typedef struct {
    const char *format;       /* "gguf", "llama2.c" */
    const char *architecture; /* GGUF's general.architecture */
    heed_head head;
    const heed_key *const *keys; /* as in heed_family */
    const heed_rename *weights;
    const char *const *unused;
    /* Sets what the keys leave open; `tensors` tells what is there. Comes in place of the family's
     * `finish`. */
    bool (*finish)(heed_config *c, const heed_tensors *tensors, heed_error *err);
    /* Before c is written: clears what changes nothing, refuses what keys cannot say. Or NULL. */
    bool (*say)(heed_config *c, heed_error *err);
} heed_form;

typedef struct heed_family {
    const char *type; /* model_type */
    heed_model_kind kind;
    const heed_architecture *architectures; /* ends with name NULL; the first is written */
    heed_place place;
    const char *prefix; /* a file may leave it out of all names that begin with it; NULL: none */
    const char *encoder_alone; /* a class that is the encoder of both stacks; NULL: none */
    /* What a key stands for that config.json leaves out; NULL: heed_config_base. */
    void (*defaults)(heed_config *c);
    const heed_key *const *keys; /* tables, at most HEED_TABLES; NULL behind the last */
    /* Sets what the keys leave open (norms, ties); refuses what the family does not have. */
    bool (*finish)(heed_config *c, heed_error *err);
    /* True where the family can say all of c; else `why` names the first thing it cannot. NULL: no
     * recipe makes a new model of this family. */
    bool (*expresses)(const heed_config *c, char *why, size_t size);
    /* What only the weights' file can tell; NULL: nothing. */
    void (*look)(const heed_tensors *file, heed_config *c);
    heed_outputs (*record)(heed_build *b, const heed_config *c, const heed_want *want);
    const heed_rename *weights, *values;
    const char *const *unused; /* patterns of tensors that may stand in a file and are not needed */
    /* Tables of positions that transformers wants to find in the file; NULL: none. */
    const char *const *sinusoids;
    const heed_form *forms; /* ends with format NULL; NULL: transformers' folder alone */
} heed_family;
#define HEED_FAMILY(name) extern const heed_family heed_family_##name;
#include "model/families.def"
#undef HEED_FAMILY
const heed_family *heed_family_called(const char *type); /* NULL: unknown */
const heed_family *heed_family_at(int i);                /* NULL behind the last */

/* keys.c: an activation by its name in transformers. False: there is none. */
bool heed_act_named(const char *name, heed_act_kind *act);

/* encoder_decoder.c */
heed_outputs heed_record_encoder_decoder(heed_build *b, const heed_config *c,
                                         const heed_want *want);
/* The same, where a family makes the rows of ids itself: table V x width, ids R x 1 -> R x width.
 */
typedef heed_value heed_rows_of(heed_build *b, const heed_config *c, heed_value table,
                                heed_value ids);
heed_outputs heed_record_pair(heed_build *b, const heed_config *c, const heed_want *want,
                              heed_rows_of *rows);
/* Rows of a table, scaled as the config has it; that of padding is not trained. */
heed_rows_of heed_token_rows;

/* config.c: defaults of a model with one stack: no biases on the logits, one table for input and
 * output, no dropout. */
void heed_single_defaults(heed_config *c);
/* head.c: logits and loss of rows x through a table of V x width and a bias (id 0: none). */
void heed_record_vocab(heed_build *b, heed_value x, heed_value table, heed_value bias,
                       const heed_want *want, heed_outputs *out);
/* The same for a head of classes, spans or choices, with the loss that its labels have. */
void heed_record_labels(heed_build *b, heed_value x, heed_value table, heed_value bias,
                        const heed_config *c, const heed_want *want, heed_outputs *out);
/* One row of logits for each sequence: of classes, or of choices. */
bool heed_per_sequence(const heed_config *c);
/* Logits and loss of `labels` classes for each row of x, or each sequence where x has been pooled,
 * through the weights "name", behind dropout; of a span through "span"; nothing where the head is
 * another. */
void heed_record_classes(heed_build *b, heed_value x, const char *name, const heed_config *c,
                         const heed_want *want, heed_outputs *out);
/* What some families put in front of these: act(linear(first row)), through the weights "dense". */
heed_value heed_record_first(heed_build *b, heed_value x, heed_act_kind act, const heed_config *c);

/* Values of a model with one stack, for every family of one. */
extern const heed_rename heed_encoder_values[], heed_decoder_values[];

/* bert.c: shared by the encoders that descend from it. */
#define HEED_BERT_WEIGHTS(prefix)                                                                  \
    {"tokens.weight", prefix "embeddings.word_embeddings.weight"},                                 \
        {"types.weight", prefix "embeddings.token_type_embeddings.weight"},                        \
        {"encoder.positions.weight", prefix "embeddings.position_embeddings.weight"},              \
        {"encoder.embed_norm.*", prefix "embeddings.LayerNorm.*"},                                 \
        {"encoder.*.self.norm.*", prefix "encoder.layer.*.attention.output.LayerNorm.*"},          \
        {"encoder.*.self.q.*", prefix "encoder.layer.*.attention.self.query.*"},                   \
        {"encoder.*.self.k.*", prefix "encoder.layer.*.attention.self.key.*"},                     \
        {"encoder.*.self.v.*", prefix "encoder.layer.*.attention.self.value.*"},                   \
        {"encoder.*.self.out.*", prefix "encoder.layer.*.attention.output.dense.*"},               \
        {"encoder.*.feed.norm.*", prefix "encoder.layer.*.output.LayerNorm.*"},                    \
        {"encoder.*.feed.up.*", prefix "encoder.layer.*.intermediate.dense.*"}, {                  \
        "encoder.*.feed.down.*", prefix "encoder.layer.*.output.dense.*"                           \
    }
extern const heed_key heed_encoder_keys[], heed_bert_keys[];
void heed_bert_defaults(heed_config *c);
bool heed_bert_finish(heed_config *c, heed_error *err);
/* Tokens, their types, learned positions, norm: rows of embed_width where that is not 0. */
heed_value heed_bert_embed(heed_build *b, const heed_config *c);
heed_value heed_bert_layers(heed_build *b, heed_value x, const heed_config *c);
/* act(linear(first row)). */
heed_value heed_bert_pool(heed_build *b, heed_value x, const char *name, heed_act_kind act);
/* The head of masked words: "masked.transform", act, "masked.norm", the tokens' table (untied:
 * "head.weight"), "masked.bias" ("head.bias"). */
void heed_bert_masked(heed_build *b, heed_value x, const heed_config *c, heed_act_kind act,
                      const heed_want *want, heed_outputs *out);

/* roberta.c: shared by the families of its shape, whose files differ in the names of classes. */
void heed_roberta_defaults(heed_config *c);
bool heed_roberta_finish(heed_config *c, heed_error *err);
heed_outputs heed_record_roberta(heed_build *b, const heed_config *c, const heed_want *want);
extern const heed_rename heed_roberta_weights[];
extern const char *const heed_roberta_unused[];
#define HEED_ROBERTA(name, model_type)                                                             \
    const heed_family heed_family_##name = {                                                       \
        .type = (model_type),                                                                      \
        .kind = HEED_ENCODER,                                                                      \
        .architectures = architectures,                                                            \
        .place = HEED_PLACE_TOKEN,                                                                 \
        .prefix = "roberta.",                                                                      \
        .defaults = heed_roberta_defaults,                                                         \
        .keys = (const heed_key *const[]){heed_bert_keys, heed_encoder_keys, NULL},                \
        .finish = heed_roberta_finish,                                                             \
        .record = heed_record_roberta,                                                             \
        .weights = heed_roberta_weights,                                                           \
        .values = heed_encoder_values,                                                             \
        .unused = heed_roberta_unused}

/* decoder.c: what a decoder without an encoder has of its own; ctx is its heed_config. */
typedef struct {
    /* Between the tokens' rows and the positions that are added; NULL: nothing. */
    heed_value (*begin)(heed_build *b, heed_value x, const heed_config *c);
    heed_value (*layer)(heed_build *b, heed_value x, int64_t i, const void *ctx);
    heed_value (*end)(heed_build *b, heed_value x, const void *ctx); /* NULL: LayerNorm "norm" */
    const char *head_bias; /* a weight; NULL: logits without bias */
} heed_decoder;
/* Tokens, positions, layers; logits over the tokens' table or one of their own, and their loss. */
heed_outputs heed_record_decoder(heed_build *b, const heed_config *c, const heed_decoder *parts,
                                 const heed_want *want);

/* rope.c: rotary positions of the decoder, for every family that has them. */
extern const heed_key heed_rope_keys[]; /* rope_theta, rope_scaling, rope_parameters */
bool heed_rope_finish(heed_config *c, heed_error *err);
/* The decoder's queries or keys, turned by the positions of their rows. */
heed_value heed_turn(heed_build *b, heed_value x, int64_t heads, const heed_config *c);
/* rope_gguf.c: the same as GGUF has them; `rope_freqs.weight`, where there is one, as scaling. */
extern const heed_key heed_rope_gguf_keys[];
bool heed_rope_gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err);
bool heed_rope_gguf_say(heed_config *c, heed_error *err);
/* The numbers of that tensor for c's scaling, at most `most`; 0: it needs none. */
int64_t heed_rope_gguf_freqs(const heed_config *c, float *out, int64_t most);

/* llama.c: shared by the decoders that descend from it. */
extern const heed_key heed_llama_keys[];
extern const heed_key *const heed_llama_gguf_keys[];
extern const heed_rename heed_llama_gguf_weights[];
extern const char *const heed_llama_gguf_unused[];
#define HEED_LLAMA_GGUF(name, done)                                                                \
    {                                                                                              \
        .format = "gguf", .architecture = (name), .head = HEED_HEAD_VOCAB,                         \
        .keys = heed_llama_gguf_keys, .weights = heed_llama_gguf_weights,                          \
        .unused = heed_llama_gguf_unused, .finish = (done), .say = heed_rope_gguf_say              \
    }
/* Without Llama's turned pairs. */
bool heed_llama_gguf_finish(heed_config *c, const heed_tensors *tensors, heed_error *err);
extern const heed_rename heed_llama_weights[];
extern const char *const heed_llama_unused[];
void heed_llama_defaults(heed_config *c);
heed_outputs heed_record_llama(heed_build *b, const heed_config *c, const heed_want *want);
/* What the members of Llama's kin have alike; the rest stands in their files. */
#define HEED_LLAMA_KIN                                                                             \
    .kind = HEED_DECODER, .prefix = "model.", .record = heed_record_llama,                         \
    .weights = heed_llama_weights, .values = heed_decoder_values, .unused = heed_llama_unused
/* Marks the layers of "layer_types" that see a window only. */
bool heed_read_layer_types(const json_t *value, heed_config *c, heed_error *err);

/* qwen2.c: shared with qwen3. */
extern const heed_key heed_qwen_keys[];
bool heed_qwen_finish(heed_config *c, heed_error *err);

/* vit.c: shared by the encoders of pictures. heed_picture_keys: of all of them; heed_vit_keys: of
 * ViT and DeiT. */
extern const heed_key heed_picture_keys[], heed_vit_keys[];
void heed_vit_defaults(heed_config *c);
bool heed_vit_finish(heed_config *c, heed_error *err);
/* Patches behind the class token and, where `tokens` is 2, the distillation token; positions. */
heed_value heed_vit_embed(heed_build *b, const heed_config *c, int64_t tokens,
                          const heed_want *want);
/* What attention, or the feed-forward, makes of h, in the current scope. */
heed_value heed_vit_attention(heed_build *b, heed_value h, const heed_config *c);
heed_value heed_vit_feed(heed_build *b, heed_value h, const heed_config *c);
/* The layers (ctx: the config), then a norm that no hidden state has. */
heed_value heed_vit_layers(heed_build *b, heed_value x, const heed_layers *l);
/* Everything but heads that give logits. */
heed_outputs heed_vit_record(heed_build *b, const heed_config *c, int64_t tokens,
                             const heed_want *want);
/* Names of ViT and DeiT behind "vit." or "deit.": those of files up to now, then those of
 * transformers' own modules since version 5. */
#define HEED_VIT_NAMES(prefix)                                                                     \
    {"patches.*", prefix "embeddings.patch_embeddings.projection.*"},                              \
        {"class.weight", prefix "embeddings.cls_token"},                                           \
        {"positions.weight", prefix "embeddings.position_embeddings"},                             \
        {"encoder.*.self.norm.*", prefix "encoder.layer.*.layernorm_before.*"},                    \
        {"encoder.*.self.q.*", prefix "encoder.layer.*.attention.attention.query.*"},              \
        {"encoder.*.self.k.*", prefix "encoder.layer.*.attention.attention.key.*"},                \
        {"encoder.*.self.v.*", prefix "encoder.layer.*.attention.attention.value.*"},              \
        {"encoder.*.self.out.*", prefix "encoder.layer.*.attention.output.dense.*"},               \
        {"encoder.*.feed.norm.*", prefix "encoder.layer.*.layernorm_after.*"},                     \
        {"encoder.*.feed.up.*", prefix "encoder.layer.*.intermediate.dense.*"},                    \
        {"encoder.*.feed.down.*", prefix "encoder.layer.*.output.dense.*"},                        \
        {"encoder.*.self.norm.*", prefix "layers.*.layernorm_before.*"},                           \
        {"encoder.*.self.out.*", prefix "layers.*.attention.o_proj.*"},                            \
        {"encoder.*.self.*.*", prefix "layers.*.attention.*_proj.*"},                              \
        {"encoder.*.feed.norm.*", prefix "layers.*.layernorm_after.*"},                            \
        {"encoder.*.feed.up.*", prefix "layers.*.mlp.fc1.*"},                                      \
        {"encoder.*.feed.down.*", prefix "layers.*.mlp.fc2.*"},                                    \
        {"encoder.norm.*", prefix "layernorm.*"}, {                                                \
        "pooler.*", prefix "pooler.dense.*"                                                        \
    }

/* bart.c: shared by the families that descend from it. heed_bart_table_keys: positions that are
 * not learned, and tables that may be apart. */
extern const heed_key heed_bart_keys[], heed_bart_table_keys[], heed_bart_learned_keys[];
extern const heed_rename heed_bart_weights[], heed_bart_values[];
extern const char *const heed_bart_unused[];
/* Keys that are left out mean what BartConfig has. */
void heed_bart_defaults(heed_config *c);
void heed_bart_finish(heed_config *c, bool pre_norm);
/* Behind heed_bart_finish: learned positions, and a norm behind them. */
void heed_bart_learned(heed_config *c);
/* heed_record_encoder_decoder, and classes of the decoder's last row: the end of the text. */
heed_outputs heed_record_bart(heed_build *b, const heed_config *c, const heed_want *want);
bool heed_bart_expresses(const heed_config *c, bool pre_norm, char *why, size_t size);

/* t5.c: shared by mt5 and umt5. */
extern const heed_key heed_t5_keys[];
extern const heed_rename heed_t5_weights[];
extern const char *const heed_t5_unused[];
/* feed_forward_proj where config.json leaves it out: gated-gelu, else relu. */
void heed_t5_defaults(heed_config *c, bool gated);
bool heed_t5_finish(heed_config *c, heed_error *err);
void heed_t5_look(const heed_tensors *file, heed_config *c);
heed_outputs heed_record_t5(heed_build *b, const heed_config *c, const heed_want *want);
/* What T5 and its kin have alike. */
#define HEED_T5_KIN                                                                                \
    .kind = HEED_ENCODER_DECODER, .keys = (const heed_key *const[]){heed_t5_keys, NULL},           \
    .look = heed_t5_look, .record = heed_record_t5, .weights = heed_t5_weights,                    \
    .values = heed_bart_values, .unused = heed_t5_unused

#endif
