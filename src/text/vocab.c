/* vocab.c: texts to ids and back.
 *
 * Invariant: an id has one text and a text has one id; ids of tokens lie in [0, n_pieces), with
 * gaps where the file has gaps.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/json_pull.h"
#include "text/part.h"

/* heed_vocab_add of a text that lies in the region. */
static bool add_kept(heed_tokenizer *t, const char *text, size_t n, int64_t id, bool model,
                     heed_error *err) {
    if (id < 0 || id > HEED_MAX_ID) {
        return heed_fail(err, HEED_FILE, "token '%.*s' has id %" PRId64 ", wanted 0 to %d", (int)n,
                         text, id, HEED_MAX_ID);
    }
    size_t at = (size_t)id;
    if (at < t->n_pieces && t->piece[at].text) {
        return heed_fail(err, HEED_FILE, "tokens '%s' and '%.*s' have the same id %" PRId64,
                         t->piece[at].text, (int)n, text, id);
    }
    int32_t known = heed_vocab_map_put(&t->ids, text, n, (int32_t)id, err);
    if (known < 0) {
        return false;
    }
    if (known != (int32_t)id) {
        return heed_fail(err, HEED_FILE, "token '%s' has two ids, %" PRId32 " and %" PRId64, text,
                         known, id);
    }
    if (!heed_reserve(t->host, (void **)&t->piece, &t->cap_pieces, at + 1, sizeof *t->piece, err)) {
        return false;
    }
    t->piece[at] = (heed_piece){.text = text, .n = n, .model = model};
    t->n_pieces = at + 1 > t->n_pieces ? at + 1 : t->n_pieces;
    t->model_pieces += model;
    return true;
}

bool heed_vocab_add(heed_tokenizer *t, const char *text, size_t n, int64_t id, bool model,
                    heed_error *err) {
    const char *copy = heed_region_text(&t->region, text, n, err);
    return copy && add_kept(t, copy, n, id, model, err);
}

enum { WAITING = 16 };

/* Entries that wait for their places in the map to come from memory. */
typedef struct {
    struct {
        heed_line text;
        int64_t id;
    } item[WAITING];
    size_t n;
} entries;

static bool add_entries(heed_tokenizer *t, entries *e, heed_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < e->n; i++) {
        ok = add_kept(t, e->item[i].text.s, e->item[i].text.n, e->item[i].id, true, err);
    }
    e->n = 0;
    return ok;
}

/* "token": id */
static bool read_entry(heed_tokenizer *t, heed_pull *p, entries *e) {
    heed_line text;
    int64_t id = 0;
    if (!heed_pull_key(p, &text)) {
        return false;
    }
    const char *kind = heed_pull_kind(p);
    if (strcmp(kind, "an integer") != 0) {
        return heed_fail(p->err, HEED_FILE, "id of token '%.*s' is %s, wanted an integer",
                         (int)text.n, text.s, kind);
    }
    text.s = heed_region_text(&t->region, text.s, text.n, p->err);
    if (!text.s || !heed_pull_int(p, &id)) {
        return false;
    }
    heed_vocab_map_prefetch(&t->ids, text.s, text.n);
    e->item[e->n].text = text;
    e->item[e->n++].id = id;
    return e->n < WAITING || add_entries(t, e, p->err);
}

bool heed_vocab_read(heed_tokenizer *t, const json_t *json, heed_error *err) {
    if (!heed_json_object(json, "vocab", err)) {
        return false;
    }
    heed_pull p = {.text = t->vocab_json, .scratch.host = t->host, .err = err};
    size_t most = p.text.n / 6, tokens = heed_pull_quotes(&p) / 2; /* "a":0, takes six bytes */
    tokens = tokens < most ? tokens : most;
    bool more = true, ok = heed_vocab_map_reserve(&t->ids, tokens, err) &&
                           heed_reserve(t->host, (void **)&t->piece, &t->cap_pieces, tokens,
                                        sizeof *t->piece, err) &&
                           heed_pull_open(&p, '{');
    entries waiting = {.n = 0};
    for (bool first = true; ok && more; first = false) {
        ok = heed_pull_more(&p, '{', first, &more) && (!more || read_entry(t, &p, &waiting));
    }
    ok = ok && add_entries(t, &waiting, err);
    heed_pull_free(&p);
    if (!ok) {
        heed_error_at(err, "vocab");
    }
    return ok;
}

int32_t heed_vocab_find(const heed_tokenizer *t, const char *text, size_t n) {
    int32_t id = heed_vocab_map_find(&t->ids, text, n);
    return id >= 0 && t->piece[id].model ? id : -1;
}

bool heed_vocab_has(const heed_tokenizer *t, int64_t id) {
    return id >= 0 && (size_t)id < t->n_pieces && t->piece[id].text;
}

void heed_vocab_bytes(const heed_tokenizer *t, int32_t ids[256]) {
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        int n = snprintf(name, sizeof name, "<0x%02X>", b);
        ids[b] = heed_vocab_find(t, name, (size_t)n);
    }
}
