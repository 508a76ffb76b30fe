/* real.h: the number type of the engine: float, or double where the tree is compiled with
 * HEED_DOUBLE for the gradient checks (same source, see docs/numerics.md).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_REAL_H
#define HEED_KERNEL_REAL_H

#ifdef HEED_DOUBLE
typedef double heed_real;
#else
typedef float heed_real;
#endif

#endif
