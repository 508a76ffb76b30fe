/* diff.c: what two runs have in common is found to be the same; the first value that a changed
 * weight changes is named.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "heed_look.h"
#include "model/model.h"

#include <math.h>

static heed_model *open_model(heed_engine *engine, const char *path) {
    heed_error err = {0};
    heed_model *m = heed_model_open(engine, path, &err);
    expect_no_error(&err);
    return m;
}

static const int32_t IDS[] = {1, 5, 9, 3}, TARGET[] = {2, 7};
static const heed_diff_input INPUT = {.id = IDS, .n = 4, .target = TARGET, .targets = 2};

/* Adds to the first number of a weight, which gets memory of its own. */
static void change(heed_model *m, const char *name, float by) {
    heed_weight_entry *e = heed_weights_find(heed_model_weights(m), name);
    assert_non_null(e);
    assert_true(heed_weights_own(heed_model_weights(m), name, e->data, NULL));
    e->data[0] += by;
}

static void expect_first(heed_model *a, heed_model *b, double bound, const char *path) {
    heed_error err = {0};
    heed_differences d;
    heed_diff(a, b, &INPUT, bound, &d, &err);
    expect_no_error(&err);
    assert_in_range(d.n, 4, 1000);
    const char *got = d.first < 0 ? "nothing" : d.item[d.first].path;
    if (strcmp(got, path) != 0)
        fail_msg("first is '%s', wanted '%s'", got, path);
    if (d.first >= 0)
        assert_true(fabs(fabs(d.item[d.first].a - d.item[d.first].b) - d.item[d.first].difference) <
                    1e-6);
    heed_differences_free(&d);
}

static void same_and_changed(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *a = open_model(engine, "tests/golden/families/llama");
    heed_model *b = open_model(engine, "tests/golden/families/llama");
    heed_model *gguf = open_model(engine, "tests/golden/gguf-models/llama.gguf");
    expect_first(a, b, 0, "nothing");
    expect_first(a, gguf, 1e-5, "nothing");
    change(b, "decoder.1.self.q.weight", 1);
    expect_first(a, b, 1e-6, "decoder.1.self.weights");
    expect_first(a, b, 1e6, "nothing");
    change(b, "decoder.0.feed.down.weight", 1);
    expect_first(a, b, 1e-6, "decoder.hidden.1");
    change(b, "tokens.weight", NAN); /* of token 0, which is not there */
    expect_first(a, b, 1e-6, "decoder.hidden.1");
    heed_model_free(a);
    heed_model_free(b);
    heed_model_free(gguf);
    heed_engine_free(engine);
}

static void other_families(void **state) {
    (void)state;
    heed_error err = {0};
    heed_differences d;
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *a = open_model(engine, "tests/golden/families/gpt2");
    heed_model *b = open_model(engine, "tests/golden/families/llama");
    assert_true(heed_diff(a, b, &INPUT, 1e-3, &d, &err));
    assert_string_equal(d.item[d.first].path, "decoder.hidden.0");
    heed_differences_free(&d);
    heed_model_free(b);
    b = open_model(engine, "tests/golden/families/bert-model");
    assert_true(heed_diff(a, b, &INPUT, 1e-3, &d, &err));
    assert_int_equal(d.n, 0);
    assert_int_equal(d.first, -1);
    assert_in_range(d.lonely, 8, 100);
    heed_differences_free(&d);
    heed_model_free(a);
    a = open_model(engine, "tests/golden/marian-a");
    heed_model_free(b);
    b = open_model(engine, "tests/golden/marian-a");
    expect_first(a, b, 0, "nothing");
    change(b, "decoder.0.cross.q.weight", 1);
    expect_first(a, b, 1e-6, "decoder.0.cross.weights");
    const heed_diff_input half = {.id = IDS, .n = 4};
    assert_false(heed_diff(a, b, &half, 0, &d, &err));
    expect_error(&err, HEED_VALUE, "wants ids for its decoder too");
    heed_model_free(a);
    heed_model_free(b);
    heed_engine_free(engine);
}

static bool diff(const heed_host *host, void *ctx, heed_error *err) {
    heed_differences d;
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_model *a = engine ? heed_model_open(engine, ctx, err) : NULL;
    bool fine = a && heed_diff(a, a, &INPUT, 0, &d, err);
    if (fine)
        heed_differences_free(&d);
    heed_model_free(a);
    heed_engine_free(engine);
    return fine;
}

static void no_memory(void **state) {
    (void)state;
    for_each_failing_allocation(diff, (void *)(uintptr_t) "tests/golden/families/gpt2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_and_changed),
                                       cmocka_unit_test(other_families),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
