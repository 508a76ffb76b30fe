/* pickle_values.c: opcodes that make one value: numbers, texts, names, calls.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "file/little.h"
#include "file/pickle_machine.h"

enum { LONGEST = 1 << 20 }; /* bytes of a text */

/* ---- Single values ---- */

static bool none(heed_machine *m) {
    return heed_pickle_new(m, HEED_PICKLE_NONE) != NULL;
}

static bool truth(heed_machine *m, int64_t value) {
    heed_pickle_node *node = heed_pickle_new(m, HEED_PICKLE_BOOL);
    if (node) {
        node->integer = value;
    }
    return node != NULL;
}

static bool yes(heed_machine *m) {
    return truth(m, 1);
}

static bool no(heed_machine *m) {
    return truth(m, 0);
}

static bool integer(heed_machine *m, int bytes, bool is_signed) {
    uint64_t x;
    heed_pickle_node *node =
        heed_pickle_number(m, bytes, &x) ? heed_pickle_new(m, HEED_PICKLE_INTEGER) : NULL;
    if (node) {
        node->integer = is_signed ? (int32_t)x : (int64_t)x;
    }
    return node != NULL;
}

static bool integer_4(heed_machine *m) {
    return integer(m, 4, true);
}

static bool integer_1(heed_machine *m) {
    return integer(m, 1, false);
}

static bool integer_2(heed_machine *m) {
    return integer(m, 2, false);
}

/* Two's complement of any length. */
static bool long_1(heed_machine *m) {
    uint64_t bytes;
    const unsigned char *from =
        heed_pickle_number(m, 1, &bytes) ? heed_pickle_take(m, (size_t)bytes) : NULL;
    heed_pickle_node *node = NULL;
    if (from) {
        node = heed_pickle_new(m, bytes <= 8 ? HEED_PICKLE_INTEGER : HEED_PICKLE_LONG);
    }
    if (!node) {
        return false;
    }
    node->text = (const char *)from;
    node->n = (size_t)bytes;
    if (bytes > 0 && bytes <= 8) {
        uint64_t x = heed_little(from, (int)bytes);
        uint64_t above = bytes < 8 && from[bytes - 1] & 0x80 ? UINT64_MAX << 8 * bytes : 0;
        node->integer = (int64_t)(x | above);
    }
    return true;
}

/* Big-endian, alone of all. */
static bool real(heed_machine *m) {
    const unsigned char *from = heed_pickle_take(m, 8);
    heed_pickle_node *node = from ? heed_pickle_new(m, HEED_PICKLE_REAL) : NULL;
    if (!node) {
        return false;
    }
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        bits = bits << 8 | from[i];
    }
    memcpy(&node->real, &bits, sizeof node->real);
    return true;
}

static bool text(heed_machine *m, int bytes) {
    uint64_t n;
    if (!heed_pickle_number(m, bytes, &n)) {
        return false;
    }
    if (n > LONGEST) {
        return heed_pickle_wrong(m, "a text of more than a mebibyte");
    }
    const unsigned char *from = heed_pickle_take(m, (size_t)n);
    heed_pickle_node *node = from ? heed_pickle_new(m, HEED_PICKLE_TEXT) : NULL;
    if (node) {
        node->text = (const char *)from;
        node->n = (size_t)n;
    }
    return node != NULL;
}

static bool text_4(heed_machine *m) {
    return text(m, 4);
}

static bool text_1(heed_machine *m) {
    return text(m, 1);
}

/* ---- Names and calls ---- */

/* A node for a name of `n` bytes, "module name" or with a newline between. */
static bool name(heed_machine *m, const char *module, size_t n, const char *attribute, size_t k) {
    char whole[200];
    int length = n + k + 2 < sizeof whole ? (int)n : -1;
    if (length < 0) {
        return heed_pickle_wrong(m, "the name of a function is too long");
    }
    memcpy(whole, module, n);
    whole[n] = ' ';
    memcpy(whole + n + 1, attribute, k);
    whole[n + 1 + k] = '\0';
    for (const char *const *a = m->p->allowed; *a; a++) {
        if (strcmp(*a, whole) == 0) {
            heed_pickle_node *node = heed_pickle_new(m, HEED_PICKLE_GLOBAL);
            if (node) {
                node->text = *a;
                node->n = strlen(*a);
            }
            return node != NULL;
        }
    }
    whole[n] = '.';
    return heed_fail(m->err, HEED_FILE,
                     "pickle, byte %zu: it asks for '%s', which no record of tensors needs; "
                     "nothing was executed",
                     m->at, whole);
}

static const char *line(heed_machine *m, size_t *n) {
    const unsigned char *from = m->data + m->at;
    const unsigned char *end = m->at < m->n ? memchr(from, '\n', m->n - m->at) : NULL;
    if (!end) {
        heed_pickle_wrong(m, "the file ends inside of a name");
        return NULL;
    }
    *n = (size_t)(end - from);
    m->at += *n + 1;
    return (const char *)from;
}

static bool global(heed_machine *m) {
    size_t n, k;
    const char *module = line(m, &n), *attribute = module ? line(m, &k) : NULL;
    return attribute && name(m, module, n, attribute, k);
}

static bool stack_global(heed_machine *m) {
    uint32_t module, attribute;
    if (!heed_pickle_pop(m, &attribute) || !heed_pickle_pop(m, &module)) {
        return false;
    }
    const heed_pickle_node *a = heed_pickle_at(m, module), *b = heed_pickle_at(m, attribute);
    if (a->kind != HEED_PICKLE_TEXT || b->kind != HEED_PICKLE_TEXT) {
        return heed_pickle_wrong(m, "a name that is no text");
    }
    return name(m, a->text, a->n, b->text, b->n);
}

static bool reduce(heed_machine *m) {
    uint32_t args, callee;
    if (!heed_pickle_pop(m, &args) || !heed_pickle_pop(m, &callee)) {
        return false;
    }
    if (heed_pickle_at(m, callee)->kind != HEED_PICKLE_GLOBAL ||
        heed_pickle_at(m, args)->kind != HEED_PICKLE_TUPLE) {
        return heed_pickle_wrong(m, "a call of what is no function");
    }
    heed_pickle_node *node = heed_pickle_new(m, HEED_PICKLE_CALL);
    if (node) {
        node->callee = callee;
        node->args = args;
    }
    return node != NULL;
}

static bool persistent(heed_machine *m) {
    uint32_t args;
    heed_pickle_node *node =
        heed_pickle_pop(m, &args) ? heed_pickle_new(m, HEED_PICKLE_PERSISTENT) : NULL;
    if (node) {
        node->args = args;
    }
    return node != NULL;
}

heed_pickle_op *const heed_pickle_values[256] = {
    ['N'] = none,      [0x88] = yes,          [0x89] = no,     ['J'] = integer_4,
    ['K'] = integer_1, ['M'] = integer_2,     [0x8a] = long_1, ['G'] = real,
    ['X'] = text_4,    [0x8c] = text_1,       ['T'] = text_4,  ['U'] = text_1,
    ['c'] = global,    [0x93] = stack_global, ['R'] = reduce,  ['Q'] = persistent,
};
