/* llama2c.c: files of llama2.c: every matrix of the three layouts where export.py puts it;
 * refusals, and little memory while refusing.
 * SPDX-License-Identifier: MIT
 */
#include "weigh.h"

#include "file/safetensors.h"

enum {
    DIM = 8,
    HIDDEN = 12,
    LAYERS = 2,
    HEADS = 2,
    KV_HEADS = 1,
    VOCAB = 5,
    LENGTH = 6,
    GROUP = 4
};
enum { MOST_BYTES = 1 << 14 };

typedef struct {
    unsigned char data[MOST_BYTES];
    size_t n;
} bytes;

static void put(bytes *b, const void *data, size_t n) {
    assert_in_range(b->n + n, 0, MOST_BYTES);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_int(bytes *b, int32_t x) {
    unsigned char at[4] = {(unsigned char)((uint32_t)x), (unsigned char)((uint32_t)x >> 8),
                           (unsigned char)((uint32_t)x >> 16), (unsigned char)((uint32_t)x >> 24)};
    put(b, at, 4);
}

static void put_floats(bytes *b, int n, float first) {
    for (int i = 0; i < n; i++) {
        float x = first + (float)i;
        put(b, &x, sizeof x);
    }
}

/* Numbers -3, -2, -1, 0, 1 ... and scales 1, 2, 3 ... */
static void put_int8(bytes *b, int n) {
    for (int i = 0; i < n; i++) {
        int8_t x = (int8_t)(i % 100 - 3);
        put(b, &x, 1);
    }
    put_floats(b, n / GROUP, 1);
}

static void put_sizes(bytes *b, int32_t vocab) {
    const int32_t sizes[] = {DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, vocab, LENGTH};
    for (size_t i = 0; i < 7; i++)
        put_int(b, sizes[i]);
}

/* A matrix of version 1 or 2, whose first number is `first` in version 1. */
static void put_matrix(bytes *b, int version, int n, float first) {
    if (version == 2)
        put_int8(b, n);
    else
        put_floats(b, n, first);
}

static void make_legacy(bytes *b, bool tied) {
    b->n = 0;
    put_sizes(b, tied ? VOCAB : -VOCAB);
    const int per_layer[] = {DIM, DIM * DIM,    DIM * DIM / 2, DIM * DIM / 2, DIM * DIM,
                             DIM, DIM * HIDDEN, DIM * HIDDEN,  DIM * HIDDEN};
    put_floats(b, VOCAB * DIM, 1000);
    for (int kind = 0; kind < 9; kind++)
        for (int layer = 0; layer < LAYERS; layer++)
            put_floats(b, per_layer[kind], (float)(10000 * (kind + 1) + 1000 * layer));
    put_floats(b, DIM, 2000);
    put_floats(b, LENGTH * DIM / HEADS, -1); /* sines and cosines */
    if (!tied)
        put_floats(b, VOCAB * DIM, 3000);
}

static void make_new(bytes *b, int version, bool tied) {
    b->n = 0;
    put_int(b, 0x616b3432);
    put_int(b, version);
    put_sizes(b, VOCAB);
    put(b, tied ? "\1" : "\0", 1);
    if (version == 2)
        put_int(b, GROUP);
    while (b->n < 256)
        put(b, "", 1);
    const int per_layer[] = {DIM * DIM,    DIM * DIM / 2, DIM * DIM / 2, DIM * DIM,
                             DIM * HIDDEN, DIM * HIDDEN,  DIM * HIDDEN};
    const int kinds[] = {2, 3, 4, 5, 7, 8, 9}; /* as legacy numbers them */
    for (int layer = 0; layer < LAYERS; layer++)
        put_floats(b, DIM, (float)(10000 + 1000 * layer));
    for (int layer = 0; layer < LAYERS; layer++)
        put_floats(b, DIM, (float)(60000 + 1000 * layer));
    put_floats(b, DIM, 2000);
    put_matrix(b, version, VOCAB * DIM, 1000);
    for (int kind = 0; kind < 7; kind++)
        for (int layer = 0; layer < LAYERS; layer++)
            put_matrix(b, version, per_layer[kind], (float)(10000 * kinds[kind] + 1000 * layer));
    if (!tied)
        put_matrix(b, version, VOCAB * DIM, 3000);
}

typedef struct {
    const char *name;
    int64_t rows, cols; /* rows 0: a vector */
    float first;
} wanted;

static const wanted TENSORS[] = {
    {"tok_embeddings.weight", VOCAB, DIM, 1000},
    {"norm.weight", 0, DIM, 2000},
    {"layers.0.attention_norm.weight", 0, DIM, 10000},
    {"layers.1.attention_norm.weight", 0, DIM, 11000},
    {"layers.0.attention.wq.weight", DIM, DIM, 20000},
    {"layers.1.attention.wq.weight", DIM, DIM, 21000},
    {"layers.1.attention.wk.weight", DIM / 2, DIM, 31000},
    {"layers.1.attention.wv.weight", DIM / 2, DIM, 41000},
    {"layers.1.attention.wo.weight", DIM, DIM, 51000},
    {"layers.1.ffn_norm.weight", 0, DIM, 61000},
    {"layers.0.feed_forward.w1.weight", HIDDEN, DIM, 70000},
    {"layers.0.feed_forward.w2.weight", DIM, HIDDEN, 80000},
    {"layers.1.feed_forward.w3.weight", HIDDEN, DIM, 91000},
};

static float number_at(const heed_tensor *t, int64_t i) {
    float x;
    memcpy(&x, (const char *)t->data + i * (int64_t)sizeof x, sizeof x);
    return x;
}

static void expect_tensor(const heed_tensors *all, const wanted *w, bool int8) {
    const heed_tensor *t = heed_tensors_find(all, w->name);
    if (!t)
        fail_msg("'%s' is missing", w->name);
    assert_int_equal(t->rank, w->rows ? 2 : 1);
    assert_int_equal(t->dim[0], w->rows ? w->rows : w->cols);
    assert_int_equal(t->type, HEED_F32);
    int64_t n = heed_tensor_elements(t);
    assert_int_equal(n, (w->rows ? w->rows : 1) * w->cols);
    for (int64_t i = 0; i < n; i++) {
        float want =
            int8 && w->rows ? (float)(i % 100 - 3) * (float)(1 + i / GROUP) : w->first + (float)i;
        if (number_at(t, i) != want)
            fail_msg("'%s'[%d] is %g, wanted %g", w->name, (int)i, (double)number_at(t, i),
                     (double)want);
    }
}

static void expect_all(const bytes *b, int version, bool tied) {
    heed_error err = {0};
    heed_tensors *t = heed_tensors_from_bytes(NULL, "m.bin", b->data, b->n, &err);
    expect_no_error(&err);
    assert_string_equal(heed_tensors_format(t), "llama2.c");
    assert_string_equal(heed_tensors_meta(t, "hidden_dim"), "12");
    assert_string_equal(heed_tensors_meta(t, "vocab_size"), "5");
    assert_string_equal(heed_tensors_meta(t, "tied"), tied ? "1" : "0");
    assert_int_equal(heed_tensors_count(t), 2 + 9 * LAYERS + !tied);
    for (size_t i = 0; i < sizeof TENSORS / sizeof *TENSORS; i++)
        expect_tensor(t, &TENSORS[i], version == 2);
    if (!tied)
        expect_tensor(t, &(wanted){"output.weight", VOCAB, DIM, 3000}, version == 2);
    heed_tensors_free(t);
}

static void layouts(void **state) {
    (void)state;
    static bytes b;
    for (int tied = 0; tied < 2; tied++) {
        make_legacy(&b, tied);
        expect_all(&b, 0, tied);
        make_new(&b, 1, tied);
        expect_all(&b, 1, tied);
        make_new(&b, 2, tied);
        expect_all(&b, 2, tied);
    }
}

static void expect_refused(const bytes *b, const char *part) {
    heed_error err = {0};
    weighing_host w;
    weighing_host_init(&w);
    assert_null(heed_tensors_from_bytes(&w.host, "m.bin", b->data, b->n, &err));
    expect_error(&err, HEED_FILE, part);
    assert_int_equal(w.live, 0);
    assert_in_range(w.most, 0, 1 << 16);
}

static void set_int(bytes *b, size_t at, int32_t x) {
    bytes one = {.n = 0};
    put_int(&one, x);
    memcpy(b->data + at, one.data, 4);
}

static void refusals(void **state) {
    (void)state;
    static bytes b;
    make_legacy(&b, true);
    size_t whole = b.n;
    b.n--;
    expect_refused(&b, "'m.bin': ");
    b.n = 28;
    expect_refused(&b, "28 bytes, the header of llama2.c's version 0 asks for ");
    b.n = whole + 4;
    expect_refused(&b, "asks for ");
    make_legacy(&b, true);
    set_int(&b, 8, 1 << 12); /* layers */
    expect_refused(&b, "asks for ");
    set_int(&b, 20, 1 << 24); /* tokens */
    expect_refused(&b, "asks for ");
    make_new(&b, 1, true);
    set_int(&b, 4, 3);
    expect_refused(&b, "version 3; 0 (legacy), 1 and 2 are read");
    make_new(&b, 1, true);
    set_int(&b, 8, 0);
    expect_refused(&b, "sizes are none that a model can have");
    set_int(&b, 8, DIM);
    set_int(&b, 24, 3); /* key heads that do not divide the heads */
    expect_refused(&b, "sizes are none that a model can have");
    make_new(&b, 2, true);
    set_int(&b, 37, 0);
    expect_refused(&b, "groups of 0 do not divide widths of 8 and 12");
    set_int(&b, 37, 8);
    expect_refused(&b, "groups of 8 do not divide");
    make_new(&b, 2, true);
    b.n = 100;
    expect_refused(&b, "100 bytes are less than the header of 256");
}

static bool open_bytes(const heed_host *host, void *ctx, heed_error *err) {
    const bytes *b = ctx;
    heed_tensors *t = heed_tensors_from_bytes(host, "m.bin", b->data, b->n, err);
    heed_tensors_free(t);
    return t != NULL;
}

static void no_memory(void **state) {
    (void)state;
    static bytes b;
    make_new(&b, 2, false);
    for_each_failing_allocation(open_bytes, &b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(refusals),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
