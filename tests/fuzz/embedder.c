/* embedder.c: modules.json, 1_Pooling/config.json, sentence_bert_config.json,
 * tokenizer_config.json, config_sentence_transformers.json and 2_Dense/config.json of one folder,
 * divided by lines "==": refused with a line, or rules that name a folder within, a way of pooling
 * that has a name, and vectors of it that are finite.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/folder.h"

#include <math.h>

#include "generate/sentence.h"

static const char *const names[] = {"modules.json",
                                    "1_Pooling/config.json",
                                    "sentence_bert_config.json",
                                    "tokenizer_config.json",
                                    "config_sentence_transformers.json",
                                    "2_Dense/config.json",
                                    NULL};

static void check_rules(const heed_sentence_rules *r) {
    enum { ROWS = 3, WIDTH = 2 };
    static const float rows[ROWS * WIDTH] = {1, -2, 0, 0, 3, 0.5F};
    float out[WIDTH];
    double sum[WIDTH];
    expect(!strncmp(r->model, fuzz_folder, strlen(fuzz_folder)) && !strstr(r->model, ".."));
    expect(r->max_tokens >= 0 && (!r->max_tokens || r->max_from));
    expect(memchr(r->prompt, 0, sizeof r->prompt) != NULL);
    expect(r->stated == (r->pooling != HEED_POOLING_STATED) && heed_pooling_name(r->pooling));
    heed_pool_text(r->stated ? r->pooling : HEED_POOLING_MEAN, rows, ROWS, WIDTH, sum, out);
    heed_normalize_vector(out, WIDTH);
    expect(isfinite(out[0]) && isfinite(out[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    static heed_sentence_rules rules;
    if (make_fuzz_folder()) {
        char path[400];
        fuzz_path(path, "1_Pooling");
        expect(mkdir(path, 0700) == 0);
        fuzz_path(path, "2_Dense");
        expect(mkdir(path, 0700) == 0);
    }
    fuzz_split(names, data, n);
    fuzz_most = 0;
    bool ok = heed_sentence_read(&fuzz_host, fuzz_folder, n % 4 ? NULL : "query", &rules, &err);
    expect(ok == (err.code == HEED_OK) && (ok || (err.text[0] && !strchr(err.text, '\n'))));
    if (ok)
        check_rules(&rules);
    expect(fuzz_live == 0 && fuzz_most < n + FUZZ_ROOM);
    return 0;
}
