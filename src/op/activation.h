/* activation.h: the public kinds of activation as the kernels number them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_OP_ACTIVATION_H
#define HEED_OP_ACTIVATION_H

#include "graph/op.h"
#include "heed_ops.h"

enum { HEED_ACT_COST = 4 }; /* an activation costs about as much as moving four numbers */

/* False where there is no such kind: the build has been refused. */
bool heed_activation_of(heed_build *b, heed_act_kind kind, heed_activation *f);

#endif
