/* chain.c: reading the components of one place into a list, and running the list.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/part.h"

static const heed_part_kind *find_kind(const heed_part_table *table, const char *type) {
    for (size_t i = 0; i < table->n; i++) {
        if (strcmp(table->kind[i].type, type) == 0) {
            return &table->kind[i];
        }
    }
    return NULL;
}

bool heed_chain_add(heed_tokenizer *t, heed_chain *chain, const heed_part_kind *kind,
                    const void *settings, heed_error *err) {
    if (!heed_reserve(t->host, (void **)&chain->item, &chain->cap, chain->n + 1,
                      sizeof *chain->item, err)) {
        return false;
    }
    chain->item[chain->n++] = (heed_part){kind, settings};
    return true;
}

static bool read_part(heed_tokenizer *t, const json_t *json, const heed_part_table *table,
                      const char *type, heed_chain *chain, heed_error *err) {
    const heed_part_kind *kind = find_kind(table, type);
    if (!kind) {
        return heed_fail(err, HEED_FILE, "component '%s' is not supported", type);
    }
    void *settings = heed_region_alloc(&t->region, 1, kind->size > 0 ? kind->size : 1, err);
    return settings && (!kind->read || kind->read(t, json, settings, err)) &&
           heed_chain_add(t, chain, kind, settings, err);
}

static bool read_any(heed_tokenizer *t, const json_t *json, const heed_part_table *table,
                     heed_chain *chain, heed_error *err);

static bool read_list(heed_tokenizer *t, const json_t *json, const heed_part_table *table,
                      heed_chain *chain, heed_error *err) {
    const json_t *list = heed_json_array(json, table->list, err);
    if (!list) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_any(t, json_array_get(list, i), table, chain, err)) {
            heed_error_at(err, "%s.%zu", table->list, i);
            return false;
        }
    }
    return true;
}

/* Depth is bounded by that of the JSON itself. */
static bool read_any(heed_tokenizer *t, const json_t *json, const heed_part_table *table,
                     heed_chain *chain, heed_error *err) {
    if (!json_is_object(json)) {
        return heed_fail(err, HEED_FILE, "wanted an object, found %s", heed_json_kind(json));
    }
    const char *type = heed_json_string(json, "type", NULL, err);
    if (!type) {
        return false;
    }
    return strcmp(type, "Sequence") == 0 ? read_list(t, json, table, chain, err)
                                         : read_part(t, json, table, type, chain, err);
}

bool heed_chain_read(heed_tokenizer *t, const json_t *json, const heed_part_table *table,
                     heed_chain *chain, heed_error *err) {
    const json_t *place = json_object_get(json, table->place);
    if (!place || json_is_null(place)) {
        return true;
    }
    if (!read_any(t, place, table, chain, err)) {
        heed_error_at(err, "%s", table->place);
        return false;
    }
    return true;
}

bool heed_chain_apply(const heed_chain *chain, heed_work *work) {
    for (size_t i = 0; i < chain->n; i++) {
        if (!chain->item[i].kind->apply(chain->item[i].settings, work)) {
            return false;
        }
    }
    return true;
}

bool heed_read_char(heed_tokenizer *t, const json_t *json, const char *key, const char **text,
                    size_t *n, heed_error *err) {
    uint32_t cp = 0;
    const char *s = heed_json_string(json, key, n, err);
    if (!s) {
        return false;
    }
    if (*n == 0 || (size_t)heed_utf8_next(s, *n, &cp) != *n) {
        return heed_fail(err, HEED_FILE, "key '%s' wants one character, found '%s'", key, s);
    }
    *text = heed_region_text(&t->region, s, *n, err);
    return *text != NULL;
}
