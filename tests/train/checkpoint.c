/* checkpoint.c: checkpoints come back bit for bit, damaged ones are passed over, old ones go.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "train/checkpoint.h"

enum { FIRST = 5, SECOND = 3 };
static char folder[TEST_PATH];

static int make_folder(void **state) {
    (void)state;
    temp_folder(folder);
    return 0;
}
static int drop_folder(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

typedef struct {
    float number[3 * (FIRST + SECOND)]; /* weights, m, v of both */
    heed_param param[2];
} model;

static void make_model(model *m, float base) {
    for (int i = 0; i < 3 * (FIRST + SECOND); i++) {
        m->number[i] = base + (float)i / 3.0f;
    }
    float *p = m->number;
    m->param[0] = (heed_param){
        .name = "encoder.0.up.weight", .weight = p, .n = FIRST, .m = p + FIRST, .v = p + 2 * FIRST};
    p += 3 * FIRST;
    m->param[1] = (heed_param){
        .name = "norm", .weight = p, .n = SECOND, .m = p + SECOND, .v = p + 2 * SECOND};
}

static heed_train_state some_state(int64_t step) {
    return (heed_train_state){.step = step,
                              .epoch = 3,
                              .batch = 17,
                              .seed = 9007199254740991,
                              .seconds = 0.1,
                              .loss = 1.0 / 3.0,
                              .best = -INFINITY,
                              .best_step = 2};
}

static void save(model *m, int64_t step, int64_t keep) {
    heed_error err = {0};
    heed_train_state state = some_state(step);
    heed_checkpoint_rule rule = {.keep = keep};
    if (!heed_checkpoint_save(NULL, folder, &state, m->param, 2, rule, &err)) {
        fail_msg("%s", err.text);
    }
}

static bool resume(model *m, heed_train_state *state, int64_t *damaged, heed_error *err) {
    bool found;
    return heed_checkpoint_resume(NULL, folder, state, m->param, 2, &found, damaged, err) && found;
}

static void everything_comes_back(void **state) {
    (void)state;
    heed_error err = {0};
    model written, read;
    heed_train_state got = {0}, want = some_state(40);
    int64_t damaged;
    make_model(&written, 0.5f);
    make_model(&read, 70.0f);
    written.number[1] = -0.0f;
    written.number[2] = 1e-42f; /* not normal */
    save(&written, 40, 3);
    assert_true(resume(&read, &got, &damaged, &err));
    assert_memory_equal(read.number, written.number, sizeof read.number);
    assert_memory_equal(&got, &want, sizeof got);
    assert_int_equal(damaged, 0);
}

static void nothing_there_is_no_error(void **state) {
    (void)state;
    heed_error err = {0};
    model m;
    heed_train_state got = some_state(5);
    int64_t damaged;
    bool found = true;
    make_model(&m, 0.0f);
    assert_true(heed_checkpoint_resume(NULL, folder, &got, m.param, 2, &found, &damaged, &err));
    assert_false(found);
    assert_true(
        heed_checkpoint_resume(NULL, "/nowhere/at/all", &got, m.param, 2, &found, &damaged, &err));
    assert_false(found);
    assert_int_equal(got.step, 5);
}

static void expect_steps(size_t n, const int64_t *want) {
    heed_error err = {0};
    heed_checkpoints list;
    assert_true(heed_checkpoint_list(NULL, folder, &list, &err));
    assert_int_equal(list.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list.step[i], want[i]);
    }
    heed_free(NULL, list.step);
}

static void old_ones_go_and_the_best_stays(void **state) {
    (void)state;
    model m;
    make_model(&m, 0.0f);
    for (int64_t step = 1; step <= 12; step++) {
        save(&m, step, 3);
    }
    expect_steps(4, (const int64_t[]){2, 10, 11, 12}); /* rising as numbers, not as texts */
}

/* A damaged checkpoint of a later step, and one that only a stop wrote, take nobody's place. */
static void some_do_not_count(void **state) {
    (void)state;
    model m;
    heed_error err = {0};
    make_model(&m, 0.0f);
    save(&m, 90, 3);
    for (int64_t step = 10; step <= 30; step += 10) {
        save(&m, step, 2);
    }
    expect_steps(3, (const int64_t[]){20, 30, 90});
    save(&m, 33, 2);
    heed_train_state at = some_state(40);
    heed_checkpoint_rule rule = {.keep = 2, .stopped = 33};
    assert_true(heed_checkpoint_save(NULL, folder, &at, m.param, 2, rule, &err));
    expect_steps(3, (const int64_t[]){30, 40, 90});
    assert_true(heed_checkpoint_prune(NULL, folder, (heed_checkpoint_rule){.newest = 99}, &err));
    expect_steps(0, NULL);
}

static void other_files_are_left_alone(void **state) {
    (void)state;
    static const char *const names[] = {"step-x.safetensors", "step-7.safetensors.part",
                                        "step-07.safetensors", "best.txt", "step-8.bin"};
    char path[TEST_PATH + 64];
    model m;
    make_model(&m, 0.0f);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        write_text(path, "x");
    }
    save(&m, 1, 1);
    save(&m, 5, 1);
    expect_steps(1, (const int64_t[]){5});
    assert_int_equal(count_files(folder), 6);
}

static void cut_short(int64_t step) {
    char path[TEST_PATH + 64];
    snprintf(path, sizeof path, "%s/step-%d.safetensors", folder, (int)step);
    size_t n;
    char *data = slurp(path, &n);
    write_bytes(path, data, n - 5);
    free(data);
}

static void damaged_ones_are_passed_over(void **state) {
    (void)state;
    heed_error err = {0};
    model written, newer, read;
    heed_train_state got;
    int64_t damaged;
    make_model(&written, 1.0f);
    make_model(&newer, 2.0f);
    make_model(&read, 3.0f);
    save(&written, 10, 3);
    save(&newer, 20, 3);
    cut_short(20);
    assert_true(resume(&read, &got, &damaged, &err));
    assert_int_equal(got.step, 10);
    assert_int_equal(damaged, 1);
    assert_memory_equal(read.number, written.number, sizeof read.number);
    cut_short(10);
    assert_false(resume(&read, &got, &damaged, &err));
    expect_error(&err, HEED_FILE, "step-10.safetensors");
}

static void another_model_is_refused(void **state) {
    (void)state;
    heed_error err = {0};
    model m, other;
    heed_train_state got;
    int64_t damaged;
    make_model(&m, 1.0f);
    save(&m, 10, 3);
    make_model(&other, 2.0f);
    other.param[1].n = 2;
    assert_false(resume(&other, &got, &damaged, &err));
    expect_error(&err, HEED_SHAPE, "'norm' is (3) in checkpoint");
    other.param[1].name = "norm.bias";
    assert_false(resume(&other, &got, &damaged, &err));
    expect_error(&err, HEED_NAME, "has no 'norm.bias', it is of another model");
    bool found;
    assert_false(heed_checkpoint_resume(NULL, folder, &got, m.param, 1, &found, &damaged, &err));
    expect_error(&err, HEED_NAME, "has 6 tensors, the model wants 3");
}

static void means_are_means(void **state) {
    (void)state;
    heed_error err = {0};
    model a, b, c;
    make_model(&a, 1.0f);
    make_model(&b, 2.0f);
    make_model(&c, 30.0f);
    save(&a, 1, 3);
    save(&b, 2, 3);
    float moment = c.param[0].m[0];
    assert_true(
        heed_checkpoint_average(NULL, folder, (const int64_t[]){1, 2}, 2, c.param, 2, &err));
    for (int i = 0; i < FIRST; i++) {
        double mean = ((double)a.param[0].weight[i] + (double)b.param[0].weight[i]) / 2.0;
        assert_true(c.param[0].weight[i] == (float)mean);
    }
    assert_true(c.param[0].m[0] == moment);
    assert_true(heed_checkpoint_average(NULL, folder, (const int64_t[]){2}, 1, c.param, 2, &err));
    assert_memory_equal(c.param[1].weight, b.param[1].weight, SECOND * sizeof(float));
    assert_false(heed_checkpoint_average(NULL, folder, (const int64_t[]){9}, 1, c.param, 2, &err));
    expect_error(&err, HEED_FILE, "step-9.safetensors");
}

static bool save_with(const heed_host *host, void *ctx, heed_error *err) {
    model *m = ctx;
    heed_train_state state = some_state(3);
    bool found;
    int64_t damaged;
    heed_checkpoint_rule rule = {.keep = 1};
    return heed_checkpoint_save(host, folder, &state, m->param, 2, rule, err) &&
           heed_checkpoint_resume(host, folder, &state, m->param, 2, &found, &damaged, err) &&
           heed_checkpoint_average(host, folder, &state.step, 1, m->param, 2, err);
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    model m;
    make_model(&m, 1.0f);
    for_each_failing_allocation(save_with, &m);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(everything_comes_back),          IN_FOLDER(nothing_there_is_no_error),
        IN_FOLDER(old_ones_go_and_the_best_stays), IN_FOLDER(some_do_not_count),
        IN_FOLDER(other_files_are_left_alone),     IN_FOLDER(damaged_ones_are_passed_over),
        IN_FOLDER(another_model_is_refused),       IN_FOLDER(means_are_means),
        IN_FOLDER(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
