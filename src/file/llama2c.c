/* llama2c.c: from the bytes of one of llama2.c's files to checked tensors.
 *
 * The size of the file follows from its header: it is compared before memory is taken, so a header
 * that asks for much is refused where the file is small. Bounds on the sizes keep every product in
 * 64 bits.
 * SPDX-License-Identifier: MIT
 */
#include "file/llama2c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/little.h"

enum { SIZES = 7, HEADER = 256, LEGACY_HEADER = 28, TEXT = 64 };
enum { MOST_WIDTH = 1 << 20, MOST_LAYERS = 1 << 12, MOST_TOKENS = 1 << 24 };
static const uint32_t MAGIC = 0x616b3432;

typedef struct {
    int64_t dim, hidden, layers, heads, kv_heads, vocab, positions;
    int version;
    int64_t group; /* of int8 matrices */
    bool tied;
} header;

typedef struct {
    heed_tensors *t;
    const unsigned char *data;
    size_t at;
    header h;
    heed_error *err;
} reader;

static int64_t number_at(const unsigned char *data, size_t at) {
    return (int32_t)(uint32_t)heed_little(data + at, 4);
}

/* ---- The header ---- */

static bool in_range(int64_t x, int64_t most) {
    return x >= 1 && x <= most;
}

/* Sizes that a model may have. */
static bool sound(const header *h) {
    return in_range(h->dim, MOST_WIDTH) && in_range(h->hidden, MOST_WIDTH) &&
           in_range(h->layers, MOST_LAYERS) && in_range(h->heads, h->dim) &&
           in_range(h->kv_heads, h->heads) && in_range(h->vocab, MOST_TOKENS) &&
           in_range(h->positions, MOST_TOKENS) && h->dim % h->heads == 0 &&
           h->heads % h->kv_heads == 0;
}

static void read_sizes(header *h, const unsigned char *data) {
    int64_t *const to[SIZES] = {&h->dim,      &h->hidden, &h->layers,   &h->heads,
                                &h->kv_heads, &h->vocab,  &h->positions};
    for (size_t i = 0; i < SIZES; i++)
        *to[i] = number_at(data, 4 * i);
}

static void read_legacy(header *h, const unsigned char *data) {
    *h = (header){.version = 0};
    read_sizes(h, data);
    h->tied = h->vocab > 0;
    h->vocab = h->tied ? h->vocab : -h->vocab;
}

static bool has_magic(const unsigned char *data, size_t n) {
    return n >= 4 && heed_little(data, 4) == MAGIC;
}

bool heed_is_llama2c(const unsigned char *data, size_t n) {
    return has_magic(data, n) || heed_llama2c_tokens(data, n) > 0;
}

int64_t heed_llama2c_tokens(const unsigned char *data, size_t n) {
    header h;
    bool magic = has_magic(data, n);
    if (n < (size_t)(magic ? HEADER : LEGACY_HEADER))
        return 0;
    if (magic)
        read_sizes(&h, data + 8);
    else
        read_legacy(&h, data);
    return sound(&h) ? h.vocab : 0;
}

static bool read_header(reader *r, size_t n) {
    header *h = &r->h;
    if (!has_magic(r->data, n)) {
        read_legacy(h, r->data);
        r->at = LEGACY_HEADER;
        return true;
    }
    if (n < HEADER)
        return heed_fail(r->err, HEED_FILE, "%zu bytes are less than the header of %d", n, HEADER);
    h->version = (int)number_at(r->data, 4);
    if (h->version != 1 && h->version != 2)
        return heed_fail(r->err, HEED_FILE, "llama2.c's version %d; 0 (legacy), 1 and 2 are read",
                         h->version);
    read_sizes(h, r->data + 8);
    h->tied = r->data[8 + 4 * SIZES] != 0;
    h->group = h->version == 2 ? number_at(r->data, 8 + 4 * SIZES + 1) : 0;
    r->at = HEADER;
    if (!sound(h))
        return heed_fail(r->err, HEED_FILE, "the header's sizes are none that a model can have");
    if (h->version == 2 && (h->group < 1 || h->dim % h->group != 0 || h->hidden % h->group != 0))
        return heed_fail(r->err, HEED_FILE,
                         "groups of %" PRId64 " do not divide widths of %" PRId64 " and %" PRId64,
                         h->group, h->dim, h->hidden);
    return true;
}

/* ---- Matrices ---- */

/* A kind of matrix: its name behind "layers.N." (or alone), its shape. */
typedef struct {
    const char *name;
    int64_t rows, cols; /* rows 0: a vector */
} kind;

enum { ATTENTION_NORM, Q, K, V, OUT, FEED_NORM, W1, W2, W3, LAYER_KINDS };

static void layer_kinds(const header *h, kind out[LAYER_KINDS]) {
    int64_t kv = h->dim / h->heads * h->kv_heads;
    const kind list[LAYER_KINDS] = {{"attention_norm.weight", 0, h->dim},
                                    {"attention.wq.weight", h->dim, h->dim},
                                    {"attention.wk.weight", kv, h->dim},
                                    {"attention.wv.weight", kv, h->dim},
                                    {"attention.wo.weight", h->dim, h->dim},
                                    {"ffn_norm.weight", 0, h->dim},
                                    {"feed_forward.w1.weight", h->hidden, h->dim},
                                    {"feed_forward.w2.weight", h->dim, h->hidden},
                                    {"feed_forward.w3.weight", h->hidden, h->dim}};
    memcpy(out, list, sizeof list);
}

static int64_t elements(const kind *k) {
    return (k->rows ? k->rows : 1) * k->cols;
}

static bool is_int8(const header *h, const kind *k) {
    return h->version == 2 && k->rows;
}

static int64_t bytes_of(const header *h, const kind *k) {
    int64_t n = elements(k);
    return is_int8(h, k) ? n + n / h->group * (int64_t)sizeof(float) : n * (int64_t)sizeof(float);
}

static int64_t sines(const header *h) {
    return h->version ? 0 : h->positions * (h->dim / h->heads / 2) * 2 * (int64_t)sizeof(float);
}

static int64_t whole_bytes(const reader *r) {
    const header *h = &r->h;
    const kind tokens = {"", h->vocab, h->dim}, norm = {"", 0, h->dim};
    kind list[LAYER_KINDS];
    layer_kinds(h, list);
    int64_t n = (int64_t)r->at + bytes_of(h, &tokens) * (h->tied ? 1 : 2) + bytes_of(h, &norm);
    for (int i = 0; i < LAYER_KINDS; i++)
        n += h->layers * bytes_of(h, &list[i]);
    return n + sines(h);
}

/* int8 numbers and, behind all of them, the scales of their groups. */
static const float *dequantised(reader *r, const kind *k) {
    size_t n = (size_t)elements(k), group = (size_t)r->h.group;
    const unsigned char *q = r->data + r->at, *scales = q + n;
    float *out = heed_region_alloc(&r->t->texts, n, sizeof *out, r->err);
    for (size_t i = 0; out && i < n; i++) {
        float scale;
        memcpy(&scale, scales + i / group * sizeof scale, sizeof scale);
        out[i] = (float)(int8_t)q[i] * scale;
    }
    return out;
}

/* The next matrix of the file; layer < 0: of no layer. */
static bool take(reader *r, const kind *k, int64_t layer) {
    char name[TEXT];
    if (layer < 0)
        snprintf(name, sizeof name, "%s", k->name);
    else
        snprintf(name, sizeof name, "layers.%" PRId64 ".%s", layer, k->name);
    heed_tensor t = {.name = heed_region_text(&r->t->texts, name, strlen(name), r->err),
                     .type = HEED_F32,
                     .rank = k->rows ? 2 : 1,
                     .dim = {k->rows ? k->rows : k->cols, k->cols},
                     .bytes = (size_t)elements(k) * sizeof(float)};
    t.data = is_int8(&r->h, k) ? (const void *)dequantised(r, k) : r->data + r->at;
    r->at += (size_t)bytes_of(&r->h, k);
    return t.name && t.data && heed_tensors_add(r->t, &t, "in the file twice", r->err);
}

/* Kinds [from, to) of all layers, kind by kind. */
static bool take_layers(reader *r, int from, int to) {
    kind list[LAYER_KINDS];
    layer_kinds(&r->h, list);
    for (int i = from; i < to; i++)
        for (int64_t layer = 0; layer < r->h.layers; layer++)
            if (!take(r, &list[i], layer))
                return false;
    return true;
}

static bool take_all(reader *r) {
    const header *h = &r->h;
    const kind tokens = {"tok_embeddings.weight", h->vocab, h->dim},
               norm = {"norm.weight", 0, h->dim}, output = {"output.weight", h->vocab, h->dim};
    bool fine;
    if (!h->version) {
        fine = take(r, &tokens, -1) && take_layers(r, 0, LAYER_KINDS) && take(r, &norm, -1);
        r->at += (size_t)sines(h);
    } else {
        fine = take_layers(r, ATTENTION_NORM, ATTENTION_NORM + 1) &&
               take_layers(r, FEED_NORM, FEED_NORM + 1) && take(r, &norm, -1) &&
               take(r, &tokens, -1) && take_layers(r, Q, FEED_NORM) &&
               take_layers(r, W1, LAYER_KINDS);
    }
    return fine && (h->tied || take(r, &output, -1));
}

static bool add_header(reader *r) {
    const header *h = &r->h;
    const struct {
        const char *key;
        int64_t value;
    } list[] = {{"version", h->version},   {"dim", h->dim},
                {"hidden_dim", h->hidden}, {"n_layers", h->layers},
                {"n_heads", h->heads},     {"n_kv_heads", h->kv_heads},
                {"vocab_size", h->vocab},  {"max_seq_len", h->positions},
                {"tied", h->tied},         {"group_size", h->group}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, list[i].value);
        if (!heed_tensors_add_meta(r->t, list[i].key, text, r->err))
            return false;
    }
    return true;
}

static bool parse(reader *r, size_t n) {
    if (!read_header(r, n))
        return false;
    int64_t whole = whole_bytes(r);
    if ((uint64_t)whole != n)
        return heed_fail(r->err, HEED_FILE,
                         "%zu bytes, the header of llama2.c's version %d asks for %" PRId64, n,
                         r->h.version, whole);
    return add_header(r) && take_all(r);
}

bool heed_tensors_parse_llama2c(heed_tensors *t, const char *label, const unsigned char *data,
                                size_t n, heed_error *err) {
    reader r = {.t = t, .data = data, .err = err};
    if (parse(&r, n))
        return true;
    heed_error_at(err, "'%s'", label);
    return false;
}
