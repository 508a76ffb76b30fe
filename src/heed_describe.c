/* heed_describe.c: what a model is, as JSON.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "file/json.h"
#include "model/model.h"

static const char *const STOPS[] = {"auto", "first", "never"};

static json_t *stack(const heed_stack *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:s, s:s, s:I}", "layers",
                     (json_int_t)s->layers, "width", (json_int_t)s->width, "heads",
                     (json_int_t)s->heads, "kv_heads", (json_int_t)s->kv_heads, "feed_forward",
                     (json_int_t)s->feed_forward, "activation", heed_act_names[s->act], "gated",
                     (int)s->gated, "norm", s->rms ? "rmsnorm" : "layernorm", "norm_position",
                     s->pre_norm ? "pre" : "post", "positions", heed_position_names[s->positions],
                     "max_positions", (json_int_t)s->max_positions);
}

static json_t *tokens(const heed_config *c) {
    return json_pack("{s:i, s:i, s:i, s:i, s:i}", "pad", (int)c->pad, "bos", (int)c->bos, "eos",
                     (int)c->eos, "unk", (int)c->unk, "decoder_start", (int)c->decoder_start);
}

static json_t *search(const heed_config *c) {
    return json_pack("{s:I, s:I, s:I, s:f, s:s}", "beam", (json_int_t)c->beam, "max_length",
                     (json_int_t)c->max_length, "min_length", (json_int_t)c->min_length,
                     "length_penalty", c->length_penalty, "stop", STOPS[c->stop]);
}

/* Takes the value, NULL where there was no memory for it. */
static bool put(json_t *root, const char *key, json_t *value) {
    return json_object_set_new(root, key, value) == 0;
}

/* The stacks that there are, and how a search begins where there is one. */
static bool put_parts(json_t *root, const heed_config *c) {
    bool both = c->kind == HEED_ENCODER_DECODER;
    return (c->kind == HEED_DECODER || put(root, "encoder", stack(&c->encoder))) &&
           (c->kind == HEED_ENCODER || put(root, "decoder", stack(&c->decoder))) &&
           (c->vocab == 0 || put(root, "tokens", tokens(c))) &&
           (!both || put(root, "generation", search(c)));
}

static bool put_vocabulary(json_t *root, const heed_model *m) {
    const heed_config *c = heed_model_config(m);
    const heed_tokenizer *t = heed_model_tokenizer(m);
    const char *file = heed_model_vocabulary(m);
    json_t *vocabulary = t      ? json_integer(heed_vocab_size(t))
                         : file ? json_string(file)
                                : json_null();
    bool both = c->kind == HEED_ENCODER_DECODER;
    return put(root, "tokenizer", vocabulary) &&
           (c->vocab == 0 || put(root, "vocab", json_integer(c->vocab))) &&
           (!both || put(root, "source_vocab", json_integer(c->source_vocab))) &&
           put(root, "tie_output", json_boolean(c->tie_output)) &&
           (!both || put(root, "share_embeddings", json_boolean(c->share_embeddings)));
}

static json_t *description(const heed_model *m) {
    static const char *const kinds[] = {"encoder-decoder", "decoder", "encoder"};
    static const char *const heads[] = {[HEED_HEAD_NONE] = "none",
                                        [HEED_HEAD_VOCAB] = "vocabulary",
                                        [HEED_HEAD_ROWS] = "classes of tokens",
                                        [HEED_HEAD_SEQUENCES] = "classes",
                                        [HEED_HEAD_MARKS] = "a yes or no for each token",
                                        [HEED_HEAD_SPAN] = "where an answer stands",
                                        [HEED_HEAD_CHOICE] = "one of several texts"};
    const heed_config *c = heed_model_config(m);
    bool classes = c->head == HEED_HEAD_ROWS || c->head == HEED_HEAD_SEQUENCES;
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:I}", "family", c->family, "kind", kinds[c->kind], "head",
                  heads[c->head], "parameters", (json_int_t)heed_model_parameters(m));
    if (root && (!classes || put(root, "classes", json_integer(c->labels))) &&
        put_vocabulary(root, m) && put_parts(root, c))
        return root;
    json_decref(root);
    return NULL;
}

bool heed_model_describe(const heed_model *model, heed_buf *json, heed_error *err) {
    json_t *root = description(model);
    if (!root) {
        return heed_fail(err, HEED_NOMEM, "no memory for the description of a model");
    }
    bool ok = heed_json_print(json, root, 2, err);
    json_decref(root);
    return ok;
}

/* Takes over the misfits. */
static json_t *with_misfits(const heed_model *m, json_t *misfits) {
    json_t *root = description(m);
    if (json_object_size(misfits) && json_object_set(root, "misfits", misfits) != 0) {
        json_decref(root);
        root = NULL;
    }
    json_decref(misfits);
    return root;
}

bool heed_path_describe(heed_engine *engine, const char *path, heed_buf *json, heed_error *err) {
    json_t *misfits = json_object();
    bool fits = false;
    heed_model *m = heed_model_inspect(engine, path, misfits, &fits, err);
    if (!m) {
        json_decref(misfits);
        return false;
    }
    json_t *root = with_misfits(m, misfits);
    bool ok = root ? heed_json_print(json, root, 2, err)
                   : heed_fail(err, HEED_NOMEM, "no memory for the description of a model");
    json_decref(root);
    heed_model_free(m);
    return ok && fits;
}
