/* feed.c: see feed.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/feed.h"

const heed_batch *heed_feed_next(const heed_feed *f) {
    return f->pairs ? heed_batches_next(f->pairs) : heed_windows_next(f->texts);
}

bool heed_feed_seek(const heed_feed *f, int64_t epoch, int64_t index, heed_error *err) {
    return f->pairs ? heed_batches_seek(f->pairs, epoch, index, err)
                    : heed_windows_seek(f->texts, epoch, index, err);
}

void heed_feed_place(const heed_feed *f, int64_t *epoch, int64_t *index) {
    if (f->pairs) {
        heed_batches_place(f->pairs, epoch, index);
    } else {
        heed_windows_place(f->texts, epoch, index);
    }
}

heed_batch_bounds heed_feed_bounds(const heed_feed *f) {
    return f->pairs ? heed_batches_bounds(f->pairs) : heed_windows_bounds(f->texts);
}

const char *heed_feed_lines(const heed_feed *f) {
    return f->pairs ? "training pairs of lines" : "training texts (joined: tokens) of numbers";
}
