/* memory.c: a translator takes the memory that it said it would, within 5 %.
 * SPDX-License-Identifier: MIT
 */
#include "weigh.h"

#include "generate/translate.h"

static heed_model *wide_model(heed_engine *engine, heed_error *err) {
    heed_config c = heed_config_base();
    char why[100];
    c.encoder.width = c.decoder.width = 128;
    c.encoder.layers = c.decoder.layers = 2;
    c.encoder.feed_forward = c.decoder.feed_forward = 512;
    c.encoder.max_positions = c.decoder.max_positions = 128;
    c.vocab = c.source_vocab = 4000;
    c.pad = c.decoder_start = 0;
    c.eos = 2;
    c.max_length = 64;
    heed_config_choose_family(&c, why, sizeof why);
    return heed_model_new(engine, &c, NULL, 1, err);
}

static void a_translator_keeps_its_word(void **state) {
    (void)state;
    for (int64_t beam = 1; beam <= 5; beam += 4) {
        heed_error err = {0};
        weighing_host w;
        weighing_host_init(&w);
        heed_engine *engine = heed_engine_new(&w.host, 2, NULL, &err);
        heed_model *model = wide_model(engine, &err);
        expect_no_error(&err);
        heed_translate_options o = heed_translate_defaults(model);
        o.beam = beam;
        o.plan_only = true;
        heed_translator *t = heed_translator_new(model, &o, &err);
        heed_need said = heed_translator_need(t);
        heed_translator_free(t);
        o.plan_only = false;
        o.limit = said.total;
        size_t before = w.live;
        w.most = w.live;
        t = heed_translator_new(model, &o, &err);
        expect_no_error(&err);
        heed_translations out = {0};
        int32_t id[600];
        int64_t start[31];
        for (int i = 0; i < 600; i++) {
            id[i] = 3 + i;
        }
        for (int i = 0; i <= 30; i++) {
            start[i] = 20 * i;
        }
        assert_true(heed_translate_ids(t, id, start, 30, &out, &err));
        expect_near(beam == 1 ? "greedy" : "beam 5", said.total - said.weights, w.most - before);
        heed_translations_free(&out);
        heed_translator_free(t);
        assert_int_equal(w.live, before);
        heed_model_free(model);
        heed_engine_free(engine);
        assert_int_equal(w.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_translator_keeps_its_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
