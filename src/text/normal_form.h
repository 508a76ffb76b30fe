/* normal_form.h: Unicode normal forms, with origins as rewrite.h gives them.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TEXT_NORMAL_FORM_H
#define HEED_TEXT_NORMAL_FORM_H

#include "text/work.h"

typedef struct {
    bool compatible; /* K: ligatures, full width and the like are taken apart too */
    bool compose;    /* C: and put together again */
} heed_normal_form;

/* work->now in that form. */
bool heed_normal_form_apply(const heed_normal_form *form, heed_work *work);

#endif
