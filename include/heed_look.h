/* heed_look.h: look inside a model: every value of a run, gradients, attention.
 *
 * The numbers are those of the run itself: values are watched, never computed a second time.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_LOOK_H
#define HEED_LOOK_H

#include "heed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Traces -------------------------------------------------------------------------------- */

/* What to write besides logits, encoder_last_hidden_state and, where there are labels, loss. */
typedef struct {
    bool attention; /* encoder_attentions.N, decoder_attentions.N, cross_attentions.N */
    bool hidden;    /* encoder_hidden_states.N, decoder_hidden_states.N */
    bool grads;     /* grad.NAME of each trained tensor of the checkpoint; wants labels */
} heed_trace_options;

/* Runs the model on padded tensors of a safetensors file, named as transformers names them, and
 * writes padded tensors. In (B rows, padded): input_ids; decoder_input_ids or labels or both;
 * attention_mask and decoder_attention_mask (absent: all rows are real), position_ids (absent: the
 * column). Decoder inputs that are absent are the labels shifted right, -100 replaced by the padding
 * id. Rows at padding are zeros. loss is the mean over labels other than -100 whose row is real;
 * gradients are of that mean, without dropout. */
HEED_API bool heed_trace(heed_model *model, const char *input, const char *output,
                         const heed_trace_options *options, heed_error *err);

#ifdef __cplusplus
}
#endif
#endif
