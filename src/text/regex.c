/* regex.c: from Oniguruma's Ruby syntax to PCRE2's.
 *
 * Method: one pass that copies what means the same in both, spells out \s, \w and their opposites
 * as sets of code points, adds to \p{L} and the like what is newer than PCRE2's tables, and refuses
 * the rest: silence would mean other ids. What is left: inside a set \P{L} is that of PCRE2, and so
 * are scripts.
 * Source: Oniguruma, doc/RE; pcre2pattern(3).
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "text/pattern.h"
#include "text/regex_late.h"

/* White_Space: PCRE2's own \s also has U+180E. And all other code points. */
#define SPACE                                                                                      \
    "\\x09-\\x0d\\x20\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"        \
    "\\x{205f}\\x{3000}"
#define NOT_SPACE                                                                                  \
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"       \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"                 \
    "\\x{3001}-\\x{10ffff}"
/* Its \w: letters, marks, decimal digits and letter numbers, connectors, the superscripts and
 * fractions of Latin-1, letters in circles and squares. */
#define WORD                                                                                       \
    LATE_L LATE_M LATE_N                                                                           \
        "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}\\x{24b6}-\\x{24e9}" \
        "\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}"

typedef struct {
    const char *s;
    size_t n, at;
    size_t escaped; /* where the last escape ended */
    size_t opened;  /* where the last group began; 0: the expression itself */
    bool in_class;
    heed_buf *out;
    heed_error *err;
} translator;

static bool refuse(const translator *t, size_t n, const char *why) {
    return heed_fail(t->err, HEED_FILE, "regex: '%.*s' at byte %zu %s", (int)n, t->s + t->at, t->at,
                     why);
}

static bool put_set(translator *t, const char *set, bool negated) {
    if (t->in_class) {
        return heed_buf_text(t->out, set);
    }
    return heed_buf_text(t->out, negated ? "[^" : "[") && heed_buf_text(t->out, set) &&
           heed_buf_text(t->out, "]");
}

/* Copies what stands in braces behind \p and \x: that is no repetition. A name of three letters or
 * more is a script; PCRE2 means by it the code points that other scripts use as well, unless
 * told. */
static bool braces(translator *t) {
    const char *s = t->s + t->at + 2;
    size_t n = t->n - t->at - 2;
    if (!strchr("pPx", s[-1]) || n == 0 || s[0] != '{') {
        return true;
    }
    const char *end = memchr(s, '}', n);
    n = end ? (size_t)(end - s) + 1 : n;
    t->at += n;
    size_t open = n > 1 && s[1] == '^' ? 2 : 1;
    bool script = s[-1] != 'x' && n > open + 3 && strncmp(s + open, "Any}", 4) != 0;
    return heed_buf_add(t->out, s, open) && heed_buf_text(t->out, script ? "sc:" : "") &&
           heed_buf_add(t->out, s + open, n - open);
}

static const struct {
    const char *name, *late;
} categories[] = {{"L", LATE_L}, {"Lu", LATE_LU}, {"Ll", LATE_LL}, {"Lm", LATE_LM}, {"Lo", LATE_LO},
                  {"M", LATE_M}, {"N", LATE_N},   {"P", LATE_P},   {"S", LATE_S}};

/* What is newer of the category named by \\p{...} or \\P{...} here; NULL for anything else. */
static const char *find_late(const translator *t, size_t *length) {
    const char *s = t->s + t->at;
    size_t n = t->n - t->at;
    const char *end = n > 3 && s[2] == '{' ? memchr(s, '}', n) : NULL;
    size_t name = end ? (size_t)(end - s) - 3 : 0;
    for (size_t i = 0; end && i < sizeof categories / sizeof categories[0]; i++) {
        if (strlen(categories[i].name) == name && memcmp(categories[i].name, s + 3, name) == 0) {
            *length = name + 4;
            return categories[i].late;
        }
    }
    return NULL;
}

/* \\p{L} and the like with what is newer. Its opposite too, outside of a set. */
static bool put_category(translator *t, const char *late, size_t n) {
    bool negated = t->s[t->at + 1] == 'P';
    size_t at = t->at;
    t->at += n;
    t->escaped = t->at;
    if (t->in_class) {
        return heed_buf_add(t->out, t->s + at, n) && heed_buf_text(t->out, negated ? "" : late);
    }
    return heed_buf_text(t->out, negated ? "[^\\p" : "[\\p") &&
           heed_buf_add(t->out, t->s + at + 2, n - 2) && heed_buf_text(t->out, late) &&
           heed_buf_text(t->out, "]");
}

/* The byte behind a backslash. Letters and digits that are not listed are refused. */
static bool plain_escape(translator *t, char c) {
    bool done = false;
    if (c == 's') {
        done = put_set(t, SPACE, false);
    } else if (c == 'S') {
        done = put_set(t, NOT_SPACE, false);
    } else if (c == 'w') {
        done = put_set(t, WORD, false);
    } else if (c == 'W' && !t->in_class) {
        done = put_set(t, WORD, true);
    } else if (c == 'v') { /* one character in Oniguruma, a set in PCRE2 */
        done = heed_buf_text(t->out, "\\x0b");
    } else if (strchr("dDpPxtnrfaeAzZ", c) || (unsigned char)c >= 0x80 ||
               !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
        done = heed_buf_add(t->out, t->s + t->at, 2) && braces(t);
    } else {
        return refuse(t, 2, "is not supported");
    }
    t->at += 2;
    t->escaped = t->at;
    return done;
}

static bool escape(translator *t) {
    if (t->at + 1 >= t->n) {
        return refuse(t, 1, "has nothing behind it");
    }
    char c = t->s[t->at + 1];
    size_t n = 0;
    const char *late = c == 'p' || c == 'P' ? find_late(t, &n) : NULL;
    return late ? put_category(t, late, n) : plain_escape(t, c);
}

static bool begins(const translator *t, const char *what) {
    size_t n = strlen(what);
    return t->n - t->at >= n && memcmp(t->s + t->at, what, n) == 0;
}

/* Inside [...]: a bracket opens a set within a set, && intersects; PCRE2 has neither. */
static bool in_class(translator *t) {
    if (t->s[t->at] == '[') {
        return refuse(t, 1, "within a set is not supported");
    }
    if (begins(t, "&&")) {
        return refuse(t, 2, "within a set is not supported");
    }
    t->in_class = t->s[t->at] != ']';
    return heed_buf_add(t->out, t->s + t->at++, 1);
}

/* "(?": groups and looks mean the same; (?i) does where a group begins, further on it takes the
 * branches behind it along: a(?i)b|c is a(?i:b|c). (?m) does not, names and conditions are not
 * needed. */
static bool group(translator *t) {
    static const char *const same[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)"};
    if (begins(t, "(?i)") && t->at != t->opened) {
        return refuse(t, 4, "in the middle of a group is not supported: write (?i:");
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (begins(t, same[i])) {
            t->at += strlen(same[i]);
            t->opened = t->at;
            return heed_buf_text(t->out, same[i]);
        }
    }
    return refuse(t, 3, "is not supported");
}

/* Whether what stands before is {n}, without a comma. */
static bool behind_fixed(const translator *t) {
    size_t at = t->at - 1;
    while (at > 0 && t->s[at - 1] >= '0' && t->s[at - 1] <= '9') {
        at--;
    }
    return at > t->escaped && at + 1 < t->at && t->s[at - 1] == '{';
}

/* The sign behind a repetition in braces: + makes it possessive in PCRE2 and repeats it in
 * Oniguruma; ? makes {n} optional there. */
static bool check_quantifier(const translator *t) {
    if (t->at <= t->escaped || t->s[t->at - 1] != '}') {
        return true;
    }
    if (t->s[t->at] == '+') {
        return refuse(t, 1, "behind '}' is not supported");
    }
    return t->s[t->at] != '?' || !behind_fixed(t) ||
           refuse(t, 1, "behind {n} is not supported: write (?:...)?");
}

static bool open_set(translator *t) {
    t->in_class = true;
    size_t n = begins(t, "[^") ? 2 : 1;
    if (t->at + n < t->n && t->s[t->at + n] == ']') {
        return refuse(t, n + 1, "is not supported: write \\]");
    }
    t->at += n;
    return heed_buf_add(t->out, t->s + t->at - n, n);
}

static bool outside(translator *t) {
    if (begins(t, "(?")) {
        return group(t);
    }
    if (begins(t, "(*")) { /* settings of the search in PCRE2 */
        return refuse(t, 2, "is not supported");
    }
    if (begins(t, "{,")) {
        return refuse(t, 2, "is not supported: write {0,");
    }
    if (!check_quantifier(t)) {
        return false;
    }
    char c = t->s[t->at];
    if (c == '[') {
        return open_set(t);
    }
    t->at++;
    t->opened = c == '(' ? t->at : t->opened;
    return heed_buf_add(t->out, &c, 1);
}

bool heed_regex_translate(const char *regex, size_t n, heed_buf *out, heed_error *err) {
    translator t = {.s = regex, .n = n, .out = out, .err = err};
    while (t.at < n) {
        bool ok = regex[t.at] == '\\' ? escape(&t) : t.in_class ? in_class(&t) : outside(&t);
        if (!ok) {
            return heed_fail(err, HEED_NOMEM, "out of memory: a regex grew too long");
        }
    }
    return true;
}
