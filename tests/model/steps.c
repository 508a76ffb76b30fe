/* steps.c: every decoder of tests/golden/families gives the same bits in one pass and step by step
 * with its cache: a prefix, then a row at a time.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "model/model.h"

#include <dirent.h>

#define ROOT "tests/golden/families/"
enum { LENGTH = 7, PREFIX = 3 };

static const int32_t ids[LENGTH] = {12, 31, 8, 25, 16, 19, 2};

typedef struct {
    heed_plan *plan;
    heed_session *session;
    heed_value out;
} run;

/* rows: the most in one run. */
static run start(heed_model *m, bool cached, int64_t rows) {
    heed_error err = {0};
    run r = {.plan = NULL};
    heed_build *b = heed_build_new(heed_model_engine(m), HEED_INFER, heed_model_weights(m), &err);
    heed_want want = {.logits = heed_model_config(m)->head == HEED_HEAD_VOCAB};
    heed_outputs out = heed_model_record(m, b, &want);
    r.out = want.logits ? out.logits : out.hidden;
    heed_capacity room[] = {{"target", rows, 1, rows, 0}, {0}};
    heed_plan_options o = {.capacity = room, .keep = (heed_value[]){r.out, {0}}, .frozen = true};
    if (cached) {
        o.step = "target";
        o.cached = true;
        o.cache_longest = o.cache_rows = LENGTH;
    }
    r.plan = heed_plan_new(b, &o, &err);
    r.session = r.plan ? heed_session_new(r.plan, &err) : NULL;
    expect_no_error(&err);
    return r;
}

static heed_matrix go(run *r, int64_t from, int64_t n) {
    heed_error err = {0};
    const int64_t starts[] = {0, n};
    memcpy(heed_ints(r->session, "input_ids"), ids + from, (size_t)n * sizeof *ids);
    if (heed_set_rows(r->session, "target", 1, starts, NULL, &err) &&
        heed_run_once(r->session, &err))
        heed_run(r->session, &err);
    expect_no_error(&err);
    return heed_read_value(r->session, r->out);
}

static void stop(run *r) {
    heed_session_free(r->session);
    heed_plan_free(r->plan);
}

static void expect_rows(heed_matrix got, heed_matrix want, int64_t first, const char *name) {
    for (int64_t i = 0; i < got.rows * got.cols; i++)
        if (memcmp(&got.data[i], &want.data[first * want.cols + i], sizeof *got.data) != 0)
            fail_msg("%s: row %d, column %d is %.9g, in one pass %.9g", name,
                     (int)(first + i / got.cols), (int)(i % got.cols), (double)got.data[i],
                     (double)want.data[first * want.cols + i]);
}

static void try_model(heed_model *m, const char *name) {
    run whole = start(m, false, LENGTH), steps = start(m, true, PREFIX);
    heed_matrix want = go(&whole, 0, LENGTH);
    expect_rows(go(&steps, 0, PREFIX), want, 0, name);
    for (int64_t i = PREFIX; i < LENGTH; i++)
        expect_rows(go(&steps, i, 1), want, i, name);
    stop(&whole);
    stop(&steps);
}

/* Beyond the length of the training these turn all rows otherwise than the first ones were. */
static bool may_differ(const heed_config *c) {
    const heed_rope_scaling *r = &c->decoder.rope_scaling;
    return (r->kind == HEED_ROPE_DYNAMIC || r->kind == HEED_ROPE_LONGROPE) && r->original < LENGTH;
}

static void test_steps(void **state) {
    (void)state;
    int tried = 0;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    DIR *root = opendir(ROOT);
    for (struct dirent *e; root && (e = readdir(root));) {
        char folder[300];
        snprintf(folder, sizeof folder, ROOT "%s", e->d_name);
        if (e->d_name[0] == '.')
            continue;
        heed_model *m = heed_model_open(engine, folder, &err);
        expect_no_error(&err);
        const heed_config *c = heed_model_config(m);
        if (c->kind == HEED_DECODER && !may_differ(c)) {
            try_model(m, e->d_name);
            tried++;
        }
        heed_model_free(m);
    }
    if (root)
        closedir(root);
    heed_engine_free(engine);
    assert_true(tried >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
