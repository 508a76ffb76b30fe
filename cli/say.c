/* say.c: messages on standard error, and JSON's two kinds of leaf.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

int cli_fail(const heed_error *err) {
    fprintf(stderr, "heed: %s\n", err->text);
    return CLI_INPUT;
}

static void say(const char *head, const char *format, va_list args) {
    fputs(head, stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cli_fail_system(const char *format, ...) {
    const char *why = errno ? strerror(errno) : "";
    va_list args;
    va_start(args, format);
    fputs("heed: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    if (*why) { /* in lower case, as the library has it */
        bool capital = *why >= 'A' && *why <= 'Z';
        fprintf(stderr, ": %c%s", capital ? *why - 'A' + 'a' : *why, why + 1);
    }
    fputc('\n', stderr);
    return CLI_INPUT;
}

int cli_misuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("heed: ", format, args);
    va_end(args);
    return CLI_USAGE;
}

void cli_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("heed: ", format, args);
    va_end(args);
}

void cli_hint(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("hint: ", format, args);
    va_end(args);
}

/* ---- Guessing what was meant ---- */

enum { LONGEST_WORD = 40 };

/* Levenshtein 1966, one row at a time. */
static size_t edits(const char *a, const char *b) {
    size_t n = strlen(b), row[LONGEST_WORD + 1];
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = diagonal + 1 < best ? diagonal + 1 : best;
            row[j + 1] = row[j] + 1 < best ? row[j] + 1 : best;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *const *list, size_t n) {
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;
    for (size_t i = 0; i < n; i++) {
        size_t d = strlen(list[i]) > LONGEST_WORD ? least : edits(word, list[i]);
        if (d < least) {
            least = d;
            best = list[i];
        }
    }
    return best;
}

/* ---- Progress ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cli_columns(int descriptor) {
    struct winsize size;
    bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

/* Shortens a line to what a terminal shows of it in one row: the rest would go into the next, where
 * "\r" does not reach it. Returns its columns. */
static int fit(char *line) {
    int most = cli_columns(STDERR_FILENO) - 1;
    size_t n = strlen(line);
    while (n > 0 && heed_utf8_columns(line, n) > most) {
        do {
            n--;
        } while (n > 0 && ((unsigned char)line[n] & 0xc0) == 0x80);
    }
    line[n] = '\0';
    return heed_utf8_columns(line, n);
}

void cli_show_progress(cli_progress *p, const char *format, ...) {
    bool terminal = isatty(STDERR_FILENO);
    double t = now();
    if (p->last > 0 && t - p->last < (terminal ? 0.2 : 10.0)) {
        return;
    }
    char line[300];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    p->last = t;
    if (!terminal) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    int width = fit(line);
    fprintf(stderr, "\r%s%*s", line, p->shown > width ? p->shown - width : 0, "");
    fflush(stderr);
    p->shown = width;
}

void cli_end_progress(cli_progress *p) {
    if (p->shown) {
        fprintf(stderr, "\r%*s\r", p->shown, "");
    }
    *p = (cli_progress){0};
}

/* ---- JSON ---- */

void cli_print_string(FILE *out, const char *s, size_t n) {
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", out);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

void cli_print_number(FILE *out, double x) {
    char text[40];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) {
            break;
        }
    }
    fputs(text, out);
}
