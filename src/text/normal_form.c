/* normal_form.c: decompose, put marks into canonical order, compose; cluster by cluster.
 *
 * A cluster begins at a code point that nothing before it combines with, and runs to the next one,
 * so each is dealt with alone. Texts in which no code point can change (ASCII, Chinese, most of
 * Japanese) are recognised first and left as they are.
 * Source: Unicode Standard Annex 15; Unicode Standard, section 3.11.
 * SPDX-License-Identifier: MIT
 */
#include "text/normal_form.h"

#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/rewrite.h"
#include "text/unicode.h"

enum {
    DECOMPOSED = 32, /* the longest decomposition has 18 code points */
    FEW = 16         /* marks in one run that insertion sort takes */
};

typedef struct {
    uint32_t cp;
    int class;  /* canonical combining class */
    int change; /* as heed_rewrite_put has it */
} point;

typedef struct {
    const heed_normal_form *form;
    heed_work *work;
    heed_rewrite rewrite;
    point *item;
    size_t n;
} cluster;

/* The form changes none of these, and nothing before them combines with them. The last two ranges
 * are composed already: Latin letters, kana. */
static bool is_inert(const heed_normal_form *form, uint32_t cp) {
    return cp < 0x80 || (cp >= 0x3400 && cp <= 0x9fff) || cp == 0x3001 || cp == 0x3002 ||
           (form->compose && ((cp >= 0xc0 && cp <= 0x131) || (cp >= 0x3041 && cp <= 0x3096) ||
                              (cp >= 0x30a1 && cp <= 0x30fa)));
}

/* Nothing before these combines with them; by themselves they may change. */
static bool begins_cluster(uint32_t cp) {
    return cp < 0x300 || (cp >= 0x3041 && cp <= 0x3096) || (cp >= 0x30a1 && cp <= 0x30fa) ||
           (cp >= 0x3400 && cp <= 0xa66e) || (cp >= 0xac00 && cp <= 0xd7a3) ||
           (cp >= 0xff01 && cp <= 0xff9d) || (cp >= 0x1f000 && cp <= 0x1faff);
}

static int class_of(uint32_t cp) {
    return heed_is_newer(cp) ? 0 : utf8proc_get_property((utf8proc_int32_t)cp)->combining_class;
}

static bool add_point(cluster *c, uint32_t cp, int change) {
    point *room = heed_work_room(c->work, HEED_ROOM_POINTS, c->n + 1, sizeof *room);
    if (!room) {
        return false;
    }
    c->item = room;
    c->item[c->n++] = (point){cp, class_of(cp), change};
    return true;
}

static bool add_decomposed(cluster *c, uint32_t cp) {
    if (cp < 0x80 || heed_is_newer(cp)) {
        return add_point(c, cp, 0);
    }
    utf8proc_int32_t parts[DECOMPOSED];
    int boundary = 0;
    int options = UTF8PROC_DECOMPOSE | (c->form->compatible ? UTF8PROC_COMPAT : 0);
    utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, DECOMPOSED,
                                                 (utf8proc_option_t)options, &boundary);
    for (utf8proc_ssize_t i = 0; i < n && i < DECOMPOSED; i++) {
        if (!add_point(c, (uint32_t)parts[i], i > 0)) {
            return false;
        }
    }
    return true;
}

static void sort_few(point *item, size_t n) {
    for (size_t i = 1; i < n; i++) {
        point moved = item[i];
        size_t at = i;
        for (; at > 0 && item[at - 1].class > moved.class; at--) {
            item[at] = item[at - 1];
        }
        item[at] = moved;
    }
}

/* Counting sort: stable, and linear whatever somebody stacks upon one letter. */
static bool sort_many(heed_work *work, point *item, size_t n) {
    point *sorted = heed_work_room(work, HEED_ROOM_ORDER, n, sizeof *sorted);
    if (!sorted) {
        return false;
    }
    size_t start[257] = {0};
    for (size_t i = 0; i < n; i++) {
        start[item[i].class + 1]++;
    }
    for (int k = 0; k < 256; k++) {
        start[k + 1] += start[k];
    }
    for (size_t i = 0; i < n; i++) {
        sorted[start[item[i].class]++] = item[i];
    }
    memcpy(item, sorted, n * sizeof *item);
    return true;
}

/* Canonical order: each run of marks (class above 0) by class. */
static bool order(cluster *c) {
    for (size_t i = 0; i < c->n;) {
        size_t end = i;
        while (end < c->n && c->item[end].class > 0) {
            end++;
        }
        if (end - i <= FEW) {
            sort_few(c->item + i, end - i);
        } else if (!sort_many(c->work, c->item + i, end - i)) {
            return false;
        }
        i = end + 1;
    }
    return true;
}

/* The primary composite of two code points, 0 where there is none. */
static uint32_t composed(uint32_t a, uint32_t b) {
    if (heed_is_newer(a) || heed_is_newer(b)) {
        return 0;
    }
    utf8proc_int32_t both[2] = {(utf8proc_int32_t)a, (utf8proc_int32_t)b};
    int options = UTF8PROC_COMPOSE | UTF8PROC_STABLE;
    return utf8proc_normalize_utf32(both, 2, (utf8proc_option_t)options) == 1 ? (uint32_t)both[0]
                                                                              : 0;
}

/* Composes in place. A mark is blocked from its starter by a kept one of the same or a higher
 * class, or by another starter. */
static void compose(cluster *c) {
    size_t kept = 0, starter = SIZE_MAX;
    int last = 0; /* class of the last kept point behind the starter; 0: none */
    for (size_t i = 0; i < c->n; i++) {
        point p = c->item[i];
        bool near = starter != SIZE_MAX && (kept == starter + 1 || (last > 0 && last < p.class));
        uint32_t one = near ? composed(c->item[starter].cp, p.cp) : 0;
        if (one) {
            c->item[starter].cp = one;
            c->item[starter].change += p.change - 1;
            continue;
        }
        if (p.class == 0) {
            starter = kept;
        }
        last = p.class;
        c->item[kept++] = p;
    }
    c->n = kept;
}

static bool flush(cluster *c) {
    if (c->n > 1) {
        if (!order(c)) {
            return false;
        }
        if (c->form->compose) {
            compose(c);
        }
    }
    for (size_t i = 0; i < c->n; i++) {
        if (!heed_rewrite_put(&c->rewrite, c->item[i].cp, c->item[i].change)) {
            return false;
        }
    }
    c->n = 0;
    return true;
}

static bool stays(const heed_normal_form *form, const heed_strand *s) {
    uint32_t cp = 0;
    for (size_t at = 0; at < s->n;) {
        if ((unsigned char)s->text[at] < 0x80) {
            at++;
            continue;
        }
        at += (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
        if (!is_inert(form, cp)) {
            return false;
        }
    }
    return true;
}

bool heed_normal_form_apply(const heed_normal_form *form, heed_work *work) {
    const heed_strand *s = &work->now;
    if (stays(form, s)) {
        return true;
    }
    cluster c = {.form = form, .work = work, .rewrite = {.work = work}};
    for (size_t at = 0; at < s->n;) {
        uint32_t cp = 0;
        size_t n = (size_t)heed_utf8_next(s->text + at, s->n - at, &cp);
        if (begins_cluster(cp) && !flush(&c)) {
            return false;
        }
        if (!add_decomposed(&c, cp)) {
            return false;
        }
        at += n;
    }
    if (!flush(&c)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}
