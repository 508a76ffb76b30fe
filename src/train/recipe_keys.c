/* recipe_keys.c: the one table of the keys of a recipe.
 *
 * A key's kind follows from the type of its field, so the table cannot disagree with the struct.
 * Defaults are those of the 2017 Transformer (Vaswani et al., base model) where it has one.
 * SPDX-License-Identifier: MIT
 */
#include "data/bleu.h"
#include "data/documents.h"
#include "train/recipe.h"
#include "train/schedule.h"

#include <string.h>

static const char *const FAMILY[] = {[HEED_RECIPE_AUTO] = "auto",
                                     [HEED_RECIPE_MARIAN] = "marian",
                                     [HEED_RECIPE_PEGASUS] = "pegasus",
                                     [HEED_RECIPE_HEED] = "heed",
                                     [HEED_RECIPE_GPT2] = "gpt2",
                                     [HEED_RECIPE_LLAMA] = "llama",
                                     NULL};
static const char *const TASK[] = {[HEED_RECIPE_PAIRS] = "pairs", [HEED_RECIPE_LM] = "lm", NULL};
static const char *const NORM[] = {
    [HEED_RECIPE_LAYERNORM] = "layernorm", [HEED_RECIPE_RMSNORM] = "rmsnorm", NULL};
static const char *const NORM_POSITION[] = {
    [HEED_RECIPE_POST] = "post", [HEED_RECIPE_PRE] = "pre", NULL};
static const char *const TIE[] = {[HEED_RECIPE_TIE_ALL] = "all",
                                  [HEED_RECIPE_TIE_OUTPUT] = "output",
                                  [HEED_RECIPE_TIE_NONE] = "none",
                                  NULL};
static const char *const TOKENIZER[] = {
    [HEED_RECIPE_BPE] = "bpe",   [HEED_RECIPE_UNIGRAM] = "unigram", [HEED_RECIPE_CHAR] = "char",
    [HEED_RECIPE_FILE] = "file", [HEED_RECIPE_OF_MODEL] = "model",  NULL};
static const char *const NORMALIZATION[] = {
    [HEED_RECIPE_NFKC] = "nfkc", [HEED_RECIPE_RAW] = "none", NULL};
static const char *const ON_LONG[] = {[HEED_RECIPE_DROP] = "drop", [HEED_RECIPE_CUT] = "cut", NULL};
static const char *const SPLIT_BY[] = {[HEED_RECIPE_BY_TARGET] = "target",
                                       [HEED_RECIPE_BY_SOURCE] = "source",
                                       [HEED_RECIPE_BY_DOCUMENT] = "document",
                                       [HEED_RECIPE_BY_END] = "end",
                                       NULL};
static const char *const DOCUMENT[] = {[HEED_DOCUMENT_FILE] = "file",
                                       [HEED_DOCUMENT_LINE] = "line",
                                       [HEED_DOCUMENT_BLANK] = "blank",
                                       NULL};
static const char *const OPTIMIZER[] = {
    [HEED_RECIPE_ADAM] = "adam", [HEED_RECIPE_ADAMW] = "adamw", NULL};
static const char *const PRECISION[] = {
    [HEED_RECIPE_F32] = "f32", [HEED_RECIPE_BF16] = "bf16", NULL};
static const char *const SCHEDULE[] = {[HEED_INVERSE_SQRT] = "inverse_sqrt",
                                       [HEED_COSINE] = "cosine",
                                       [HEED_LINEAR] = "linear",
                                       [HEED_CONSTANT] = "constant",
                                       NULL};
static const char *const METRIC[] = {[HEED_RECIPE_BY_LOSS] = "loss",
                                     [HEED_RECIPE_BY_BLEU] = "bleu",
                                     [HEED_RECIPE_BY_CHRF] = "chrf",
                                     NULL};
static const char *const WEIGHTS[] = {[HEED_RECIPE_WEIGHTS_BEST] = "best",
                                      [HEED_RECIPE_WEIGHTS_LAST] = "last",
                                      [HEED_RECIPE_WEIGHTS_AVERAGE] = "average",
                                      NULL};

static const char *const BLEU_TOKENS[] = {
    [HEED_BLEU_13A] = "13a",   [HEED_BLEU_ZH] = "zh",     [HEED_BLEU_CHAR] = "char",
    [HEED_BLEU_INTL] = "intl", [HEED_BLEU_NONE] = "none", NULL};

#define KIND(field)                                                                                \
    _Generic(((heed_recipe *)0)->field,                                                            \
             int64_t: HEED_KEY_WHOLE,                                                              \
             double: HEED_KEY_NUMBER,                                                              \
             bool: HEED_KEY_FLAG,                                                                  \
             int: HEED_KEY_CHOICE,                                                                 \
             const char *: HEED_KEY_TEXT)
#define KEY(section, name, value, ...)                                                             \
    { #section, #name, KIND(section.name), offsetof(heed_recipe, section.name), value, __VA_ARGS__ }
#define NUMBER(section, name, value, range, help) KEY(section, name, value, range, NULL, help)
#define CHOICE(section, name, value, choices, help)                                                \
    KEY(section, name, value, NO_RANGE, choices, help)
#define TEXT(section, name, value, help) KEY(section, name, value, NO_RANGE, NULL, help)
#define FLAG TEXT
#define FROM_TO(low, high)                                                                         \
    { low, high, false, false }
#define ABOVE_TO(low, high)                                                                        \
    { low, high, true, false }
#define SHARE                                                                                      \
    { 0, 1, false, true }
#define NO_RANGE                                                                                   \
    { 0, 0, false, false }

static const heed_recipe_key KEYS[] = {
    CHOICE(model, task, "pairs", TASK,
           "pairs: an encoder-decoder, from parallel text; lm: a decoder, from text; lm where "
           "data.text or model.from is set"),
    TEXT(model, from, "",
         "lm: a model to go on from, a folder or a GGUF file; it brings shape and tokenizer"),
    CHOICE(model, family, "auto", FAMILY,
           "form of the saved folder; auto: marian or pegasus where one can express the model; "
           "lm: gpt2"),
    NUMBER(model, width, "512", FROM_TO(1, 65536), "numbers in each row of the model"),
    NUMBER(model, heads, "8", FROM_TO(1, 4096), "attention heads; must divide the width"),
    NUMBER(model, kv_heads, "0", FROM_TO(0, 4096),
           "heads of keys and values; must divide heads; 0: as many as heads"),
    NUMBER(model, feed_forward, "2048", FROM_TO(1, 1048576),
           "inner width of the feed-forward block"),
    NUMBER(model, encoder_layers, "6", FROM_TO(1, 1000), "layers of the encoder"),
    NUMBER(model, decoder_layers, "6", FROM_TO(1, 1000), "layers of the decoder"),
    NUMBER(model, layers, "6", FROM_TO(1, 1000), "lm: layers"),
    CHOICE(model, activation, "relu", heed_act_names,
           "between the two halves of the feed-forward block"),
    FLAG(model, gated, "false", "multiply the activation with a second projection (GLU)"),
    CHOICE(model, norm, "layernorm", NORM, "kind of norm"),
    CHOICE(model, norm_position, "post", NORM_POSITION,
           "after each residual sum (2017), or before each block"),
    CHOICE(model, positions, "sinusoidal", heed_position_names,
           "how a row learns its place; rope and sinusoidal are half-split"),
    NUMBER(model, dropout, "0.1", SHARE,
           "share dropped of each block's output and of the embeddings"),
    NUMBER(model, attention_dropout, "0", SHARE, "share dropped of the attention weights"),
    NUMBER(model, activation_dropout, "0", SHARE, "share dropped inside the feed-forward block"),
    CHOICE(model, tie, "all", TIE,
           "one matrix for source, target and output; for target and output; or none"),
    FLAG(model, scale_embedding, "true", "multiply embeddings by the root of the width"),
    NUMBER(model, max_positions, "1024", FROM_TO(1, 1048576),
           "longest sequence the model takes, in tokens"),

    CHOICE(tokenizer, type, "bpe", TOKENIZER,
           "trained on the training pairs or text, read from tokenizer.file, or that of "
           "model.from"),
    NUMBER(tokenizer, vocab, "8000", FROM_TO(8, 1000000),
           "pieces, special ones included; char: at most as many"),
    FLAG(tokenizer, shared, "true", "one tokenizer for both sides"),
    FLAG(tokenizer, lowercase, "false", "lower case before anything else"),
    CHOICE(tokenizer, normalization, "nfkc", NORMALIZATION, "Unicode normal form of the text"),
    FLAG(tokenizer, byte_fallback, "true",
         "spell what has no piece as bytes instead of the unknown token"),
    FLAG(tokenizer, split_han, "false",
         "each Chinese character or kana is a piece of its own; else words of several may be"),
    NUMBER(tokenizer, coverage, "0.9995", ABOVE_TO(0, 1),
           "share of the characters that get a piece"),
    TEXT(tokenizer, file, "", "tokenizer.json, for type file"),

    TEXT(data, train_source, "", "source sentences, one a line, plain or gz"),
    TEXT(data, train_target, "", "target sentences"),
    TEXT(data, valid_source, "", "source sentences for validation"),
    TEXT(data, valid_target, "", "target sentences for validation"),
    TEXT(data, test_source, "", "source sentences of the test, never looked at in training"),
    TEXT(data, test_target, "", "target sentences of the test"),
    TEXT(data, train, "", "training pairs as TSV, instead of two files"),
    TEXT(data, valid, "", "validation pairs as TSV"),
    TEXT(data, test, "", "test pairs as TSV"),
    NUMBER(data, source_column, "1", FROM_TO(1, 1000), "column of the source in TSV files"),
    NUMBER(data, target_column, "2", FROM_TO(1, 1000), "column of the target in TSV files"),
    NUMBER(data, split_valid, "0", SHARE,
           "share of the training pairs held out for validation, chosen by a hash"),
    NUMBER(data, split_test, "0", SHARE, "share of the training pairs held out for the test"),
    CHOICE(data, split_by, "target", SPLIT_BY,
           "side whose text is hashed: equal texts stay on one side of the split; lm: document "
           "(hashed too), or end (the last part of the text)"),
    CHOICE(data, on_long, "drop", ON_LONG, "what happens to a pair longer than allowed"),
    NUMBER(data, max_source, "256", FROM_TO(1, 65536),
           "longest source in tokens, the end token included"),
    NUMBER(data, max_target, "256", FROM_TO(1, 65536),
           "longest target in tokens, the end token included"),
    TEXT(data, text, "", "lm: a text or JSON file, plain or gz, or a folder of such"),
    TEXT(data, valid_text, "", "lm: the same for validation"),
    TEXT(data, text_column, "",
         "lm: files are JSON, an object a line or a list of objects; the member that is a "
         "document: a text, or a list of lines"),
    CHOICE(data, document, "file", DOCUMENT,
           "lm: what a document of a text file is: all of it, a line, or what stands between "
           "blank lines"),
    TEXT(data, match, "",
         "lm: a regular expression (PCRE2); each of its matches is a document, the rest is left "
         "out"),
    FLAG(data, join, "false",
         "lm: documents follow one another as one stream, of which windows are taken at random; "
         "else each is on its own"),

    NUMBER(train, seed, "1", FROM_TO(0, 9007199254740991),
           "of weights, order and dropout; same seed, same bits"),
    CHOICE(train, optimizer, "adam", OPTIMIZER, "adamw takes the weight decay out of the gradient"),
    CHOICE(train, precision, "f32", PRECISION,
           "of products; bf16 needs a processor with AVX512-BF16, else it is f32"),
    NUMBER(train, lr, "0", FROM_TO(0, 10),
           "highest learning rate; 0: (width * warmup)^-0.5, the 2017 formula's"),
    NUMBER(train, beta1, "0.9", SHARE, "decay of the mean of the gradients"),
    NUMBER(train, beta2, "0.98", SHARE, "decay of the mean of their squares"),
    NUMBER(train, eps, "1e-9", ABOVE_TO(0, 1), "added to the root of that mean"),
    NUMBER(train, weight_decay, "0", FROM_TO(0, 10), "of matrices; biases and norms are left out"),
    CHOICE(train, schedule, "inverse_sqrt", SCHEDULE,
           "course of the learning rate after the warm-up"),
    NUMBER(train, warmup, "4000", FROM_TO(0, 100000000), "updates over which the rate rises to lr"),
    NUMBER(train, min_lr, "0", FROM_TO(0, 10),
           "where cosine and linear end, and nothing falls below"),
    NUMBER(train, epochs, "0", FROM_TO(0, 1000000),
           "stop after so many passes over the pairs; 0: no such limit"),
    NUMBER(train, steps, "100000", FROM_TO(0, 1000000000),
           "stop after so many updates; 0: no such limit"),
    NUMBER(train, minutes, "0", FROM_TO(0, 1000000),
           "stop after so many minutes of training; 0: no such limit"),
    NUMBER(train, batch_tokens, "4096", FROM_TO(1, 16777216),
           "tokens of the longer side in one batch"),
    NUMBER(train, context, "256", FROM_TO(1, 1048576),
           "lm: tokens that are looked at together, at most"),
    TEXT(train, only, "",
         "names of the weights that are trained, * for any part between dots, with spaces between "
         "names; nothing: all"),
    NUMBER(train, accumulate, "1", FROM_TO(1, 10000),
           "batches for one update, weighted by their tokens"),
    NUMBER(train, label_smoothing, "0.1", SHARE,
           "share of the target's probability spread over the vocabulary"),
    NUMBER(train, clip, "0", FROM_TO(0, 1000000),
           "largest global norm of the gradient; 0: no clipping"),
    NUMBER(train, valid_every, "0", FROM_TO(0, 1000000000),
           "updates between validations; 0: after each epoch"),
    NUMBER(train, save_every, "0", FROM_TO(0, 1000000000),
           "updates between checkpoints; 0: after each epoch"),
    NUMBER(train, keep_last, "3", FROM_TO(1, 1000), "checkpoints kept, besides the best"),
    NUMBER(train, average_last, "0", FROM_TO(0, 1000),
           "checkpoints averaged for out.weights average"),
    NUMBER(train, early_stop, "0", FROM_TO(0, 100000),
           "stop after so many validations without a better one; 0: never"),
    NUMBER(train, log_every, "50", FROM_TO(1, 1000000000), "updates between lines of metrics"),
    FLAG(train, recompute, "false",
         "save memory: layers compute their values again for the gradient"),
    NUMBER(train, threads, "0", FROM_TO(0, 4096),
           "threads; 0: the physical cores; changes no bit of the result"),
    CHOICE(train, metric, "loss", METRIC, "what makes a checkpoint the best"),
    CHOICE(train, bleu_tokens, "13a", BLEU_TOKENS,
           "how BLEU cuts text into words; zh for a Chinese target"),
    NUMBER(train, sample_every, "0", FROM_TO(0, 1000000000),
           "lm: updates between samples that are shown; 0: none"),
    NUMBER(train, sample_tokens, "100", FROM_TO(1, 65536), "lm: new tokens of a sample"),
    TEXT(train, sample_prompt, "",
         "lm: what a sample begins with; nothing: the token that begins texts"),

    NUMBER(translate, beam, "4", FROM_TO(1, 1000), "width of the beam search; 1: greedy"),
    NUMBER(translate, batch_tokens, "4096", FROM_TO(1, 16777216), "source tokens in one batch"),
    NUMBER(translate, min_length, "0", FROM_TO(0, 65536), "shortest translation, in tokens"),
    NUMBER(translate, length_penalty, "1", FROM_TO(-10, 10),
           "power of the length that divides a translation's score"),
    NUMBER(translate, max_length_ratio, "1", FROM_TO(0, 100),
           "longest translation: ratio * source tokens + extra"),
    NUMBER(translate, max_length_extra, "50", FROM_TO(0, 65536), "extra in the line above"),

    TEXT(out, folder, "model", "where the model, its checkpoints and its metrics go"),
    CHOICE(out, weights, "best", WEIGHTS,
           "checkpoint that becomes the model; best without validation: last"),
    FLAG(out, tensorboard, "true", "write TensorBoard events beside metrics.jsonl"),
};

const heed_recipe_key *heed_recipe_keys(size_t *count) {
    *count = sizeof KEYS / sizeof *KEYS;
    return KEYS;
}

/* Is `path` exactly "section.name"? */
static bool is_path(const heed_recipe_key *key, const char *path, size_t n) {
    size_t section = strlen(key->section), name = strlen(key->name);
    return n == section + 1 + name && memcmp(path, key->section, section) == 0 &&
           path[section] == '.' && memcmp(path + section + 1, key->name, name) == 0;
}

const heed_recipe_key *heed_recipe_find(const char *path, size_t n) {
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (is_path(&KEYS[i], path, n)) {
            return &KEYS[i];
        }
    }
    return NULL;
}

enum { PATH = 48 }; /* longer than any path of the table */

static size_t least(size_t a, size_t b, size_t c) {
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions and exchanges from a to b (Levenshtein), both shorter than PATH. */
static size_t edits(const char *a, size_t n, const char *b, size_t m) {
    size_t row[PATH + 1];
    for (size_t j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t up = row[j];
            row[j] = least(up + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = up;
        }
    }
    return row[m];
}

/* Names are compared with the section and without, since a key is often put under the wrong one. */
static size_t distance(const heed_recipe_key *key, const char *path, size_t n) {
    char whole[PATH];
    size_t section = strlen(key->section), name = strlen(key->name), dot = 0;
    memcpy(whole, key->section, section);
    whole[section] = '.';
    memcpy(whole + section + 1, key->name, name);
    while (dot < n && path[dot] != '.') {
        dot++;
    }
    const char *last = dot < n ? path + dot + 1 : path;
    size_t with = edits(path, n, whole, section + 1 + name);
    size_t without = edits(last, n - (size_t)(last - path), key->name, name) + 1;
    return with < without ? with : without;
}

const heed_recipe_key *heed_recipe_nearest(const char *path, size_t n) {
    const heed_recipe_key *nearest = NULL;
    size_t best = n < 6 ? n / 2 + 1 : 4; /* half of a short name may be wrong, no more */
    if (n >= PATH) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        size_t d = distance(&KEYS[i], path, n);
        if (d < best) {
            best = d;
            nearest = &KEYS[i];
        }
    }
    return nearest;
}
