/* feed.h: where the batches of a training come from: pairs, or texts.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_FEED_H
#define HEED_TRAIN_FEED_H

#include "data/windows.h"

/* One of both; the other is NULL. */
typedef struct {
    heed_batches *pairs;
    heed_windows *texts;
} heed_feed;

/* As those of heed_batches. */
const heed_batch *heed_feed_next(const heed_feed *f);
bool heed_feed_seek(const heed_feed *f, int64_t epoch, int64_t index, heed_error *err);
void heed_feed_place(const heed_feed *f, int64_t *epoch, int64_t *index);
heed_batch_bounds heed_feed_bounds(const heed_feed *f);
/* What heed_batch's lines number: "training pairs of lines", "training texts of numbers". */
const char *heed_feed_lines(const heed_feed *f);

#endif
