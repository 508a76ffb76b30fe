/* explain.c: what a call has made so far, for who asks how.
 * SPDX-License-Identifier: MIT
 */
#include "text/part.h"

static bool tell(heed_work *work, const char *place, const char *type, const heed_line *words,
                 size_t n) {
    heed_stage stage = {.place = place, .type = type, .word = words, .n = n};
    return work->show(work->show_ctx, &stage);
}

bool heed_work_show(heed_work *work, const char *place, const char *type) {
    if (!work->show) {
        return true;
    }
    bool whole = place[0] != 'p'; /* before the pre-tokenizer there are no words */
    size_t n = whole ? 1 : work->words.n;
    heed_line *words = heed_work_room(work, HEED_ROOM_HEAP, n > 0 ? n : 1, sizeof *words);
    if (!words) {
        return false;
    }
    words[0] = (heed_line){work->now.text, work->now.n};
    for (size_t i = 0; !whole && i < n; i++) {
        heed_cut word = work->words.item[i];
        words[i] = (heed_line){work->now.text + word.from, word.to - word.from};
    }
    return tell(work, place, type, words, n);
}

bool heed_work_show_tokens(heed_work *work, const char *place, const char *type) {
    if (!work->show) {
        return true;
    }
    size_t n = work->out->n - work->first;
    heed_line *words = heed_work_room(work, HEED_ROOM_HEAP, n > 0 ? n : 1, sizeof *words);
    for (size_t i = 0; words && i < n; i++) {
        const heed_piece *piece = &work->tokenizer->piece[work->out->item[work->first + i].id];
        words[i] = (heed_line){piece->text, piece->n};
    }
    return words && tell(work, place, type, words, n);
}
