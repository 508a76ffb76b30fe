/* drill.c: one batch through models of every kind, the same bits for any number of threads, and
 * refusals; ceilings that are no nonsense.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "heed_bench.h"

#define GPT2                                                                                       \
    "{\"model_type\": \"gpt2\", \"n_embd\": 16, \"n_head\": 2, \"n_layer\": 2, \"vocab_size\": "   \
    "31, \"n_positions\": 12, \"resid_pdrop\": 0, \"eos_token_id\": -1, \"bos_token_id\": -1"
#define MARIAN                                                                                     \
    "{\"model_type\": \"marian\", \"d_model\": 16, \"encoder_attention_heads\": 2, "               \
    "\"decoder_attention_heads\": 2, \"encoder_layers\": 1, \"decoder_layers\": 1, "               \
    "\"encoder_ffn_dim\": 32, \"decoder_ffn_dim\": 32, \"vocab_size\": 31, "                       \
    "\"max_position_embeddings\": 16, \"activation_function\": \"relu\", \"pad_token_id\": 1, "    \
    "\"decoder_start_token_id\": 1}"
#define VIT                                                                                        \
    "{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], "               \
    "\"hidden_size\": 16, \"num_attention_heads\": 2, \"num_hidden_layers\": 1, "                  \
    "\"intermediate_size\": 32, \"image_size\": 8, \"patch_size\": 4, \"num_labels\": 3}"
#define BERT                                                                                       \
    "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"hidden_size\": 16, "         \
    "\"num_attention_heads\": 2, \"num_hidden_layers\": 1, \"intermediate_size\": 32, "            \
    "\"vocab_size\": 31, \"max_position_embeddings\": 12, \"type_vocab_size\": 2}"

static const heed_drill_options SMALL = {
    .sequences = 3, .source = 7, .target = 5, .train = true, .smoothing = 0.1, .seed = 4};

/* The loss of a third step with so many threads. */
static double third(const char *config, int threads) {
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, threads, NULL, &err);
    heed_model *model =
        heed_model_random(engine, config, strlen(config), 1, HEED_COMPUTE_KEPT, &err);
    heed_drill *d = model ? heed_drill_new(model, &SMALL, &err) : NULL;
    for (int i = 0; d && i < 3; i++) {
        heed_drill_run(d, &err);
    }
    expect_no_error(&err);
    double loss = heed_drill_loss(d);
    assert_true(heed_drill_need(d).gradients > 0);
    heed_drill_free(d);
    heed_model_free(model);
    heed_engine_free(engine);
    return loss;
}

static void test_training(void **state) {
    static const char *const CONFIGS[] = {GPT2 "}", MARIAN, VIT};
    static const double CLASSES[] = {31, 31, 3};
    (void)state;
    for (int i = 0; i < 3; i++) {
        double loss = third(CONFIGS[i], 1);
        assert_true(loss == third(CONFIGS[i], 3));
        assert_true(loss > 0.3 * log(CLASSES[i]) && loss < 3 * log(CLASSES[i]));
    }
}

static bool once(heed_engine *engine, const char *config, const heed_drill_options *options,
                 heed_error *err) {
    heed_compute way = options->train ? HEED_COMPUTE_KEPT : HEED_COMPUTE_INT8;
    heed_model *model = heed_model_random(engine, config, strlen(config), 1, way, err);
    heed_drill *d = model ? heed_drill_new(model, options, err) : NULL;
    bool ok = d && heed_drill_run(d, err);
    heed_drill_free(d);
    heed_model_free(model);
    return ok;
}

static void expect_refusal(heed_engine *engine, const char *config,
                           const heed_drill_options *options, heed_code code, const char *part) {
    heed_error err = {0};
    assert_false(once(engine, config, options, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part)) {
        fail_msg("'%s' has no '%s'", err.text, part);
    }
}

static void test_forward_and_refusals(void **state) {
    static const char *const CONFIGS[] = {GPT2 "}", MARIAN, VIT, BERT};
    heed_drill_options o = SMALL;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    (void)state;
    o.train = false;
    for (int i = 0; i < 4; i++) {
        assert_true(once(engine, CONFIGS[i], &o, &err));
        expect_no_error(&err);
    }
    expect_refusal(engine, BERT, &SMALL, HEED_VALUE, "family 'bert' has no loss");
    o.target = 13;
    expect_refusal(engine, GPT2 "}", &o, HEED_LIMIT, "13, the model has 12 positions");
    o.sequences = 0;
    expect_refusal(engine, GPT2 "}", &o, HEED_VALUE, "sequences: 0");
    expect_refusal(engine, GPT2 ", \"no\": ", &SMALL, HEED_FILE, "'config.json'");
    expect_refusal(engine, "{\"model_type\": \"gpt9\"}", &SMALL, HEED_NAME, "gpt9");
    expect_refusal(engine, GPT2 ", \"pad_token_id\": 31}", &SMALL, HEED_VALUE, "31");
    heed_engine_free(engine);
}

/* Batches of at most nine rows: 7, then 5 and 3, then 2. */
static void test_lengths(void **state) {
    static const int64_t falling[] = {7, 5, 3, 2}, rising[] = {5, 7}, empty[] = {3, 0};
    heed_drill_options o = {.sequences = 4, .seed = 4, .lengths = falling, .batch_rows = 9};
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    (void)state;
    assert_true(once(engine, BERT, &o, &err) && once(engine, MARIAN, &o, &err));
    o.batch_rows = 1; /* one sequence at a time, though it is longer */
    assert_true(once(engine, BERT, &o, &err));
    o.batch_rows = 0;
    assert_true(once(engine, GPT2 "}", &o, &err));
    expect_no_error(&err);
    expect_refusal(engine, VIT, &o, HEED_VALUE, "lengths are of texts");
    o.train = true;
    expect_refusal(engine, GPT2 "}", &o, HEED_VALUE, "in a pass forward");
    o = (heed_drill_options){.sequences = 2, .lengths = rising};
    expect_refusal(engine, BERT, &o, HEED_VALUE, "length 7 of sequence 1");
    o.lengths = empty;
    expect_refusal(engine, BERT, &o, HEED_VALUE, "length 0 of sequence 1");
    heed_engine_free(engine);
}

/* A batch takes as much memory as its rows, whatever all sequences have. */
static void test_lengths_memory(void **state) {
    static const int64_t lengths[] = {6, 6, 6, 6};
    heed_drill_options o = {.sequences = 4, .lengths = lengths};
    size_t values[2];
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = heed_model_random(engine, BERT, strlen(BERT), 1, HEED_COMPUTE_KEPT, &err);
    (void)state;
    for (int i = 0; i < 2; i++) {
        o.batch_rows = i ? 12 : 0;
        heed_drill *d = heed_drill_new(model, &o, &err);
        expect_no_error(&err);
        values[i] = heed_drill_need(d).values;
        heed_drill_free(d);
    }
    assert_true(values[1] < values[0] * 3 / 4);
    heed_model_free(model);
    heed_engine_free(engine);
}

typedef struct {
    const char *config;
    bool train;
} subject;

static bool take(const heed_host *host, void *ctx, heed_error *err) {
    const subject *s = ctx;
    heed_drill_options o = SMALL;
    o.train = s->train;
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    bool ok = engine && once(engine, s->config, &o, err);
    heed_engine_free(engine);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(take, &(subject){MARIAN, true});
    for_each_failing_allocation(take, &(subject){BERT, false});
}

static void test_ceiling(void **state) {
    heed_error err = {0};
    heed_ceiling c;
    (void)state;
    heed_engine *engine = heed_engine_new(NULL, 2, "ref", &err);
    assert_true(heed_ceiling_of(engine, &c, &err));
    assert_true(c.f32 > 1e7 && c.f32 < 1e14 && c.read > 1e7 && c.read < 1e14);
    assert_true(c.bf16 == 0 && c.int8 == 0 && c.fork > 0 && c.fork < 1);
    heed_engine_free(engine);
    counting_host host;
    counting_host_init(&host, 0, false);
    engine = heed_engine_new(&host.host, 1, NULL, &err);
    host.fail_at = atomic_load(&host.asked) + 1;
    assert_false(heed_ceiling_of(engine, &c, &err));
    assert_int_equal(err.code, HEED_NOMEM);
    heed_engine_free(engine);
    assert_int_equal(atomic_load(&host.live), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training), cmocka_unit_test(test_forward_and_refusals),
        cmocka_unit_test(test_lengths),  cmocka_unit_test(test_lengths_memory),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_ceiling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
