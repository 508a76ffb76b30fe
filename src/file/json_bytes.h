/* json_bytes.h: eight bytes of JSON looked at together.
 *
 * Method: bytes of a 64-bit word that are zero, or below a bound, found by one subtraction (Warren,
 * Hacker's Delight, section 6-1). A borrow can mark bytes above the first that is marked rightly,
 * so only the lowest mark counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_JSON_BYTES_H
#define HEED_FILE_JSON_BYTES_H

#include <stddef.h>

#include "file/little.h"

static const uint64_t HEED_EACH = UINT64_C(0x0101010101010101);
static const uint64_t HEED_TOPS = UINT64_C(0x8080808080808080);

/* The highest bit of each byte that is zero. */
static inline uint64_t heed_zero_bytes(uint64_t x) {
    return (x - HEED_EACH) & ~x & HEED_TOPS;
}

/* Of each byte that ends a run of plain characters in a string: '"', '\\', control characters. */
static inline uint64_t heed_string_ends(uint64_t x) {
    uint64_t controls = (x - HEED_EACH * 0x20) & ~x & HEED_TOPS;
    return controls | heed_zero_bytes(x ^ HEED_EACH * '"') | heed_zero_bytes(x ^ HEED_EACH * '\\');
}

/* Of each '"', bracket and brace, and of few others: '{' and '[' are one bit apart, and from '}'
 * and ']' two more. */
static inline uint64_t heed_brackets(uint64_t x) {
    uint64_t folded = ((x | HEED_EACH * 0x20) ^ HEED_EACH * '{') & HEED_EACH * 0xf9;
    return heed_zero_bytes(folded) | heed_zero_bytes(x ^ HEED_EACH * '"');
}

/* How many bytes stand before the lowest mark; marks is not 0. */
static inline size_t heed_first_mark(uint64_t marks) {
#ifdef __GNUC__
    return (size_t)__builtin_ctzll(marks) / 8;
#else
    size_t n = 0;
    for (; !(marks & 0x80); marks >>= 8) {
        n++;
    }
    return n;
#endif
}

#endif
