/* post.c: the post-processors: special tokens round the text, offsets without spaces.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/part.h"

/* ---- TemplateProcessing -------------------------------------------------------------------- */

typedef struct {
    int32_t *id; /* TEXT: the text itself */
    size_t n;
} template;

enum { TEXT = -1 };

static bool add_ids(const heed_tokenizer *t, const json_t *ids, template *out, size_t *cap,
                    heed_error *err) {
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *value = json_array_get(ids, i);
        json_int_t id = json_integer_value(value);
        if (!json_is_integer(value) || id < 0 || (size_t)id >= t->n_pieces || !t->piece[id].text) {
            return heed_fail(err, HEED_FILE,
                             "ids.%zu: %" PRId64 " is not an id of the vocabulary of %zu", i,
                             (int64_t)id, t->n_pieces);
        }
        if (!heed_reserve(t->host, (void **)&out->id, cap, out->n + 1, sizeof *out->id, err)) {
            return false;
        }
        out->id[out->n++] = (int32_t)id;
    }
    return true;
}

/* {"SpecialToken": {"id": "</s>", ...}}, whose ids stand in special_tokens. */
static bool add_special(const heed_tokenizer *t, const json_t *json, const json_t *special,
                        template *out, size_t *cap, heed_error *err) {
    const char *name = heed_json_string(special, "id", NULL, err);
    const json_t *all = name ? heed_json_object(json, "special_tokens", err) : NULL;
    if (!all) {
        return false;
    }
    const json_t *ids = json_object_get(json_object_get(all, name), "ids");
    if (!json_is_array(ids)) {
        return heed_fail(err, HEED_FILE, "special_tokens has no ids for '%s'", name);
    }
    if (!add_ids(t, ids, out, cap, err)) {
        heed_error_at(err, "special_tokens '%s'", name);
        return false;
    }
    return true;
}

/* {"Sequence": {"id": "A", ...}}. */
static bool add_text(const heed_tokenizer *t, const json_t *sequence, template *out, size_t *cap,
                     heed_error *err) {
    const char *name = heed_json_string(sequence, "id", NULL, err);
    if (!name) {
        return false;
    }
    if (strcmp(name, "A") != 0) {
        return heed_fail(err, HEED_FILE, "text '%s' is not the one text, A", name);
    }
    if (!heed_reserve(t->host, (void **)&out->id, cap, out->n + 1, sizeof *out->id, err)) {
        return false;
    }
    out->id[out->n++] = TEXT;
    return true;
}

static bool add_item(const heed_tokenizer *t, const json_t *json, const json_t *item, template *out,
                     size_t *cap, heed_error *err) {
    const json_t *special = json_object_get(item, "SpecialToken");
    const json_t *sequence = json_object_get(item, "Sequence");
    if (json_object_size(item) != 1 || !(special || sequence)) {
        return heed_fail(err, HEED_FILE, "wanted a SpecialToken or a Sequence");
    }
    return special ? add_special(t, json, special, out, cap, err)
                   : add_text(t, sequence, out, cap, err);
}

static bool read_template(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    const json_t *single = heed_json_array(json, "single", err);
    template found = {0};
    size_t cap = 0;
    bool ok = single != NULL;
    for (size_t i = 0; ok && i < json_array_size(single); i++) {
        ok = add_item(t, json, json_array_get(single, i), &found, &cap, err);
        if (!ok) {
            heed_error_at(err, "single.%zu", i);
        }
    }
    template *out = settings;
    out->n = found.n;
    out->id = ok ? heed_region_alloc(&t->region, found.n, sizeof *out->id, err) : NULL;
    if (out->id && found.n > 0) {
        memcpy(out->id, found.id, found.n * sizeof *out->id);
    }
    heed_free(t->host, found.id);
    return out->id != NULL;
}

static bool put(heed_work *work, heed_token token) {
    heed_tokens *out = work->out;
    if (!heed_reserve(out->host, (void **)&out->item, &out->cap, out->n + 1, sizeof *out->item,
                      work->err)) {
        return false;
    }
    out->item[out->n++] = token;
    return true;
}

/* Writes the template behind the text's own tokens, then moves it to where they were. */
static bool apply_template(const void *settings, heed_work *work) {
    const template *t = settings;
    heed_tokens *out = work->out;
    size_t first = work->first, n = out->n - first;
    uint32_t at = 0; /* where in the text an added token stands */
    for (size_t i = 0; i < t->n; i++) {
        if (t->id[i] != TEXT) {
            if (work->special && !put(work, (heed_token){t->id[i], at, at})) {
                return false;
            }
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            if (!put(work, out->item[first + k])) {
                return false;
            }
        }
        at = (uint32_t)work->n;
    }
    size_t made = out->n - first - n;
    if (made > 0) {
        memmove(out->item + first, out->item + first + n, made * sizeof *out->item);
    }
    out->n = first + made;
    return true;
}

/* ---- ByteLevel ----------------------------------------------------------------------------- */

/* Leaves the spaces at both ends out of each token's place. */
static bool apply_trim(const void *settings, heed_work *work) {
    const heed_byte_level *b = settings;
    for (size_t i = work->first; b->trim && i < work->out->n; i++) {
        heed_token *token = &work->out->item[i];
        while (token->begin < token->end && work->text[token->begin] == ' ') {
            token->begin++;
        }
        while (token->begin < token->end && work->text[token->end - 1] == ' ') {
            token->end--;
        }
    }
    return true;
}

static const heed_part_kind kinds[] = {
    {"TemplateProcessing", sizeof(template), read_template, apply_template},
    {"ByteLevel", sizeof(heed_byte_level), heed_byte_level_read, apply_trim},
};
const heed_part_table heed_post_processors = {"post_processor", "processors", kinds,
                                              sizeof kinds / sizeof kinds[0]};
