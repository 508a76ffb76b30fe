/* camembert.c: CamemBERT (Martin et al. 2020): RoBERTa for French.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

static const heed_architecture architectures[] = {
    {"CamembertModel", HEED_HEAD_NONE, true},
    {"CamembertForMaskedLM", HEED_HEAD_VOCAB, false},
    {"CamembertForSequenceClassification", HEED_HEAD_SEQUENCES, false},
    {"CamembertForTokenClassification", HEED_HEAD_ROWS, false},
    {"CamembertForQuestionAnswering", HEED_HEAD_SPAN, false},
    {"CamembertForMultipleChoice", HEED_HEAD_CHOICE, true},
    {0}};

HEED_ROBERTA(camembert, "camembert");
