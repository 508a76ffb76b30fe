/* trainer_pairs.c: from a recipe's parallel text to a model and its batches.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/fs.h"
#include "train/trainer.h"

static bool read_corpus(heed_trainer *t, bool resumes, heed_error *err) {
    char tokenizer[HEED_FOLDER_PATH];
    return heed_join_path(tokenizer, sizeof tokenizer, t->folder, "tokenizer.json", err) &&
           heed_corpus_read(&t->corpus, t->host, t->recipe, resumes ? tokenizer : NULL, &t->notes,
                            err);
}

static bool make_model(heed_trainer *t, heed_error *err) {
    heed_tokenizer *tokenizer = t->corpus.tokenizer;
    heed_config config = heed_recipe_config(t->recipe);
    config.vocab = config.source_vocab = heed_vocab_size(tokenizer);
    config.pad = heed_token_id(tokenizer, "<pad>");
    config.bos = heed_token_id(tokenizer, "<s>");
    config.eos = heed_token_id(tokenizer, "</s>");
    config.unk = heed_token_id(tokenizer, "<unk>");
    config.decoder_start = config.pad; /* as marian and pegasus have it */
    config.forced_eos = config.eos;
    if (config.pad < 0 || config.eos < 0) {
        return heed_fail(err, HEED_NAME, "the tokenizer has no %s, training on pairs needs it",
                         config.pad < 0 ? "<pad>" : "</s>");
    }
    t->corpus.tokenizer = NULL;
    t->model = heed_model_sketch(t->engine, &config, tokenizer, err);
    return t->model != NULL;
}

static void tell_long(const heed_trainer *t) {
    heed_batch_report r = heed_batches_report(t->feed.pairs);
    if (r.dropped + r.cut > 0) {
        heed_note(&t->notes,
                  "%" PRId64 " of %" PRId64
                  " training pairs are longer than data.max_source %" PRId64
                  " or data.max_target %" PRId64 " and were %s, the first in line %" PRId64,
                  r.dropped + r.cut, t->corpus.train.n, t->recipe->data.max_source,
                  t->recipe->data.max_target, r.cut > 0 ? "cut" : "left out", r.long_line[0]);
    }
}

/* Norms behind the sums need small steps at first (Xiong et al. 2020). */
static void tell_warmup(const heed_trainer *t) {
    if (t->recipe->model.norm_position == HEED_RECIPE_POST && t->recipe->train.warmup < 2) {
        heed_note(&t->notes, "model.norm_position post without train.warmup seldom learns: "
                             "set a warm-up, or pre");
    }
}

static bool make_batches(heed_trainer *t, heed_error *err) {
    const heed_recipe_data *d = &t->recipe->data;
    const heed_config *c = heed_model_config(t->model);
    heed_batch_opts opts = {.seed = (uint64_t)t->recipe->train.seed,
                            .tokens = t->recipe->train.batch_tokens,
                            .max_source = d->max_source,
                            .max_target = d->max_target,
                            .on_long =
                                d->on_long == HEED_RECIPE_CUT ? HEED_LONG_CUT : HEED_LONG_DROP,
                            .source_begin = -1,
                            .source_end = c->eos,
                            .target_begin = c->decoder_start,
                            .target_end = c->eos};
    t->feed.pairs = heed_batches_new(t->host, &t->corpus.train, &opts, err);
    if (!t->feed.pairs) {
        return false;
    }
    tell_long(t);
    tell_warmup(t);
    return true;
}

bool heed_trainer_read_pairs(heed_trainer *t, bool resumes, heed_error *err) {
    return read_corpus(t, resumes, err) && make_model(t, err) && make_batches(t, err);
}
