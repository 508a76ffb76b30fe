/* attention.c: the weights of a sentence pair, and how they are shown.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/mem.h"
#include "heed_look.h"
#include "look/small.h"

#include <math.h>

static heed_line line(const char *s) {
    return (heed_line){s, strlen(s)};
}

typedef struct {
    heed_engine *engine;
    heed_model *model;
    heed_attention *a;
} fixture;

static fixture looked(const char *source, const char *target) {
    heed_error err = {0};
    heed_line given = line(target ? target : "");
    fixture f = {.engine = heed_engine_new(NULL, 2, NULL, &err)};
    f.model = small_model(f.engine, NULL, &err);
    expect_no_error(&err);
    f.a = heed_attention_new(f.model, line(source), target ? &given : NULL, &err);
    expect_no_error(&err);
    return f;
}

static void closed(fixture *f) {
    heed_attention_free(f->a);
    heed_model_free(f->model);
    heed_engine_free(f->engine);
}

/* ---- The weights ---- */

static void each_row_is_a_distribution(void **state) {
    (void)state;
    fixture f = looked("我爱中国", "I love China");
    for (int kind = 0; kind < 3; kind++) {
        heed_attention_map m = heed_attention_of(f.a, (heed_attention_kind)kind);
        int64_t rows = m.layers * m.heads * m.queries;
        assert_int_equal(m.layers, kind == HEED_ATTENTION_ENCODER ? 2 : 3);
        assert_int_equal(m.heads, 2);
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0;
            for (int64_t k = 0; k < m.keys; k++) {
                double w = (double)m.weight[r * m.keys + k];
                /* The decoder's own attention sees nothing of what comes. */
                assert_true(kind != HEED_ATTENTION_DECODER || k <= r % m.queries || w == 0);
                sum += w;
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    heed_attention_map m = heed_attention_of(f.a, HEED_ATTENTION_CROSS);
    assert_int_equal(m.keys, 6); /* the mark of a word, four characters, the end */
    assert_string_equal(m.key[1].shown, "我");
    assert_int_equal(m.key[2].begin, 3);
    assert_int_equal(m.key[2].end, 6);
    assert_string_equal(m.query[m.queries - 1].shown, "</s>");
    heed_attention_map own = heed_attention_of(f.a, HEED_ATTENTION_DECODER);
    assert_string_equal(own.key[0].shown, "<pad>");
    assert_string_equal(own.key[1].shown, m.query[0].shown);
    closed(&f);
}

static void means_are_means(void **state) {
    (void)state;
    fixture f = looked("我爱你", NULL);
    heed_error err = {0};
    heed_attention_map m = heed_attention_of(f.a, HEED_ATTENTION_CROSS);
    size_t cells = (size_t)(m.queries * m.keys);
    float *one = calloc(cells, sizeof *one), *all = calloc(cells, sizeof *all);
    double sum = 0;
    for (int64_t l = 0; l < m.layers; l++) {
        for (int64_t h = 0; h < m.heads; h++) {
            assert_true(heed_attention_mean(&m, l, h, one, &err));
            assert_true(one[1] == m.weight[(l * m.heads + h) * (int64_t)cells + 1]);
            sum += (double)one[1] / 6;
        }
    }
    assert_true(heed_attention_mean(&m, -1, -1, all, &err));
    assert_true(fabs((double)all[1] - sum) < 1e-6);
    assert_false(heed_attention_mean(&m, 3, 0, one, &err));
    expect_error(&err, HEED_VALUE, "there is no layer 3: 0 to 2");
    assert_false(heed_attention_mean(&m, 0, 2, one, &err));
    expect_error(&err, HEED_VALUE, "there is no head 2: 0 to 1");
    free(one);
    free(all);
    closed(&f);
}

/* ---- Shown ---- */

/* Cells start in the same terminal column in every row, Chinese labels or not. */
static void the_heat_map_is_aligned(void **state) {
    (void)state;
    fixture f = looked("我爱中国", "我 a中");
    heed_error err = {0};
    heed_buf out = {0};
    heed_attention_style style = {.layer = -1, .head = -1, .width = 200};
    assert_true(heed_attention_print(f.a, &style, &out, &err));
    heed_attention_map m = heed_attention_of(f.a, HEED_ATTENTION_CROSS);
    int rows = 0, label = 0;
    for (int64_t q = 0; q < m.queries; q++) {
        int columns = heed_utf8_columns(m.query[q].shown, strlen(m.query[q].shown));
        label = columns > label ? columns : label;
    }
    for (char *at = out.data, *end; *at; at = end + 1, rows++) {
        end = strchr(at, '\n');
        assert_non_null(end);
        /* Behind the labels stands a space, in front of each cell another one. */
        size_t n = 0;
        while (heed_utf8_columns(at, n) < label) {
            do {
                n++;
            } while ((at[n] & 0xC0) == 0x80);
        }
        assert_int_equal(heed_utf8_columns(at, n), label);
        assert_int_equal(at[n], ' ');
    }
    assert_int_equal(rows, m.queries + 1);
    heed_buf_free(&out);
    style.width = 20; /* one key a panel */
    assert_true(heed_attention_print(f.a, &style, &out, &err));
    rows = 0;
    for (size_t i = 0; i < out.n; i++) {
        rows += out.data[i] == '\n';
    }
    assert_int_equal(rows, m.keys * (m.queries + 1));
    heed_buf_free(&out);
    style.colour = true;
    assert_true(heed_attention_print(f.a, &style, &out, &err));
    assert_non_null(strstr(out.data, "\033[48;5;2"));
    heed_buf_free(&out);
    closed(&f);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) {
        n++;
    }
    return n;
}

static void no_text_breaks_the_page(void **state) {
    (void)state;
    fixture f = looked("</script> ok?", "I love China & <tea>");
    heed_error err = {0};
    heed_buf out = {0};
    assert_true(heed_attention_html(f.a, &out, &err));
    assert_int_equal(count(out.data, "</script"), 2);
    assert_int_equal(count(out.data, "<script"), 2);
    assert_int_equal(count(out.data, "&lt;/script&gt; ok?"), 2);
    assert_int_equal(count(out.data, "China &amp; &lt;tea&gt;"), 1);
    assert_int_equal(count(out.data, "http"), 0);
    assert_int_equal(count(out.data, "src="), 0);
    assert_true(out.n < 30000);
    heed_buf_free(&out);
    closed(&f);
    f = looked("我爱中国", NULL);
    assert_true(heed_attention_html(f.a, &out, &err));
    assert_int_equal(count(out.data, "<h1>我爱中国</h1>"), 1);
    assert_true(count(out.data, "\"爱\"") == 3); /* key of cross and encoder, query of encoder */
    heed_buf_free(&out);
    closed(&f);
}

/* ---- Refused ---- */

static void empty_and_too_long(void **state) {
    (void)state;
    fixture f = looked("我", NULL);
    heed_error err = {0};
    char many[41 * 3 + 1] = "";
    for (int i = 0; i < 41; i++) {
        strcat(many, "我");
    }
    heed_line nothing = line("");
    assert_null(heed_attention_new(f.model, line(many), NULL, &err));
    expect_error(&err, HEED_VALUE, "positions");
    assert_null(heed_attention_new(f.model, line("\xff"), NULL, &err));
    expect_error(&err, HEED_TEXT, "UTF-8");
    heed_attention *a = heed_attention_new(f.model, line("我"), &nothing, &err);
    expect_no_error(&err); /* the end token alone */
    heed_attention_free(a);
    closed(&f);
}

/* A weight that is no number: told by the first value that shows it. */
static void what_is_not_finite(void **state) {
    (void)state;
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = small_model(engine, NULL, &err);
    heed_line target = line("I love");
    heed_weights_find(heed_model_weights(model), "encoder.1.self.q.weight")->data[0] = NAN;
    assert_null(heed_attention_new(model, line("我爱"), &target, &err));
    expect_error(&err, HEED_NONFINITE, "encoder.1.self");
    heed_model_free(model);
    heed_engine_free(engine);
}

static bool work(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    heed_buf text = {.host = host}, page = {.host = host};
    heed_attention_style style = {.layer = -1, .head = -1};
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_model *model = engine ? small_model(engine, host, err) : NULL;
    heed_attention *a = model ? heed_attention_new(model, line("我爱"), NULL, err) : NULL;
    bool ok =
        a && heed_attention_print(a, &style, &text, err) && heed_attention_html(a, &page, err);
    heed_buf_free(&text);
    heed_buf_free(&page);
    heed_attention_free(a);
    heed_model_free(model);
    heed_engine_free(engine);
    return ok;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    for_each_failing_allocation(work, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_a_distribution), cmocka_unit_test(means_are_means),
        cmocka_unit_test(the_heat_map_is_aligned),    cmocka_unit_test(no_text_breaks_the_page),
        cmocka_unit_test(empty_and_too_long),         cmocka_unit_test(what_is_not_finite),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
