/* windows.h: token ids of texts become batches of ragged rows for a language model, unpadded.
 *
 * Apart: each text is cut into sequences of at most `context` rows, row i of which predicts id
 * i + 1 of the text; sequences are shuffled each epoch, and a batch takes them one behind the other
 * while they fit into its rows. Attention keeps sequences of a batch apart, so nothing crosses from
 * one text into another. Joined: all ids are one stream, of which a batch takes windows of
 * `context` rows that begin anywhere, each place as likely as any other (Karpathy 2022, nanoGPT's
 * get_batch).
 * The batch at (epoch, index) is a function of ids, options, epoch and index alone. All memory is
 * taken by heed_windows_new.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_DATA_WINDOWS_H
#define HEED_DATA_WINDOWS_H

#include "data/batch.h"

/* Texts as ids, those that begin and end a text included; starts as {.host = h}. */
typedef struct {
    const heed_host *host;
    int64_t n;
    heed_ragged rows;
} heed_id_texts;
/* After a failure (memory) the texts are as they were. */
bool heed_id_texts_add(heed_id_texts *texts, const int32_t *id, int64_t n, heed_error *err);
void heed_id_texts_free(heed_id_texts *texts);

typedef struct {
    uint64_t seed;
    /* No shuffling and no dice: sequences in their order, joined ones side by side; every epoch the
     * same (validation). */
    bool in_order;
    bool join;
    int64_t context; /* rows of a sequence at most; at least 1 */
    int64_t tokens;  /* rows of a batch at most; at least context */
} heed_window_opts;

/* What there is to learn from: a row for each id that has one before it. An epoch of a joined text
 * is as many batches as hold so many rows, one at least. */
typedef struct {
    int64_t texts, rows, sequences;
    int64_t single; /* texts of one id, from which nothing is learnt */
    int64_t longest;
} heed_window_report;

typedef struct heed_windows heed_windows;

/* `texts` must outlive it and stay unchanged. HEED_VALUE for options out of range, where no text
 * has two ids, and for a stream that is shorter than a window and the id behind it. */
heed_windows *heed_windows_new(const heed_host *host, const heed_id_texts *texts,
                               const heed_window_opts *opts, heed_error *err);
void heed_windows_free(heed_windows *w); /* NULL allowed */

/* As heed_batches_next, seek and place. The batch has no source; `line` is the number of each
 * sequence's text, or, joined, the place of its first id in the stream, both from 1. */
const heed_batch *heed_windows_next(heed_windows *w);
bool heed_windows_seek(heed_windows *w, int64_t epoch, int64_t index, heed_error *err);
void heed_windows_place(const heed_windows *w, int64_t *epoch, int64_t *index);

heed_window_report heed_windows_report(const heed_windows *w);
/* target_* and sequences alone. */
heed_batch_bounds heed_windows_bounds(const heed_windows *w);

#endif
