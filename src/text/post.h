/* post.h: what the post-processors share.
 *
 * Between two of them a call's tokens lie in work->parts: at first the text's and, of a pair, the
 * other's; a template makes one part of each thing it names.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_POST_H
#define HEED_TEXT_POST_H

#include "text/part.h"

/* Appends the tokens of part p behind all parts, as heed_work_put does one. */
bool heed_post_copy(heed_work *work, size_t p);
/* What was written from token `made` on takes the place of the parts; work->cuts are its own. */
void heed_post_settle(heed_work *work, size_t made);

/* truncate.c: cuts the parts to a length, with what the chain will add. */
bool heed_post_truncate(heed_work *work, const heed_chain *chain, const heed_truncation *truncate);
/* "truncation" of a tokenizer.json, where it is not null. */
bool heed_truncation_read(const json_t *root, heed_truncation *out, heed_error *err);
/* How many tokens the chain adds to a text, or to a pair. */
size_t heed_post_added(const heed_chain *chain, bool pair);

/* template.c */
bool heed_template_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                        heed_error *err);
bool heed_template_apply(const void *settings, heed_work *work);
size_t heed_template_adds(const void *settings, bool pair);
typedef struct {
    struct heed_element *item;
    size_t n, cap;
} heed_elements;
typedef struct {
    heed_elements single, pair;
} heed_template;

/* trim.c: leaves the spaces at both ends out of each token's place. With prefix_space one space
 * that begins a text counts as the one that was put there: it has no place to leave. */
void heed_trim(heed_work *work, bool prefix_space);

#endif
