/* align.c: heads scored on aligned words.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "heed_look.h"
#include "look/small.h"

typedef struct {
    char folder[TEST_PATH], path[TEST_PATH + 16];
} file;

static file written(const char *text) {
    file f;
    temp_folder(f.folder);
    snprintf(f.path, sizeof f.path, "%s/aligned.tsv", f.folder);
    write_text(f.path, text);
    return f;
}

/* Does the head look, from the character of byte `at`, at source token `wanted`? */
static bool points(const heed_attention_map *m, int64_t head, uint32_t at, int64_t wanted) {
    for (int64_t q = 0; q < m->queries; q++) {
        if (m->query[q].begin == at && m->query[q].end == at + 1) {
            const float *w = m->weight + (head * m->queries + q) * m->keys;
            int64_t best = 0;
            for (int64_t k = 1; k < m->keys; k++) {
                best = w[k] > w[best] ? k : best;
            }
            return best == wanted;
        }
    }
    fail_msg("no token at byte %d", (int)at);
    return false;
}

static void hits_are_counted(void **state) {
    (void)state;
    heed_error err = {0};
    heed_alignment a;
    heed_engine *engine = heed_engine_new(NULL, 2, NULL, &err);
    heed_model *model = small_model(engine, NULL, &err);
    /* Words of one letter; of the second line nothing counts. */
    file f = written("我爱你\tI o e\tI=0 o=1 e=2,1\n我\tI\tI=-\n");
    assert_true(heed_alignment_of(model, f.path, &a, &err));
    assert_int_equal(a.words, 3);
    assert_int_equal(a.layers * a.heads, 6);
    heed_line target = {"I o e", 5};
    heed_attention *seen = heed_attention_new(model, (heed_line){"我爱你", 9}, &target, &err);
    heed_attention_map m = heed_attention_of(seen, HEED_ATTENTION_CROSS);
    int total = 0;
    for (int64_t h = 0; h < 6; h++) {
        /* Token 0 is the mark in front of the first character. */
        int hits = points(&m, h, 0, 1) + points(&m, h, 2, 2) +
                   (points(&m, h, 4, 2) || points(&m, h, 4, 3));
        assert_int_equal(a.hits[h], hits);
        total += hits;
    }
    assert_true(total > 0 && total < 18);
    heed_attention_free(seen);
    heed_alignment_free(&a);
    remove_folder(f.folder);
    heed_model_free(model);
    heed_engine_free(engine);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "aligns no word"},
        {"我\tI\tI=-\n", "aligns no word"},
        {"我\tI\tI=0\n我\tI\n", "line 2: wanted three columns"},
        {"我\tI\tYou=0\n", "line 1: 'You=0' is no word=characters"},
        {"我\tI\tI0\n", "'I0' is no word=characters"},
        {"我\tI\tI=\n", "'I=' is no word=characters"},
        {"我\tI\tI=a\n", "'I=a' is no word=characters"},
        {"我\tI\tI=0,\n", "'I=0,' is no word=characters"},
        {"我\tI\tI=99999999999999999999\n", "is no word=characters"},
    };
    heed_error err = {0};
    heed_alignment a;
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = small_model(engine, NULL, &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = written(cases[i].text);
        assert_false(heed_alignment_of(model, f.path, &a, &err));
        expect_error(&err, HEED_TEXT, cases[i].part);
        assert_null(a.hits);
        remove_folder(f.folder);
    }
    heed_model_free(model);
    heed_engine_free(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_are_counted),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
