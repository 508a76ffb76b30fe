/* truncate.c: fewer tokens, before the template adds its own.
 *
 * How two texts share a length is as in the `tokenizers` library: the longer one is cut to what the
 * other leaves; where that is not enough both get a half, the second one the odd token.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/post.h"

static bool read_strategy(const json_t *json, heed_truncate *out, heed_error *err) {
    static const char *const names[] = {"LongestFirst", "OnlyFirst", "OnlySecond"};
    const char *which = heed_json_string(json, "strategy", NULL, err);
    for (int i = 0; which && i < 3; i++) {
        if (strcmp(which, names[i]) == 0) {
            *out = (heed_truncate)i;
            return true;
        }
    }
    return which &&
           heed_fail(err, HEED_FILE,
                     "strategy '%s' is not one of LongestFirst, OnlyFirst, OnlySecond", which);
}

static bool read_direction(const json_t *json, bool *left, heed_error *err) {
    const char *direction = "Right";
    if (!heed_json_opt_string(json, "direction", &direction, err)) {
        return false;
    }
    *left = strcmp(direction, "Left") == 0;
    return *left || strcmp(direction, "Right") == 0 ||
           heed_fail(err, HEED_FILE, "direction '%s' is not Left or Right", direction);
}

bool heed_truncation_read(const json_t *root, heed_truncation *out, heed_error *err) {
    const json_t *json = json_object_get(root, "truncation");
    if (!json || json_is_null(json)) {
        return true;
    }
    if (!json_is_object(json)) {
        return heed_fail(err, HEED_FILE, "wanted an object, found %s", heed_json_kind(json));
    }
    if (!heed_json_int(json, "max_length", &out->max_length, err) ||
        !heed_json_int(json, "stride", &out->stride, err) ||
        !read_direction(json, &out->left, err) || !read_strategy(json, &out->which, err)) {
        return false;
    }
    return (out->max_length >= 0 && out->stride >= 0) ||
           heed_fail(err, HEED_FILE,
                     "max_length %" PRId64 " and stride %" PRId64 " must not be negative",
                     out->max_length, out->stride);
}

/* Leaves `keep` tokens of part p, and moves those behind it up. */
static void cut_part(heed_work *work, size_t p, size_t keep, bool left) {
    heed_cut *part = &work->parts.item[p];
    size_t n = part->to - part->from;
    if (keep >= n) {
        return;
    }
    heed_tokens *out = work->out;
    size_t gone = n - keep, at = left ? part->from : part->from + keep;
    memmove(out->item + at, out->item + at + gone, (out->n - at - gone) * sizeof *out->item);
    out->n -= gone;
    part->to -= gone;
    for (size_t i = p + 1; i < work->parts.n; i++) {
        work->parts.item[i].from -= gone;
        work->parts.item[i].to -= gone;
    }
}

static size_t tokens_of(const heed_work *work, size_t p) {
    return p < work->parts.n ? work->parts.item[p].to - work->parts.item[p].from : 0;
}

/* The shorter text keeps what it has as long as the longer one can make room. */
static void cut_longest(heed_work *work, size_t most, bool left) {
    size_t a = tokens_of(work, 0), b = tokens_of(work, 1);
    if (work->parts.n == 1) {
        cut_part(work, 0, most, left);
        return;
    }
    size_t low = a < b ? a : b;
    size_t high = low > most ? low : (low > most - low ? low : most - low);
    if (low + high > most) {
        low = most / 2;
        high = low + most % 2;
    }
    cut_part(work, 0, a > b ? high : low, left);
    cut_part(work, 1, a > b ? low : high, left);
}

bool heed_post_truncate(heed_work *work, const heed_chain *chain, const heed_truncation *truncate) {
    size_t added = work->special ? heed_post_added(chain, work->parts.n > 1) : 0;
    size_t total = tokens_of(work, 0) + tokens_of(work, 1);
    int64_t most = truncate->max_length - (int64_t)added;
    if (truncate->max_length == 0 || (int64_t)total <= most) {
        return true;
    }
    if (most < 0) {
        return heed_fail(work->err, HEED_VALUE,
                         "max_length %" PRId64 " is below the %zu tokens of the template",
                         truncate->max_length, added);
    }
    if (truncate->which == HEED_TRUNCATE_LONGEST) {
        cut_longest(work, (size_t)most, truncate->left);
        return true;
    }
    size_t p = truncate->which == HEED_TRUNCATE_FIRST ? 0 : 1, gone = total - (size_t)most;
    if (tokens_of(work, p) <= gone) {
        return heed_fail(work->err, HEED_VALUE,
                         "max_length %" PRId64 ": %zu tokens must go from the %s text, which has "
                         "%zu",
                         truncate->max_length, gone, p == 0 ? "first" : "second",
                         tokens_of(work, p));
    }
    cut_part(work, p, tokens_of(work, p) - gone, truncate->left);
    return true;
}
