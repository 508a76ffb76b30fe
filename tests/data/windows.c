/* windows.c: batches of texts: labels shifted once, nothing lost or twice, nothing across, the same
 * from any place.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "data/windows.h"

enum { TEXTS = 5 };
static const int64_t length[TEXTS] = {6, 1, 9, 2, 14};

/* Id 100 t + i is id i of text t. */
static heed_id_texts make_texts(void) {
    heed_id_texts texts = {0};
    heed_error err = {0};
    for (int64_t t = 0; t < TEXTS; t++) {
        int32_t id[20];
        for (int64_t i = 0; i < length[t]; i++)
            id[i] = (int32_t)(100 * t + i);
        assert_true(heed_id_texts_add(&texts, id, length[t], &err));
    }
    return texts;
}

static heed_windows *make(const heed_id_texts *texts, heed_window_opts o) {
    heed_error err = {0};
    heed_windows *w = heed_windows_new(NULL, texts, &o, &err);
    expect_no_error(&err);
    return w;
}

/* Rows of a batch that stay within one text, each predicting what follows it there. */
static void look(const heed_batch *b, heed_window_opts o, int *times) {
    assert_int_equal(b->target_start[0], 0);
    assert_true(b->target_start[b->n] <= o.tokens);
    for (int64_t s = 0; s < b->n; s++) {
        int64_t from = b->target_start[s], to = b->target_start[s + 1];
        assert_true(to > from && to - from <= o.context);
        for (int64_t r = from; r < to; r++) {
            assert_int_equal(b->label[r], b->target_id[r] + 1);
            assert_int_equal(b->target_id[r] / 100 + 1, b->line[s]);
            if (r > from)
                assert_int_equal(b->target_id[r], b->target_id[r - 1] + 1);
            times[b->label[r]]++;
        }
    }
}

static void each_id_is_predicted_once_an_epoch(void **state) {
    (void)state;
    heed_id_texts texts = make_texts();
    for (int in_order = 0; in_order < 2; in_order++) {
        heed_window_opts o = {.seed = 3, .in_order = in_order, .context = 4, .tokens = 10};
        heed_windows *w = make(&texts, o);
        heed_window_report r = heed_windows_report(w);
        assert_int_equal(r.texts, TEXTS);
        assert_int_equal(r.single, 1);
        assert_int_equal(r.rows, 5 + 8 + 1 + 13);
        assert_int_equal(r.sequences, 2 + 2 + 1 + 4);
        assert_int_equal(r.longest, 4);
        for (int epoch = 0; epoch < 3; epoch++) {
            int times[600] = {0};
            bool more = true;
            while (more) {
                const heed_batch *b = heed_windows_next(w);
                assert_int_equal(b->epoch, epoch);
                look(b, o, times);
                more = b->index + 1 < b->count;
            }
            for (int64_t t = 0; t < TEXTS; t++)
                for (int64_t i = 0; i < length[t]; i++)
                    assert_int_equal(times[100 * t + i], i > 0);
        }
        heed_windows_free(w);
    }
    heed_id_texts_free(&texts);
}

static uint64_t print_of(const heed_batch *b) {
    uint64_t h = (uint64_t)b->n;
    for (int64_t r = 0; r < b->target_start[b->n]; r++)
        h = h * 1000003 + (uint64_t)b->target_id[r];
    return h;
}

static void a_batch_hangs_on_its_place_alone(void **state) {
    (void)state;
    heed_error err = {0};
    heed_id_texts texts = make_texts();
    for (int join = 0; join < 2; join++) {
        heed_window_opts o = {.seed = 3, .join = join, .context = 4, .tokens = 8};
        heed_windows *w = make(&texts, o), *other = make(&texts, o);
        int differ = 0;
        uint64_t before = 0;
        for (int i = 0; i < 12; i++) {
            int64_t epoch, index;
            heed_windows_place(w, &epoch, &index);
            uint64_t here = print_of(heed_windows_next(w));
            assert_true(heed_windows_seek(other, 2, 1, &err));
            assert_true(heed_windows_seek(other, epoch, index, &err));
            assert_true(print_of(heed_windows_next(other)) == here);
            differ += here != before;
            before = here;
        }
        assert_true(differ > 10);
        heed_windows_free(other);
        o.seed = 4;
        other = make(&texts, o);
        assert_true(heed_windows_seek(w, 0, 0, &err));
        assert_true(print_of(heed_windows_next(w)) != print_of(heed_windows_next(other)));
        assert_false(heed_windows_seek(w, 0, 99, &err));
        expect_error(&err, HEED_VALUE, "there is no batch 99 of epoch 0");
        heed_windows_free(other);
        heed_windows_free(w);
    }
    heed_id_texts_free(&texts);
}

/* Windows begin at every place behind which a window and one id more fit, each about as often. */
static void joined_windows_begin_anywhere(void **state) {
    (void)state;
    heed_id_texts texts = make_texts();
    heed_window_opts o = {.seed = 1, .join = true, .context = 6, .tokens = 20};
    heed_windows *w = make(&texts, o);
    heed_batch_bounds bounds = heed_windows_bounds(w);
    int64_t all = 6 + 1 + 9 + 2 + 14, places = all - o.context;
    int times[64] = {0};
    assert_int_equal(bounds.sequences, 3);
    assert_int_equal(bounds.target_rows, 18);
    assert_int_equal(heed_windows_next(w)->count, (all - 1) / 18);
    for (int i = 0; i < 1000; i++) {
        const heed_batch *b = heed_windows_next(w);
        assert_int_equal(b->n, 3);
        for (int64_t s = 0; s < b->n; s++) {
            int64_t begin = b->line[s] - 1;
            times[begin]++;
            for (int64_t r = 0; r < o.context; r++) {
                assert_int_equal(b->target_id[s * o.context + r], texts.rows.id[begin + r]);
                assert_int_equal(b->label[s * o.context + r], texts.rows.id[begin + r + 1]);
            }
        }
    }
    for (int64_t i = 0; i < 64; i++)
        assert_true(i < places ? times[i] > 60 && times[i] < 180 : times[i] == 0);
    heed_windows_free(w);
    heed_id_texts_free(&texts);
}

static void joined_in_order_is_all_of_it(void **state) {
    (void)state;
    heed_id_texts texts = make_texts();
    heed_window_opts o = {.in_order = true, .join = true, .context = 6, .tokens = 13};
    heed_windows *w = make(&texts, o);
    int64_t at = 0;
    for (bool more = true; more;) {
        const heed_batch *b = heed_windows_next(w);
        for (int64_t r = 0; r < b->target_start[b->n]; r++, at++)
            assert_int_equal(b->label[r], texts.rows.id[at + 1]);
        more = b->index + 1 < b->count;
    }
    assert_int_equal(at, 31);
    heed_windows_free(w);
    heed_id_texts_free(&texts);
}

static void refuse(const heed_id_texts *texts, heed_window_opts o, const char *line) {
    heed_error err = {0};
    assert_null(heed_windows_new(NULL, texts, &o, &err));
    expect_error(&err, HEED_VALUE, line);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    heed_error err = {0};
    heed_id_texts texts = make_texts(), none = {0};
    int32_t id = 1;
    refuse(&texts, (heed_window_opts){.context = 0, .tokens = 8}, "wanted 1 <= context <= tokens");
    refuse(&texts, (heed_window_opts){.context = 9, .tokens = 8}, "wanted 1 <= context <= tokens");
    refuse(&texts, (heed_window_opts){.context = 32, .tokens = 32, .join = true},
           "the text has 32 tokens, windows of 32");
    refuse(&none, (heed_window_opts){.context = 2, .tokens = 8}, "no text has two tokens");
    assert_true(heed_id_texts_add(&none, &id, 1, &err));
    refuse(&none, (heed_window_opts){.context = 2, .tokens = 8}, "no text has two tokens");
    heed_id_texts_free(&none);
    heed_id_texts_free(&texts);
}

static bool live_with(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    static const int32_t id[] = {1, 2, 3, 4, 5, 6, 7, 8};
    heed_id_texts texts = {.host = host};
    heed_window_opts o = {.context = 3, .tokens = 6};
    bool ok = heed_id_texts_add(&texts, id, 8, err) && heed_id_texts_add(&texts, id, 5, err);
    heed_windows *w = ok ? heed_windows_new(host, &texts, &o, err) : NULL;
    ok = w != NULL;
    heed_windows_free(w);
    heed_id_texts_free(&texts);
    return ok;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for_each_failing_allocation(live_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_id_is_predicted_once_an_epoch),
        cmocka_unit_test(a_batch_hangs_on_its_place_alone),
        cmocka_unit_test(joined_windows_begin_anywhere),
        cmocka_unit_test(joined_in_order_is_all_of_it),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
