/* xlm_roberta.c: XLM-RoBERTa (Conneau et al. 2020): RoBERTa over many languages.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_architecture architectures[] = {
    {"XLMRobertaModel", HEED_HEAD_NONE, true},
    {"XLMRobertaForMaskedLM", HEED_HEAD_VOCAB, false},
    {"XLMRobertaForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"XLMRobertaForTokenClassification", HEED_HEAD_ROWS, false},
    {"XLMRobertaForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"XLMRobertaForMultipleChoice", HEED_HEAD_CHOICE, true},
    {0}};

HEED_ROBERTA(xlm_roberta, "xlm-roberta");
