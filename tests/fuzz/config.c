/* config.c: config.json, generation_config.json and tokenizer_config.json of one folder, divided by
 * lines "==": refused with a line, or a model of any family that can be recorded, planned within
 * small limits and described; whatever they say, memory stays bounded.
 *
 * The folder has no tensors, so that every weight is missed after it has been declared; its
 * vocabularies are tiny.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/folder.h"

#include "graph/op.h"
#include "model/inside.h"

enum { ROWS = 4, PLAN_MOST = 16 << 20 };

static const char *const names[] = {"config.json", "generation_config.json",
                                    "tokenizer_config.json", NULL};

static void write_rest(void) {
    static const char no_tensors[] = "\2\0\0\0\0\0\0\0{}";
    static const char words[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n";
    static const char vocab[] = "{\"<s>\": 0, \"</s>\": 1, \"<unk>\": 2, \"a\": 3, \"b\": 4, "
                                "\"ab\": 5, \"\xc4\xa0\": 6}";
    static const char merges[] = "#version: 0.2\na b\n";
    fuzz_write("model.safetensors", no_tensors, sizeof no_tensors - 1);
    fuzz_write("vocab.txt", words, sizeof words - 1);
    fuzz_write("vocab.json", vocab, sizeof vocab - 1);
    fuzz_write("merges.txt", merges, sizeof merges - 1);
}

/* One run over a few rows: an encoder's, a decoder's, or both. */
static void check_plan(const heed_model *m, heed_engine *engine) {
    heed_error err = {0};
    heed_build *b = heed_build_new(engine, HEED_INFER, heed_model_weights(m), &err);
    const heed_capacity capacity[] = {
        {.space = "source", .rows = ROWS, .sequences = 1, .longest = ROWS},
        {.space = "target", .rows = ROWS, .sequences = 1, .longest = ROWS},
        {0}};
    const heed_capacity *spaces = capacity + (heed_model_config(m)->kind == HEED_DECODER ? 1 : 0);
    heed_capacity encoder[] = {capacity[0], {0}};
    if (heed_model_config(m)->kind == HEED_ENCODER)
        spaces = encoder;
    heed_outputs out = heed_model_record(m, b, &(heed_want){.logits = true});
    heed_value last = out.hidden.id ? out.hidden : out.memory;
    heed_value keep[] = {out.logits.id ? out.logits : last, {0}};
    heed_plan *plan = heed_plan_new(
        b, &(heed_plan_options){.capacity = spaces, .keep = keep, .limit = PLAN_MOST}, &err);
    expect((plan != NULL) == (err.code == HEED_OK) && (plan || err.text[0]));
    heed_plan_free(plan);
}

static void check_model(heed_engine *engine) {
    heed_error err = {0};
    bool fits = false;
    heed_model *m = heed_model_inspect(engine, fuzz_folder, NULL, &fits, &err);
    expect(!fits && err.code != HEED_OK && err.text[0] && !strchr(err.text, '\n'));
    if (m) {
        heed_buf json = {.host = &fuzz_host};
        expect(heed_model_describe(m, &json, NULL));
        heed_buf_free(&json);
        check_plan(m, engine);
    }
    heed_model_free(m);
}

static void check_tokenizer(void) {
    heed_error err = {0};
    heed_tokenizer *t = heed_tokenizer_open(&fuzz_host, fuzz_folder, &err);
    expect((t != NULL) == (err.code == HEED_OK) && (t || err.text[0]));
    heed_tokenizer_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (make_fuzz_folder())
        write_rest();
    fuzz_split(names, data, n);
    fuzz_most = 0;
    heed_engine *engine = heed_engine_new(&fuzz_host, 1, "ref", NULL);
    expect(engine != NULL);
    check_model(engine);
    check_tokenizer();
    heed_engine_free(engine);
    expect(fuzz_live == 0 && fuzz_most < n + FUZZ_ROOM);
    return 0;
}
