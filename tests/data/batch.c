/* Batches: what is in them, their budget and bounds, the order of epochs, resuming at any place.
 * SPDX-License-Identifier: MIT
 */
#include "data/batch.h"

#include "base/philox.h"
#include "support.h"

enum { PAIRS = 500 };

static void add(heed_pairs *p, int64_t line, int64_t source_n, int64_t target_n) {
    int32_t source[64], target[64];
    heed_error err = {0};
    for (int i = 0; i < 64; i++) {
        source[i] = (int32_t)(line * 100 + i);
        target[i] = (int32_t)(line * 100 + i + 50);
    }
    assert_true(heed_pairs_add(p, source, source_n, target, target_n, line, &err));
}

/* Pair with line number i + 1 has ids that tell it, and lengths between 1 and 20. */
static heed_pairs corpus(void) {
    heed_pairs p = {0};
    heed_random r = {.seed = 5};
    for (int64_t i = 0; i < PAIRS; i++)
        add(&p, i + 1, 1 + (int64_t)heed_random_below(&r, 20),
            1 + (int64_t)heed_random_below(&r, 20));
    return p;
}

static const heed_batch_opts plain = {.seed = 1,
                                      .tokens = 100,
                                      .source_begin = -1,
                                      .source_end = 2,
                                      .target_begin = 0,
                                      .target_end = 2};

static heed_batches *batches(const heed_pairs *p, heed_batch_opts o) {
    heed_error err = {0};
    heed_batches *b = heed_batches_new(NULL, p, &o, &err);
    expect_no_error(&err);
    return b;
}

static void expect_ids(const int32_t *got, const int32_t *want, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void test_contents(void **state) {
    (void)state;
    heed_pairs p = {0};
    add(&p, 7, 2, 3);
    add(&p, 9, 1, 1);
    heed_batch_opts o = plain;
    o.in_order = true;
    heed_batches *b = batches(&p, o);
    const heed_batch *t = heed_batches_next(b);
    assert_int_equal(t->n, 2);
    assert_int_equal(t->count, 1);
    expect_ids(t->source_id, (int32_t[]){900, 2, 700, 701, 2}, 5);
    expect_ids(t->target_id, (int32_t[]){0, 950, 0, 750, 751, 752}, 6);
    expect_ids(t->label, (int32_t[]){950, 2, 750, 751, 752, 2}, 6);
    assert_true(t->source_start[0] == 0 && t->source_start[1] == 2 && t->source_start[2] == 5);
    assert_true(t->target_start[0] == 0 && t->target_start[1] == 2 && t->target_start[2] == 6);
    assert_true(t->line[0] == 9 && t->line[1] == 7);
    heed_batches_free(b);
    o.source_begin = 1, o.source_end = -1, o.target_end = -1; /* other special tokens */
    b = batches(&p, o);
    t = heed_batches_next(b);
    expect_ids(t->source_id, (int32_t[]){1, 900, 1, 700, 701}, 5);
    expect_ids(t->target_id, (int32_t[]){0, 0, 750, 751}, 4);
    expect_ids(t->label, (int32_t[]){950, 750, 751, 752}, 4);
    heed_batches_free(b);
    heed_pairs_free(&p);
}

/* Checks one batch against budget, bounds and the corpus; notes which pairs it has. */
static void check_batch(const heed_batch *t, const heed_pairs *p, heed_batch_opts o,
                        heed_batch_bounds most, int *seen) {
    int64_t cross = 0, rows_s = t->source_start[t->n], rows_t = t->target_start[t->n];
    assert_true(t->n >= 1 && t->n <= most.sequences && rows_s <= most.source_rows &&
                rows_t <= most.target_rows);
    assert_true(rows_s <= o.tokens && rows_t <= o.tokens && (!o.sequences || t->n <= o.sequences));
    for (int64_t i = 0; i < t->n; i++) {
        int64_t pair = t->line[i] - 1, s = t->source_start[i], e = t->source_start[i + 1];
        int64_t u = t->target_start[i], v = t->target_start[i + 1];
        seen[pair]++;
        cross += (e - s) * (v - u);
        assert_int_equal(e - s, p->source.start[pair + 1] - p->source.start[pair] + 1);
        assert_int_equal(v - u, p->target.start[pair + 1] - p->target.start[pair] + 1);
        expect_ids(t->source_id + s, p->source.id + p->source.start[pair], e - s - 1);
        expect_ids(t->label + u, p->target.id + p->target.start[pair], v - u - 1);
        assert_true(t->label[v - 1] == 2 && t->target_id[u] == 0 && t->source_id[e - 1] == 2);
        expect_ids(t->target_id + u + 1, t->label + u, v - u - 1);
    }
    assert_true(cross <= most.cross_pairs);
}

static void check_epochs(heed_batch_opts o) {
    heed_pairs p = corpus();
    heed_batches *b = batches(&p, o);
    heed_batch_bounds most = heed_batches_bounds(b);
    assert_true(most.source_longest == 21 && most.target_longest == 21);
    for (int64_t epoch = 0; epoch < 3; epoch++) {
        int seen[PAIRS] = {0};
        const heed_batch *t;
        int64_t index = 0;
        do {
            t = heed_batches_next(b);
            assert_int_equal(t->epoch, epoch);
            assert_int_equal(t->index, index++);
            check_batch(t, &p, o, most, seen);
        } while (index < t->count);
        for (int i = 0; i < PAIRS; i++)
            assert_int_equal(seen[i], 1);
    }
    heed_batches_free(b);
    heed_pairs_free(&p);
}

static void test_epochs(void **state) {
    (void)state;
    heed_batch_opts o = plain;
    check_epochs(o);
    o.pool = 64;
    check_epochs(o);
    o.sequences = 3;
    check_epochs(o);
    o.sequences = 0, o.pool = 0, o.tokens = 21; /* hardly more than one pair */
    check_epochs(o);
    o.tokens = (int64_t)1 << 40; /* all in one */
    check_epochs(o);
    o.tokens = 100, o.in_order = true;
    check_epochs(o);
}

/* Sum over batches of the longest less the mean target: what padding would cost, were there
 * padding. */
static double spread(heed_batch_opts o) {
    heed_pairs p = corpus();
    heed_batches *b = batches(&p, o);
    double sum = 0;
    const heed_batch *t;
    do {
        t = heed_batches_next(b);
        int64_t longest = 0;
        for (int64_t i = 0; i < t->n; i++) {
            int64_t n = t->target_start[i + 1] - t->target_start[i];
            if (n > longest)
                longest = n;
        }
        sum += (double)(longest * t->n - t->target_start[t->n]);
    } while (t->index + 1 < t->count);
    heed_batches_free(b);
    heed_pairs_free(&p);
    return sum;
}

static void test_sorted_by_length(void **state) {
    (void)state;
    heed_batch_opts o = plain;
    double all = spread(o);
    o.pool = 50;
    double some = spread(o);
    o.pool = 1;
    double none = spread(o);
    assert_true(all < 300 && all < some && some < none && none > 3000);
}

/* FNV over all that a batch holds. */
static uint64_t print_of(const heed_batch *t) {
    size_t s = (size_t)t->source_start[t->n], u = (size_t)t->target_start[t->n];
    return heed_hash(t->source_id, s * 4) ^ heed_hash(t->target_id, u * 4) * 3 ^
           heed_hash(t->label, u * 4) * 5 ^ heed_hash(t->line, (size_t)t->n * 8) * 7 ^
           (uint64_t)(t->epoch * 1000003 + t->index);
}

static void test_order_depends_on_seed_and_epoch(void **state) {
    (void)state;
    heed_pairs p = corpus();
    heed_batch_opts o = plain;
    int64_t first[3];
    for (int i = 0; i < 3; i++) { /* seed 1, seed 2, seed 1 */
        o.seed = i == 1 ? 2 : 1;
        heed_batches *b = batches(&p, o);
        first[i] = heed_batches_next(b)->line[0];
        int same = 0;
        const heed_batch *t = heed_batches_next(b);
        int64_t count = t->count, line[2] = {t->line[0], 0};
        for (int64_t j = 2; j < count; j++)
            heed_batches_next(b);
        heed_batches_next(b);
        line[1] = heed_batches_next(b)->line[0];
        same += line[0] == line[1];
        assert_int_equal(same, 0);
        heed_batches_free(b);
    }
    assert_int_equal(first[0], first[2]);
    assert_int_not_equal(first[0], first[1]);
    heed_pairs_free(&p);
}

/* A second reader that seeks to any place goes on with the batches of the first. */
static void test_resume(void **state) {
    (void)state;
    enum { STEPS = 150 };
    heed_pairs p = corpus();
    heed_error err = {0};
    uint64_t straight[STEPS];
    int64_t epoch[STEPS], index[STEPS];
    heed_batches *a = batches(&p, plain), *b = batches(&p, plain);
    for (int i = 0; i < STEPS; i++) {
        heed_batches_place(a, &epoch[i], &index[i]);
        straight[i] = print_of(heed_batches_next(a));
    }
    assert_true(epoch[STEPS - 1] >= 1);
    for (int i = STEPS - 1; i >= 0; i -= 7) {
        assert_true(heed_batches_seek(b, epoch[i], index[i], &err));
        for (int j = i; j < STEPS && j < i + 3; j++)
            assert_true(print_of(heed_batches_next(b)) == straight[j]);
    }
    assert_true(heed_batches_seek(b, 0, 0, &err));
    int64_t count = heed_batches_next(b)->count;
    /* the end of an epoch is the start of the next */
    assert_true(heed_batches_seek(b, 0, count, &err));
    const heed_batch *t = heed_batches_next(b);
    assert_true(t->epoch == 1 && t->index == 0);
    assert_false(heed_batches_seek(b, 0, count + 1, &err));
    expect_error(&err, HEED_VALUE, "in epoch 0, which has ");
    assert_false(heed_batches_seek(b, -1, 0, &err));
    expect_error(&err, HEED_VALUE, "there is no batch 0 of epoch -1");
    t = heed_batches_next(b); /* a refused seek changes nothing */
    assert_true(t->epoch == 1 && t->index == 1);
    heed_batches_free(a);
    heed_batches_free(b);
    heed_pairs_free(&p);
}

static void test_too_long(void **state) {
    (void)state;
    heed_pairs p = {0};
    add(&p, 3, 5, 2);
    add(&p, 4, 9, 2);
    add(&p, 5, 2, 9);
    add(&p, 6, 7, 7);
    add(&p, 7, 0, 0);
    heed_batch_opts o = plain;
    o.max_source = o.max_target = 8, o.in_order = true;
    heed_batches *b = batches(&p, o);
    heed_batch_report r = heed_batches_report(b);
    assert_true(r.kept == 3 && r.dropped == 2 && r.cut == 0 && r.empty == 0);
    assert_true(r.long_line[0] == 4 && r.long_line[1] == 5);
    heed_batches_free(b);
    o.on_long = HEED_LONG_CUT;
    b = batches(&p, o);
    r = heed_batches_report(b);
    assert_true(r.kept == 5 && r.dropped == 0 && r.cut == 2);
    assert_true(r.long_line[0] == 4 && r.long_line[1] == 5);
    const heed_batch *t = heed_batches_next(b); /* lines 7, 3, 4, 5, 6 by target and source rows */
    assert_true(t->n == 5 && t->line[2] == 4 && t->line[3] == 5);
    expect_ids(t->source_id + t->source_start[2], (int32_t[]){400, 401, 402, 403, 404, 405, 406, 2},
               8);
    assert_int_equal(t->source_start[3] - t->source_start[2], 8);
    expect_ids(t->label + t->target_start[3], (int32_t[]){550, 551, 552, 553, 554, 555, 556, 2}, 8);
    heed_batches_free(b);
    o.source_end = o.target_end = -1; /* line 7 has no row at all now */
    b = batches(&p, o);
    assert_int_equal(heed_batches_report(b).empty, 1);
    heed_batches_free(b);
    heed_pairs_free(&p);
}

static void expect_refused(const heed_pairs *p, heed_batch_opts o, const char *error) {
    heed_error err = {0};
    assert_null(heed_batches_new(NULL, p, &o, &err));
    expect_error(&err, HEED_VALUE, error);
}

static void test_refusals(void **state) {
    (void)state;
    heed_pairs p = {0};
    heed_batch_opts o = plain;
    expect_refused(&p, o, "no pair is left of 0");
    add(&p, 1, 9, 9);
    o.tokens = 0;
    expect_refused(&p, o, "a batch of 0 tokens holds nothing");
    o.tokens = 5;
    expect_refused(&p, o, "no pair is left of 1: 1 are longer than 5 source or 5 target tokens");
    o.max_source = 1;
    expect_refused(&p, o,
                   "longest source is 1, wanted at least 2 (1 special tokens and one of the text)");
    o.max_source = 0, o.max_target = 1;
    expect_refused(&p, o, "longest target is 1, wanted at least 2");
    o.max_target = 0, o.pool = -1;
    expect_refused(&p, o, "sequences 0 and pool -1 must not be below 0");
    o.pool = 0, o.target_begin = -1;
    expect_refused(&p, o, "the target needs a start token, -1 is none");
    heed_pairs_free(&p);
}

static bool use_memory(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_pairs p = {.host = host};
    const int32_t ids[] = {4, 5, 6};
    bool ok = true;
    for (int64_t i = 0; ok && i < 20; i++)
        ok = heed_pairs_add(&p, ids, 3, ids, i % 3 + 1, i + 1, err);
    if (!ok)
        assert_true(p.n == 0 || p.source.start[p.n] == 3 * p.n);
    heed_batches *b = ok ? heed_batches_new(host, &p, &plain, err) : NULL;
    ok = b != NULL;
    if (b)
        assert_true(heed_batches_next(b)->n > 0);
    heed_batches_free(b);
    heed_pairs_free(&p);
    return ok;
}

static void test_memory(void **state) {
    (void)state;
    for_each_failing_allocation(use_memory, NULL);
}

/* After the start nothing is allocated, whatever the caller does; and the thread ends at any
 * moment. */
static void test_no_allocation_later(void **state) {
    (void)state;
    heed_pairs p = corpus();
    for (int steps = 0; steps < 60; steps++) {
        counting_host c;
        counting_host_init(&c, 0, false);
        heed_batches *b = heed_batches_new(&c.host, &p, &plain, NULL);
        long asked = c.asked;
        for (int i = 0; i < steps; i++)
            heed_batches_next(b);
        if (steps % 3 == 0)
            assert_true(heed_batches_seek(b, steps, 0, NULL));
        assert_int_equal(c.asked, asked);
        heed_batches_free(b);
        assert_int_equal(c.live, 0);
    }
    heed_pairs_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_sorted_by_length),
        cmocka_unit_test(test_order_depends_on_seed_and_epoch),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_allocation_later),
    };
    return cmocka_run_group_tests_name("data/batch", tests, NULL, NULL);
}
