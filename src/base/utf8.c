/* utf8.c: decoding with every check of RFC 3629 in one place; widths from utf8proc's tables.
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

/* Length that the lead byte promises, with the bits it carries; 0 where it can't lead. */
static int lead(unsigned char c, uint32_t *bits) {
    if (c >= 0xc2 && c < 0xe0) { /* c0 and c1 could only start overlong forms */
        *bits = c & 0x1fU;
        return 2;
    }
    if (c >= 0xe0 && c < 0xf0) {
        *bits = c & 0x0fU;
        return 3;
    }
    if (c >= 0xf0 && c < 0xf5) {
        *bits = c & 0x07U;
        return 4;
    }
    return 0;
}

static bool is_scalar(uint32_t cp, int len) {
    static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    return cp >= SMALLEST[len] && cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);
}

int heed_utf8_next(const char *s, size_t n, uint32_t *cp) {
    unsigned char first = (unsigned char)s[0];
    if (first < 0x80) {
        *cp = first;
        return 1;
    }
    uint32_t bits = 0;
    int len = lead(first, &bits);
    if (len == 0 || n < (size_t)len) {
        return 0;
    }
    for (int i = 1; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if ((c & 0xc0U) != 0x80) {
            return 0;
        }
        bits = bits << 6 | (c & 0x3fU);
    }
    if (!is_scalar(bits, len)) {
        return 0;
    }
    *cp = bits;
    return len;
}

int heed_utf8_put(uint32_t cp, char out[4]) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    int len = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (int i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (cp & 0x3f));
        cp >>= 6;
    }
    static const unsigned char LEAD[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(LEAD[len] | cp);
    return len;
}

size_t heed_utf8_check(const char *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        uint64_t eight;
        if (n - i >= sizeof eight) {
            memcpy(&eight, s + i, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        uint32_t cp;
        int len = heed_utf8_next(s + i, n - i, &cp);
        if (len == 0) {
            return i;
        }
        i += (size_t)len;
    }
    return n;
}

int heed_utf8_columns(const char *s, size_t n) {
    int columns = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = heed_utf8_next(s + i, n - i, &cp);
        columns += len > 0 ? utf8proc_charwidth((utf8proc_int32_t)cp) : 1;
        i += len > 0 ? (size_t)len : 1;
    }
    return columns;
}
