/* lines.c: a text file as lines, in one block of memory.
 * SPDX-License-Identifier: MIT
 */
#include "data/lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "text/unicode.h"

static const char BOM[] = "\xef\xbb\xbf";

static int64_t count_lines(const char *s, size_t n) {
    int64_t lines = n && s[n - 1] != '\n';
    for (const char *at = s, *end = s + n; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

static bool not_utf8(const char *label, const char *s, size_t bad, heed_error *err) {
    int64_t line = 1;
    size_t start = 0;
    for (size_t i = 0; i < bad; i++)
        if (s[i] == '\n') {
            line++;
            start = i + 1;
        }
    return heed_fail(err, HEED_TEXT,
                     "'%s' line %" PRId64 ": byte %zu of the line (0x%02x) is not UTF-8", label,
                     line, bad - start + 1, (unsigned)(unsigned char)s[bad]);
}

static void cut(heed_lines *lines, const char *s, size_t n) {
    const char *end = s + n;
    for (int64_t i = 0; i < lines->n; i++) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t length = (size_t)((stop ? stop : end) - s);
        lines->line[i] = (heed_line){s, stop && length && stop[-1] == '\r' ? length - 1 : length};
        s += length + 1;
    }
}

/* Takes lines->text, n bytes of it. */
static bool fill(heed_lines *lines, const char *label, size_t n, heed_error *err) {
    const char *s = lines->text;
    size_t mark = n >= 3 && memcmp(s, BOM, 3) == 0 ? 3 : 0, bad = heed_utf8_check(s, n);
    if (bad < n)
        return not_utf8(label, s, bad, err);
    lines->n = count_lines(s + mark, n - mark);
    lines->line = heed_alloc(lines->host, (size_t)lines->n, sizeof *lines->line, err);
    if (!lines->line)
        return false;
    cut(lines, s + mark, n - mark);
    return true;
}

static bool finish(heed_lines *lines, const char *label, size_t n, heed_error *err) {
    if (lines->text && fill(lines, label, n, err))
        return true;
    heed_lines_free(lines);
    return false;
}

bool heed_lines_read(heed_lines *lines, const heed_host *host, const char *path, size_t limit,
                     heed_error *err) {
    size_t n = 0;
    *lines = (heed_lines){.host = host};
    lines->text = heed_read_text(host, path, limit ? limit : (size_t)8 << 30, &n, err);
    return finish(lines, path, n, err);
}

bool heed_lines_parse(heed_lines *lines, const heed_host *host, const char *label, const char *text,
                      size_t n, heed_error *err) {
    *lines = (heed_lines){.host = host};
    lines->text = heed_copy_text(host, text, n, err);
    return finish(lines, label, n, err);
}

void heed_lines_free(heed_lines *lines) {
    heed_free(lines->host, lines->line);
    heed_free(lines->host, lines->text);
    *lines = (heed_lines){.host = lines->host};
}

/* Bytes of the last code point of valid UTF-8, n > 0. */
static size_t last_step(const char *s, size_t n) {
    size_t step = 1;
    while (step < n && ((unsigned char)s[n - step] & 0xc0) == 0x80)
        step++;
    return step;
}

heed_line heed_line_trim(heed_line line) {
    uint32_t cp;
    size_t step;
    while (line.n && (step = (size_t)heed_utf8_next(line.s, line.n, &cp)) && heed_is_space(cp)) {
        line.s += step;
        line.n -= step;
    }
    while (line.n) {
        step = last_step(line.s, line.n);
        if (!heed_utf8_next(line.s + line.n - step, step, &cp) || !heed_is_space(cp))
            break;
        line.n -= step;
    }
    return line;
}

bool heed_line_column(heed_line line, int64_t column, heed_line *out) {
    const char *s = line.s, *end = line.s + line.n;
    for (;;) {
        const char *tab = memchr(s, '\t', (size_t)(end - s));
        if (--column == 0) {
            *out = (heed_line){s, (size_t)((tab ? tab : end) - s)};
            return true;
        }
        if (!tab)
            return false;
        s = tab + 1;
    }
}
