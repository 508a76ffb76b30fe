/* recipe_value.c: one value of a recipe, from text and to text.
 *
 * Invariant: a value that was stored is in its key's range; one that was refused changed nothing.
 * SPDX-License-Identifier: MIT
 */
#include "train/recipe_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/json.h"
#include "train/number.h"

typedef struct {
    const heed_recipe_key *key;
    const char *text;
    size_t n;
    heed_error *err;
} reading;

const char *heed_recipe_show(char out[HEED_SHOWN], const char *text, size_t n) {
    const size_t most = HEED_SHOWN - 6; /* two quotes, three points, NUL */
    size_t end = n < most ? n : most;
    while (end < n && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
        end--;
    }
    out[0] = '\'';
    memcpy(out + 1, text, end);
    memcpy(out + 1 + end, end < n ? "...'" : "'", end < n ? 5 : 2);
    return out;
}

static bool refuse(const reading *r, const char *wanted) {
    char shown[HEED_SHOWN];
    if (r->n == 0) {
        return heed_fail(r->err, HEED_VALUE, "%s.%s is empty, must be %s", r->key->section,
                         r->key->name, wanted);
    }
    return heed_fail(r->err, HEED_VALUE, "%s.%s is %s, must be %s", r->key->section, r->key->name,
                     heed_recipe_show(shown, r->text, r->n), wanted);
}

static bool in_range(const reading *r, double x) {
    const heed_key_range *range = &r->key->range;
    bool low = range->above ? x > range->low : x >= range->low;
    bool high = range->below ? x < range->high : x <= range->high;
    if (low && high) {
        return true;
    }
    return heed_fail(r->err, HEED_VALUE, "%s.%s is %.*s, must be %s %.15g and %s %.15g",
                     r->key->section, r->key->name, (int)r->n, r->text,
                     range->above ? "above" : "at least", range->low,
                     range->below ? "below" : "at most", range->high);
}

static bool read_number(const reading *r, double *x) {
    if (!heed_number_read(r->text, r->n, x)) {
        return refuse(r, "a number");
    }
    return in_range(r, *x);
}

/* 1e5 is a whole number too: what counts is the value. Ranges end below 2^53, so doubles hold it
 * exactly. */
static bool read_whole(const reading *r, int64_t *whole) {
    double x;
    if (!heed_number_read(r->text, r->n, &x) || x != floor(x)) {
        return refuse(r, "a whole number");
    }
    if (!in_range(r, x)) {
        return false;
    }
    *whole = (int64_t)x;
    return true;
}

static bool is_word(const reading *r, const char *word) {
    return strlen(word) == r->n && memcmp(r->text, word, r->n) == 0;
}

static bool read_flag(const reading *r, bool *flag) {
    *flag = is_word(r, "true");
    return *flag || is_word(r, "false") || refuse(r, "true or false");
}

static bool read_choice(const reading *r, int *choice) {
    char list[200];
    size_t at = 0;
    for (int i = 0; r->key->choices[i]; i++) {
        const char *name = r->key->choices[i];
        size_t n = strlen(name);
        if (is_word(r, name)) {
            *choice = i;
            return true;
        }
        memcpy(list + at, name, n);
        memcpy(list + at + n, ", ", 2);
        at += n + 2;
    }
    list[at - 2] = '\0'; /* the table's lists are short, a test sees to it */
    char wanted[220] = "one of ";
    memcpy(wanted + 7, list, at - 1);
    return refuse(r, wanted);
}

/* What YAML cannot hold as it stands, and what has no place in a path: control characters and
 * non-characters. */
static bool is_printable(uint32_t cp) {
    return (cp >= 0x20 && cp < 0x7f) || (cp >= 0xa0 && cp <= 0xfffd && cp != 0xfeff) ||
           cp >= 0x10000;
}

static bool read_text(const reading *r, heed_recipe *recipe, const char **text) {
    for (size_t at = 0; at < r->n;) {
        uint32_t cp;
        int bytes = heed_utf8_next(r->text + at, r->n - at, &cp);
        if (bytes == 0 || !is_printable(cp)) {
            return heed_fail(r->err, HEED_TEXT,
                             "%s.%s has a byte at %zu that is not printable UTF-8", r->key->section,
                             r->key->name, at);
        }
        at += (size_t)bytes;
    }
    const char *copy = heed_region_text(&recipe->texts, r->text, r->n, r->err);
    if (!copy) {
        return false;
    }
    *text = copy;
    return true;
}

static bool store(const reading *r, heed_recipe *recipe) {
    char *field = (char *)recipe + r->key->offset;
    switch (r->key->kind) {
    case HEED_KEY_WHOLE:
        return read_whole(r, (int64_t *)(void *)field);
    case HEED_KEY_NUMBER: {
        double x;
        if (!read_number(r, &x)) {
            return false;
        }
        *(double *)(void *)field = x;
        return true;
    }
    case HEED_KEY_FLAG: {
        bool flag;
        if (!read_flag(r, &flag)) {
            return false;
        }
        *(bool *)field = flag;
        return true;
    }
    case HEED_KEY_CHOICE:
        return read_choice(r, (int *)(void *)field);
    case HEED_KEY_TEXT:
        return read_text(r, recipe, (const char **)(void *)field);
    }
    return false;
}

/* YAML's words for "no value" mean the empty text. */
static bool is_nothing(const reading *r) {
    return is_word(r, "~") || is_word(r, "null");
}

bool heed_recipe_assign(heed_recipe *recipe, const heed_recipe_key *key, const char *text, size_t n,
                        bool plain, const char *where, heed_error *err) {
    reading r = {.key = key, .text = text, .n = n, .err = err};
    if (plain && is_nothing(&r)) {
        r.n = 0;
    }
    if (!plain && key->kind != HEED_KEY_TEXT) {
        char shown[HEED_SHOWN];
        return heed_fail(err, HEED_VALUE, "%s.%s is the text %s, write it without quotes",
                         key->section, key->name, heed_recipe_show(shown, text, n));
    }
    if (!store(&r, recipe)) {
        return false;
    }
    size_t count;
    recipe->where[key - heed_recipe_keys(&count)] = where;
    return true;
}

bool heed_recipe_print_value(const heed_recipe *recipe, const heed_recipe_key *key, heed_buf *out) {
    const char *field = (const char *)recipe + key->offset;
    switch (key->kind) {
    case HEED_KEY_WHOLE:
        return heed_buf_format(out, "%" PRId64, *(const int64_t *)(const void *)field);
    case HEED_KEY_NUMBER: {
        char number[32];
        heed_json_format_real(*(const double *)(const void *)field, number);
        return heed_buf_text(out, number);
    }
    case HEED_KEY_FLAG:
        return heed_buf_text(out, *(const bool *)field ? "true" : "false");
    case HEED_KEY_CHOICE:
        return heed_buf_text(out, key->choices[*(const int *)(const void *)field]);
    case HEED_KEY_TEXT: {
        const char *text = *(const char *const *)(const void *)field;
        return heed_json_print_string(out, text, strlen(text)); /* JSON's quoting is YAML's, too */
    }
    }
    return false;
}

const char *heed_recipe_where(const heed_recipe *recipe, const void *field) {
    size_t count, offset = (size_t)((const char *)field - (const char *)recipe);
    const heed_recipe_key *keys = heed_recipe_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].offset == offset) {
            return recipe->where[i];
        }
    }
    return NULL;
}
