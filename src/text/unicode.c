/* unicode.c: categories from utf8proc, corrected by short lists of ranges.
 *
 * Sources: Unicode Character Database, files UnicodeData and DerivedAge; the lists were found by
 * asking the `tokenizers` library about every code point.
 * SPDX-License-Identifier: MIT
 */
#include "text/unicode.h"

#include <utf8proc.h>

typedef struct {
    uint32_t first, last;
} range;

/* Whether a sorted list of ranges has the code point. */
static bool in(const range *list, size_t n, uint32_t cp) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cp > list[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && cp >= list[low].first;
}
#define IN(list, cp) in(list, sizeof(list) / sizeof((list)[0]), cp)

bool heed_is_space(uint32_t cp) {
    static const range spaces[] = {
        {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
    return IN(spaces, cp);
}

static utf8proc_category_t category(uint32_t cp) {
    return utf8proc_category((utf8proc_int32_t)cp);
}

/* Punctuation since Unicode 9. */
static const range late_punctuation[] = {
    {0x61d, 0x61d},     {0x9fd, 0x9fd},     {0xa76, 0xa76},     {0xc77, 0xc77},
    {0xc84, 0xc84},     {0x1b4e, 0x1b4f},   {0x1b7d, 0x1b7f},   {0x2e43, 0x2e5d},
    {0x10d6e, 0x10d6e}, {0x10ead, 0x10ead}, {0x10ed0, 0x10ed0}, {0x10f55, 0x10f59},
    {0x10f86, 0x10f89}, {0x113d4, 0x113d8}, {0x1144b, 0x1145d}, {0x11660, 0x1166c},
    {0x116b9, 0x116b9}, {0x1183b, 0x1183b}, {0x11944, 0x11946}, {0x119e2, 0x119e2},
    {0x11a3f, 0x11aa2}, {0x11b00, 0x11b09}, {0x11be1, 0x11be1}, {0x11c41, 0x11c71},
    {0x11ef7, 0x11fff}, {0x12ff1, 0x12ff2}, {0x16d6d, 0x16e9a}, {0x16fe2, 0x16fe2},
    {0x1e5ff, 0x1e5ff}, {0x1e95e, 0x1e95f}};

bool heed_is_punctuation(uint32_t cp) {
    if (cp < 0x80) {
        return cp > ' ' && cp < 0x7f && category(cp) != UTF8PROC_CATEGORY_ND &&
               category(cp) != UTF8PROC_CATEGORY_LU && category(cp) != UTF8PROC_CATEGORY_LL;
    }
    if (cp == 0x166d || cp == 0x111c9) { /* punctuation until Unicode 12 and 11 */
        return true;
    }
    utf8proc_category_t c = category(cp);
    return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO && !IN(late_punctuation, cp);
}

/* Numbers since Unicode 15. */
static const range late_numbers[] = {{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9},
                                     {0x11de0, 0x11de9}, {0x11f50, 0x11f59}, {0x16130, 0x16139},
                                     {0x16d70, 0x16d79}, {0x16ff4, 0x16ff6}, {0x1ccf0, 0x1ccf9},
                                     {0x1d2c0, 0x1d2d3}, {0x1e4f0, 0x1e4f9}, {0x1e5f1, 0x1e5fa}};

bool heed_is_number(uint32_t cp) {
    utf8proc_category_t c = category(cp);
    return (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO) || IN(late_numbers, cp);
}

/* Letters, marks and digits since Unicode 15. */
static const range late_words[] = {
    {0x897, 0x897},     {0x1c89, 0x1c8a},   {0xa7cb, 0xa7cd},   {0xa7da, 0xa7dc},
    {0x105c0, 0x105f3}, {0x10d40, 0x10d65}, {0x10d69, 0x10d6d}, {0x10d6f, 0x10d85},
    {0x10ec2, 0x10ec4}, {0x10efc, 0x10efc}, {0x11380, 0x11389}, {0x1138b, 0x1138b},
    {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113c0}, {0x113c2, 0x113c2},
    {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d3}, {0x113e1, 0x113e2},
    {0x116d0, 0x116e3}, {0x11bc0, 0x11be0}, {0x11bf0, 0x11bf9}, {0x11f5a, 0x11f5a},
    {0x13460, 0x143fa}, {0x16100, 0x16139}, {0x16d40, 0x16d6c}, {0x16d70, 0x16d79},
    {0x18cff, 0x18cff}, {0x1ccf0, 0x1ccf9}, {0x1e5d0, 0x1e5fa}, {0x2ebf0, 0x2ee5d}};

bool heed_is_word(uint32_t cp) {
    static const range also[] = {/* alphabetic symbols, and the two joiners */
                                 {0x200c, 0x200d},
                                 {0x24b6, 0x24e9},
                                 {0x1f130, 0x1f149},
                                 {0x1f150, 0x1f169},
                                 {0x1f170, 0x1f189}};
    utf8proc_category_t c = category(cp);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NL) || c == UTF8PROC_CATEGORY_PC ||
           IN(also, cp) || IN(late_words, cp);
}

/* Capitals since Unicode 15: their lower case lies at a fixed distance. */
static const struct {
    uint32_t first, last;
    int32_t distance;
} late_capitals[] = {{0x1c89, 0x1c89, 1},      {0xa7cb, 0xa7cb, 0x264 - 0xa7cb},
                     {0xa7cc, 0xa7cc, 1},      {0xa7ce, 0xa7ce, 1},
                     {0xa7d2, 0xa7d2, 1},      {0xa7d4, 0xa7d4, 1},
                     {0xa7da, 0xa7da, 1},      {0xa7dc, 0xa7dc, 0x19b - 0xa7dc},
                     {0x10d50, 0x10d65, 0x20}, {0x16ea0, 0x16eb8, 0x1b}};

int heed_lower_letter(uint32_t cp, uint32_t out[2]) {
    if (cp < 0x80) {
        out[0] = cp >= 'A' && cp <= 'Z' ? cp + ('a' - 'A') : cp;
        return 1;
    }
    if (cp == 0x130) { /* the one letter whose lower case is two code points */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
    for (size_t i = 0; i < sizeof late_capitals / sizeof late_capitals[0]; i++) {
        if (cp >= late_capitals[i].first && cp <= late_capitals[i].last) {
            out[0] = (uint32_t)((int32_t)cp + late_capitals[i].distance);
        }
    }
    return 1;
}

/* Code points with a decomposition or a combining class since Unicode 10. */
static const range late_forms[] = {
    {0x7fd, 0x7fd},     {0x897, 0x89f},     {0x8ca, 0x8d3},     {0x9fe, 0x9fe},
    {0xc3c, 0xc3c},     {0xd3b, 0xd3c},     {0xeba, 0xeba},     {0x1715, 0x1715},
    {0x1abf, 0x1aeb},   {0x1df6, 0x1dfa},   {0x32ff, 0x32ff},   {0xa7f1, 0xa7f4},
    {0xa82c, 0xa82c},   {0xab69, 0xab69},   {0x105c9, 0x105e4}, {0x10781, 0x107ba},
    {0x10d24, 0x10d27}, {0x10d69, 0x10d6d}, {0x10eab, 0x10eac}, {0x10efa, 0x10eff},
    {0x10f46, 0x10f50}, {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x1133b, 0x1133b},
    {0x11380, 0x113e2}, {0x1145e, 0x1145e}, {0x11839, 0x1183a}, {0x11930, 0x11943},
    {0x119e0, 0x119e0}, {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99},
    {0x11d42, 0x11d45}, {0x11d97, 0x11d97}, {0x11f41, 0x11f42}, {0x1611e, 0x1612f},
    {0x16d63, 0x16d6a}, {0x16ff0, 0x16ff1}, {0x1ccd6, 0x1ccf9}, {0x1e030, 0x1e06d},
    {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef},
    {0x1e4ec, 0x1e4ef}, {0x1e5ee, 0x1e5ef}, {0x1e6e3, 0x1e6f5}, {0x1f16c, 0x1f16c},
    {0x1fbf0, 0x1fbf9}};

bool heed_is_newer(uint32_t cp) {
    return cp >= late_forms[0].first && IN(late_forms, cp);
}
