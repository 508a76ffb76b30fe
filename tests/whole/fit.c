/* fit.c: which tensors of a file make a model: ties, other types, shards, prefixes, PyTorch's
 * files; what is missing, of another shape or left over.
 *
 * The folders are made here from a model of tests/golden/families, tensor by tensor.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/error.h"
#include "base/mem.h"
#include "file/safetensors.h"
#include "model/model.h"

#include <math.h>

#define TIED "tests/golden/families/llama-tied-linear"
#define UNTIED "tests/golden/families/llama"
#define EMBEDDING "model.embed_tokens.weight"
#define HEAD "lm_head.weight"
enum { MOST = 40 };

/* A folder on its way: the tensors of a golden one, changed. */
typedef struct {
    char folder[TEST_PATH];
    heed_tensors *from;
    heed_tensor list[MOST];
    int64_t n;
    heed_region region; /* of changed data */
    heed_engine *engine;
} making;

static void begin(making *k, const char *golden) {
    heed_error err = {0};
    char path[TEST_PATH + 40];
    *k = (making){.n = 0};
    temp_folder(k->folder);
    snprintf(path, sizeof path, "%s/config.json", golden);
    size_t n;
    char *config = slurp(path, &n);
    snprintf(path, sizeof path, "%s/config.json", k->folder);
    write_bytes(path, config, n);
    free(config);
    k->from = heed_tensors_open(NULL, golden, &err);
    expect_no_error(&err);
    for (int64_t i = 0; i < heed_tensors_count(k->from); i++)
        k->list[k->n++] = *heed_tensors_at(k->from, i);
    k->engine = heed_engine_new(NULL, 1, NULL, &err);
}

static void finish(making *k) {
    heed_engine_free(k->engine);
    heed_tensors_free(k->from);
    heed_region_free(&k->region);
    remove_folder(k->folder);
}

static heed_tensor *find(making *k, const char *name) {
    for (int64_t i = 0; i < k->n; i++)
        if (!strcmp(k->list[i].name, name))
            return &k->list[i];
    fail_msg("there is no '%s'", name);
    return NULL;
}

static void take_away(making *k, const char *name) {
    heed_tensor *t = find(k, name);
    *t = k->list[--k->n];
}

static void add_as(making *k, const char *old, const char *name) {
    k->list[k->n] = *find(k, old);
    k->list[k->n++].name = name;
}

/* The tensor's first number changed by 1. */
static void spoil(making *k, heed_tensor *t) {
    float *copy = heed_region_alloc(&k->region, t->bytes, 1, NULL);
    memcpy(copy, t->data, t->bytes);
    copy[0] += 1;
    t->data = copy;
}

static void save_as(making *k, const char *name, int64_t from, int64_t to) {
    heed_error err = {0};
    char path[TEST_PATH + 60];
    snprintf(path, sizeof path, "%s/%s", k->folder, name);
    heed_tensors_write(NULL, path, k->list + from, to - from, NULL, 0, &err);
    expect_no_error(&err);
}

static void save(making *k) {
    save_as(k, "model.safetensors", 0, k->n);
}

static heed_model *expect_open(making *k, bool untie) {
    heed_error err = {0};
    heed_model *m =
        heed_model_open_with(k->engine, k->folder, &(heed_open_options){.untie = untie}, &err);
    expect_no_error(&err);
    return m;
}

static void expect_refused(making *k, heed_code code, const char *part) {
    heed_error err = {0};
    assert_null(heed_model_open(k->engine, k->folder, &err));
    expect_error(&err, code, part);
}

static const float *weight(heed_model *m, const char *name) {
    heed_weight_entry *e = heed_weights_find(heed_model_weights(m), name);
    return e && heed_weights_expand(heed_model_weights(m), e, NULL) ? e->data : NULL;
}

/* ---- Ties: config.json says that output matrix and embedding are one ---- */

static void head_absent(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    save(&k);
    heed_model *m = expect_open(&k, false);
    assert_non_null(weight(m, "tokens.weight"));
    assert_null(weight(m, "head.weight"));
    heed_model_free(m);
    finish(&k);
}

static void head_equal(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    add_as(&k, EMBEDDING, HEAD);
    save(&k);
    heed_model *m = expect_open(&k, false);
    assert_null(weight(m, "head.weight")); /* one copy */
    heed_model_free(m);
    finish(&k);
}

static void head_differs(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    add_as(&k, EMBEDDING, HEAD);
    spoil(&k, find(&k, HEAD));
    save(&k);
    expect_refused(&k, HEED_VALUE,
                   "'" EMBEDDING "' and '" HEAD "' differ, but config.json ties them");
    heed_model *m = expect_open(&k, true);
    assert_float_equal(weight(m, "head.weight")[0], weight(m, "tokens.weight")[0] + 1, 1e-5);
    heed_model_free(m);
    finish(&k);
}

static void untied_absent(void **state) {
    (void)state;
    making k;
    begin(&k, UNTIED);
    take_away(&k, HEAD);
    save(&k);
    expect_refused(&k, HEED_NAME,
                   "weight '" HEAD "' is missing in the file, the model wants (40,16); is "
                   "\"tie_word_embeddings\": true left out of config.json?");
    finish(&k);
}

static void embedding_absent(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    find(&k, EMBEDDING)->name = HEAD;
    save(&k);
    heed_model *m = expect_open(&k, false);
    assert_non_null(weight(m, "tokens.weight"));
    heed_model_free(m);
    finish(&k);
}

/* ---- What does not fit ---- */

static void misfits(void **state) {
    (void)state;
    making k;
    begin(&k, UNTIED);
    take_away(&k, "model.norm.weight");
    take_away(&k, "model.layers.1.self_attn.q_proj.weight");
    find(&k, "model.layers.0.mlp.up_proj.weight")->name = "model.layers.0.mlp.strange.weight";
    add_as(&k, "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight");
    k.list[k.n - 1].dim[0] = k.list[k.n - 1].dim[1];
    k.list[k.n - 1].dim[1] = find(&k, "model.layers.0.mlp.gate_proj.weight")->dim[0];
    save(&k);
    expect_refused(
        &k, HEED_NAME,
        "weight 'model.layers.1.self_attn.q_proj.weight' is missing in the file, the model wants "
        "(16,16) (and 1 more); weight 'model.layers.0.mlp.up_proj.weight' is (16,24) in the file, "
        "the model wants (24,16); 1 tensors of the file have no place in the model, first "
        "'model.layers.0.mlp.strange.weight'");
    heed_error err = {0};
    heed_buf json = {0};
    assert_false(heed_path_describe(k.engine, k.folder, &json, &err));
    expect_error(&err, HEED_NAME, "q_proj.weight' is missing");
    assert_non_null(strstr(json.data, "\"name\": \"model.norm.weight\""));
    assert_non_null(strstr(json.data, "\"shape\": \"(16,24)\""));
    assert_non_null(strstr(json.data, "model.layers.0.mlp.strange.weight"));
    heed_buf_free(&json);
    finish(&k);
}

static void only_shape(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    heed_tensor *t = find(&k, "model.norm.weight");
    t->dim[0] /= 2;
    t->bytes /= 2;
    save(&k);
    expect_refused(&k, HEED_SHAPE,
                   "weight 'model.norm.weight' is (8) in the file, the model wants (1,16)");
    finish(&k);
}

/* ---- Types, shards, prefixes ---- */

static void change_type(making *k, heed_tensor *t, heed_type type) {
    int64_t n = heed_tensor_elements(t);
    size_t bytes = (size_t)n * heed_type_bytes(type);
    unsigned char *out = heed_region_alloc(&k->region, bytes, 1, NULL);
    float *x = heed_region_alloc(&k->region, (size_t)n, sizeof *x, NULL);
    heed_tensor_to_f32(t, x, NULL);
    for (int64_t i = 0; i < n; i++) {
        double wide = (double)x[i];
        uint16_t half = type == HEED_F16 ? heed_f16_from_f32(x[i]) : heed_bf16_from_f32(x[i]);
        memcpy(out + (size_t)i * heed_type_bytes(type),
               type == HEED_F64 ? (const void *)&wide : &half, heed_type_bytes(type));
    }
    t->type = type;
    t->bytes = bytes;
    t->data = out;
}

static void types(void **state) {
    (void)state;
    const heed_type all[] = {HEED_F16, HEED_BF16, HEED_F64};
    const double bounds[] = {0x1p-11, 0x1p-8, 0};
    for (int a = 0; a < 3; a++) {
        making k;
        begin(&k, TIED);
        float *x = (float *)(uintptr_t)find(&k, EMBEDDING)->data;
        for (int64_t i = 0; i < k.n; i++)
            change_type(&k, &k.list[i], all[a]);
        save(&k);
        heed_model *m = expect_open(&k, false);
        const float *y = weight(m, "tokens.weight");
        for (int64_t i = 0; i < 40 * 16; i++)
            assert_true(fabs((double)x[i] - (double)y[i]) <= bounds[a] * fabs((double)x[i]));
        heed_model_free(m);
        finish(&k);
    }
}

static void shards(void **state) {
    (void)state;
    making k;
    heed_error err = {0};
    begin(&k, TIED);
    heed_buf index = {0};
    char path[TEST_PATH + 60];
    heed_buf_text(&index, "{\"metadata\": {}, \"weight_map\": {");
    for (int64_t i = 0; i < k.n; i++)
        heed_buf_format(&index, "%s\"%s\": \"model-0000%d-of-00002.safetensors\"", i ? ", " : "",
                        k.list[i].name, i < 5 ? 1 : 2);
    heed_buf_text(&index, "}}");
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", k.folder);
    write_bytes(path, index.data, index.n);
    heed_buf_free(&index);
    save_as(&k, "model-00001-of-00002.safetensors", 0, 5);
    expect_refused(&k, HEED_FILE, "model-00002-of-00002.safetensors");
    save_as(&k, "model-00002-of-00002.safetensors", 5, k.n);
    heed_model_free(expect_open(&k, false));
    expect_no_error(&err);
    finish(&k);
}

static void prefixes(void **state) {
    (void)state;
    making k;
    begin(&k, TIED);
    for (int64_t i = 0; i < k.n; i++) /* "model.norm.weight" -> "norm.weight" */
        k.list[i].name += strncmp(k.list[i].name, "model.", 6) == 0 ? 6 : 0;
    save(&k);
    heed_model_free(expect_open(&k, false));
    finish(&k);
}

/* What torch.save wrote of the same tensors (tools/make_golden_torch.py). */
static void pytorch(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *a = heed_model_open(engine, TIED, &err);
    heed_model *b = heed_model_open(engine, "tests/golden/torch/model", &err);
    expect_no_error(&err);
    for (int64_t i = 0; i < heed_weights_count(heed_model_weights(a)); i++) {
        const heed_weight_entry *x = heed_weights_at(heed_model_weights(a), i);
        const heed_weight_entry *y = heed_weights_find(heed_model_weights(b), x->name);
        assert_non_null(y);
        assert_memory_equal(x->data, y->data, (size_t)(x->rows * x->cols) * sizeof(float));
    }
    heed_model_free(a);
    heed_model_free(b);
    heed_engine_free(engine);
}

static bool inspect(const heed_host *host, void *ctx, heed_error *err) {
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_buf json = {.host = host};
    bool fine = engine && heed_path_describe(engine, ctx, &json, err);
    heed_buf_free(&json);
    heed_engine_free(engine);
    return fine;
}

static void no_memory(void **state) {
    (void)state;
    for_each_failing_allocation(inspect, (void *)(uintptr_t)TIED);
    for_each_failing_allocation(inspect, (void *)(uintptr_t) "tests/golden/gguf-models/qwen3.gguf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_absent),      cmocka_unit_test(head_equal),
        cmocka_unit_test(head_differs),     cmocka_unit_test(untied_absent),
        cmocka_unit_test(embedding_absent), cmocka_unit_test(misfits),
        cmocka_unit_test(only_shape),       cmocka_unit_test(types),
        cmocka_unit_test(shards),           cmocka_unit_test(prefixes),
        cmocka_unit_test(pytorch),          cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
