/* spm_unigram.c: SentencePiece's unigram model: the likeliest way to cut a text into pieces.
 *
 * Method: Viterbi over byte positions, as in unigram.c, but in the numbers of the `sentencepiece`
 * library: a way's score is kept as a float, a candidate is the double sum of a float and the
 * piece's score and is compared before it is rounded. Ways that tie in exact arithmetic ("aa a" and
 * "a aa") fall as they fall there. A user-defined piece has a score near zero, so it always wins.
 * Source: Kudo 2018, "Subword regularization".
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "text/spm.h"

typedef struct {
    float score;
    int32_t place;  /* of the piece that ends here; -1: unknown */
    uint32_t start; /* where it begins */
    bool reached;
} node;

static void offer(node *to, float score, int32_t place, size_t start) {
    if (!to->reached || score > to->score) {
        *to = (node){score, place, (uint32_t)start, true};
    }
}

/* Offers every piece that begins at `at` to where it ends; the character there is unknown where it
 * is no piece itself. Gives its length. */
static size_t extend(const heed_spm *spm, const char *s, size_t n, size_t at, node *nodes) {
    uint32_t cp = 0, state = 0;
    size_t character = (size_t)heed_utf8_next(s + at, n - at, &cp);
    float here = nodes[at].score;
    bool single = false;
    for (size_t end = at; end < n;) {
        state = heed_trie_step(&spm->pieces, state, (unsigned char)s[end++]);
        if (!state) {
            break;
        }
        int32_t place = spm->pieces.value[state];
        if (place >= 0 && spm->piece[place].type != HEED_SPM_UNUSED) {
            offer(&nodes[end], (float)heed_spm_score(spm, &spm->piece[place]) + here, place, at);
            single = single || end - at == character;
        }
    }
    if (!single) {
        float score = spm->unk_score + here;
        offer(&nodes[at + character], score, -1, at);
    }
    return character;
}

/* The ends of the best way's pieces from last to first, in `ends`; how many. */
static size_t walk_back(const node *nodes, size_t n, uint32_t *ends) {
    size_t count = 0;
    for (uint32_t end = (uint32_t)n; end > 0; end = nodes[end].start) {
        ends[count++] = end;
    }
    return count;
}

bool heed_spm_encode_unigram(const void *settings, heed_work *work, size_t from, size_t to) {
    const heed_spm *spm = settings;
    size_t n = to - from;
    node *nodes = heed_work_room(work, HEED_ROOM_NODES, n + 1, sizeof *nodes);
    uint32_t *ends = heed_work_room(work, HEED_ROOM_HEAP, n + 1, sizeof *ends);
    if (!nodes || !ends) {
        return false;
    }
    for (size_t i = 0; i <= n; i++) {
        nodes[i] = (node){0};
    }
    for (size_t at = 0; at < n;) {
        at += extend(spm, work->now.text + from, n, at, nodes);
    }
    heed_spm_out out = {.spm = spm, .work = work};
    for (size_t i = walk_back(nodes, n, ends); i-- > 0;) {
        const node *here = &nodes[ends[i]];
        if (!heed_spm_emit(&out, here->place, from + here->start, from + ends[i])) {
            return false;
        }
    }
    return heed_spm_end(&out);
}
