/* number.h: numbers to text and back, the same in every locale.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_NUMBER_H
#define HEED_TRAIN_NUMBER_H

#include "heed.h"

enum { HEED_NUMBER_SIZE = 40 };

/* Reads n bytes as a decimal number: [+-] digits [. digits] [e [+-] digits], a digit on one side of
 * the point at least, finite. False where the bytes are anything else. */
bool heed_number_read(const char *s, size_t n, double *value);
/* The shortest text that reads back to the same bits; not-finite values give "null". */
void heed_number_print(double value, char out[HEED_NUMBER_SIZE]);

#endif
