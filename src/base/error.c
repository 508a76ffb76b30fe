/* error.c: the error box is filled once and its text is always one clean line.
 *
 * Method: format into the box, then cut back to a whole code point and blank out control bytes, so
 * that no file name or file content can break a terminal or a log line.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *heed_code_name(heed_code code) {
    static const char *const NAMES[] = {
#define HEED_CODE_TEXT(name, text) #name,
        HEED_CODES(HEED_CODE_TEXT)
#undef HEED_CODE_TEXT
    };
    size_t i = (size_t)code;
    return i < sizeof NAMES / sizeof NAMES[0] ? NAMES[i] : "UNKNOWN";
}

/* Only a cut code point at the end is dropped; bytes that are bad elsewhere become '?'. */
static void clean(char *text, bool cut) {
    size_t n = strlen(text), i = 0;
    while (i < n) {
        uint32_t cp = 0;
        int len = heed_utf8_next(text + i, n - i, &cp);
        if (len == 0 && cut && n - i < 4) {
            text[i] = 0;
            return;
        }
        if (len == 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) {
            memset(text + i, '?', len > 0 ? (size_t)len : 1);
        }
        i += len > 0 ? (size_t)len : 1;
    }
}

static void fill(heed_error *err, heed_code code, const char *format, va_list args) {
    int need = vsnprintf(err->text, sizeof err->text, format, args);
    if (need < 0) {
        err->text[0] = 0;
    }
    clean(err->text, need >= (int)sizeof err->text);
    err->code = code;
}

bool heed_fail(heed_error *err, heed_code code, const char *format, ...) {
    if (err && err->code == HEED_OK) {
        va_list args;
        va_start(args, format);
        fill(err, code, format, args);
        va_end(args);
    }
    return false;
}

/* Puts ": more" behind the text. */
static void add(heed_error *err, const char *more) {
    size_t n = strlen(err->text), left = sizeof err->text - n;
    int need = snprintf(err->text + n, left, ": %s", more);
    clean(err->text, need >= (int)left);
}

/* The system's words for an error number, in lower case like all of ours. */
static void describe(int number, char *out, size_t size) {
    if (strerror_r(number, out, size) != 0 || out[0] == 0) {
        snprintf(out, size, "system error %d", number);
    }
    out[0] = (char)tolower((unsigned char)out[0]);
}

bool heed_fail_system(heed_error *err, heed_code code, int number, const char *format, ...) {
    if (err && err->code == HEED_OK) {
        va_list args;
        va_start(args, format);
        fill(err, code, format, args);
        va_end(args);
        char reason[128] = "";
        describe(number, reason, sizeof reason);
        add(err, reason);
    }
    return false;
}

void heed_error_at(heed_error *err, const char *format, ...) {
    if (!err || err->code == HEED_OK) {
        return;
    }
    char rest[sizeof err->text];
    memcpy(rest, err->text, sizeof rest);
    va_list args;
    va_start(args, format);
    fill(err, err->code, format, args);
    va_end(args);
    add(err, rest);
}
