/* align.c: cross-attention against alignments made by hand.
 *
 * A word's tokens are those whose bytes lie in it; their rows of one head are added, and the key
 * with the largest sum is what the word looks at, special tokens among the choices.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "data/lines.h"
#include "heed_look.h"
#include "model/model.h"

#include <inttypes.h>
#include <string.h>

void heed_alignment_free(heed_alignment *a) {
    heed_free(a->host, a->hits);
    *a = (heed_alignment){0};
}

/* A word of the translation: its bytes there, and the characters that it stands for ("2,3"). */
typedef struct {
    uint32_t begin, end;
    heed_line characters;
} word;

static bool is_mark(char c) {
    return c == ' ' || c == '\t' || c == '\0';
}

/* "-" or numbers of at most 9 digits divided by commas. */
static bool is_list(const char *s, size_t n) {
    size_t digits = 0;
    if (n == 1 && *s == '-') {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        bool digit = s[i] >= '0' && s[i] <= '9';
        if ((!digit && (s[i] != ',' || digits == 0)) || (digit && digits == 9)) {
            return false;
        }
        digits = digit ? digits + 1 : 0;
    }
    return digits > 0;
}

/* The next "word=characters" of the list, looked up in the translation behind *at. False at the end
 * of the list, or with err. */
static bool next_word(heed_line *list, heed_line target, size_t *at, word *out, heed_error *err) {
    while (list->n && is_mark(*list->s)) {
        list->s++, list->n--;
    }
    size_t n = 0, equals = 0;
    while (n < list->n && !is_mark(list->s[n])) {
        equals = list->s[n] == '=' ? n : equals;
        n++;
    }
    if (n == 0) {
        return false;
    }
    while (*at + equals <= target.n && memcmp(target.s + *at, list->s, equals) != 0) {
        ++*at;
    }
    if (equals == 0 || *at + equals > target.n || !is_list(list->s + equals + 1, n - equals - 1)) {
        return heed_fail(err, HEED_TEXT, "'%.*s' is no word=characters of the translation", (int)n,
                         list->s);
    }
    *out = (word){.begin = (uint32_t)*at,
                  .end = (uint32_t)(*at + equals),
                  .characters = {list->s + equals + 1, n - equals - 1}};
    *at += equals;
    list->s += n;
    list->n -= n;
    return true;
}

/* Number of the character that begins at byte `at`. */
static int64_t character_at(heed_line text, size_t at) {
    int64_t n = 0;
    for (size_t i = 0; i < at && i < text.n; i++) {
        n += (text.s[i] & 0xC0) != 0x80;
    }
    return n;
}

static bool listed(heed_line characters, int64_t wanted) {
    int64_t number = 0;
    for (size_t i = 0; i <= characters.n; i++) {
        if (i == characters.n || characters.s[i] == ',') {
            if (number == wanted) {
                return true;
            }
            number = 0;
        } else {
            number = 10 * number + (characters.s[i] - '0');
        }
    }
    return false;
}

/* Does the key cover one of the word's characters? */
static bool covers(const heed_shown_token *key, heed_line source, const word *w) {
    int64_t to = character_at(source, key->end);
    for (int64_t c = character_at(source, key->begin); key->end > key->begin && c < to; c++) {
        if (listed(w->characters, c)) {
            return true;
        }
    }
    return false;
}

static int64_t looked_at(const heed_attention_map *m, const float *weight, const word *w,
                         bool *found) {
    int64_t best = 0;
    double most = -1;
    *found = false;
    for (int64_t k = 0; k < m->keys; k++) {
        double sum = 0;
        for (int64_t q = 0; q < m->queries; q++) {
            const heed_shown_token *t = &m->query[q];
            if (t->end > t->begin && t->end > w->begin && t->begin < w->end) {
                sum += (double)weight[q * m->keys + k];
                *found = true;
            }
        }
        if (sum > most) {
            most = sum;
            best = k;
        }
    }
    return best;
}

static bool count_word(const heed_attention_map *m, heed_line source, const word *w,
                       heed_alignment *out, heed_error *err) {
    bool found = true;
    for (int64_t h = 0; h < m->layers * m->heads; h++) {
        int64_t key = looked_at(m, m->weight + h * m->queries * m->keys, w, &found);
        out->hits[h] += covers(&m->key[key], source, w);
    }
    out->words++;
    return found || heed_fail(err, HEED_TEXT, "no token lies in a word of the translation");
}

static bool count_line(heed_model *model, heed_line line, heed_alignment *out, heed_error *err) {
    heed_line source, target, list;
    if (!heed_line_column(line, 1, &source) || !heed_line_column(line, 2, &target) ||
        !heed_line_column(line, 3, &list)) {
        return heed_fail(err, HEED_TEXT, "wanted three columns divided by tabs");
    }
    heed_attention *a = heed_attention_new(model, source, &target, err);
    if (!a) {
        return false;
    }
    heed_attention_map m = heed_attention_of(a, HEED_ATTENTION_CROSS);
    heed_error inner = {0};
    size_t at = 0;
    word w = {0};
    while (next_word(&list, target, &at, &w, &inner)) {
        bool aligned = w.characters.n > 0 && w.characters.s[0] != '-';
        if (aligned && !count_word(&m, source, &w, out, &inner)) {
            break;
        }
    }
    heed_attention_free(a);
    return !inner.code || heed_fail(err, inner.code, "%s", inner.text);
}

bool heed_alignment_of(heed_model *model, const char *path, heed_alignment *out, heed_error *err) {
    const heed_config *c = heed_model_config(model);
    heed_lines lines = {0};
    *out = (heed_alignment){
        .host = heed_model_host(model), .layers = c->decoder.layers, .heads = c->decoder.heads};
    out->hits = heed_alloc(out->host, (size_t)(out->layers * out->heads), sizeof *out->hits, err);
    bool ok = out->hits && heed_lines_read(&lines, out->host, path, 0, err);
    for (int64_t i = 0; ok && i < lines.n; i++) {
        ok = count_line(model, lines.line[i], out, err);
        if (!ok) {
            heed_error_at(err, "'%s' line %" PRId64, path, i + 1);
        }
    }
    heed_lines_free(&lines);
    if (ok && out->words == 0) {
        ok = heed_fail(err, HEED_TEXT, "'%s' aligns no word", path);
    }
    if (!ok) {
        heed_alignment_free(out);
    }
    return ok;
}
