/* optimizer.c: Adam and AdamW against PyTorch's, and the same bits for any pool.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "base/mem.h"
#include "file/safetensors.h"
#include "train/optimizer.h"

enum { STEPS = 10, DECAYED = 5, ALL = 13 };

static double setting(const heed_tensors *file, const char *key) {
    const char *text = heed_tensors_meta(file, key);
    assert_non_null(text);
    return atof(text);
}

static void read_tensor(const heed_tensors *file, const char *name, float *out) {
    heed_error err = {0};
    const heed_tensor *t = heed_tensors_find(file, name);
    assert_non_null(t);
    assert_true(heed_tensor_to_f32(t, out, &err));
}

static heed_kernels kernels_called(const char *isa) {
    heed_kernels k;
    assert_true(heed_kernels_init(&k, isa));
    return k;
}

static void expect_row(const char *path, int step, const float *got, const float *want) {
    for (int i = 0; i < ALL; i++) {
        /* Each step moves a weight by about lr, in arithmetic of 24 bits. */
        if (!(fabs((double)got[i] - (double)want[i]) <= 4e-6 * (1.0 + fabs((double)want[i])))) {
            fail_msg("%s: step %d, weight %d is %.9g, PyTorch has %.9g", path, step, i,
                     (double)got[i], (double)want[i]);
        }
    }
}

static void follow(const char *path, const heed_kernels *kernels) {
    heed_error err = {0};
    float weight[ALL], grads[STEPS * ALL], weights[STEPS * ALL], grad[ALL];
    heed_tensors *file = heed_tensors_open(NULL, path, &err);
    expect_no_error(&err);
    read_tensor(file, "start", weight);
    read_tensor(file, "grads", grads);
    read_tensor(file, "weights", weights);
    heed_optimizer_options o = {.beta1 = setting(file, "beta1"),
                                .beta2 = setting(file, "beta2"),
                                .eps = setting(file, "eps"),
                                .weight_decay = setting(file, "decay"),
                                .decoupled = strcmp(heed_tensors_meta(file, "kind"), "adamw") == 0,
                                .clip = setting(file, "clip")};
    heed_param params[] = {
        {.name = "a", .weight = weight, .grad = grad, .n = DECAYED, .decay = true},
        {.name = "b", .weight = weight + DECAYED, .grad = grad + DECAYED, .n = ALL - DECAYED}};
    heed_optimizer *opt = heed_optimizer_new(NULL, kernels, params, 2, &o, &err);
    assert_non_null(opt);
    for (int s = 0; s < STEPS; s++) {
        double squares = 0.0;
        for (int i = 0; i < ALL; i++) {
            grad[i] = 4.0f * grads[s * ALL + i]; /* a sum over 4 tokens */
            squares += (double)grads[s * ALL + i] * (double)grads[s * ALL + i];
        }
        heed_step_report r = heed_optimizer_step(opt, NULL, s + 1, setting(file, "lr"), 0.25);
        assert_true(r.finite && r.bad == -1);
        assert_true(fabs(r.norm - sqrt(squares)) <= 1e-12 * r.norm);
        expect_row(path, s, weight, weights + s * ALL);
    }
    heed_optimizer_free(opt);
    heed_tensors_free(file);
}

static void it_follows_pytorch(void **state) {
    (void)state;
    for (int i = 0; i < heed_isa_count(); i++) {
        heed_isa isa = heed_isa_at(i);
        if (!isa.usable) {
            continue;
        }
        heed_kernels k = kernels_called(isa.name);
        follow("tests/golden/optimizer/adam.safetensors", &k);
        follow("tests/golden/optimizer/adam-decay.safetensors", &k);
        follow("tests/golden/optimizer/adamw.safetensors", &k);
    }
}

enum { BIG = 100003, SMALL = 17 };
static float big_weight[2][BIG + SMALL], big_grad[BIG + SMALL];

static double run_with(float *weight, int threads) {
    heed_error err = {0};
    heed_kernels k = kernels_called(NULL);
    heed_pool *pool = heed_pool_new(NULL, threads, &err);
    heed_param params[] = {
        {.name = "big", .weight = weight, .grad = big_grad, .n = BIG, .decay = true},
        {.name = "small", .weight = weight + BIG, .grad = big_grad + BIG, .n = SMALL}};
    heed_optimizer_options o = {.beta1 = 0.9,
                                .beta2 = 0.98,
                                .eps = 1e-9,
                                .weight_decay = 0.1,
                                .decoupled = true,
                                .clip = 1};
    heed_optimizer *opt = heed_optimizer_new(NULL, &k, params, 2, &o, &err);
    expect_no_error(&err);
    double norm = 0.0;
    for (int i = 0; i < BIG + SMALL; i++) {
        weight[i] = (float)(i % 1000) / 999.0f - 0.5f;
    }
    for (int s = 1; s <= 3; s++) {
        for (int i = 0; i < BIG + SMALL; i++) {
            big_grad[i] = sinf((float)(i * s));
        }
        norm += heed_optimizer_step(opt, pool, s, 1e-3, 1.0).norm;
    }
    heed_optimizer_free(opt);
    heed_pool_free(pool);
    return norm;
}

static void any_pool_gives_the_same_bits(void **state) {
    (void)state;
    double norm = run_with(big_weight[0], 1);
    for (int threads = 2; threads <= 4; threads++) {
        assert_true(run_with(big_weight[1], threads) == norm);
        assert_memory_equal(big_weight[0], big_weight[1], sizeof big_weight[0]);
    }
}

static void a_bad_gradient_changes_nothing(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    heed_error err = {0};
    heed_kernels k = kernels_called(NULL);
    float weight[4] = {1, 2, 3, 4}, grad[4] = {1, 1, 1, 1};
    heed_param params[] = {{.name = "a", .weight = weight, .grad = grad, .n = 2},
                           {.name = "b", .weight = weight + 2, .grad = grad + 2, .n = 2}};
    heed_optimizer_options o = {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
    heed_optimizer *opt = heed_optimizer_new(NULL, &k, params, 2, &o, &err);
    for (int i = 0; i < 3; i++) {
        grad[3] = bad[i];
        heed_step_report r = heed_optimizer_step(opt, NULL, 1, 0.1, 1.0);
        assert_false(r.finite);
        assert_int_equal(r.bad, 1);
        assert_true(weight[0] == 1 && weight[2] == 3 && weight[3] == 4);
    }
    int64_t count;
    const heed_param *list = heed_optimizer_params(opt, &count);
    assert_int_equal(count, 2);
    assert_true(list[0].m[0] == 0 && list[1].v[1] == 0);
    assert_int_equal(heed_optimizer_bytes(10), 80);
    heed_optimizer_free(opt);
}

static bool make_with(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_kernels k = kernels_called("ref");
    float weight[3] = {0}, grad[3] = {0};
    heed_param param = {.name = "a", .weight = weight, .grad = grad, .n = 3};
    heed_optimizer_options o = {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
    heed_optimizer *opt = heed_optimizer_new(host, &k, &param, 1, &o, err);
    heed_optimizer_free(opt);
    return opt != NULL;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    for_each_failing_allocation(make_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_pytorch),
        cmocka_unit_test(any_pool_gives_the_same_bits),
        cmocka_unit_test(a_bad_gradient_changes_nothing),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
