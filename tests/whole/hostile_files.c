/* hostile_files.c: safetensors, pickles and GGUF files that claim much, or hold little many times.
 * SPDX-License-Identifier: MIT
 */
#include "whole/hostile.h"

/* ---- Cases: each makes files in the folder and names what is opened ---- */

static const char *many_objects(void) {
    write_header("{\"a\":[{}", ",{}", 8 << 20, "]}");
    return "model.safetensors";
}

static const char *many_integers(void) {
    write_header("{\"a\":[1", ",1", 16 << 20, "]}");
    return "model.safetensors";
}

static const char *long_strings(void) {
    write_header("{\"__metadata__\":{\"a\":\"", "xxxxxxxxxxxxxxxx", 4 << 20, "\",\"b\":1}}");
    return "model.safetensors";
}

static const char *deep(void) {
    write_header("", "[", 4 << 20, "");
    return "model.safetensors";
}

static const char *deep_objects(void) {
    write_header("", "{\"a\":", 4 << 20, "");
    return "model.safetensors";
}

/* n tensors, the last of which is wrong. */
static const char *tensors(int n) {
    FILE *f = create("model.safetensors");
    enum { ONE = 70 };
    char text[ONE + 1];
    put_number(f, 1 + (uint64_t)n * ONE, 8);
    put_text(f, "{");
    for (int i = 0; i < n; i++) {
        bool last = i == n - 1;
        snprintf(text, sizeof text,
                 "\"%07d\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[0,0]}%s", i, last,
                 last ? "}" : ",");
        fprintf(f, "%-*s", ONE, text);
    }
    finish(f);
    return "model.safetensors";
}
static const char *many_tensors(void) {
    return tensors(200000);
}
static const char *fitting_tensors(void) {
    return tensors(39000);
}

static const char *long_header(void) {
    FILE *f = create("model.safetensors");
    put_number(f, 100000000, 8);
    put_text(f, "{}");
    finish(f);
    return "model.safetensors";
}

static const char *index_of_many(void) {
    write_list("model.safetensors.index.json", "{\"weight_map\":{\"\":\"a\"", ",\"b\":\"a\"",
               1 << 20, "}}");
    return "model.safetensors.index.json";
}

/* A pickle of empty lists, of ever the same value in the memo, of memo entries far apart. */
static const char *pickled(const char *code, int n) {
    FILE *f = create("pytorch_model.bin");
    put_number(f, 0x0280, 2);
    repeat(f, code, n);
    put_text(f, ".");
    finish(f);
    return "pytorch_model.bin";
}
static const char *many_lists(void) {
    return pickled("]", 8 << 20);
}
static const char *many_marks(void) {
    return pickled("(", 8 << 20);
}
static const char *many_items(void) {
    return pickled("](NNNNNNNNe", 1 << 20);
}
/* One value, put on the stack again and again: no new node. */
static const char *deep_stack(void) {
    FILE *f = create("pytorch_model.bin");
    put_number(f, 0x0280, 2);
    put_text(f, "]q\1");
    repeat(f, "h\1", 4 << 20);
    finish(f);
    return "pytorch_model.bin";
}
static const char *far_memo(void) {
    return pickled("]r\377\377\377\177", 1);
}

/* One entry whose directory says: compressed, a terabyte unpacked. */
static const char *zip_bomb(void) {
    FILE *f = create("pytorch_model.bin");
    static const char name[] = "a/data.pkl";
    const uint64_t n = sizeof name - 1;
    put_text(f, "PK\3\4");
    repeat(f, "x", 26);
    put_text(f, name);
    put_text(f, "PK\1\2");
    put_number(f, 0x00140014, 4);
    put_number(f, 8 << 16, 4); /* flags 0, method 8 */
    put_number(f, 0, 8);       /* time, sum */
    put_number(f, 100, 4);
    put_number(f, 0xfffffff0, 4);
    put_number(f, n, 2);
    put_number(f, 0, 8);
    put_number(f, 0, 4);
    put_number(f, 0, 4);
    put_text(f, name);
    put_text(f, "PK\5\6");
    put_number(f, 0, 4);
    put_number(f, 1, 2);
    put_number(f, 1, 2);
    put_number(f, 46 + n, 4);
    put_number(f, 30 + n, 4);
    put_number(f, 0, 2);
    finish(f);
    return "pytorch_model.bin";
}

static const char *gguf_head(uint64_t tensors, uint64_t settings) {
    FILE *f = create("model.gguf");
    put_text(f, "GGUF");
    put_number(f, 3, 4);
    put_number(f, tensors, 8);
    put_number(f, settings, 8);
    finish(f);
    return "model.gguf";
}
static const char *gguf_tensors(void) {
    return gguf_head((uint64_t)1 << 60, 0);
}
static const char *gguf_settings(void) {
    return gguf_head(0, (uint64_t)1 << 60);
}
static const char *gguf_items(void) {
    FILE *f = create("model.gguf");
    put_text(f, "GGUF");
    put_number(f, 3, 4);
    put_number(f, 0, 8);
    put_number(f, 1, 8);
    put_number(f, 1, 8);
    put_text(f, "k");
    put_number(f, 9, 4);
    put_number(f, 8, 4);
    put_number(f, (uint64_t)1 << 60, 8);
    repeat(f, "x", 64);
    finish(f);
    return "model.gguf";
}

static void test_files(void **state) {
    (void)state;
    static const hostile cases[] = {
        CASE(many_objects, TREE),
        CASE(many_integers, TREE),
        CASE(long_strings, TREE),
        CASE(deep, "nested deeper than 200"),
        CASE(deep_objects, "nested deeper than 200"),
        CASE(many_tensors, TREE),
        CASE(fitting_tensors, "tensor '0038999' has 0 bytes, shape (1) of F32 needs 4"),
        CASE(long_header, "bytes short"),
        CASE(index_of_many, TREE),
        CASE(many_lists, "more values than a file of tensors has"),
        CASE(many_marks, "more values than a file of tensors has"),
        CASE(many_items, "more values than a file of tensors has"),
        CASE(deep_stack, "a deeper stack than a file of tensors needs"),
        CASE(far_memo, "more values to remember than a file of tensors has"),
        CASE(zip_bomb, "is compressed; only stored entries are read"),
        CASE(gguf_tensors, "1152921504606846976 tensors, more than the 65536 that are read"),
        CASE(gguf_settings, "1152921504606846976 settings, more than the 65536 that are read"),
        CASE(gguf_items, "an array of 1152921504606846976 items is longer"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try(&cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
