/* dense.h: layers behind pooling, as the Dense modules of sentence-transformers have them. Inside
 * of generate/.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_GENERATE_DENSE_H
#define HEED_GENERATE_DENSE_H

#include "generate/sentence.h"

/* rules->dense, from vectors of `width` numbers on. HEED_SHAPE and HEED_NAME name the module. */
typedef struct heed_dense heed_dense;
heed_dense *heed_dense_new(heed_engine *engine, const heed_sentence_rules *rules, int64_t width,
                           heed_error *err);
void heed_dense_free(heed_dense *d);
int64_t heed_dense_width(const heed_dense *d); /* of what comes out */
/* in: n x width, out: n x heed_dense_width. */
bool heed_dense_run(heed_dense *d, const float *in, int64_t n, float *out, heed_error *err);

#endif
