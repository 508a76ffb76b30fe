/* template.c: TemplateProcessing: which tokens stand round one text, and round two.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/post.h"

enum { TEXT = -1, PAIR = -2 };

typedef struct heed_element {
    int32_t id; /* TEXT, PAIR: that text */
    uint16_t type;
    bool more; /* the token before belongs to the same part */
} element;

static bool add(const heed_tokenizer *t, heed_elements *out, element e, heed_error *err) {
    if (!heed_reserve(t->host, (void **)&out->item, &out->cap, out->n + 1, sizeof *out->item,
                      err)) {
        return false;
    }
    out->item[out->n++] = e;
    return true;
}

static bool add_ids(const heed_tokenizer *t, const json_t *ids, uint16_t type, heed_elements *out,
                    heed_error *err) {
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *value = json_array_get(ids, i);
        json_int_t id = json_integer_value(value);
        if (!json_is_integer(value) || !heed_vocab_has(t, id)) {
            return heed_fail(err, HEED_FILE,
                             "ids.%zu: %" PRId64 " is not an id of the vocabulary of %zu", i,
                             (int64_t)id, t->n_pieces);
        }
        if (!add(t, out, (element){(int32_t)id, type, i > 0}, err)) {
            return false;
        }
    }
    return true;
}

/* {"SpecialToken": {"id": "</s>", ...}}, whose ids stand in special_tokens. */
static bool add_special(const heed_tokenizer *t, const json_t *json, const json_t *special,
                        uint16_t type, heed_elements *out, heed_error *err) {
    const char *name = heed_json_string(special, "id", NULL, err);
    const json_t *all = name ? heed_json_object(json, "special_tokens", err) : NULL;
    if (!all) {
        return false;
    }
    const json_t *ids = json_object_get(json_object_get(all, name), "ids");
    if (!json_is_array(ids)) {
        return heed_fail(err, HEED_FILE, "special_tokens has no ids for '%s'", name);
    }
    if (!add_ids(t, ids, type, out, err)) {
        heed_error_at(err, "special_tokens '%s'", name);
        return false;
    }
    return true;
}

/* {"Sequence": {"id": "A", ...}}; the other text only where there is one. */
static bool add_text(const heed_tokenizer *t, const json_t *sequence, uint16_t type, bool pair,
                     heed_elements *out, heed_error *err) {
    const char *name = heed_json_string(sequence, "id", NULL, err);
    if (!name) {
        return false;
    }
    bool first = strcmp(name, "A") == 0;
    if (!first && (!pair || strcmp(name, "B") != 0)) {
        return heed_fail(err, HEED_FILE,
                         pair ? "text '%s' is not one of the two texts, A and B"
                              : "text '%s' is not the one text, A",
                         name);
    }
    return add(t, out, (element){first ? TEXT : PAIR, type, false}, err);
}

static bool add_item(const heed_tokenizer *t, const json_t *json, const json_t *item, bool pair,
                     heed_elements *out, heed_error *err) {
    const json_t *special = json_object_get(item, "SpecialToken");
    const json_t *sequence = json_object_get(item, "Sequence");
    if (json_object_size(item) != 1 || !(special || sequence)) {
        return heed_fail(err, HEED_FILE, "wanted a SpecialToken or a Sequence");
    }
    int64_t type = 0;
    if (!heed_json_opt_int(special ? special : sequence, "type_id", &type, err)) {
        return false;
    }
    if (type < 0 || type > UINT16_MAX) {
        return heed_fail(err, HEED_FILE, "type_id %" PRId64 " is not between 0 and %d", type,
                         UINT16_MAX);
    }
    return special ? add_special(t, json, special, (uint16_t)type, out, err)
                   : add_text(t, sequence, (uint16_t)type, pair, out, err);
}

static bool read_elements(heed_tokenizer *t, const json_t *json, const char *key,
                          heed_elements *out, heed_error *err) {
    const json_t *list = heed_json_array(json, key, err);
    heed_elements found = {0};
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < json_array_size(list); i++) {
        ok = add_item(t, json, json_array_get(list, i), strcmp(key, "pair") == 0, &found, err);
        if (!ok) {
            heed_error_at(err, "%s.%zu", key, i);
        }
    }
    out->n = found.n;
    out->item = ok ? heed_region_alloc(&t->region, found.n, sizeof *out->item, err) : NULL;
    if (out->item && found.n > 0) {
        memcpy(out->item, found.item, found.n * sizeof *out->item);
    }
    heed_free(t->host, found.item);
    return out->item != NULL;
}

bool heed_template_read(heed_tokenizer *t, const json_t *json, void *settings, heed_error *err) {
    heed_template *out = settings;
    return read_elements(t, json, "single", &out->single, err) &&
           read_elements(t, json, "pair", &out->pair, err);
}

/* One element behind what is written; a text's tokens get the template's type. */
static bool write_element(heed_work *work, const element *e) {
    size_t begin = work->out->n;
    if (e->id >= 0) {
        if (!heed_work_put(work, (heed_token){.id = e->id, .text = -1, .type = e->type})) {
            return false;
        }
        if (e->more) {
            work->cuts.item[work->cuts.n - 1].to++;
            return true;
        }
        return heed_cuts_add(work, &work->cuts, begin, begin + 1, false);
    }
    if (!heed_post_copy(work, e->id == TEXT ? 0 : 1)) {
        return false;
    }
    for (size_t k = begin; k < work->out->n; k++) {
        work->out->item[k].type = e->type;
    }
    return heed_cuts_add(work, &work->cuts, begin, work->out->n, false);
}

bool heed_template_apply(const void *settings, heed_work *work) {
    const heed_template *t = settings;
    const heed_elements *list = work->parts.n > 1 ? &t->pair : &t->single;
    size_t made = work->out->n;
    if (work->parts.n > 2) {
        return heed_fail(work->err, HEED_FILE,
                         "post_processor: a template behind another has %zu parts, wanted 1 or 2",
                         work->parts.n);
    }
    work->cuts.n = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool wanted = list->item[i].id < 0 || work->special;
        if (wanted && !write_element(work, &list->item[i])) {
            return false;
        }
    }
    heed_post_settle(work, made);
    return true;
}

size_t heed_template_adds(const void *settings, bool pair) {
    const heed_template *t = settings;
    const heed_elements *list = pair ? &t->pair : &t->single;
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        n += list->item[i].id >= 0;
    }
    return n;
}
