/* gguf.c: a GGUF file of a model of tests/golden/families computes what transformers computes with
 * that model, on every instruction set; what such a file may not be is refused.
 * SPDX-License-Identifier: MIT
 */
#include "look/compare.h"

#include "model/model.h"

#define MODELS "tests/golden/gguf-models/"

static heed_model *open_gguf(heed_engine *engine, const char *name) {
    heed_error err = {0};
    char path[200];
    snprintf(path, sizeof path, MODELS "%s.gguf", name);
    heed_model *model = heed_model_open(engine, path, &err);
    expect_no_error(&err);
    return model;
}

/* All outputs but the pooled row, which GGUF does not store the weights of, and gradients, whose
 * weights have other names and, some, another order. */
static void trace_gguf(const char *name, const char *isa) {
    heed_error err = {0};
    char in[250], wanted[250], out[TEST_PATH + 20], temp[TEST_PATH];
    temp_folder(temp);
    snprintf(in, sizeof in, "tests/golden/families/%s/in.safetensors", name);
    snprintf(wanted, sizeof wanted, "tests/golden/families/%s/out.safetensors", name);
    snprintf(out, sizeof out, "%s/out.safetensors", temp);
    heed_engine *engine = heed_engine_new(NULL, 2, isa, &err);
    heed_model *model = open_gguf(engine, name);
    heed_trace_options options = {.attention = true, .hidden = true};
    heed_trace(model, in, out, &options, &err);
    expect_no_error(&err);
    heed_tensors *want = heed_tensors_open(NULL, wanted, &err);
    heed_tensors *got = heed_tensors_open(NULL, out, &err);
    expect_no_error(&err);
    int compared = 0;
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *t = heed_tensors_at(want, i);
        if (strncmp(t->name, "grad.", 5) == 0 || strcmp(t->name, "pooler_output") == 0)
            continue;
        compare(t, heed_tensors_find(got, t->name), 1e-4, name);
        compared++;
    }
    assert_in_range(compared, 4, 100);
    heed_tensors_free(want);
    heed_tensors_free(got);
    heed_model_free(model);
    heed_engine_free(engine);
    remove_folder(temp);
}

static void one(void **state) {
    static const char *const sets[] = TEST_SETS;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        heed_engine *engine = heed_engine_new(NULL, 1, sets[i], NULL);
        if (engine)
            trace_gguf(*state, sets[i]);
        heed_engine_free(engine);
    }
}

/* The scaling of Llama 3.1 comes back out of the table that stands for it. */
static void llama3(void **state) {
    (void)state;
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, NULL);
    heed_model *model = open_gguf(engine, "llama3");
    const heed_config *c = heed_model_config(model);
    const heed_rope_scaling *r = &c->decoder.rope_scaling;
    assert_int_equal(r->kind, HEED_ROPE_LLAMA3);
    assert_int_equal(r->original, 8192);
    assert_float_equal(r->factor, 8, 1e-6);
    assert_float_equal(r->low_freq_factor, 1, 1e-6);
    assert_float_equal(r->high_freq_factor, 4, 1e-4);
    assert_true(c->tie_output);
    assert_int_equal(c->vocab, 8);
    const int32_t ends[] = {2, 3};
    assert_int_equal(c->ends, 2);
    assert_memory_equal(c->end, ends, sizeof ends);
    heed_model_free(model);
    heed_engine_free(engine);
}

/* Another text of the same length in place of the first `old`, then opening. */
#define CHANGED(name, old, new, code, part)                                                        \
    expect_changed(name, old, new, sizeof old - 1, code, part)
static void expect_changed(const char *name, const char *old, const char *new, size_t m,
                           heed_code code, const char *part) {
    heed_error err = {0};
    char path[200], folder[TEST_PATH], changed[TEST_PATH + 20];
    size_t n;
    snprintf(path, sizeof path, MODELS "%s.gguf", name);
    char *data = slurp(path, &n), *at = data;
    while (at + m <= data + n && memcmp(at, old, m) != 0)
        at++;
    assert_true(at + m <= data + n);
    memcpy(at, new, m);
    temp_folder(folder);
    snprintf(changed, sizeof changed, "%s/changed.gguf", folder);
    write_bytes(changed, data, n);
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    assert_null(heed_model_open(engine, changed, &err));
    expect_error(&err, code, part);
    assert_null(heed_model_open(engine, folder, &err)); /* the folder that holds it */
    expect_error(&err, code, part);
    heed_engine_free(engine);
    free(data);
    remove_folder(folder);
}

static void refusals(void **state) {
    (void)state;
    CHANGED("llama", "llama.block_count", "llama.block_cOunt", HEED_NAME,
            "key 'block_cOunt' is not known");
    CHANGED("llama", "llama.block_count", "llame.block_count", HEED_NAME,
            "key 'block_count' is missing");
    CHANGED("llama", "llama.attention.head_count_kv", "llama.attention.head_cOunt_kv", HEED_NAME,
            "key 'attention.head_cOunt_kv' is not known");
    CHANGED("llama", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eoT_token_id", HEED_NAME,
            "key 'ggml.eoT_token_id' is not known");
    CHANGED("llama", "tokenizer.ggml.eot_token_id", "tokenizer.xgml.eot_token_id", HEED_NAME,
            "key 'xgml' is not known");
    CHANGED("llama", "general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llama",
            "general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llamb", HEED_NAME,
            "general.architecture 'llamb' is none known here: gpt2, llama");
    CHANGED("llama", "blk.0.attn_norm.weight", "blk.0.attN_norm.weight", HEED_NAME,
            "weight 'blk.0.attn_norm.weight' is missing in the file, the model wants "
            "(1,16); 1 tensors of the file have no place in the model, first "
            "'blk.0.attN_norm.weight'");
    CHANGED("qwen3", "blk.1.attn_k_norm.weight", "blk.1.attn_kNnorm.weight", HEED_NAME,
            "weight 'blk.1.attn_k_norm.weight' is missing");
    CHANGED("llama3", "rope_freqs.weight\x01\0\0\0\x40", "rope_freqs.weight\x01\0\0\0\x3f",
            HEED_SHAPE, "rope_freqs.weight has 63 numbers for 64 pairs");
}

static void two_files(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    assert_null(heed_model_open(engine, MODELS, &err));
    expect_error(&err, HEED_FILE, "GGUF files: name one of them");
    assert_null(heed_model_open(engine, "tests/golden/gguf/types.gguf", &err));
    expect_error(&err, HEED_NAME, "general.architecture 'golden' is none known here: gpt2, llama");
    assert_null(heed_model_open(engine, "README.md", &err));
    expect_error(&err, HEED_FILE, "this is no file of tensors that is known here");
    assert_null(heed_model_open(engine, "tests/golden/torch/same.safetensors", &err));
    expect_error(&err, HEED_FILE, "the file holds tensors alone (safetensors): name the folder");
    assert_null(heed_model_open(engine, "nothing/there", &err));
    expect_error(&err, HEED_FILE, "there is no such folder or file");
    heed_engine_free(engine);
}

int main(void) {
#define MODEL(name)                                                                                \
    { name, one, NULL, NULL, (void *)(uintptr_t)name }
    const struct CMUnitTest tests[] = {MODEL("llama"),
                                       MODEL("llama-tied-linear"),
                                       MODEL("llama-llama3"),
                                       MODEL("llama-yarn"),
                                       MODEL("qwen2-full"),
                                       MODEL("qwen3"),
                                       MODEL("gemma"),
                                       MODEL("gpt2"),
                                       MODEL("bert-model"),
                                       cmocka_unit_test(llama3),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(two_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
