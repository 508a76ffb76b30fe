/* hostile_folders.c: a model's folder whose JSON files are too large, or ask for too much.
 * SPDX-License-Identifier: MIT
 */
#include "whole/hostile.h"

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

/* ---- Cases: each makes files in the folder ---- */

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
