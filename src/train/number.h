/* number.h: text to numbers, the same in every locale.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_NUMBER_H
#define HEED_TRAIN_NUMBER_H

#include "heed.h"

/* Reads n bytes as a decimal number: [+-] digits [. digits] [e [+-] digits], a digit on one side of
 * the point at least, finite. False where the bytes are anything else. */
bool heed_number_read(const char *s, size_t n, double *value);
#endif
