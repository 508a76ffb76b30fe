/* vec_neon_ints.h: NEON's words for products of whole numbers of 8 bits (simd_ints.h), included by
 * vec_neon.h.
 *
 * There are three ways to multiply bytes. Signed by unsigned (i8mm) takes the weights as they are.
 * Signed by signed (dotprod) wants 128 taken off weights of 8 bits. Without either, products go
 * through 16 bits: two of them fit, since no byte of A is below -127.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_KERNEL_VEC_NEON_INTS_H
#define HEED_KERNEL_VEC_NEON_INTS_H

#include "kernel/vec_neon.h"

WORD ints i_load(const void *p) {
    const uint8_t *bytes = p;
    return (ints){vreinterpretq_u32_u8(vld1q_u8(bytes)),
                  vreinterpretq_u32_u8(vld1q_u8(bytes + 16))};
}
/* As v_hold. */
WORD ints i_hold(ints x) {
    return x;
}
WORD vec v_of_ints(ints x) {
    return (vec){vcvtq_f32_s32(vreinterpretq_s32_u32(x.low)),
                 vcvtq_f32_s32(vreinterpretq_s32_u32(x.high))};
}
WORD ints i_nearest(vec x) {
    return (ints){vreinterpretq_u32_s32(vcvtnq_s32_f32(x.low)),
                  vreinterpretq_u32_s32(vcvtnq_s32_f32(x.high))};
}
WORD ints i_greater(ints a, ints b) { /* of each two, none of which is below 0 */
    return (ints){vmaxq_u32(a.low, b.low), vmaxq_u32(a.high, b.high)};
}
WORD ints i_bits_of(vec x) {
    return (ints){vreinterpretq_u32_f32(x.low), vreinterpretq_u32_f32(x.high)};
}
WORD vec v_of_bits(ints x) {
    return (vec){vreinterpretq_f32_u32(x.low), vreinterpretq_f32_u32(x.high)};
}
/* The greatest of the lanes, none of which is below 0, and their sum. */
WORD int32_t i_greatest(ints x) {
    return (int32_t)vmaxvq_u32(vmaxq_u32(x.low, x.high));
}
WORD int32_t i_total(ints x) {
    return (int32_t)vaddvq_u32(vaddq_u32(x.low, x.high));
}
WORD void i_put_bytes(int8_t *p, ints x) { /* each lies in -128 ... 127 */
    int16x4_t low = vmovn_s32(vreinterpretq_s32_u32(x.low)),
              high = vmovn_s32(vreinterpretq_s32_u32(x.high));
    vst1_s8(p, vmovn_s16(vcombine_s16(low, high)));
}
/* Bytes below 16 of two vectors, in the halves of one. */
WORD ints i_or_halves(ints low, ints high) {
    return (ints){vorrq_u32(low.low, vshlq_n_u32(high.low, 4)),
                  vorrq_u32(low.high, vshlq_n_u32(high.high, 4))};
}
WORD ints i_low_halves(ints x) {
    uint32x4_t mask = vdupq_n_u32(0x0f0f0f0f);
    return (ints){vandq_u32(x.low, mask), vandq_u32(x.high, mask)};
}
WORD uint32x4_t high_halves(uint32x4_t x) {
    return vreinterpretq_u32_u8(vshrq_n_u8(vreinterpretq_u8_u32(x), 4));
}
WORD ints i_high_halves(ints x) {
    return (ints){high_halves(x.low), high_halves(x.high)};
}

/* What i_dot takes off each of its weights, when i_ready has made them signed. */
#ifdef HEED_WITH_I8MM
#define DOT_ZERO 0
WORD ints i_ready(ints w) {
    return w;
}
WORD uint32x4_t dot_half(uint32x4_t sum, uint32x4_t w, uint32x4_t four) {
    __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(w), "w"(four));
    return sum;
}
#else
#define DOT_ZERO 128
WORD ints i_ready(ints w) {
    return i_xor(w, i_set(0x80808080));
}
#ifdef HEED_WITH_DOTPROD
WORD uint32x4_t dot_half(uint32x4_t sum, uint32x4_t w, uint32x4_t four) {
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(w), "w"(four));
    return sum;
}
#else
WORD uint32x4_t dot_half(uint32x4_t sum, uint32x4_t w, uint32x4_t four) {
    int8x16_t x = vreinterpretq_s8_u32(w), y = vreinterpretq_s8_u32(four);
    int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(y)), high = vmull_high_s8(x, y);
    int32x4_t more = vpadalq_s16(vreinterpretq_s32_u32(sum), vpaddq_s16(low, high));
    return vreinterpretq_u32_s32(more);
}
#endif
#endif
/* sum += in each lane the product of its four weights and of the four bytes of `four`. */
WORD ints i_dot(ints sum, ints w, ints four) {
    return (ints){dot_half(sum.low, w.low, four.low), dot_half(sum.high, w.high, four.high)};
}
/* The same for weights of 4 bits, from which nothing is taken off. */
WORD ints i_dot_small(ints sum, ints w, ints four) {
    return i_dot(sum, w, four);
}

#endif
