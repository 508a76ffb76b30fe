/* compare.h: a golden folder through heed_trace against what PyTorch computed in double.
 *
 * Values within 1e-4; a gradient within 1e-3 of its tensor's largest value plus 1e-6 of the largest
 * gradient in the model (key biases have a true gradient of zero).
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TESTS_COMPARE_H
#define HEED_TESTS_COMPARE_H

#include "support.h"

#include "file/safetensors.h"
#include "heed_look.h"

#include <math.h>

static inline float *floats(const heed_tensor *t) {
    heed_error err = {0};
    float *x = malloc((size_t)heed_tensor_elements(t) * sizeof *x + 1);
    assert_true(heed_tensor_to_f32(t, x, &err));
    return x;
}

static inline double largest(const heed_tensor *t) {
    float *x = floats(t);
    double most = 0;
    for (int64_t i = 0; i < heed_tensor_elements(t); i++) {
        most = fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    }
    free(x);
    return most;
}

static inline double largest_gradient(const heed_tensors *file) {
    double most = 0;
    for (int64_t i = 0; i < heed_tensors_count(file); i++) {
        const heed_tensor *t = heed_tensors_at(file, i);
        double x = strncmp(t->name, "grad.", 5) == 0 ? largest(t) : 0;
        most = x > most ? x : most;
    }
    return most;
}

static inline void compare(const heed_tensor *want, const heed_tensor *got, double bound,
                           const char *folder) {
    char a[180], b[180];
    if (!got) {
        fail_msg("%s: '%s' is missing", folder, want->name);
        return;
    }
    if (strcmp(heed_tensor_shape(want, a), heed_tensor_shape(got, b)) != 0) {
        fail_msg("%s: '%s' is %s, wanted %s", folder, want->name, b, a);
    }
    float *x = floats(want), *y = floats(got);
    for (int64_t i = 0; i < heed_tensor_elements(want); i++) {
        if (!(fabs((double)x[i] - (double)y[i]) <= bound)) {
            fail_msg("%s: '%s'[%d] is %.7g, wanted %.7g within %.2g", folder, want->name, (int)i,
                     (double)y[i], (double)x[i], bound);
        }
    }
    free(x);
    free(y);
}

static inline void trace_on(const char *folder, const char *isa) {
    heed_error err = {0};
    char in[350], wanted[350], out[TEST_PATH + 20], temp[TEST_PATH];
    temp_folder(temp);
    snprintf(in, sizeof in, "%s/in.safetensors", folder);
    snprintf(wanted, sizeof wanted, "%s/out.safetensors", folder);
    snprintf(out, sizeof out, "%s/out.safetensors", temp);
    heed_engine *engine = heed_engine_new(NULL, 2, isa, &err);
    heed_model *model = heed_model_open(engine, folder, &err);
    expect_no_error(&err);
    heed_tensors *want = heed_tensors_open(NULL, wanted, &err);
    expect_no_error(&err);
    bool loss = heed_tensors_find(want, "loss") != NULL;
    heed_trace_options options = {.attention = true, .hidden = true, .grads = loss};
    heed_trace(model, in, out, &options, &err);
    expect_no_error(&err);
    heed_tensors *got = heed_tensors_open(NULL, out, &err);
    expect_no_error(&err);
    double gradient = largest_gradient(want);
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *t = heed_tensors_at(want, i);
        bool grad = strncmp(t->name, "grad.", 5) == 0;
        double bound = grad ? 1e-3 * largest(t) + 1e-6 * gradient : 1e-4;
        compare(t, heed_tensors_find(got, t->name), bound, folder);
    }
    assert_int_equal(heed_tensors_count(got), heed_tensors_count(want));
    heed_tensors_free(want);
    heed_tensors_free(got);
    heed_model_free(model);
    heed_engine_free(engine);
    remove_folder(temp);
}

/* The golden folder on every instruction set found. */
static inline void trace_folder(const char *folder) {
    static const char *const sets[] = TEST_SETS;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        heed_engine *engine = heed_engine_new(NULL, 1, sets[i], NULL);
        if (engine) {
            trace_on(folder, sets[i]);
        }
        heed_engine_free(engine);
    }
}

#endif
