/* safetensors that are not sound: each kind of damage with its line of error, and the odd files
 * that are fine.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "file/safetensors.h"
#include "support.h"

enum { FILE_MAX = 1 << 18 };

/* Length, header and `data` zero bytes into out; the size of all. */
static size_t make_file(unsigned char *out, const char *header, size_t data) {
    size_t n = strlen(header);
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(n >> (8 * i));
    memcpy(out + 8, header, n);
    memset(out + 8 + n, 0, data);
    return 8 + n + data;
}

/* Opens exactly n bytes, in a block of that size so that a read behind them is seen. */
static heed_tensors *open_bytes(const unsigned char *bytes, size_t n, heed_error *err) {
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    heed_tensors *t = heed_tensors_from_bytes(NULL, "m.safetensors", exact, n, err);
    free(exact); /* the tests below look at names and shapes only */
    return t;
}

#define F32(name, shape, begin, end)                                                               \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void test_headers(void **state) {
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *error;
    } cases[] = {
        {"{" F32("a", "[2]", "0", "8") "," F32("b", "[2]", "4", "12") "}", 12,
         "'m.safetensors': tensor 'b' starts at byte 4, inside 'a', which ends at 8"},
        {"{" F32("a", "[2]", "0", "8") "," F32("b", "[2]", "0", "8") "}", 8,
         "tensor 'b' starts at byte 0, inside 'a', which ends at 8"},
        {"{" F32("a", "[2]", "0", "8") "," F32("b", "[2]", "16", "24") "}", 24,
         "tensor 'b' starts at byte 16, the data before it ends at 8"},
        {"{" F32("a", "[2]", "8", "16") "}", 16,
         "tensor 'a' starts at byte 8, the data before it ends at 0"},
        {"{" F32("a", "[2]", "8", "0") "}", 8,
         "tensor 'a': data_offsets must be [begin, end] with 0 <= begin <= end"},
        {"{" F32("a", "[2]", "-8", "0") "}", 8, "tensor 'a': data_offsets must be [begin, end]"},
        {"{" F32("a", "[2]", "0", "8.0") "}", 8, "tensor 'a': data_offsets must be [begin, end]"},
        {"{" F32("a", "[2]", "0", "8, 9") "}", 8, "tensor 'a': data_offsets must be [begin, end]"},
        {"{" F32("a", "[2]", "0", "8") "}", 12, "4 bytes after the last tensor belong to none"},
        {"{" F32("a", "[2]", "0", "8") "}", 5,
         "file is 3 bytes short (5 of 8 bytes of data): download incomplete"},
        {"{" F32("a", "[3]", "0", "8") "}", 8, "tensor 'a' has 8 bytes, shape (3) of F32 needs 12"},
        {"{" F32("a", "[0]", "0", "8") "}", 8, "tensor 'a' has 8 bytes, shape (0) of F32 needs 0"},
        {"{" F32("a", "[-2]", "0", "8") "}", 8, "tensor 'a': dimension 0 is -2, below zero"},
        {"{" F32("a", "[2.0]", "0", "8") "}", 8,
         "tensor 'a': dimension 0 is a real number, wanted an integer"},
        {"{" F32("a", "[\"2\"]", "0", "8") "}", 8,
         "tensor 'a': dimension 0 is a string, wanted an integer"},
        {"{" F32("a", "[4294967296,4294967296,4]", "0", "0") "}", 0,
         "tensor 'a': shape (4294967296,4294967296,4) of F32 overflows 64 bits"},
        {"{" F32("a", "[9223372036854775807,4,0]", "0", "0") "}", 0,
         "tensor 'a': shape (9223372036854775807,4,0) of F32 overflows 64 bits"},
        {"{" F32("a", "[99999999999999999999]", "0", "0") "}", 0,
         "tensor 'a': dimension 0 is a real number, wanted an integer"},
        {"{" F32("a", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4,
         "tensor 'a' has 9 dimensions, at most 8 are read"},
        {"{" F32("a", "2", "0", "8") "}", 8,
         "tensor 'a': key 'shape' is an integer, wanted an array"},
        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
         "tensor 'a' has the unknown dtype 'F33'"},
        {"{\"a\":{\"dtype\":5,\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
         "tensor 'a': key 'dtype' is an integer, wanted a string"},
        {"{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "tensor 'a': key 'dtype' is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8,
         "tensor 'a': key 'shape' is missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8,
         "tensor 'a': key 'data_offsets' is missing"},
        {"{\"a\":[0,8]}", 8, "tensor 'a' is an array, wanted an object"},
        {"[]", 0, "'m.safetensors': the header is an array, wanted an object"},
        {"{" F32("a", "[2]", "0", "8"), 8,
         "'m.safetensors' line 1 column 53: '}' expected near end of file"},
        {"{" F32("a", "[2]", "0", "8") "}x", 8, "end of file expected near 'x'"},
        {"", 0, "'m.safetensors' line 1 column 0: '[' or '{' expected near end of file"},
        {"{" F32("a\xff", "[2]", "0", "8") "}", 8, "unable to decode byte 0xff"},
        {"{" F32("a\\u0000", "[2]", "0", "8") "}", 8, "NUL byte in object key not supported"},
        {"{" F32("a", "[1]", "0", "4") "," F32("a", "[1]", "4", "8") "}", 8,
         "duplicate object key near '\"a\"'"},
        {"{" F32("a", "[1]", "0", "4") "," F32("a", "[1]", "0", "4") "}", 4,
         "duplicate object key near '\"a\"'"},
        {"{\"__metadata__\":{\"format\":1}}", 0,
         "'__metadata__': 'format' is an integer, wanted a string"},
        {"{\"__metadata__\":[]}", 0, "'__metadata__' is an array, wanted an object"},
    };
    unsigned char file[2048];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        size_t n = make_file(file, cases[i].header, cases[i].data);
        if (open_bytes(file, n, &err))
            fail_msg("accepted: %s", cases[i].header);
        bool shape = err.code == HEED_SHAPE;
        expect_error(&err, shape ? HEED_SHAPE : HEED_FILE, cases[i].error);
    }
}

static void test_beginnings(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *error;
    } cases[] = {
        {"", 0, "file has 0 bytes, a safetensors file at least 8: download incomplete"},
        {"1234567", 7, "file has 7 bytes, a safetensors file at least 8: download incomplete"},
        {"\x10\0\0\0\0\0\0\0{}", 10,
         "file is 14 bytes short (2 of a header of 16 bytes): download incomplete"},
        {"\x01\xe1\xf5\x05\0\0\0\0{}", 10,
         "header of 100000001 bytes, at most 100000000 are allowed"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
         "header of 18446744073709551615 bytes, at most 100000000 are allowed"},
        {"version https://git-lfs.github.com/spec/v1\n", 43,
         "this is a Git LFS pointer, not the weights"},
        {"PK\x03\x04........", 12, "the archive has no directory at its end"},
        {"GGUF\x03\0\0\0....", 12, "this is a GGUF file, not safetensors"},
        {"<!DOCTYPE html>", 15, "this is an HTML page: the download went wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        assert_null(open_bytes((const unsigned char *)cases[i].bytes, cases[i].n, &err));
        expect_error(&err, HEED_FILE, cases[i].error);
    }
}

static void test_odd_but_sound(void **state) {
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        int64_t tensors;
    } cases[] = {
        {"{}", 0, 0},
        {"{\"__metadata__\":{\"format\":\"pt\",\"note\":\"\"}}", 0, 0},
        {"{" F32("a", "[0,4]", "0", "0") "}", 0, 1},
        {"{" F32("a", "[]", "0", "4") "}   \n ", 4, 1},
        {" {" F32("a", "[]", "0", "4") "}", 4, 1},
        {"{" F32("a", "[1]", "4", "8") "," F32("b", "[1]", "0", "4") "," F32("c", "[0]", "4",
                                                                             "4") "}",
         8, 3},
        {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4],\"extra\":[1]}}", 4, 1},
        {"{" F32("", "[1,1,1,1,1,1,1,1]", "0", "4") "}", 4, 1},
    };
    unsigned char file[2048];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        heed_tensors *t = open_bytes(file, make_file(file, cases[i].header, cases[i].data), &err);
        expect_no_error(&err);
        assert_int_equal(heed_tensors_count(t), cases[i].tensors);
        heed_tensors_free(t);
    }
}

/* Headers round 100,000 bytes, where a reader with a fixed buffer cuts them. */
static void test_long_headers(void **state) {
    (void)state;
    static char header[FILE_MAX / 2];
    static unsigned char file[FILE_MAX];
    for (size_t n = 99993; n <= 100001; n++) {
        heed_error err = {0};
        const char *start = "{\"__metadata__\":{\"k\":\"",
                   *end = "\"}," F32("a", "[1]", "0", "4") "}";
        size_t fill = n - strlen(start) - strlen(end);
        memcpy(header, start, strlen(start));
        memset(header + strlen(start), 'x', fill);
        memcpy(header + strlen(start) + fill, end, strlen(end) + 1);
        heed_tensors *t = open_bytes(file, make_file(file, header, 4), &err);
        expect_no_error(&err);
        assert_int_equal(strlen(heed_tensors_meta(t, "k")), fill);
        assert_int_equal(heed_tensors_count(t), 1);
        heed_tensors_free(t);
    }
}

/* A header may hold 100,000s of keys: each is looked for once, not beside all before it (a guard
 * against a method that has become quadratic). */
static void test_many_keys(void **state) {
    (void)state;
    enum { KEYS = 150000 };
    heed_buf header = {0};
    heed_buf_text(&header, "{\"__metadata__\":{\"k\":\"first\"");
    for (int i = 0; i < KEYS; i++)
        heed_buf_format(&header, ",\"%d\":\"\"", i);
    heed_buf_text(&header, "}}");
    unsigned char *file = malloc(header.n + 8);
    assert_non_null(file);
    heed_error err = {0};
    heed_tensors *t = open_bytes(file, make_file(file, header.data, 0), &err);
    expect_no_error(&err);
    assert_int_equal(heed_tensors_meta_count(t), KEYS + 1);
    assert_string_equal(heed_tensors_meta(t, "k"), "first");
    assert_string_equal(heed_tensors_meta(t, "149999"), "");
    assert_null(heed_tensors_meta(t, "150000"));
    heed_tensors_free(t);
    heed_buf_free(&header);
    free(file);
}

/* A sound file cut after each of its bytes is refused, and never read behind its end. */
static void test_every_cut(void **state) {
    (void)state;
    size_t n;
    unsigned char *file = (unsigned char *)slurp("tests/golden/safetensors/types.safetensors", &n);
    for (size_t cut = 0; cut < n; cut++) {
        heed_error err = {0};
        assert_null(open_bytes(file, cut, &err));
        expect_error(&err, HEED_FILE, cut >= 8 ? "bytes short" : "download incomplete");
    }
    free(file);
}

static void expect_index(const char *folder, const char *index, const char *error) {
    char path[TEST_PATH + 64];
    heed_error err = {0};
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder);
    write_text(path, index);
    assert_null(heed_tensors_open(NULL, folder, &err));
    expect_error(&err, HEED_FILE, error);
}

static void test_indices(void **state) {
    (void)state;
    char folder[TEST_PATH], path[TEST_PATH + 64];
    unsigned char file[512];
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/one", folder);
    write_bytes(path, file, make_file(file, "{" F32("a", "[1]", "0", "4") "}", 4));
    snprintf(path, sizeof path, "%s/two", folder);
    write_bytes(path, file, make_file(file, "{" F32("b", "[1]", "0", "4") "}", 4));
    snprintf(path, sizeof path, "%s/short", folder);
    write_bytes(path, file, make_file(file, "{" F32("c", "[1]", "0", "4") "}", 4) - 1);
    snprintf(path, sizeof path, "%s/again", folder);
    write_bytes(path, file, make_file(file, "{" F32("a", "[1]", "0", "4") "}", 4));
    expect_index(folder, "{\"weight_map\":{\"a\":\"one\",\"c\":\"two\"}}",
                 "tensor 'c' is not in 'two', where the index has it");
    expect_index(folder, "{\"weight_map\":{\"a\":\"two\",\"b\":\"one\"}}",
                 "where the index has it");
    snprintf(path, sizeof path, "%s/more", folder);
    write_bytes(
        path, file,
        make_file(file, "{" F32("d", "[1]", "0", "4") "," F32("e", "[0]", "4", "4") "}", 4));
    expect_index(folder, "{\"weight_map\":{\"d\":\"more\",\"b\":\"more\",\"a\":\"one\"}}",
                 "tensor 'b' is not in 'more', where the index has it");
    expect_index(folder,
                 "{\"weight_map\":{\"a\":\"one\",\"b\":\"two\",\"e\":\"more\",\"d\":\"one\"}}",
                 "tensor 'd' is not in 'one', where the index has it");
    expect_index(folder, "{\"weight_map\":{\"a\":\"one\",\"b\":\"one\",\"q\":\"two\"}}",
                 "tensor 'b' is not in 'one', where the index has it");
    expect_index(folder, "{\"weight_map\":{\"a\":\"one\",\"b\":\"../two\"}}",
                 "'../two' is no name of a file beside the index");
    expect_index(folder, "{\"weight_map\":{\"a\":\"\"}}",
                 "'' is no name of a file beside the index");
    expect_index(folder, "{\"weight_map\":{\"a\":1}}",
                 "weight_map of 'a' is an integer, wanted a file name");
    expect_index(folder, "{\"weight_map\":{\"a\":\"none\"}}", "/none'");
    expect_index(folder, "{\"weight_map\":{\"a\":\"one\",\"c\":\"short\"}}",
                 "/short': file is 1 bytes short (3 of 4 bytes of data): download incomplete");
    expect_index(folder, "{\"weight_map\":{\"a\":\"again\",\"b\":\"one\"}}",
                 "/one': tensor 'a' is in another shard too");
    expect_index(folder, "{\"weight_map\":[]}",
                 "index.json': key 'weight_map' is an array, wanted an object");
    expect_index(folder, "{}", "index.json': key 'weight_map' is missing");
    expect_index(folder, "{\"weight_map\":", "index.json' line 1 column 14");
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),       cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_odd_but_sound), cmocka_unit_test(test_long_headers),
        cmocka_unit_test(test_every_cut),     cmocka_unit_test(test_indices),
        cmocka_unit_test(test_many_keys),
    };
    return cmocka_run_group_tests_name("file/safetensors_refuse", tests, NULL, NULL);
}
