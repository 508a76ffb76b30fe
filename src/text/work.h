/* work.h: what one call of encode or decode carries through the chain.
 *
 * A strand is text with, for each byte, the bytes of the caller's text it came from. Invariant: it
 * is UTF-8, all bytes of one code point have the same origin, and origins never go back, so stages
 * cut and rewrite whole code points only. As long as no stage has rewritten anything, `now` is
 * plain: a view of the caller's text itself, whose origins are its own places. All arrays here grow
 * and are used again by the next stage; nothing is shared between calls.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_WORK_H
#define HEED_TEXT_WORK_H

#include "text/text.h"

typedef struct {
    uint32_t begin, end;
} heed_origin;

typedef struct {
    char *text;
    heed_origin *from; /* one for each byte of text; NULL where the strand is plain */
    size_t n, text_cap, from_cap;
} heed_strand;

/* Bytes [from, to) of a strand or of any text; match: a pattern found it, it does not lie
 * between. */
typedef struct {
    size_t from, to;
    bool match;
} heed_cut;

typedef struct {
    heed_cut *item;
    size_t n, cap;
} heed_cuts;

/* A list of short texts in one buffer: what decoders pass on. end[i] is where text i ends. */
typedef struct {
    heed_buf data;
    size_t *end;
    size_t n, cap;
} heed_texts;

/* Memory that one kind of stage uses, by the kind's own element type. */
typedef enum { HEED_ROOM_POINTS, HEED_ROOM_ORDER, HEED_ROOM_NODES, HEED_ROOM_HEAP } heed_room;
enum { HEED_ROOMS = HEED_ROOM_HEAP + 1 };

typedef struct {
    const heed_host *host;
    heed_error *err;
    const heed_tokenizer *tokenizer;
    heed_strand whole;     /* a section of the caller's text, normalised */
    heed_strand now, next; /* what the stage reads, and what it writes before they change places */
    heed_strand store;     /* the memory of `now` while that is plain */
    bool plain;
    uint32_t view;         /* where in the caller's text a plain `now` begins */
    heed_cuts words, cuts; /* words of `now`; and those the stage writes, or what a pattern found */
    heed_cuts pieces;      /* what splitting one word gives */
    heed_cuts parts;       /* of `out`: post.h */
    heed_texts texts, texts_next;
    heed_tokens *out; /* what the model emits to */
    size_t first;     /* where this call's tokens begin in `out` */
    bool special;     /* whether the template adds its tokens */
    int16_t which;    /* of two texts the one that is worked on, 0 or 1 */
    const char *texts_of[2];
    uint32_t base;    /* where in it the section begins that is worked on */
    const char *text; /* the caller's */
    size_t n;         /* its bytes, or those of the tokens to decode */
    struct {
        void *p;
        size_t bytes;
    } room[HEED_ROOMS];
    heed_stage_fn *show; /* NULL: nobody asks how */
    void *show_ctx;
    void *match; /* pattern.c's, with what frees it */
    void (*match_free)(void *match);
} heed_work;

void heed_work_init(heed_work *work, const heed_host *host, heed_error *err);
void heed_work_free(heed_work *work);
/* Room for count items of size bytes, contents undefined; NULL when memory fails. Valid until the
 * next call for the same room. */
void *heed_work_room(heed_work *work, heed_room which, size_t count, size_t size);
/* Whether the rules of the tokenizer may make a text of that many bytes of the caller's. Without a
 * bound a chain of replacements that each double a letter fills any memory. */
bool heed_work_fits(heed_work *work, size_t bytes);
/* Fills the error for a growing buffer that failed without one; returns false. */
bool heed_work_full(heed_work *work);

/* Appends n bytes with one origin for all of them; or with the origins they have elsewhere. */
bool heed_strand_put(heed_work *work, heed_strand *strand, const char *s, size_t n,
                     heed_origin from);
bool heed_strand_copy(heed_work *work, heed_strand *strand, const heed_strand *source, size_t from,
                      size_t to);
/* Makes `next` the strand that is read. */
void heed_work_turn(heed_work *work);
/* Makes `now` a plain view of bytes [from, to) of the caller's text. */
void heed_work_view(heed_work *work, size_t from, size_t to);
/* Makes a plain `now` a strand of its own, that may be written to. */
bool heed_work_own(heed_work *work);
/* The origin of byte i of `now`. */
heed_origin heed_work_origin(const heed_work *work, size_t i);

bool heed_cuts_add(heed_work *work, heed_cuts *cuts, size_t from, size_t to, bool match);
/* Appends a token as it is. */
bool heed_work_put(heed_work *work, heed_token token);
/* Appends a token for bytes [from, to) of `now`, from < to; or of the caller's text. */
bool heed_work_emit(heed_work *work, int32_t id, size_t from, size_t to);
bool heed_work_emit_at(heed_work *work, int32_t id, uint32_t begin, uint32_t end);

/* Tells work->show the words as they are now (explain.c); or the tokens of this call. */
bool heed_work_show(heed_work *work, const char *place, const char *type);
bool heed_work_show_tokens(heed_work *work, const char *place, const char *type);

/* Ends the text whose bytes were appended to texts->data. */
bool heed_texts_end(heed_work *work, heed_texts *texts);
const char *heed_texts_at(const heed_texts *texts, size_t i, size_t *n);
/* Makes `texts_next` the list that is read, and empties the other. */
void heed_texts_turn(heed_work *work);

#endif
