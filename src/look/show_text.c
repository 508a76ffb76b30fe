/* show_text.c: attention as a heat map of characters.
 *
 * A column of the map is as wide as its token on a terminal; maps wider than the terminal are cut
 * into panels. Each row ends with the token that it looks at most.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "base/mem.h"
#include "heed_look.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_WIDTH = 20, CELL = 2, LONGEST_TOKEN = 12, SHADES = 5 };

static const char *const SHADE[SHADES] = {" ", "░", "▒", "▓", "█"};

typedef struct {
    heed_attention_map map;
    const float *weight; /* queries x keys */
    int label;           /* columns of the row labels */
    bool colour;
    heed_buf *out;
} drawing;

/* Bytes of the token's beginning that take at most `most` columns. */
static size_t clip(const char *s, int most) {
    size_t n = 0;
    while (s[n]) {
        size_t next = n + 1;
        while ((s[next] & 0xC0) == 0x80) {
            next++;
        }
        if (heed_utf8_columns(s, next) > most) {
            break;
        }
        n = next;
    }
    return n;
}

static int columns_of(const char *s) {
    return heed_utf8_columns(s, clip(s, LONGEST_TOKEN));
}

static int cell_width(const heed_shown_token *t) {
    int width = columns_of(t->shown);
    return width < CELL ? CELL : width;
}

static void pad(heed_buf *out, int n) {
    heed_buf_format(out, "%*s", n > 0 ? n : 0, "");
}

static void add_token(heed_buf *out, const char *s) {
    heed_buf_add(out, s, clip(s, LONGEST_TOKEN));
}

static void draw_cell(const drawing *d, float w, int width) {
    if (d->colour) {
        /* 232 to 255 are the greys of a terminal of 256 colours, dark to light. */
        int grey = 232 + (int)(23.0f * (w < 1 ? w : 1.0f));
        heed_buf_format(d->out, "\033[48;5;%dm%*s\033[0m", grey, width, "");
        return;
    }
    int shade = (int)(w * SHADES);
    for (int i = 0; i < width; i++) {
        heed_buf_text(d->out, SHADE[shade < SHADES ? shade : SHADES - 1]);
    }
}

static void draw_row(const drawing *d, int64_t q, int64_t from, int64_t to) {
    const float *w = d->weight + q * d->map.keys;
    const char *label = d->map.query[q].shown;
    int64_t best = 0;
    pad(d->out, d->label - columns_of(label));
    add_token(d->out, label);
    for (int64_t k = from; k < to; k++) {
        heed_buf_text(d->out, " ");
        draw_cell(d, w[k], cell_width(&d->map.key[k]));
    }
    for (int64_t k = 0; k < d->map.keys; k++) {
        best = w[k] > w[best] ? k : best;
    }
    if (to == d->map.keys) {
        heed_buf_text(d->out, "  ");
        add_token(d->out, d->map.key[best].shown);
        heed_buf_format(d->out, " %.2f", (double)w[best]);
    }
    heed_buf_text(d->out, "\n");
}

/* Keys from `from` on that fit into `width` columns, at least one. */
static int64_t panel_end(const drawing *d, int64_t from, int width) {
    int used = d->label + LONGEST_TOKEN + 8;
    int64_t to = from;
    while (to < d->map.keys && (to == from || used + 1 + cell_width(&d->map.key[to]) <= width)) {
        used += 1 + cell_width(&d->map.key[to++]);
    }
    return to;
}

static void draw_panel(const drawing *d, int64_t from, int64_t to) {
    pad(d->out, d->label);
    for (int64_t k = from; k < to; k++) {
        heed_buf_text(d->out, " ");
        add_token(d->out, d->map.key[k].shown);
        pad(d->out, cell_width(&d->map.key[k]) - columns_of(d->map.key[k].shown));
    }
    heed_buf_text(d->out, "\n");
    for (int64_t q = 0; q < d->map.queries; q++) {
        draw_row(d, q, from, to);
    }
}

bool heed_attention_print(const heed_attention *a, const heed_attention_style *style, heed_buf *out,
                          heed_error *err) {
    drawing d = {.map = heed_attention_of(a, style->kind), .colour = style->colour, .out = out};
    int width = style->width ? style->width : 80;
    size_t cells = (size_t)(d.map.queries * d.map.keys);
    float *weight = heed_alloc(out->host, cells, sizeof *weight, err);
    if (!weight || !heed_attention_mean(&d.map, style->layer, style->head, weight, err)) {
        heed_free(out->host, weight);
        return false;
    }
    d.weight = weight;
    for (int64_t q = 0; q < d.map.queries; q++) {
        int columns = columns_of(d.map.query[q].shown);
        d.label = columns > d.label ? columns : d.label;
    }
    width = width < LEAST_WIDTH ? LEAST_WIDTH : width;
    for (int64_t from = 0; from < d.map.keys;) {
        int64_t to = panel_end(&d, from, width);
        draw_panel(&d, from, to);
        from = to;
    }
    heed_free(out->host, weight);
    return !out->failed || heed_fail(err, HEED_NOMEM, "no memory for the heat map");
}
