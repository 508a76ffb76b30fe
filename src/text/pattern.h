/* pattern.h: what a Split or Replace looks for: a text or a regular expression.
 *
 * Expressions in tokenizer.json are Oniguruma's (Ruby syntax); they run here on PCRE2. What both
 * read alike is passed on, \s and \w are spelt out as Oniguruma's sets, and what they read
 * differently is refused by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_PATTERN_H
#define HEED_TEXT_PATTERN_H

#include "text/part.h"

typedef struct heed_pattern heed_pattern;

/* From {"String": "..."} or {"Regex": "..."} under `key`; freed with the tokenizer. */
heed_pattern *heed_pattern_read(heed_tokenizer *tokenizer, const json_t *json, const char *key,
                                heed_error *err);
heed_pattern *heed_pattern_regex(heed_tokenizer *tokenizer, const char *regex, size_t n,
                                 heed_error *err);
void heed_patterns_free(heed_pattern *first);

/* Replace, as normalizer and as decoder: matches and what takes their place. */
typedef struct {
    const heed_pattern *pattern;
    const char *content;
    size_t n;
} heed_replace;
bool heed_replace_read(heed_tokenizer *tokenizer, const json_t *json, void *settings,
                       heed_error *err);

/* Cuts n bytes of text into matches and what lies between, in order, appended to cuts. An empty
 * text gives one cut that is no match. */
bool heed_pattern_cut(const heed_pattern *pattern, heed_work *work, const char *text, size_t n,
                      heed_cuts *cuts);

/* regex.c: an Oniguruma expression as PCRE2 wants it, appended to out. */
bool heed_regex_translate(const char *regex, size_t n, heed_buf *out, heed_error *err);

#endif
