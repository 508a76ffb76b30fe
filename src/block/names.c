/* names.c: the words of recipes and descriptions for activations and positions.
 * SPDX-License-Identifier: MIT
 */
#include "block/block.h"

const char *const heed_act_names[] = {[HEED_ACT_RELU] = "relu",
                                      [HEED_ACT_GELU] = "gelu",
                                      [HEED_ACT_GELU_TANH] = "gelu_tanh",
                                      [HEED_ACT_SILU] = "silu",
                                      [HEED_ACT_TANH] = "tanh",
                                      [HEED_ACT_SIGMOID] = "sigmoid",
                                      [HEED_ACT_QUICK_GELU] = "quick_gelu",
                                      [HEED_ACT_RELU2] = "relu2",
                                      NULL};
const char *const heed_position_names[] = {[HEED_POSITIONS_NONE] = "none",
                                           [HEED_POSITIONS_SINUSOIDAL] = "sinusoidal",
                                           [HEED_POSITIONS_SINUSOIDAL_INTERLEAVED] =
                                               "sinusoidal_interleaved",
                                           [HEED_POSITIONS_LEARNED] = "learned",
                                           [HEED_POSITIONS_ROPE] = "rope",
                                           [HEED_POSITIONS_ROPE_INTERLEAVED] = "rope_interleaved",
                                           [HEED_POSITIONS_ALIBI] = "alibi",
                                           [HEED_POSITIONS_T5] = "t5",
                                           NULL};
