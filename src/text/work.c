/* work.c: the growing arrays of one call: strands, cuts, texts, rooms.
 * SPDX-License-Identifier: MIT
 */
#include "text/work.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* What an array has room for at first: most texts are short, and then none grows twice. */
enum { FIRST_BYTES = 64, FIRST_CUTS = 32, FIRST_ROOM = 4096 };

/* Normal forms make 11 times as many bytes of U+FDFA, and the byte alphabet two of one. */
enum { GROWTH = 32, FREE_BYTES = 1 << 20 };

void heed_work_init(heed_work *work, const heed_host *host, heed_error *err) {
    *work = (heed_work){.host = host, .err = err};
    work->texts.data.host = host;
    work->texts_next.data.host = host;
}

static void free_strand(const heed_host *host, heed_strand *strand) {
    heed_free(host, strand->text);
    heed_free(host, strand->from);
}

void heed_work_free(heed_work *work) {
    free_strand(work->host, &work->whole);
    free_strand(work->host, work->plain ? &work->store : &work->now);
    free_strand(work->host, &work->next);
    heed_free(work->host, work->words.item);
    heed_free(work->host, work->cuts.item);
    heed_free(work->host, work->pieces.item);
    heed_free(work->host, work->parts.item);
    heed_buf_free(&work->texts.data);
    heed_buf_free(&work->texts_next.data);
    heed_free(work->host, work->texts.end);
    heed_free(work->host, work->texts_next.end);
    for (int i = 0; i < HEED_ROOMS; i++) {
        heed_free(work->host, work->room[i].p);
    }
    if (work->match_free) {
        work->match_free(work->match);
    }
}

void *heed_work_room(heed_work *work, heed_room which, size_t count, size_t size) {
    if (count > SIZE_MAX / size) {
        heed_fail(work->err, HEED_NOMEM, "out of memory: %zu items of %zu bytes asked for", count,
                  size);
        return NULL;
    }
    size_t need = count * size < FIRST_ROOM ? FIRST_ROOM : count * size;
    return heed_reserve(work->host, &work->room[which].p, &work->room[which].bytes, need, 1,
                        work->err)
               ? work->room[which].p
               : NULL;
}

bool heed_work_fits(heed_work *work, size_t bytes) {
    if (bytes <= FREE_BYTES || (bytes - FREE_BYTES) / GROWTH <= work->n) {
        return true;
    }
    return heed_fail(work->err, HEED_LIMIT,
                     "the tokenizer's rules make more than %" PRIu64 " bytes of a text of %zu",
                     FREE_BYTES + (uint64_t)GROWTH * work->n, work->n);
}

bool heed_work_full(heed_work *work) {
    return heed_fail(work->err, HEED_NOMEM, "out of memory: a text grew too long");
}

static bool grow(heed_work *work, heed_strand *strand, size_t n) {
    size_t need = strand->n + n;
    if (n > UINT32_MAX - strand->n) {
        return heed_fail(work->err, HEED_LIMIT, "text of %zu bytes is above the limit of %u", need,
                         UINT32_MAX);
    }
    if (!heed_work_fits(work, need)) {
        return false;
    }
    size_t room = strand->text_cap > 0 ? need : need + work->n + FIRST_BYTES;
    return heed_reserve(work->host, (void **)&strand->text, &strand->text_cap, room, 1,
                        work->err) &&
           heed_reserve(work->host, (void **)&strand->from, &strand->from_cap, room,
                        sizeof *strand->from, work->err);
}

bool heed_strand_put(heed_work *work, heed_strand *strand, const char *s, size_t n,
                     heed_origin from) {
    if (!grow(work, strand, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        strand->text[strand->n + i] = s[i];
        strand->from[strand->n + i] = from;
    }
    strand->n += n;
    return true;
}

/* Origins of bytes [from, to) of a plain `now`: each code point its own place. */
static void fill_origins(const heed_work *work, size_t from, size_t to, heed_origin *out) {
    const char *s = work->now.text;
    for (size_t at = from; at < to;) {
        size_t end = at + 1;
        while (end < to && ((unsigned char)s[end] & 0xc0) == 0x80) {
            end++;
        }
        heed_origin here = {work->view + (uint32_t)at, work->view + (uint32_t)end};
        for (; at < end; at++) {
            *out++ = here;
        }
    }
}

bool heed_strand_copy(heed_work *work, heed_strand *strand, const heed_strand *source, size_t from,
                      size_t to) {
    size_t n = to - from;
    if (n == 0) {
        return true;
    }
    if (!grow(work, strand, n)) {
        return false;
    }
    memcpy(strand->text + strand->n, source->text + from, n);
    if (source->from) {
        memcpy(strand->from + strand->n, source->from + from, n * sizeof *strand->from);
    } else {
        fill_origins(work, from, to, strand->from + strand->n);
    }
    strand->n += n;
    return true;
}

void heed_work_turn(heed_work *work) {
    heed_strand read = work->plain ? work->store : work->now;
    work->plain = false;
    work->now = work->next;
    work->next = read;
    work->next.n = 0;
}

void heed_work_view(heed_work *work, size_t from, size_t to) {
    if (!work->plain) {
        work->store = work->now;
        work->plain = true;
    }
    /* never written to: who writes owns it first */
    work->now = (heed_strand){.text = (char *)(uintptr_t)(work->text + from), .n = to - from};
    work->view = (uint32_t)from;
}

bool heed_work_own(heed_work *work) {
    if (!work->plain) {
        return true;
    }
    if (!heed_strand_copy(work, &work->next, &work->now, 0, work->now.n)) {
        return false;
    }
    heed_work_turn(work);
    return true;
}

heed_origin heed_work_origin(const heed_work *work, size_t i) {
    const heed_strand *s = &work->now;
    if (s->from) {
        return s->from[i];
    }
    size_t begin = i, end = i + 1;
    while (begin > 0 && ((unsigned char)s->text[begin] & 0xc0) == 0x80) {
        begin--;
    }
    while (end < s->n && ((unsigned char)s->text[end] & 0xc0) == 0x80) {
        end++;
    }
    return (heed_origin){work->view + (uint32_t)begin, work->view + (uint32_t)end};
}

bool heed_cuts_add(heed_work *work, heed_cuts *cuts, size_t from, size_t to, bool match) {
    if (!heed_reserve(work->host, (void **)&cuts->item, &cuts->cap, cuts->n + 1, sizeof *cuts->item,
                      work->err)) {
        return false;
    }
    cuts->item[cuts->n++] = (heed_cut){from, to, match};
    return true;
}

bool heed_work_put(heed_work *work, heed_token token) {
    heed_tokens *out = work->out;
    if (!heed_reserve(out->host, (void **)&out->item, &out->cap, out->n + 1, sizeof *out->item,
                      work->err)) {
        return false;
    }
    out->item[out->n++] = token;
    return true;
}

bool heed_work_emit_at(heed_work *work, int32_t id, uint32_t begin, uint32_t end) {
    return heed_work_put(work,
                         (heed_token){.id = id, .begin = begin, .end = end, .text = work->which});
}

bool heed_work_emit(heed_work *work, int32_t id, size_t from, size_t to) {
    return heed_work_emit_at(work, id, heed_work_origin(work, from).begin,
                             heed_work_origin(work, to - 1).end);
}

bool heed_texts_end(heed_work *work, heed_texts *texts) {
    if (texts->data.failed) {
        return heed_work_full(work);
    }
    if (!heed_work_fits(work, texts->data.n)) {
        return false;
    }
    if (!heed_reserve(work->host, (void **)&texts->end, &texts->cap, texts->n + 1,
                      sizeof *texts->end, work->err)) {
        return false;
    }
    texts->end[texts->n++] = texts->data.n;
    return true;
}

const char *heed_texts_at(const heed_texts *texts, size_t i, size_t *n) {
    size_t from = i > 0 ? texts->end[i - 1] : 0;
    *n = texts->end[i] - from;
    return texts->data.data ? texts->data.data + from : "";
}

void heed_texts_turn(heed_work *work) {
    heed_texts read = work->texts;
    work->texts = work->texts_next;
    work->texts_next = read;
    work->texts_next.n = 0;
    work->texts_next.data.n = 0;
}
