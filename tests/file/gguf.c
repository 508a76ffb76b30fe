/* GGUF: the reference library's file read to the same numbers, and each kind of damage refused with
 * its line.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf.h"

#include "support.h"

#define GOLDEN "tests/golden/gguf/types.gguf"

/* ---- A sound file ---- */

static heed_gguf *opened(void) {
    heed_error err = {0};
    assert_true(heed_is_gguf(GOLDEN));
    heed_gguf *g = heed_gguf_open(NULL, GOLDEN, &err);
    expect_no_error(&err);
    assert_non_null(g);
    return g;
}

static void expect_equal(const char *name, const float *got, const float *want, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("%s: number %d is %.9g, wanted %.9g", name, (int)i, (double)got[i],
                     (double)want[i]);
}

/* Each quantised tensor stands beside what the reference library makes of it, as F32. */
static void test_numbers(void **state) {
    (void)state;
    heed_gguf *g = opened();
    const heed_tensors *all = heed_gguf_tensors(g);
    int compared = 0;
    for (int64_t i = 0; i < heed_tensors_count(all); i++) {
        const heed_tensor *t = heed_tensors_at(all, i);
        char name[100];
        snprintf(name, sizeof name, "%s.numbers", t->name);
        const heed_tensor *want = heed_tensors_find(all, name);
        if (!want)
            continue;
        heed_error err = {0};
        int64_t n = heed_tensor_elements(t);
        float *got = malloc((size_t)n * sizeof *got);
        assert_non_null(got);
        assert_true(heed_tensor_to_f32(t, got, &err));
        assert_int_equal(n, heed_tensor_elements(want));
        expect_equal(t->name, got, want->data, n);
        free(got);
        compared++;
    }
    assert_int_equal(compared, 11);
    heed_gguf_free(g);
}

static void expect_whole(const heed_gguf *g, const char *key, heed_gguf_kind kind,
                         int64_t integer) {
    const heed_gguf_value *v = heed_gguf_find(g, key);
    assert_non_null(v);
    assert_int_equal(v->kind, kind);
    assert_int_equal(v->integer, integer);
}

static void test_settings(void **state) {
    (void)state;
    heed_gguf *g = opened();
    heed_error err = {0};
    expect_whole(g, "a.u8", HEED_GGUF_INTEGER, 200);
    expect_whole(g, "a.i8", HEED_GGUF_INTEGER, -100);
    expect_whole(g, "a.u16", HEED_GGUF_INTEGER, 65000);
    expect_whole(g, "a.i16", HEED_GGUF_INTEGER, -30000);
    expect_whole(g, "a.u32", HEED_GGUF_INTEGER, 4000000000);
    expect_whole(g, "a.i32", HEED_GGUF_INTEGER, -2000000000);
    expect_whole(g, "a.u64", HEED_GGUF_INTEGER, INT64_MAX);
    expect_whole(g, "a.i64", HEED_GGUF_INTEGER, INT64_MIN);
    expect_whole(g, "a.bool", HEED_GGUF_BOOL, 1);
    assert_true(heed_gguf_find(g, "a.f32")->real == 0.5);
    assert_true(heed_gguf_find(g, "a.f64")->real == 0.1);
    heed_gguf_text text = heed_gguf_find(g, "a.text")->text, items[2];
    assert_int_equal(text.n, strlen("我爱中国"));
    assert_memory_equal(text.data, "我爱中国", text.n);
    const heed_gguf_value *texts = heed_gguf_find(g, "a.texts");
    assert_int_equal(texts->count, 2);
    assert_true(heed_gguf_items_text(texts, items, &err));
    assert_int_equal(items[0].n, 0);
    assert_memory_equal(items[1].data, "xyz", 3);
    int64_t integers[3];
    float reals[2];
    assert_true(heed_gguf_items_i64(heed_gguf_find(g, "a.integers"), integers, &err));
    assert_int_equal(integers[1], -7);
    assert_true(heed_gguf_items_f32(heed_gguf_find(g, "a.reals"), reals, &err));
    assert_true(reals[1] == -2.5F);
    assert_false(heed_gguf_items_f32(texts, reals, &err));
    expect_error(&err, HEED_FILE, "setting 'a.texts' is no array of real numbers");
    assert_null(heed_gguf_find(g, "a.nothing"));
    heed_gguf_free(g);
}

static void test_shapes(void **state) {
    (void)state;
    heed_gguf *g = opened();
    const heed_tensor *t = heed_tensors_find(heed_gguf_tensors(g), "cube");
    assert_non_null(t);
    assert_int_equal(t->rank, 3);
    assert_int_equal(t->dim[0], 2);
    assert_int_equal(t->dim[1], 3);
    assert_int_equal(t->dim[2], 5);
    heed_gguf_free(g);
}

/* ---- Files that are not sound ---- */

typedef struct {
    unsigned char data[4096];
    size_t n;
} file;

static void put(file *f, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++)
        f->data[f->n++] = (unsigned char)(x >> 8 * i);
}

static void put_text(file *f, const char *s) {
    put(f, strlen(s), 8);
    memcpy(f->data + f->n, s, strlen(s));
    f->n += strlen(s);
}

/* What a file says; a tensor's place is `at`. */
typedef struct {
    const char *name;
    uint32_t rank, type;
    uint64_t dim[2], at;
} one_tensor;

static const one_tensor SOUND = {"a", 2, 0, {4, 2}, 0}, SECOND = {"b", 2, 0, {4, 2}, 32};

static void put_head(file *f, uint32_t version, uint64_t tensors, uint64_t settings) {
    f->n = 0;
    put(f, 0x46554747, 4);
    put(f, version, 4);
    put(f, tensors, 8);
    put(f, settings, 8);
}

static void put_tensor(file *f, const one_tensor *t) {
    put_text(f, t->name);
    put(f, t->rank, 4);
    for (uint32_t i = 0; i < t->rank && i < 2; i++)
        put(f, t->dim[i], 8);
    put(f, t->type, 4);
    put(f, t->at, 8);
}

static void put_data(file *f, size_t bytes) {
    while (f->n % 32)
        put(f, 0, 1);
    memset(f->data + f->n, 1, bytes);
    f->n += bytes;
}

/* Opens exactly the file's bytes, in a block of that size so that a read behind them is seen. */
static heed_gguf *open_bytes(const unsigned char *data, size_t n, heed_error *err) {
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, data, n);
    heed_gguf *g = heed_gguf_from_bytes(NULL, "m.gguf", exact, n, err);
    free(exact); /* nobody looks at the data below */
    return g;
}

static void expect_refused(const file *f, const char *why) {
    heed_error err = {0};
    assert_null(open_bytes(f->data, f->n, &err));
    assert_non_null(strstr(err.text, "'m.gguf': "));
    expect_error(&err, err.code == HEED_SHAPE ? HEED_SHAPE : HEED_FILE, why);
}

static void test_tensors_refused(void **state) {
    (void)state;
    static const struct {
        one_tensor first, second;
        const char *why;
    } cases[] = {
        {{"a", 0, 0, {0}, 0}, {0}, "tensor 'a' has 0 dimensions, wanted 1 to 4"},
        {{"a", 5, 0, {1, 1}, 0}, {0}, "tensor 'a' has 5 dimensions, wanted 1 to 4"},
        {{"a", 2, 0, {4, 0}, 0}, {0}, "tensor 'a' has a dimension of 0"},
        {{"a", 2, 0, {(1ULL << 42) + 1, 1ULL << 22}, 0}, {0}, "overflows 64 bits"},
        {{"a", 2, 0, {1ULL << 63, 1}, 0}, {0}, "tensor 'a' has a dimension of 9223372036854775808"},
        {{"a", 2, 99, {4, 2}, 0}, {0}, "tensor 'a' has type 99, which is not read"},
        {{"a", 2, 2, {4, 2}, 0}, {0}, "rows of shape (2,4) are not whole blocks of 32, as Q4_0"},
        {{"", 2, 0, {4, 2}, 0}, {0}, "the name of a tensor has 0 bytes"},
        {{"\xff", 2, 0, {4, 2}, 0}, {0}, "the name of a tensor has 1 bytes or is not UTF-8"},
        {{"a", 2, 0, {4, 2}, 4}, {0}, "starts at byte 4 of the data, which is no multiple of 32"},
        {{"a", 2, 0, {4, 2}, 64}, {0}, "needs 32 bytes from byte 64 of the data, which has 64"},
        {{"a", 2, 0, {4, 2}, 1ULL << 60}, {0}, "bytes from byte 1152921504606846976 of the data"},
        {{"a", 2, 0, {4, 200}, 0}, {0}, "needs 3200 bytes from byte 0 of the data, which has 64"},
        {{"a", 2, 0, {4, 2}, 0}, {"b", 2, 0, {4, 2}, 0}, "tensor 'b' lies on 'a'"},
        {{"a", 2, 0, {4, 3}, 0}, {"b", 2, 0, {4, 2}, 32}, "tensor 'b' lies on 'a'"},
        {{"a", 2, 0, {4, 2}, 0}, {"a", 2, 0, {4, 2}, 32}, "tensor 'a' is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f;
        put_head(&f, 3, cases[i].second.name ? 2 : 1, 0);
        put_tensor(&f, &cases[i].first);
        if (cases[i].second.name)
            put_tensor(&f, &cases[i].second);
        put_data(&f, 64);
        expect_refused(&f, cases[i].why);
    }
}

static void test_heads_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t version;
        uint64_t tensors, settings;
        const char *why;
    } cases[] = {
        {99, 0, 0, "GGUF version 99; versions 2 and 3 are read"},
        {1, 0, 0, "GGUF version 1; versions 2 and 3 are read"},
        {3U << 24, 0, 0, "this GGUF file is big-endian"},
        {3, 1ULL << 40, 0, "1099511627776 tensors, more than the 65536 that are read"},
        {3, 9, 0, "9 tensors, more than the file can hold"},
        {3, 0, 1ULL << 60, "1152921504606846976 settings, more than the 65536 that are read"},
        {3, 0, 9, "9 settings, more than the file can hold"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f;
        put_head(&f, cases[i].version, cases[i].tensors, cases[i].settings);
        put_data(&f, 64);
        expect_refused(&f, cases[i].why);
    }
    file f = {"GGML", 4};
    expect_refused(&f, "this is no GGUF file");
}

/* A file with one setting of a type, then a value of so many bytes. */
static void one_setting(file *f, const char *key, uint32_t type, const uint64_t *value,
                        const int *bytes, int parts) {
    put_head(f, 3, 1, 1);
    put_text(f, key);
    put(f, type, 4);
    for (int i = 0; i < parts; i++)
        put(f, value[i], bytes[i]);
    put_tensor(f, &SOUND);
    put_data(f, 64);
}

static void test_settings_refused(void **state) {
    (void)state;
    static const struct {
        const char *key;
        uint32_t type;
        uint64_t value[3];
        int bytes[3], parts;
        const char *why;
    } cases[] = {
        {"", 4, {1}, {4}, 1, "the name of a setting has 0 bytes"},
        {"k", 13, {1}, {4}, 1, "setting 'k': type 13 is unknown"},
        {"k", 8, {1ULL << 40}, {8}, 1, "setting 'k': byte 45: 1099511627776 bytes are to follow"},
        {"k", 9, {4, 1ULL << 60}, {4, 8}, 2, "an array of 1152921504606846976 items is longer"},
        {"k", 9, {8, 1, 1ULL << 62}, {4, 8, 8}, 3, "4611686018427387904 bytes are to follow"},
        {"k", 9, {9, 1}, {4, 8}, 2, "setting 'k': an array of type 9, which is not read"},
        {"k", 10, {UINT64_MAX}, {8}, 1, "setting 'k': 18446744073709551615 is beyond 63 bits"},
        {"k", 7, {2}, {1}, 1, "setting 'k': 2 is neither false nor true"},
        {"general.alignment", 4, {0}, {4}, 1, "general.alignment must be a power of two"},
        {"general.alignment", 4, {3}, {4}, 1, "general.alignment must be a power of two"},
        {"general.alignment", 4, {1U << 31}, {4}, 1, "not 2147483648"},
        {"general.alignment", 8, {0}, {8}, 1, "general.alignment must be a power of two"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f;
        one_setting(&f, cases[i].key, cases[i].type, cases[i].value, cases[i].bytes,
                    cases[i].parts);
        expect_refused(&f, cases[i].why);
    }
    file f;
    put_head(&f, 3, 0, 2);
    for (int i = 0; i < 2; i++) {
        put_text(&f, "k");
        put(&f, 4, 4);
        put(&f, 1, 4);
    }
    expect_refused(&f, "setting 'k' is there twice");
}

/* Cut at every byte, a sound file is refused, but for the padding behind its last tensor. */
static void test_cut(void **state) {
    (void)state;
    file f;
    static const uint64_t value[] = {8, 2, 1, 'x', 0};
    static const int bytes[] = {4, 8, 8, 1, 8};
    put_head(&f, 2, 2, 1);
    put_text(&f, "k");
    put(&f, 9, 4);
    for (int i = 0; i < 5; i++)
        put(&f, value[i], bytes[i]);
    put_tensor(&f, &SECOND);
    put_tensor(&f, &SOUND);
    put_data(&f, 64);
    for (size_t n = 0; n < f.n; n++) {
        heed_error err = {0};
        assert_null(open_bytes(f.data, n, &err));
        expect_error(&err, HEED_FILE, "'m.gguf': ");
    }
    heed_error err = {0};
    heed_gguf *g = open_bytes(f.data, f.n, &err);
    expect_no_error(&err);
    assert_string_equal(heed_tensors_at(heed_gguf_tensors(g), 0)->name, "b");
    heed_gguf_free(g);
}

static bool open_golden(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_gguf *g = heed_gguf_open(host, GOLDEN, err);
    heed_gguf_free(g);
    return g != NULL;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(open_golden, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),       cmocka_unit_test(test_settings),
        cmocka_unit_test(test_shapes),        cmocka_unit_test(test_tensors_refused),
        cmocka_unit_test(test_heads_refused), cmocka_unit_test(test_settings_refused),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
