/* hostile.c: files made to take memory or time. Each is refused with one line, and while it is, the
 * process grows by no more than the bytes of the files and 64 MiB.
 *
 * Each case is its own process, so that what one took does not hide what another takes; the limit
 * is what the system counts (resident memory), since jansson takes its own from the C library. The
 * sanitizers' own memory drowns that, so under them only the refusal is looked at.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { ROOM_KIB = 64 << 10, SECONDS = 60 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static char folder[TEST_PATH];

/* ---- Files ---- */

static FILE *create(const char *name) {
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    return f;
}

static void finish(FILE *f) {
    assert_int_equal(fclose(f), 0);
}

static void put_text(FILE *f, const char *text) {
    fputs(text, f);
}

static void put_number(FILE *f, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> 8 * i & 0xff), f);
}

static void repeat(FILE *f, const char *text, int n) {
    for (int i = 0; i < n; i++)
        fputs(text, f);
}

static void write_file(const char *name, const char *text) {
    FILE *f = create(name);
    put_text(f, text);
    finish(f);
}

/* open, n times text, close: a JSON text. */
static void write_list(const char *name, const char *open, const char *text, int n,
                       const char *close) {
    FILE *f = create(name);
    put_text(f, open);
    repeat(f, text, n);
    put_text(f, close);
    finish(f);
}

/* The same behind the length of a safetensors header. */
static void write_header(const char *open, const char *text, int n, const char *close) {
    FILE *f = create("model.safetensors");
    put_number(f, strlen(open) + strlen(text) * (size_t)n + strlen(close), 8);
    put_text(f, open);
    repeat(f, text, n);
    put_text(f, close);
    finish(f);
}

static void write_no_tensors(void) {
    write_header("{}", "", 0, "");
}

/* A config.json from one of the golden families with a key's number replaced. */
static void write_config(const char *family, const char *key, const char *number) {
    char path[TEST_PATH];
    snprintf(path, sizeof path, "tests/golden/families/%s/config.json", family);
    char *text = slurp(path, NULL), quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    char *at = strstr(text, quoted);
    assert_non_null(at);
    at += strlen(quoted);
    FILE *f = create("config.json");
    fwrite(text, 1, (size_t)(at - text), f);
    put_text(f, number);
    put_text(f, at + strspn(at, "0123456789"));
    finish(f);
    free(text);
}

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

/* ---- Folders ---- */

static const char *config_of(const char *family, const char *key, const char *number) {
    write_no_tensors();
    write_config(family, key, number);
    return "";
}
static const char *vocab(void) {
    return config_of("gpt2", "vocab_size", "1099511627776");
}
static const char *vocab_most(void) {
    return config_of("bert-model", "vocab_size", "9223372036854775807");
}
static const char *positions(void) {
    return config_of("opt", "max_position_embeddings", "1099511627776");
}
static const char *width(void) {
    return config_of("llama", "intermediate_size", "1099511627776");
}
static const char *layers_gpt2(void) {
    return config_of("gpt2", "n_layer", "1000000000");
}
static const char *layers_llama(void) {
    return config_of("llama", "num_hidden_layers", "1000000000");
}
static const char *layers_bert(void) {
    return config_of("bert-model", "num_hidden_layers", "1000000000");
}
static const char *layers_distilbert(void) {
    return config_of("distilbert-model", "n_layers", "1000000000");
}
static const char *layers_vit(void) {
    return config_of("vit-model", "num_hidden_layers", "1000000000");
}
static const char *layers_dinov2(void) {
    return config_of("dinov2-model", "num_hidden_layers", "1000000000");
}
static const char *layers_albert(void) {
    return config_of("albert-model", "num_hidden_layers", "1000000000");
}
static const char *layers_t5(void) {
    return config_of("t5", "num_decoder_layers", "1000000000");
}
static const char *layers_umt5(void) {
    return config_of("umt5", "num_layers", "1000000000");
}
static const char *layers_bart(void) {
    return config_of("bart", "decoder_layers", "1000000000");
}
/* The most layers that pass, of which the file has none. */
static const char *layers_1024(void) {
    return config_of("m2m_100", "decoder_layers", "1024");
}
static const char *layers_1024_t5(void) {
    return config_of("t5", "num_decoder_layers", "1024");
}
static const char *layers_1024_vit(void) {
    return config_of("vit-model", "num_hidden_layers", "1024");
}

static const char *wide_config(void) {
    write_no_tensors();
    write_list("config.json", "{\"model_type\":\"gpt2\",\"a\":[1", ",1", 6 << 20, "]}");
    return "";
}
static const char *objects_in_config(void) {
    write_no_tensors();
    write_list("config.json", "{\"model_type\":\"gpt2\",\"a\":[{}", ",{}", 4 << 20, "]}");
    return "";
}
/* As many values as pass: what they take is no more than was reckoned. */
static const char *config_list(const char *item, int n) {
    write_no_tensors();
    write_list("config.json", "{\"model_type\":\"gpt2\",\"a\":[1", item, n, "]}");
    return "";
}
static const char *fitting_objects(void) {
    return config_list(",{}", 180000);
}
static const char *fitting_lists(void) {
    return config_list(",[]", 270000);
}
static const char *fitting_integers(void) {
    return config_list(",1", 880000);
}
static const char *fitting_strings(void) {
    return config_list(",\"\"", 440000);
}
static const char *fitting_keys(void) {
    write_no_tensors();
    FILE *f = create("config.json");
    put_text(f, "{\"model_type\":\"gpt2\",\"a\":{\"b\":1");
    for (int i = 0; i < 310000; i++)
        fprintf(f, ",\"%07d\":1", i);
    put_text(f, "}}");
    finish(f);
    return "";
}
static const char *long_config(void) {
    write_no_tensors();
    write_list("config.json", "{\"a\":\"", "xxxxxxxxxxxxxxxx", 4 << 20, "\"}");
    return "";
}
static const char *wide_generation(void) {
    config_of("gpt2", "n_layer", "2");
    write_list("generation_config.json", "{\"bad_words_ids\":[[1]", ",[1]", 3 << 20, "]}");
    return "";
}
static const char *wide_tokenizer(void) {
    config_of("gpt2", "n_layer", "2");
    write_list("tokenizer.json", "{\"added_tokens\":[{}", ",{}", 4 << 20, "],\"model\":{}}");
    return "";
}
static const char *wide_vocab(void) {
    config_of("gpt2", "n_layer", "2");
    write_list("vocab.json", "{\"a\":{}", ",\"a\":{}", 4 << 20, "}");
    write_file("merges.txt", "#version: 0.2\n");
    return "";
}
static const char *wide_tokenizer_config(void) {
    wide_vocab();
    write_list("tokenizer_config.json", "[[]", ",[]", 5 << 20, "]");
    return "";
}

/* ---- Opening ---- */

typedef struct {
    heed_code code;
    char text[sizeof((heed_error *)0)->text];
    long grown; /* KiB */
} result;

static long most_kib(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void open_path(const char *path, result *r) {
    heed_error err = {0};
    long before = most_kib();
    heed_engine *engine = heed_engine_new(NULL, 1, "ref", &err);
    heed_model *m = engine ? heed_model_open(engine, path, &err) : NULL;
    r->grown = most_kib() - before;
    heed_model_free(m);
    heed_engine_free(engine);
    r->code = err.code;
    memcpy(r->text, err.text, sizeof r->text);
}

static void in_child(const char *path, result *r) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        result own = {.code = HEED_OK};
        alarm(SECONDS);
        open_path(path, &own);
        _exit(write(ends[1], &own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], r, sizeof *r);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (got != (ssize_t)sizeof *r)
        fail_msg("'%s': signal %d instead of an error", path,
                 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static long folder_kib(void) {
    long bytes = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[TEST_PATH + 300];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            bytes += (long)st.st_size;
    }
    closedir(d);
    return bytes >> 10;
}

typedef struct {
    const char *name, *(*make)(void), *why;
} hostile;

static void try(const hostile *h) {
    char path[TEST_PATH + 64];
    result r;
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, h->make());
    in_child(path, &r);
    long size = folder_kib();
    print_message("%-20s %7ld KiB grew by %6ld: %.120s\n", h->name, size, r.grown,
                  r.text + (strncmp(r.text, "cannot open", 11) ? 0 : strlen(path) + 15));
    remove_folder(folder);
    if (r.code == HEED_OK || r.code == HEED_NOMEM || !strstr(r.text, h->why) ||
        strchr(r.text, '\n'))
        fail_msg("%s: wanted '%s', got %s '%s'", h->name, h->why, heed_code_name(r.code), r.text);
#ifndef SANITIZED
    if (r.grown > size + ROOM_KIB)
        fail_msg("%s: files of %ld KiB took %ld", h->name, size, r.grown);
#endif
}

#define CASE(name, why)                                                                            \
    { #name, name, why }
#define TREE "would take more than 56 MiB of memory"

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

static void test_folders(void **state) {
    (void)state;
    static const hostile cases[] = {
        CASE(vocab, "is missing in the file, the model wants (1099511627776,"),
        CASE(vocab_most, "at most 1099511627776 is possible"),
        CASE(positions, "is missing in the file"),
        CASE(width, "is too large"),
        CASE(layers_gpt2, "a stack of 1000000000 layers"),
        CASE(layers_llama, "a stack of 1000000000 layers"),
        CASE(layers_bert, "a stack of 1000000000 layers"),
        CASE(layers_distilbert, "a stack of 1000000000 layers"),
        CASE(layers_vit, "a stack of 1000000000 layers"),
        CASE(layers_dinov2, "a stack of 1000000000 layers"),
        CASE(layers_albert, "a stack of 1000000000 layers"),
        CASE(layers_t5, "a stack of 1000000000 layers"),
        CASE(layers_umt5, "a stack of 1000000000 layers"),
        CASE(layers_bart, "a stack of 1000000000 layers"),
        CASE(layers_1024, "is missing in the file"),
        CASE(layers_1024_t5, "is missing in the file"),
        CASE(layers_1024_vit, "is missing in the file"),
        CASE(wide_config, TREE),
        CASE(objects_in_config, TREE),
        CASE(long_config, "has more than the 16777216 bytes allowed here"),
        CASE(wide_generation, TREE),
        CASE(wide_tokenizer, TREE),
        CASE(wide_vocab, TREE),
        CASE(wide_tokenizer_config, TREE),
        CASE(fitting_objects, "key 'a' is not known"),
        CASE(fitting_lists, "key 'a' is not known"),
        CASE(fitting_integers, "key 'a' is not known"),
        CASE(fitting_strings, "key 'a' is not known"),
        CASE(fitting_keys, "key 'a' is not known"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try(&cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_folders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
