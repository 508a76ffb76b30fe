/* json.h: JSON in and out: jansson behind checks that name the place and the key.
 *
 * Reading is strict: UTF-8 only, a key twice is refused, nesting and memory have limits, \u0000 is
 * allowed in values. Integers beyond 64 bits (tokenizer_config.json writes 1e30 in full) become
 * reals.
 * jansson's own memory comes from the C library, not from a host. A json_t is read by several
 * threads at once, changed by one.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_JSON_H
#define HEED_FILE_JSON_H

#include <jansson.h>

#include "base/mem.h"

/* Nesting, and bytes of memory for the values of one text: a file that is refused never takes more
 * than its size and 64 MiB. (A vocab.json of 256,000 tokens takes 45 MiB.) */
enum { HEED_JSON_DEPTH = 200, HEED_JSON_TREE = 56 << 20 };

/* Parses n bytes; `label` (a path) opens every error: "'config.json' line 3 column 7: ...". The
 * root is an object or an array. NULL on failure; otherwise free with json_decref. */
json_t *heed_json_parse(const heed_host *host, const char *label, const char *text, size_t n,
                        heed_error *err);

/* The same for a file of at most `limit` bytes (0: 1 GiB). */
json_t *heed_json_read(const heed_host *host, const char *path, size_t limit, heed_error *err);

/* Getters. `path` is keys and array indices joined by dots: "rope_scaling.factor",
 * "post_processor.special.0.id"; "" is the root itself. A key that has a dot inside is reached with
 * jansson's own calls. The value lives as long as root. Failures: HEED_NAME "key 'a.b' is missing",
 * HEED_VALUE "key 'a.b' is a string, wanted an integer". */
const json_t *heed_json_find(const json_t *root, const char *path); /* NULL where absent */
bool heed_json_int(const json_t *root, const char *path, int64_t *out, heed_error *err);
/* An integer or a real. */
bool heed_json_number(const json_t *root, const char *path, double *out, heed_error *err);
bool heed_json_bool(const json_t *root, const char *path, bool *out, heed_error *err);
/* Its length in *n, where n is not NULL: the text may hold NUL. */
const char *heed_json_string(const json_t *root, const char *path, size_t *n, heed_error *err);
const json_t *heed_json_object(const json_t *root, const char *path, heed_error *err);
const json_t *heed_json_array(const json_t *root, const char *path, heed_error *err);

/* The optional forms leave *out as it was where the key is absent or null, and fail only on a
 * wrong type. */
bool heed_json_opt_int(const json_t *root, const char *path, int64_t *out, heed_error *err);
bool heed_json_opt_number(const json_t *root, const char *path, double *out, heed_error *err);
bool heed_json_opt_bool(const json_t *root, const char *path, bool *out, heed_error *err);
bool heed_json_opt_string(const json_t *root, const char *path, const char **out, heed_error *err);

/* "an object", "a string", "an integer" ...: how errors speak of a value; "nothing" for NULL. */
const char *heed_json_kind(const json_t *value);

/* Writing: keys in the order in which they were set, indent of `indent` spaces (0: one line), UTF-8
 * as it is, reals with the fewest digits that read back to the same bits. NaN and infinities are
 * refused (HEED_NONFINITE). heed_json_save writes the file whole or not at all, with a newline at
 * the end. */
bool heed_json_print(heed_buf *out, const json_t *value, int indent, heed_error *err);
bool heed_json_save(const heed_host *host, const char *path, const json_t *value, int indent,
                    heed_error *err);

/* The two pieces of the above that others need to print JSON without building a tree first: UTF-8
 * with its quotes and escapes; a finite number ("1.0", "0.1", "3e-05"). */
bool heed_json_print_string(heed_buf *out, const char *s, size_t n);
void heed_json_format_real(double x, char out[32]);

#endif
