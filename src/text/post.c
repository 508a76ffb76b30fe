/* post.c: the post-processors: special tokens round the texts, places without spaces.
 * SPDX-License-Identifier: MIT
 */
#include "text/post.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/byte_level.h"

bool heed_post_copy(heed_work *work, size_t p) {
    for (size_t k = work->parts.item[p].from; k < work->parts.item[p].to; k++) {
        if (!heed_work_put(work, work->out->item[k])) {
            return false;
        }
    }
    return true;
}

void heed_post_settle(heed_work *work, size_t made) {
    heed_tokens *out = work->out;
    size_t n = out->n - made;
    if (n > 0 && made > work->first) {
        memmove(out->item + work->first, out->item + made, n * sizeof *out->item);
    }
    out->n = work->first + n;
    for (size_t i = 0; i < work->cuts.n; i++) {
        work->cuts.item[i].from -= made - work->first;
        work->cuts.item[i].to -= made - work->first;
    }
    heed_cuts read = work->parts;
    work->parts = work->cuts;
    work->cuts = read;
    work->cuts.n = 0;
}

static bool apply_trim(const void *settings, heed_work *work) {
    const heed_byte_level *b = settings;
    if (b->trim) {
        heed_trim(work, b->prefix_space);
    }
    return true;
}

/* ---- BertProcessing, RobertaProcessing ----------------------------------------------------- */

typedef struct {
    int32_t begin, end; /* [CLS], [SEP] */
    bool roberta;       /* a second end between the texts, and all of one type */
    bool trim, prefix_space;
} bert;

/* ["</s>", 2] */
static bool read_token(const heed_tokenizer *t, const json_t *json, const char *key, int32_t *id,
                       heed_error *err) {
    const json_t *both = heed_json_array(json, key, err);
    if (!both) {
        return false;
    }
    const json_t *number = json_array_get(both, 1);
    if (json_array_size(both) != 2 || !json_is_string(json_array_get(both, 0)) ||
        !json_is_integer(number)) {
        return heed_fail(err, HEED_FILE, "key '%s' wants [token, id]", key);
    }
    json_int_t value = json_integer_value(number);
    if (!heed_vocab_has(t, value)) {
        return heed_fail(err, HEED_FILE,
                         "key '%s': %" PRId64 " is not an id of the vocabulary of %zu", key,
                         (int64_t)value, t->n_pieces);
    }
    *id = (int32_t)value;
    return true;
}

static bool read_bert(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    bert *b = settings;
    return read_token(t, json, "cls", &b->begin, err) && read_token(t, json, "sep", &b->end, err);
}

static bool read_roberta(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    bert *b = settings;
    b->roberta = true;
    return read_bert(t, json, settings, err) &&
           heed_json_bool(json, "trim_offsets", &b->trim, err) &&
           heed_json_bool(json, "add_prefix_space", &b->prefix_space, err);
}

/* Part p between its special tokens, behind what is written. */
static bool wrap(const bert *b, heed_work *work, size_t p) {
    size_t begin = work->out->n;
    uint16_t type = p > 0 && !b->roberta;
    heed_token open = {.id = p == 0 ? b->begin : b->end, .text = -1};
    heed_token close = {.id = b->end, .text = -1, .type = type};
    if ((p == 0 || b->roberta) && !heed_work_put(work, open)) {
        return false;
    }
    return heed_post_copy(work, p) && heed_work_put(work, close) &&
           heed_cuts_add(work, &work->cuts, begin, work->out->n, false);
}

static bool apply_bert(const void *settings, heed_work *work) {
    const bert *b = settings;
    if (b->trim) {
        heed_trim(work, b->prefix_space);
    }
    for (size_t i = work->first; b->roberta && i < work->out->n; i++) {
        work->out->item[i].type = 0;
    }
    if (!work->special) {
        return true;
    }
    size_t made = work->out->n;
    work->cuts.n = 0;
    for (size_t p = 0; p < work->parts.n; p++) {
        if (!wrap(b, work, p)) {
            return false;
        }
    }
    heed_post_settle(work, made);
    return true;
}

static size_t added_by_bert(const void *settings, bool pair) {
    return pair ? 3 + (size_t)((const bert *)settings)->roberta : 2;
}

/* ---- The table ----------------------------------------------------------------------------- */

static const heed_part_kind kinds[] = {
    {"TemplateProcessing", sizeof(heed_template), heed_template_read, heed_template_apply},
    {"ByteLevel", sizeof(heed_byte_level), heed_byte_level_read, apply_trim},
    {"BertProcessing", sizeof(bert), read_bert, apply_bert},
    {"RobertaProcessing", sizeof(bert), read_roberta, apply_bert},
};
const heed_part_table heed_post_processors = {"post_processor", "processors", kinds,
                                              sizeof kinds / sizeof kinds[0]};

size_t heed_post_added(const heed_chain *chain, bool pair) {
    size_t n = 0;
    for (size_t i = 0; i < chain->n; i++) {
        const heed_part *part = &chain->item[i];
        n += part->kind->apply == heed_template_apply ? heed_template_adds(part->settings, pair)
             : part->kind->apply == apply_bert        ? added_by_bert(part->settings, pair)
                                                      : 0;
    }
    return n;
}
