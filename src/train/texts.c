/* texts.c: see texts.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static bool read_path(heed_documents *d, const heed_host *host, const heed_recipe_data *data,
                      const char *key, const char *named, heed_error *err) {
    char *path = heed_recipe_path(host, named, err);
    heed_documents_opts opts = {.path = path,
                                .column = data->text_column,
                                .cut = (heed_document_cut)data->document,
                                .match = data->match};
    bool ok = path && heed_documents_read(d, host, &opts, err);
    if (path && !ok) {
        heed_error_at(err, "data.%s", key);
    }
    heed_free(host, path);
    return ok;
}

static void tell(const heed_documents *d, const char *key, const heed_notes *notes) {
    if (d->empty > 0) {
        heed_note(notes, "data.%s: %" PRId64 " documents have no text and are left out", key,
                  d->empty);
    }
    if (d->unmatched > 0) {
        heed_note(notes, "data.%s: data.match finds nothing in %" PRId64 " documents", key,
                  d->unmatched);
    }
}

static bool tell_seen(const heed_text_corpus *c, const heed_notes *notes, heed_error *err) {
    int64_t seen;
    bool own = !c->held.n;
    if (!heed_documents_seen(&c->text, own ? NULL : &c->held, &seen, err)) {
        return false;
    }
    if (seen > 0) {
        heed_note(notes,
                  "%" PRId64 " of %" PRId64 " validation documents stand in the training text "
                  "too: validation flatters the model",
                  seen, c->valid_documents);
    }
    return true;
}

static bool hold_out(heed_text_corpus *c, const heed_recipe_data *data, heed_error *err) {
    heed_documents_hold hold = {.share = data->split_valid,
                                .end = data->split_by == HEED_RECIPE_BY_END,
                                .within = data->join};
    if (!heed_documents_split(&c->text, hold, err)) {
        heed_error_at(err, "data.split_valid");
        return false;
    }
    for (int64_t i = 0; i < c->text.n; i++) {
        c->valid_documents += c->text.item[i].held;
    }
    return true;
}

bool heed_texts_read(heed_text_corpus *c, const heed_host *host, const heed_recipe *recipe,
                     const heed_notes *notes, heed_error *err) {
    const heed_recipe_data *data = &recipe->data;
    c->host = c->text.host = c->held.host = c->train.host = c->valid.host = host;
    if (!read_path(&c->text, host, data, "text", data->text, err)) {
        return false;
    }
    tell(&c->text, "text", notes);
    if (*data->valid_text) {
        if (!read_path(&c->held, host, data, "valid_text", data->valid_text, err)) {
            return false;
        }
        tell(&c->held, "valid_text", notes);
        c->valid_documents = c->held.n;
    } else if (data->split_valid > 0.0 && !hold_out(c, data, err)) {
        return false;
    }
    c->documents = c->text.n - (c->held.n ? 0 : c->valid_documents);
    return !c->valid_documents || tell_seen(c, notes, err);
}

/* ---- The tokenizer -------------------------------------------------------------------------- */

/* Lines with their ends, so that a long text is no long line, and its ends of lines have pieces. */
typedef struct {
    const heed_documents *d;
    int64_t next;
    size_t at;
} reader;

static bool next_line(void *ctx, const char **line, size_t *n, heed_error *err) {
    reader *r = ctx;
    (void)err;
    while (r->next < r->d->n && (r->d->item[r->next].held || r->at >= r->d->item[r->next].text.n)) {
        r->next++;
        r->at = 0;
    }
    if (r->next >= r->d->n) {
        return false;
    }
    heed_line text = r->d->item[r->next].text;
    const char *s = text.s + r->at, *stop = memchr(s, '\n', text.n - r->at);
    *line = s;
    *n = stop ? (size_t)(stop - s) + 1 : text.n - r->at;
    r->at += *n;
    return true;
}

heed_tokenizer *heed_texts_make_tokenizer(const heed_text_corpus *c, const heed_recipe *recipe,
                                          const heed_notes *notes, heed_error *err) {
    static const char *const specials[] = {"<unk>", "<s>", "</s>"};
    reader r = {.d = &c->text};
    if (recipe->tokenizer.type == HEED_RECIPE_FILE) {
        return heed_recipe_open_tokenizer(recipe, c->host, err);
    }
    heed_tokenizer_options options = {.specials = specials,
                                      .n_specials = sizeof specials / sizeof *specials,
                                      .end_template = recipe->data.join ? NULL : "<s> $A",
                                      .no_first_mark = true};
    return heed_recipe_learn_tokenizer(recipe, c->host, options, next_line, &r, notes, err);
}

/* ---- Ids ------------------------------------------------------------------------------------ */

typedef struct {
    const heed_tokenizer *tokenizer;
    heed_tokens tokens;
    int32_t *id;
    size_t n, cap;
    bool join;
    int32_t bos, eos;
} encoder;

static bool put(encoder *e, int32_t id, heed_error *err) {
    if (!heed_reserve(e->tokens.host, (void **)&e->id, &e->cap, e->n + 1, sizeof *e->id, err)) {
        return false;
    }
    e->id[e->n++] = id;
    return true;
}

/* The ids of a document into e->id. */
static bool encode(encoder *e, heed_line text, heed_error *err) {
    e->n = e->tokens.n = 0;
    if (!heed_encode(e->tokenizer, text.s, text.n, !e->join, &e->tokens, err)) {
        return false;
    }
    const heed_token *t = e->tokens.item;
    bool begin = !e->join && e->bos >= 0 && (e->tokens.n == 0 || t[0].id != e->bos);
    bool ok = !begin || put(e, e->bos, err);
    for (size_t i = 0; ok && i < e->tokens.n; i++) {
        ok = put(e, t[i].id, err);
    }
    bool end = !e->join && e->eos >= 0 && (e->n == 0 || e->id[e->n - 1] != e->eos);
    return ok && (!end || put(e, e->eos, err));
}

static bool encode_part(encoder *e, const heed_documents *d, bool held, heed_id_texts *out,
                        heed_error *err) {
    bool first = true;
    for (int64_t i = 0; i < d->n; i++) {
        if (d->item[i].held != held) {
            continue;
        }
        if (e->join && !first && e->eos >= 0 && !heed_id_texts_add(out, &e->eos, 1, err)) {
            return false;
        }
        first = false;
        if (!encode(e, d->item[i].text, err) ||
            !heed_id_texts_add(out, e->id, (int64_t)e->n, err)) {
            heed_error_at(err, "document %" PRId64, i + 1);
            return false;
        }
    }
    return true;
}

bool heed_texts_encode(heed_text_corpus *c, const heed_tokenizer *tokenizer, bool join, int32_t bos,
                       int32_t eos, heed_error *err) {
    encoder e = {
        .tokenizer = tokenizer, .tokens = {.host = c->host}, .join = join, .bos = bos, .eos = eos};
    bool own = !c->held.n;
    bool ok =
        encode_part(&e, &c->text, false, &c->train, err) &&
        (!c->valid_documents || encode_part(&e, own ? &c->text : &c->held, own, &c->valid, err));
    heed_free(c->host, e.id);
    heed_tokens_free(&e.tokens);
    heed_documents_free(&c->text);
    heed_documents_free(&c->held);
    return ok;
}

void heed_texts_free(heed_text_corpus *c) {
    heed_documents_free(&c->text);
    heed_documents_free(&c->held);
    heed_id_texts_free(&c->train);
    heed_id_texts_free(&c->valid);
}
