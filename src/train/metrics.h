/* metrics.h: numbers of a training as they come: JSON lines, and TensorBoard's event file beside
 * them.
 *
 * metrics.jsonl holds one object a line: {"kind":"train","step":100,"loss":...}. What depends on
 * the clock (kind "speed") has lines of its own, so that all others are the same bytes in every run
 * of a recipe. Each line is handed to the system before the call returns. After a resume both files
 * are cut back to the lengths the checkpoint noted, so no step stands in them twice.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_METRICS_H
#define HEED_TRAIN_METRICS_H

#include "base/mem.h"

typedef struct {
    const char *name;
    double value;
    bool whole; /* print as a whole number, and keep it out of TensorBoard */
} heed_metric;

typedef struct {
    int64_t lines, events; /* bytes of the two files */
} heed_metrics_size;

typedef struct heed_metrics heed_metrics;

/* Opens folder/metrics.jsonl and, where `events`, folder/events.out.tfevents.heed; cuts them to
 * `keep` (zeros: start anew). A file shorter than `keep` is refused: it is not the one of the
 * checkpoint. */
heed_metrics *heed_metrics_open(const heed_host *host, const char *folder, bool events,
                                heed_metrics_size keep, heed_error *err);
/* One line of `kind`; scalars go to TensorBoard as kind/name. Not-finite values are written as
 * null. */
bool heed_metrics_add(heed_metrics *metrics, const char *kind, int64_t step,
                      const heed_metric *list, size_t n, heed_error *err);
/* Both files synced to the disk, and their lengths, for a checkpoint. */
bool heed_metrics_sync(heed_metrics *metrics, heed_metrics_size *size, heed_error *err);
void heed_metrics_close(heed_metrics *metrics);

#endif
