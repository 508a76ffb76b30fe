/* translate.h: greedy and beam search; the interface stands in heed.h.
 *
 * The search is that of transformers 5.24 `generate`, token for token:
 *   score      sum of log-probabilities / length ^ length_penalty; length counts generated tokens,
 *              the end token included, the start token not
 *   step       of beam * vocabulary continuations the best 2 * beam are candidates; those among the
 *              best `beam` that end are kept as hypotheses, where they are among the best `beam` of
 *              those so far; the best `beam` that do not end go on
 *   over       see heed_stop; and when max_length is reached: what is then open counts as ended
 *   forbidden  the padding token always, and what bad_words_ids names; the end token below
 *              min_length; what would repeat a run of no_repeat_ngram_size tokens; what
 *              begin_suppress_tokens names, where the first token is free
 *   penalty    repetition_penalty for tokens that have come, the start among them: on the logit in
 *              greedy search, on the log-probability with beams
 *   forced     the first token where the model has a forced_bos_token_id, and at max_length - 1 the
 *              forced end token where it has one: their log-probability counts as 0
 *   ties       the lower beam, then the lower token id
 * With one beam this is greedy search. Log-probabilities are floats, sums of them too.
 *
 * Lines are sorted by length and go in batches under a token budget. The encoder and the keys and
 * values of cross-attention are computed once for each batch; beams of a line share them. A line
 * that is done leaves the batch. Room in the cache is planned for what translations usually take:
 * where it runs out, the batch's last lines are put back and done later. Since a line's bits do not
 * depend on its batch, no result changes.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_TRANSLATE_H
#define HEED_GENERATE_TRANSLATE_H

#include "model/model.h"

#endif
