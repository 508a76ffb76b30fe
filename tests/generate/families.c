/* families.c: every decoder of tests/golden/families continues prompts as transformers' greedy
 * search does, id for id; and to the same bits in pieces of any size, with any number of threads,
 * with and without a cache. Each folder with a generate.json is a test; a new one is found by
 * itself.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/json.h"
#include "heed_generate.h"
#include "model/model.h"

#include <math.h>

#define ROOT "tests/golden/families/"
enum { MOST = 200, IDS = 64 };

typedef struct {
    int32_t prompt[IDS], want[IDS], got[IDS];
    int64_t n, wanted, made;
    double log_prob, sum; /* golden; of our run */
    double each[IDS];
} continuation;

static int64_t read_ids(const json_t *list, int32_t *out) {
    size_t n = json_array_size(list);
    assert_in_range(n, 1, IDS);
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return (int64_t)n;
}

static bool keep(void *ctx, const heed_generated_token *token) {
    continuation *c = ctx;
    assert_in_range(c->made, 0, IDS - 1);
    c->each[c->made] = token->log_prob;
    c->got[c->made++] = token->id;
    return true;
}

static void run(heed_model *model, continuation *c, int64_t piece, bool uncached) {
    heed_error err = {0};
    heed_generate_options o = {.max_new = c->wanted,
                               .longest = c->n + c->wanted,
                               .piece = piece,
                               .uncached = uncached,
                               .token = keep,
                               .ctx = c};
    heed_generation out;
    heed_generator *g = heed_generator_new(model, &o, &err);
    expect_no_error(&err);
    for (int again = 0; again < 2; again++) { /* a generator is used again and again */
        c->made = 0;
        heed_generate(g, c->prompt, c->n, &out, &err);
        expect_no_error(&err);
        assert_int_equal(out.n, c->made);
        assert_memory_equal(out.id, c->got, (size_t)out.n * sizeof *out.id);
    }
    c->sum = out.log_prob;
    heed_generator_free(g);
}

static void expect_golden(const continuation *c, const char *folder) {
    for (int64_t i = 0; i < c->wanted; i++)
        if (i >= c->made || c->got[i] != c->want[i])
            fail_msg("%s: token %d behind a prompt of %d is %d, wanted %d", folder, (int)i,
                     (int)c->n, i < c->made ? c->got[i] : -1, c->want[i]);
    assert_int_equal(c->made, c->wanted);
    if (!(fabs(c->sum - c->log_prob) <= 1e-3))
        fail_msg("%s: log-probability %.6f, wanted %.6f", folder, c->sum, c->log_prob);
}

static void expect_same_bits(const continuation *a, const continuation *b, const char *folder) {
    if (a->made != b->made || memcmp(a->got, b->got, (size_t)a->made * sizeof *a->got) != 0 ||
        memcmp(a->each, b->each, (size_t)a->made * sizeof *a->each) != 0)
        fail_msg("%s: other bits", folder);
}

static void one_case(const char *folder, const json_t *golden) {
    heed_error err = {0};
    continuation first = {.made = 0}, c;
    first.n = read_ids(json_object_get(golden, "prompt"), first.prompt);
    first.wanted = read_ids(json_object_get(golden, "ids"), first.want);
    first.log_prob = json_number_value(json_object_get(golden, "log_prob"));
    for (int threads = 1; threads <= 2; threads++) {
        heed_engine *engine = heed_engine_new(NULL, threads, NULL, &err);
        heed_model *model = heed_model_open(engine, folder, &err);
        expect_no_error(&err);
        /* Angles of dynamic scaling depend on what is in a run, see heed_rope. */
        bool dynamic = heed_model_config(model)->decoder.rope_scaling.kind == HEED_ROPE_DYNAMIC;
        c = first;
        run(model, &c, 0, false);
        expect_golden(&c, folder);
        if (threads == 1)
            first = c;
        expect_same_bits(&first, &c, folder);
        for (int64_t piece = 1; !dynamic && piece <= 4; piece += 2) {
            run(model, &c, piece, false);
            expect_same_bits(&first, &c, folder);
        }
        if (!dynamic)
            run(model, &c, 0, true);
        expect_same_bits(&first, &c, folder);
        heed_model_free(model);
        heed_engine_free(engine);
    }
}

static void one(void **state) {
    heed_error err = {0};
    char folder[180], path[200];
    snprintf(folder, sizeof folder, ROOT "%s", (const char *)*state);
    snprintf(path, sizeof path, "%s/generate.json", folder);
    json_t *root = heed_json_read(NULL, path, 0, &err);
    expect_no_error(&err);
    const json_t *cases = json_object_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++)
        one_case(folder, json_array_get(cases, i));
    json_decref(root);
}

/* ---- What ends a text, and what is refused ---- */

static heed_model *open_model(heed_engine **engine, const char *name) {
    heed_error err = {0};
    char folder[180];
    snprintf(folder, sizeof folder, "tests/golden/%s", name);
    *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = heed_model_open(*engine, folder, &err);
    expect_no_error(&err);
    return model;
}

static bool twice(void *ctx, const heed_generated_token *token) {
    (void)token;
    return ++*(int *)ctx < 2;
}

static void ends(void **state) {
    (void)state;
    heed_engine *engine;
    heed_error err = {0};
    heed_model *model = open_model(&engine, "families/gpt2");
    const int32_t prompt[20] = {1, 5, 9};
    int calls = 0;
    heed_generation out;
    heed_generator *g = heed_generator_new(model, &(heed_generate_options){.max_new = 3}, &err);
    assert_true(heed_generate(g, prompt, 3, &out, &err));
    assert_int_equal(out.n, 3);
    assert_int_equal(out.why, HEED_GENERATED_MOST);
    heed_generator_free(g);
    g = heed_generator_new(model, NULL, &err); /* 16 positions */
    assert_true(heed_generate(g, prompt, 3, &out, &err));
    assert_int_equal(out.n, 13);
    assert_int_equal(out.why, HEED_GENERATED_FULL);
    assert_false(heed_generate(g, prompt, 16, &out, &err));
    expect_error(&err, HEED_LIMIT, "the prompt has 16 tokens, there is room for 15");
    assert_false(heed_generate(g, prompt, 0, &out, &err));
    expect_error(&err, HEED_VALUE, "the prompt has no tokens");
    assert_false(heed_generate(g, (const int32_t[]){1, 99}, 2, &out, &err));
    expect_error(&err, HEED_VALUE, "99");
    assert_true(heed_generate(g, prompt, 3, &out, &err)); /* unharmed */
    heed_generator_free(g);
    g = heed_generator_new(model, &(heed_generate_options){.token = twice, .ctx = &calls}, &err);
    assert_true(heed_generate(g, prompt, 3, &out, &err));
    assert_int_equal(out.n, 2);
    assert_int_equal(out.why, HEED_GENERATED_ENOUGH);
    heed_generator_free(g);
    heed_model_free(model);
    heed_engine_free(engine);
}

/* The token that comes first is made the one that ends texts. */
static void end_token(void **state) {
    (void)state;
    heed_engine *engine;
    heed_error err = {0};
    heed_model *model = open_model(&engine, "families/llama");
    heed_generation out;
    heed_generator *g = heed_generator_new(model, &(heed_generate_options){.max_new = 5}, &err);
    assert_true(heed_generate(g, (const int32_t[]){1}, 1, &out, &err));
    assert_int_equal(out.n, 5);
    ((heed_config *)(uintptr_t)heed_model_config(model))->eos = out.id[0];
    assert_true(heed_generate(g, (const int32_t[]){1}, 1, &out, &err));
    assert_int_equal(out.n, 1);
    assert_int_equal(out.why, HEED_GENERATED_END);
    heed_generator_free(g);
    heed_model_free(model);
    heed_engine_free(engine);
}

static void refused(void **state) {
    (void)state;
    heed_engine *engine;
    heed_error err = {0};
    heed_model *model = open_model(&engine, "families/gpt2");
    assert_null(heed_generator_new(model, &(heed_generate_options){.max_new = -1}, &err));
    expect_error(&err, HEED_VALUE, "a number of tokens is -1");
    assert_null(heed_generator_new(model, &(heed_generate_options){.limit = 1}, &err));
    expect_error(&err, HEED_LIMIT, "");
    heed_generator *g =
        heed_generator_new(model, &(heed_generate_options){.plan_only = true}, &err);
    assert_true(heed_generator_need(g).total > 0);
    heed_generator_free(g);
    heed_tokens tokens = {0};
    assert_false(heed_prompt_ids(model, "a", 1, &tokens, &err));
    expect_error(&err, HEED_NAME, "the model has no tokenizer");
    assert_true(heed_prompt_ids(model, "", 0, &tokens, &err));
    assert_int_equal(tokens.n, 1);
    assert_int_equal(tokens.item[0].id, 1);
    heed_tokens_free(&tokens);
    heed_model_free(model);
    heed_engine_free(engine);
    model = open_model(&engine, "families/gpt2-model");
    assert_null(heed_generator_new(model, NULL, &err));
    expect_error(&err, HEED_VALUE, "takes an output layer");
    heed_model_free(model);
    heed_engine_free(engine);
    model = open_model(&engine, "marian-a");
    assert_null(heed_generator_new(model, NULL, &err));
    expect_error(&err, HEED_VALUE, "continuing a text takes a decoder");
    heed_model_free(model);
    heed_engine_free(engine);
}

static bool make_and_use(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_generation out;
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_model *model = engine ? heed_model_open(engine, ROOT "llama", err) : NULL;
    heed_generator *g = model ? heed_generator_new(model, NULL, err) : NULL;
    bool fine = g && heed_generate(g, (const int32_t[]){1, 4}, 2, &out, err);
    heed_generator_free(g);
    heed_model_free(model);
    heed_engine_free(engine);
    return fine;
}

static void no_memory(void **state) {
    (void)state;
    for_each_failing_allocation(make_and_use, NULL);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void) {
    static char name[MOST][80];
    static struct CMUnitTest tests[MOST + 4];
    size_t n = 0;
    DIR *root = opendir(ROOT);
    for (struct dirent *e; root && (e = readdir(root));) {
        char path[400];
        snprintf(path, sizeof path, ROOT "%.79s/generate.json", e->d_name);
        if (n == MOST || access(path, R_OK) != 0)
            continue;
        snprintf(name[n], sizeof name[n], "%.79s", e->d_name);
        tests[n] = (struct CMUnitTest){name[n], one, NULL, NULL, name[n]};
        n++;
    }
    if (root)
        closedir(root);
    qsort(tests, n, sizeof *tests, by_name);
    const struct CMUnitTest more[] = {cmocka_unit_test(ends), cmocka_unit_test(end_token),
                                      cmocka_unit_test(refused), cmocka_unit_test(no_memory)};
    memcpy(tests + n, more, sizeof more);
    return _cmocka_run_group_tests("families", tests, n ? n + 4 : 0, NULL, NULL);
}
