/* perplexity.c: the likelihood of a text is the sum of what each of its tokens has behind those
 * that its window shows before it, whichever way windows are cut; and a real model's text, to the
 * letter.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "heed_generate.h"
#include "heed_look.h"
#include "model/model.h"

#include <math.h>

enum { N = 31, WINDOW = 8 };

static heed_engine *engine;
static heed_model *model;
static int32_t text[N];

static int set_up(void **state) {
    (void)state;
    heed_error err = {0};
    engine = heed_engine_new(NULL, 2, NULL, &err);
    model = heed_model_open(engine, "tests/golden/families/gpt2", &err);
    expect_no_error(&err);
    for (int i = 0; i < N; i++)
        text[i] = (i * 7 + 3) % 40;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    heed_model_free(model);
    heed_engine_free(engine);
    return 0;
}

/* -log p of id[at] behind id[from] ... id[at - 1], from the logits themselves. */
static double surprise(const int32_t *id, int64_t from, int64_t at) {
    heed_error err = {0};
    int64_t n = at - from;
    heed_build *b = heed_build_new(engine, HEED_INFER, heed_model_weights(model), &err);
    heed_value logits =
        heed_model_record(model, b, &(heed_want){.logits = true, .last = true}).logits;
    const heed_capacity capacity[] = {{"target", n, 1, n, 0}, {0}};
    const heed_value keep[] = {logits, {0}};
    heed_plan *plan =
        heed_plan_new(b, &(heed_plan_options){.capacity = capacity, .keep = keep}, &err);
    heed_session *s = heed_session_new(plan, &err);
    expect_no_error(&err);
    memcpy(heed_ints(s, "input_ids"), id + from, (size_t)n * sizeof *id);
    const int64_t starts[] = {0, n};
    assert_true(heed_set_rows(s, "target", 1, starts, NULL, &err) && heed_run(s, &err));
    heed_matrix m = heed_read_value(s, logits);
    assert_int_equal(m.rows, 1);
    double sum = 0;
    for (int64_t i = 0; i < m.cols; i++)
        sum += exp((double)m.data[i]);
    double result = log(sum) - (double)m.data[id[at]];
    heed_session_free(s);
    heed_plan_free(plan);
    return result;
}

static void expect_measured(const heed_perplexity_options *o, double sum, int64_t scored) {
    heed_error err = {0};
    heed_likelihood l;
    heed_perplexity_of_ids(model, text, N, o, &l, &err);
    expect_no_error(&err);
    assert_int_equal(l.labels, scored);
    assert_int_equal(l.left_out, N - scored);
    assert_true(fabs(l.loss - sum / (double)scored) < 1e-5);
    assert_true(fabs(l.perplexity - exp(sum / (double)scored)) < 1e-3);
}

/* Windows side by side: the first token of each is not scored; the last window is short. */
static void plain(void **state) {
    (void)state;
    double sum = 0;
    int64_t scored = 0;
    for (int64_t at = 0; at < N; at++)
        if (at % WINDOW) {
            sum += surprise(text, at / WINDOW * WINDOW, at);
            scored++;
        }
    expect_measured(&(heed_perplexity_options){.window = WINDOW}, sum, scored);
}

/* Windows that overlap: every token is scored once, by the first window that holds it. */
static void strided(void **state) {
    (void)state;
    double sum = 0;
    int64_t stride = 3;
    for (int64_t at = 1; at < N; at++) {
        int64_t from = 0;
        while (at >= from + WINDOW)
            from += stride;
        sum += surprise(text, from, at);
    }
    expect_measured(&(heed_perplexity_options){.window = WINDOW, .stride = stride}, sum, N - 1);
}

/* As llama.cpp: whole windows, their second half, and no first token of one. */
static void llama(void **state) {
    (void)state;
    double sum = 0;
    int64_t scored = 0;
    for (int64_t begin = 0; begin + WINDOW <= N; begin += WINDOW)
        for (int64_t at = begin + WINDOW / 2 + 1; at < begin + WINDOW; at++) {
            sum += surprise(text, begin, at);
            scored++;
        }
    expect_measured(&(heed_perplexity_options){.window = WINDOW, .llama = true}, sum, scored);
}

/* A text that begins with the token that begins texts has it in front of every window. */
static void llama_begins(void **state) {
    (void)state;
    double sum = 0;
    int64_t scored = 0;
    int32_t first = text[0], changed[N];
    text[0] = heed_model_config(model)->bos;
    for (int64_t begin = 0; begin + WINDOW <= N; begin += WINDOW) {
        memcpy(changed, text, sizeof changed);
        changed[begin] = text[0];
        for (int64_t at = begin + WINDOW / 2 + 1; at < begin + WINDOW; at++) {
            sum += surprise(changed, begin, at);
            scored++;
        }
    }
    expect_measured(&(heed_perplexity_options){.window = WINDOW, .llama = true}, sum, scored);
    text[0] = first;
}

static void at_most(void **state) {
    (void)state;
    double sum = 0;
    for (int64_t at = 1; at < WINDOW; at++)
        sum += surprise(text, 0, at) + surprise(text, WINDOW, WINDOW + at);
    expect_measured(&(heed_perplexity_options){.window = WINDOW, .windows = 2}, sum,
                    2 * (WINDOW - 1));
}

static void refused(void **state) {
    (void)state;
    heed_error err = {0};
    heed_likelihood l;
    const struct {
        int64_t n;
        heed_perplexity_options o;
        const char *part;
    } cases[] = {{N, {.window = 1}, "window 1 and stride 1: wanted 2 <= window <= 16"},
                 {N, {.window = 17}, "window 17"},
                 {N, {.window = 8, .stride = 9}, "stride 9"},
                 {N, {.window = 8, .stride = 4, .llama = true}, "has no stride"},
                 {1, {.window = 8}, "the text has 1 tokens, wanted at least 2"},
                 {7, {.window = 8, .llama = true}, "the text has 7 tokens, wanted at least 8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(heed_perplexity_of_ids(model, text, cases[i].n, &cases[i].o, &l, &err));
        expect_error(&err, HEED_VALUE, cases[i].part);
    }
    assert_false(heed_perplexity_of(model, (heed_line){"a b", 3}, NULL, &l, &err));
    expect_error(&err, HEED_NAME, "the model has no tokenizer");
}

/* The Llama of 260,000 parameters that llama2.c shows, with the text that is shown there. */
static void stories(void **state) {
    (void)state;
    heed_error err = {0};
    char path[TEST_PATH], shown[TEST_PATH];
    require_data(path, "models/stories260K/stories260K.bin");
    require_data(shown, "models/stories260K/stories260K.md");
    char *page = slurp(shown, NULL),
         *begin = strstr(page, "\nOnce upon a time, there was a little");
    assert_non_null(begin);
    char *end = strstr(++begin, "\n```");
    assert_non_null(end);
    *end = 0;
    heed_model *m = heed_model_open(engine, path, &err);
    expect_no_error(&err);
    heed_generator *g = heed_generator_new(m, &(heed_generate_options){.max_new = 256}, &err);
    heed_generation out;
    heed_tokens prompt = {0};
    assert_true(heed_prompt_ids(m, "", 0, &prompt, &err));
    assert_int_equal(prompt.n, 1);
    heed_generate(g, &prompt.item[0].id, 1, &out, &err);
    expect_no_error(&err);
    assert_int_equal(out.n, 256);
    heed_buf made = {0};
    heed_decode(heed_model_tokenizer(m), out.id, (size_t)out.n, true, &made, &err);
    assert_string_equal(made.data, begin);
    expect_no_error(&err);
    heed_buf_free(&made);
    heed_tokens_free(&prompt);
    heed_generator_free(g);
    heed_model_free(m);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain),        cmocka_unit_test(strided),
                                       cmocka_unit_test(llama),        cmocka_unit_test(at_most),
                                       cmocka_unit_test(llama_begins), cmocka_unit_test(refused),
                                       cmocka_unit_test(stories)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
