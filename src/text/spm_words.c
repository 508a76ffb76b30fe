/* spm_words.c: SentencePiece's two simplest models: words between spaces, and single characters.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/utf8.h"
#include "text/spm.h"

static bool emit(heed_spm_out *out, size_t from, size_t to) {
    const char *s = out->work->now.text;
    return heed_spm_emit(out, heed_spm_find(out->spm, s + from, to - from), from, to);
}

static bool is_mark(const char *s, size_t n) {
    return n >= HEED_SPM_MARK_BYTES && memcmp(s, HEED_SPM_MARK, HEED_SPM_MARK_BYTES) == 0;
}

/* Each mark begins a word. */
bool heed_spm_encode_words(const void *settings, heed_work *work, size_t from, size_t to) {
    heed_spm_out out = {.spm = settings, .work = work};
    size_t begin = from;
    for (size_t at = from; at < to;) {
        uint32_t cp = 0;
        const char *s = work->now.text + at;
        if (at > begin && is_mark(s, to - at)) {
            if (!emit(&out, begin, at)) {
                return false;
            }
            begin = at;
        }
        at += (size_t)heed_utf8_next(s, to - at, &cp);
    }
    return emit(&out, begin, to) && heed_spm_end(&out);
}

bool heed_spm_encode_chars(const void *settings, heed_work *work, size_t from, size_t to) {
    heed_spm_out out = {.spm = settings, .work = work};
    for (size_t at = from; at < to;) {
        bool frozen = false;
        size_t n = heed_spm_step(out.spm, work->now.text + at, to - at, &frozen);
        if (!emit(&out, at, at + n)) {
            return false;
        }
        at += n;
    }
    return heed_spm_end(&out);
}
