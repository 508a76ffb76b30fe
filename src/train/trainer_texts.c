/* trainer_texts.c: from a recipe's text to a language model and its batches: a new one, or one to
 * go on from.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/fs.h"
#include "train/trainer.h"

/* The first of these that the tokenizer has. */
static int32_t token_of(const heed_tokenizer *tokenizer, const char *const *names) {
    int32_t id = -1;
    for (; id < 0 && *names; names++) {
        id = heed_token_id(tokenizer, *names);
    }
    return id;
}

static heed_tokenizer *own_tokenizer(heed_trainer *t, bool resumes, heed_error *err) {
    char path[HEED_FOLDER_PATH];
    if (!resumes) {
        return heed_texts_make_tokenizer(&t->texts, t->recipe, &t->notes, err);
    }
    return heed_join_path(path, sizeof path, t->folder, "tokenizer.json", err)
               ? heed_tokenizer_open(t->host, path, err)
               : NULL;
}

/* A stream has no token that begins texts: what ends one stands before the next. */
static bool new_model(heed_trainer *t, bool resumes, heed_error *err) {
    static const char *const begins[] = {"<s>", "<|endoftext|>", "<bos>", NULL};
    static const char *const ends[] = {"</s>", "<|endoftext|>", "<eos>", NULL};
    heed_tokenizer *tokenizer = own_tokenizer(t, resumes, err);
    if (!tokenizer) {
        return false;
    }
    heed_config config = heed_recipe_config(t->recipe);
    config.vocab = config.source_vocab = heed_vocab_size(tokenizer);
    config.eos = token_of(tokenizer, ends);
    config.bos = t->recipe->data.join ? config.eos : token_of(tokenizer, begins);
    config.unk = heed_token_id(tokenizer, "<unk>");
    t->model = heed_model_sketch(t->engine, &config, tokenizer, err);
    return t->model != NULL;
}

/* A model of another format becomes a folder first, in out.folder/start; not where nothing may be
 * written. */
static bool open_model(heed_trainer *t, heed_error *err) {
    char folder[HEED_FOLDER_PATH];
    char *path = heed_recipe_path(t->host, t->recipe->model.from, err);
    if (path && heed_join_path(folder, sizeof folder, t->folder, "start", err)) {
        t->model =
            heed_model_open_sketch(t->engine, path, t->options.plan_only ? NULL : folder, err);
    }
    heed_free(t->host, path);
    if (t->model && t->recipe->tokenizer.type == HEED_RECIPE_FILE) {
        heed_tokenizer *other = heed_recipe_open_tokenizer(t->recipe, t->host, err);
        if (!other || !heed_model_take_tokenizer(t->model, other, err)) {
            heed_error_at(err, "tokenizer.file");
            return false;
        }
    }
    return t->model != NULL;
}

static bool is_language_model(const heed_trainer *t, heed_error *err) {
    if (!heed_model_must_be(t->model, HEED_DECODER, "model.task lm", err)) {
        return false;
    }
    if (heed_model_config(t->model)->head != HEED_HEAD_VOCAB) {
        return heed_fail(err, HEED_VALUE, "model.from has no output layer over its vocabulary");
    }
    if (!heed_model_tokenizer(t->model)) {
        return heed_fail(err, HEED_NAME,
                         "model.from '%s' has no tokenizer: put its files beside the weights, or "
                         "set tokenizer.file",
                         t->recipe->model.from);
    }
    int64_t most = heed_model_positions(t->model), context = t->recipe->train.context;
    return most == 0 || context <= most ||
           heed_fail(err, HEED_VALUE,
                     "train.context is %" PRId64 ", more than the %" PRId64
                     " positions of the model",
                     context, most);
}

static void tell_ends(const heed_trainer *t) {
    const heed_config *c = heed_model_config(t->model);
    heed_window_report r = heed_windows_report(t->feed.texts);
    if (!t->recipe->data.join && c->eos < 0) {
        heed_note(&t->notes, "the model has no token that ends a text: it will not learn to end");
    }
    if (r.single > 0) {
        heed_note(&t->notes, "%" PRId64 " documents of one token teach nothing and are left out",
                  r.single);
    }
}

static bool make_batches(heed_trainer *t, heed_error *err) {
    const heed_config *c = heed_model_config(t->model);
    const heed_recipe *r = t->recipe;
    heed_window_opts opts = {.seed = (uint64_t)r->train.seed,
                             .join = r->data.join,
                             .context = r->train.context,
                             .tokens = r->train.batch_tokens};
    if (!heed_texts_encode(&t->texts, heed_model_tokenizer(t->model), r->data.join, c->bos, c->eos,
                           err)) {
        return false;
    }
    t->feed.texts = heed_windows_new(t->host, &t->texts.train, &opts, err);
    if (!t->feed.texts) {
        heed_error_at(err, "data.text");
        return false;
    }
    tell_ends(t);
    return true;
}

bool heed_trainer_read_texts(heed_trainer *t, bool resumes, heed_error *err) {
    return heed_texts_read(&t->texts, t->host, t->recipe, &t->notes, err) &&
           (*t->recipe->model.from ? open_model(t, err) : new_model(t, resumes, err)) &&
           is_language_model(t, err) && make_batches(t, err);
}
