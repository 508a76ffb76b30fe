/* update.c: however a set of pairs is cut into batches, the update is the same; batches weigh by
 * their tokens.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "base/mem.h"
#include "train/update.h"
#include "train/validate.h"

enum { VOCAB = 20, PAIRS = 8 };

/* Pairs of unequal lengths: means of means would be far off. */
static heed_pairs make_pairs(void) {
    heed_error err = {0};
    heed_pairs pairs = {0};
    for (int i = 0; i < PAIRS; i++) {
        int32_t source[8], target[8];
        int n = 1 + i * 5 % 7, m = 1 + i * 3 % 8;
        for (int j = 0; j < 8; j++) {
            source[j] = 4 + (i * 7 + j * 3) % (VOCAB - 4);
            target[j] = 4 + (i * 5 + j * 11) % (VOCAB - 4);
        }
        assert_true(heed_pairs_add(&pairs, source, n, target, m, i + 1, &err));
    }
    return pairs;
}

typedef struct {
    heed_engine *engine;
    heed_model *model;
    heed_batches *batches;
    heed_updater *updater;
} small;

static small make_dropping(const heed_pairs *pairs, int64_t sequences, int64_t accumulate,
                           int threads, double dropout) {
    heed_error err = {0};
    small s = {.engine = heed_engine_new(NULL, threads, NULL, &err)};
    heed_config config = heed_config_base();
    heed_stack *stacks[] = {&config.encoder, &config.decoder};
    for (int i = 0; i < 2; i++) {
        stacks[i]->width = 8;
        stacks[i]->heads = stacks[i]->kv_heads = 2;
        stacks[i]->layers = 1;
        stacks[i]->feed_forward = 16;
        stacks[i]->dropout = dropout;
    }
    config.vocab = config.source_vocab = VOCAB;
    config.pad = config.decoder_start = 0;
    config.eos = 2;
    s.model = heed_model_new(s.engine, &config, NULL, 3, &err);
    heed_batch_opts opts = {.seed = 1,
                            .tokens = 200,
                            .sequences = sequences,
                            .source_begin = -1,
                            .source_end = 2,
                            .target_begin = 0,
                            .target_end = 2};
    s.batches = heed_batches_new(NULL, pairs, &opts, &err);
    heed_update_options options = {.seed = 1, .accumulate = accumulate, .smoothing = 0.1};
    heed_optimizer_options adam = {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
    s.updater = heed_updater_new(s.model, (heed_feed){.pairs = s.batches}, &options, &adam, &err);
    expect_no_error(&err);
    return s;
}

/* Without dropout, whose masks hang on the place in the batch. */
static small make(const heed_pairs *pairs, int64_t sequences, int64_t accumulate, int threads) {
    return make_dropping(pairs, sequences, accumulate, threads, 0.0);
}

static void drop(small *s) {
    heed_updater_free(s->updater);
    heed_batches_free(s->batches);
    heed_model_free(s->model);
    heed_engine_free(s->engine);
}

static heed_update_report update(small *s) {
    heed_error err = {0};
    heed_update_report report;
    if (!heed_update(s->updater, 1, 1e-3, &report, &err)) {
        fail_msg("%s", err.text);
    }
    return report;
}

/* 1 x 8 pairs, 2 x 4, 4 x 2, 8 x 1: the same loss, norm and gradients within 1e-6. */
static void any_cut_gives_the_same_update(void **state) {
    (void)state;
    heed_pairs pairs = make_pairs();
    small whole = make(&pairs, 8, 1, 1);
    heed_update_report want = update(&whole);
    assert_int_equal(want.tokens, pairs.target.start[PAIRS] + PAIRS);
    for (int64_t parts = 2; parts <= 8; parts *= 2) {
        small cut = make(&pairs, 8 / parts, parts, 1);
        heed_update_report got = update(&cut);
        assert_int_equal(got.tokens, want.tokens);
        assert_true(fabs(got.loss - want.loss) <= 1e-6 * want.loss);
        assert_true(fabs(got.norm - want.norm) <= 1e-6 * want.norm);
        heed_weights *a = heed_model_weights(whole.model), *b = heed_model_weights(cut.model);
        for (int64_t i = 0; i < heed_weights_count(a); i++) {
            const heed_weight_entry *x = heed_weights_at(a, i), *y = heed_weights_at(b, i);
            for (int64_t j = 0; x->grad && j < x->rows * x->cols; j++) {
                double off = fabs((double)x->grad[j] - (double)y->grad[j]);
                if (!(off <= 1e-6 * want.norm * (double)want.tokens)) {
                    fail_msg("%s[%d] is off by %g", x->name, (int)j, off);
                }
            }
        }
        drop(&cut);
    }
    drop(&whole);
    heed_pairs_free(&pairs);
}

static void a_probe_changes_nothing(void **state) {
    (void)state;
    heed_error err = {0};
    heed_pairs pairs = make_pairs();
    small a = make(&pairs, 2, 2, 1), b = make(&pairs, 2, 2, 3);
    assert_true(heed_updater_probe(b.updater, 1, &err));
    heed_update_report x = update(&a), y = update(&b);
    assert_memory_equal(&x, &y, sizeof x);
    int64_t count;
    const heed_param *p = heed_updater_params(a.updater, &count);
    const heed_param *q = heed_updater_params(b.updater, &count);
    for (int64_t i = 0; i < count; i++) {
        assert_memory_equal(p[i].weight, q[i].weight, (size_t)p[i].n * sizeof(float));
        assert_memory_equal(p[i].v, q[i].v, (size_t)p[i].n * sizeof(float));
    }
    drop(&a);
    drop(&b);
    heed_pairs_free(&pairs);
}

static void biases_and_norms_do_not_decay(void **state) {
    (void)state;
    heed_pairs pairs = make_pairs();
    small s = make(&pairs, 8, 1, 1);
    int64_t count, decayed = 0;
    const heed_param *p = heed_updater_params(s.updater, &count);
    for (int64_t i = 0; i < count; i++) {
        bool matrix = strstr(p[i].name, ".weight") && !strstr(p[i].name, "norm");
        if (p[i].decay != matrix) {
            fail_msg("%s %s", p[i].name, p[i].decay ? "decays" : "does not decay");
        }
        decayed += p[i].decay;
        assert_null(strstr(p[i].name, "logits.bias")); /* not trained */
    }
    assert_true(decayed > 10);
    drop(&s);
    heed_pairs_free(&pairs);
}

static double loss_of(small *s, int64_t step) {
    heed_error err = {0};
    heed_update_report report;
    assert_true(heed_update(s->updater, step, 0.0, &report, &err)); /* a rate of 0 moves nothing */
    return report.loss;
}

static void masks_are_of_the_update(void **state) {
    (void)state;
    heed_pairs pairs = make_pairs();
    small s = make_dropping(&pairs, 8, 1, 1, 0.3);
    double first = loss_of(&s, 1);
    assert_true(loss_of(&s, 2) != first);
    assert_int_equal(heed_batches_next(s.batches)->n, PAIRS);
    heed_error err = {0};
    assert_true(heed_batches_seek(s.batches, 0, 0, &err));
    assert_true(loss_of(&s, 1) == first);
    drop(&s);
    s = make_dropping(&pairs, 4, 2, 1, 0.3);
    double two = loss_of(&s, 1);
    assert_true(heed_batches_seek(s.batches, 0, 0, &err));
    assert_true(loss_of(&s, 2) != two);
    drop(&s);
    heed_pairs_free(&pairs);
}

static void better_hangs_on_the_metric(void **state) {
    (void)state;
    heed_error err = {0};
    heed_recipe *r = heed_recipe_new(NULL, &err);
    assert_true(heed_validation_better(r, 1.0, 2.0));
    assert_false(heed_validation_better(r, 2.0, 2.0));
    assert_true(heed_recipe_set(r, "train.metric=bleu", &err));
    assert_true(heed_validation_better(r, 2.0, 1.0));
    assert_false(heed_validation_better(r, 2.0, 2.0));
    heed_recipe_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_same_update), cmocka_unit_test(a_probe_changes_nothing),
        cmocka_unit_test(biases_and_norms_do_not_decay), cmocka_unit_test(masks_are_of_the_update),
        cmocka_unit_test(better_hangs_on_the_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
