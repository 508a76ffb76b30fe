/* arm.h: what a 64-bit Arm processor has beside NEON, which all of them have.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_ARM_H
#define HEED_KERNEL_ARM_H

#include <stdbool.h>

/* Four products of bytes summed in 32 bits: signed by signed; unsigned by signed. */
typedef enum { HEED_ARM_DOTPROD, HEED_ARM_I8MM } heed_arm_part;
bool heed_arm_has(heed_arm_part part);

#endif
