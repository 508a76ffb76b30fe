/* convert: a model to GGUF and back has the same tensors, the same numbers come out, the same ids;
 * types round as they should; what cannot be said is refused.
 * SPDX-License-Identifier: MIT
 */
#include "look/compare.h"

#include "file/gguf.h"
#include "file/gguf_write.h"
#include "model/inside.h"

#define FAMILIES "tests/golden/families/"

enum { LINE = 500 };

typedef struct {
    heed_engine *engine;
    char folder[TEST_PATH];
    char note[LINE]; /* the last one */
} place;

static void keep_note(void *ctx, const char *line) {
    snprintf(((place *)ctx)->note, LINE, "%s", line);
}

static void open_place(place *p) {
    heed_error err = {0};
    p->engine = heed_engine_new(NULL, 2, NULL, &err);
    p->note[0] = 0;
    temp_folder(p->folder);
    expect_no_error(&err);
}

static void close_place(place *p) {
    heed_engine_free(p->engine);
    remove_folder(p->folder);
}

static const char *at(const place *p, const char *name, char out[TEST_PATH + 40]) {
    snprintf(out, TEST_PATH + 40, "%s/%s", p->folder, name);
    return out;
}

/* From a path to a name in the place's folder. */
static bool convert(place *p, const char *from, const char *to, const char *type, heed_error *err) {
    char out[TEST_PATH + 40];
    size_t n = strlen(to);
    bool gguf = n > 5 && !strcmp(to + n - 5, ".gguf");
    heed_convert_options o = {
        .to = gguf ? HEED_TO_GGUF : HEED_TO_FOLDER, .type = type, .note = keep_note, .ctx = p};
    return heed_convert(p->engine, from, at(p, to, out), &o, err);
}

static void must_convert(place *p, const char *from, const char *to, const char *type) {
    heed_error err = {0};
    convert(p, from, to, type, &err);
    expect_no_error(&err);
}

/* ---- There and back ---- */

typedef struct {
    const char *name;
    double gain;  /* how far a gain of 1 + weight may be off */
    double bound; /* of values; 0: the same bits */
} round_case;

static const heed_tensor *find(const heed_tensors *list, const char *name) {
    const char *dot = strchr(name, '.'); /* "bert." and the like may be left out */
    const heed_tensor *t = heed_tensors_find(list, name);
    char longer[200];
    snprintf(longer, sizeof longer, "bert.%s", name);
    t = t ? t : heed_tensors_find(list, longer);
    return t || !dot ? t : heed_tensors_find(list, dot + 1);
}

static void expect_tensors(const round_case *c, const char *again) {
    heed_error err = {0};
    char path[200];
    snprintf(path, sizeof path, FAMILIES "%s", c->name);
    heed_tensors *want = heed_tensors_open(NULL, path, &err);
    heed_tensors *got = heed_tensors_open(NULL, again, &err);
    expect_no_error(&err);
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *a = heed_tensors_at(want, i), *b = find(got, a->name);
        if (strstr(a->name, "pooler"))
            continue;
        compare(a, b, strstr(a->name, "norm") ? c->gain : 0, c->name);
    }
    heed_tensors_free(want);
    heed_tensors_free(got);
}

/* The same tensors as in the file that gguf-py wrote (tools/make_golden_gguf_models.py). */
static void expect_golden(const char *name, const char *path) {
    heed_error err = {0};
    char golden[200];
    snprintf(golden, sizeof golden, "tests/golden/gguf-models/%s.gguf", name);
    heed_gguf *want = heed_gguf_open(NULL, golden, &err), *got = heed_gguf_open(NULL, path, &err);
    expect_no_error(&err);
    const heed_tensors *list = heed_gguf_tensors(want);
    assert_int_equal(heed_tensors_count(list), heed_tensors_count(heed_gguf_tensors(got)));
    for (int64_t i = 0; i < heed_tensors_count(list); i++) {
        const heed_tensor *a = heed_tensors_at(list, i);
        const heed_tensor *b = heed_tensors_find(heed_gguf_tensors(got), a->name);
        compare(a, b, 0, name);
        assert_int_equal(a->rank, b->rank);
    }
    heed_gguf_free(want);
    heed_gguf_free(got);
}

static void trace(place *p, const char *name, const char *model, const char *out) {
    heed_error err = {0};
    char in[200], path[TEST_PATH + 40];
    snprintf(in, sizeof in, FAMILIES "%s/in.safetensors", name);
    heed_model *m = heed_model_open(p->engine, model, &err);
    expect_no_error(&err);
    heed_trace_options options = {.attention = true, .hidden = true};
    heed_trace(m, in, at(p, out, path), &options, &err);
    expect_no_error(&err);
    heed_model_free(m);
}

static void expect_values(place *p, const char *a, const char *b, double bound) {
    heed_error err = {0};
    char path[TEST_PATH + 40];
    heed_tensors *want = heed_tensors_open(NULL, at(p, a, path), &err);
    heed_tensors *got = heed_tensors_open(NULL, at(p, b, path), &err);
    expect_no_error(&err);
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *t = heed_tensors_at(want, i);
        if (strncmp(t->name, "grad.", 5) != 0 && strcmp(t->name, "pooler_output") != 0)
            compare(t, heed_tensors_find(got, t->name), bound, b);
    }
    heed_tensors_free(want);
    heed_tensors_free(got);
}

/* GGUF's sums over a head's rows, and over GPT-2's turned matrices, are in another order. */
static void there_and_back(void **state) {
    const round_case *c = *state;
    char model[200], gguf[TEST_PATH + 40], again[TEST_PATH + 40];
    place p;
    open_place(&p);
    snprintf(model, sizeof model, FAMILIES "%s", c->name);
    must_convert(&p, model, "m.gguf", NULL);
    expect_golden(c->name, at(&p, "m.gguf", gguf));
    must_convert(&p, gguf, "again", NULL);
    expect_tensors(c, at(&p, "again", again));
    trace(&p, c->name, model, "a.safetensors");
    trace(&p, c->name, gguf, "b.safetensors");
    trace(&p, c->name, again, "c.safetensors");
    expect_values(&p, "a.safetensors", "b.safetensors", 1e-4);
    expect_values(&p, "a.safetensors", "c.safetensors", c->bound);
    close_place(&p);
}

/* ---- Vocabularies ---- */

static heed_model *model_with(place *p, const char *family, heed_tokenizer *t) {
    heed_error err = {0};
    heed_config c = heed_config_base();
    snprintf(c.family, sizeof c.family, "%s", family);
    const heed_family *f = heed_family_called(family);
    f->defaults(&c);
    heed_stack *s = f->kind == HEED_DECODER ? &c.decoder : &c.encoder;
    s->width = s->feed_forward = 8;
    s->layers = 1;
    s->heads = s->kv_heads = 2;
    c.kind = f->kind;
    c.head = f->kind == HEED_DECODER ? HEED_HEAD_VOCAB : HEED_HEAD_NONE;
    c.vocab = c.source_vocab = heed_vocab_size(t) + 3; /* more than there are tokens */
    f->finish(&c, &err);
    heed_model *m = heed_model_new(p->engine, &c, t, 1, &err);
    expect_no_error(&err);
    return m;
}

static void expect_same_ids(const heed_tokenizer *a, const heed_tokenizer *b) {
    heed_error err = {0};
    heed_lines lines;
    assert_true(heed_lines_read(&lines, NULL, "tests/golden/tokenizer/lines.txt", 0, &err));
    for (int64_t i = 0; i < lines.n; i++) {
        heed_tokens x = {0}, y = {0};
        assert_true(heed_encode(a, lines.line[i].s, lines.line[i].n, true, &x, &err));
        assert_true(heed_encode(b, lines.line[i].s, lines.line[i].n, true, &y, &err));
        assert_int_equal(x.n, y.n);
        for (size_t k = 0; k < x.n; k++)
            assert_int_equal(x.item[k].id, y.item[k].id);
        heed_tokens_free(&x);
        heed_tokens_free(&y);
    }
    heed_lines_free(&lines);
}

static void check_ids(place *p, const heed_tokenizer *want, const char *path) {
    heed_error err = {0};
    heed_model *m = heed_model_open(p->engine, path, &err);
    expect_no_error(&err);
    expect_same_ids(want, heed_model_tokenizer(m));
    heed_model_free(m);
}

typedef struct {
    const char *path, *family, *ends; /* ends: a token that ends texts once it is GGUF, or NULL */
} vocabulary;

static void same_ids(void **state) {
    const vocabulary *v = *state;
    heed_error err = {0};
    char folder[TEST_PATH + 40], gguf[TEST_PATH + 40], again[TEST_PATH + 40];
    place p;
    open_place(&p);
    heed_tokenizer *t = heed_tokenizer_open(NULL, v->path, &err);
    expect_no_error(&err);
    heed_model *m = model_with(&p, v->family, t);
    assert_true(heed_model_save(m, at(&p, "m", folder), &err));
    must_convert(&p, folder, "m.gguf", NULL);
    check_ids(&p, t, at(&p, "m.gguf", gguf));
    must_convert(&p, gguf, "again", NULL);
    check_ids(&p, t, at(&p, "again", again));
    if (v->ends) {
        heed_model *g = heed_model_open(p.engine, gguf, &err);
        const heed_config *c = heed_model_config(g);
        assert_int_equal(c->ends, 1);
        assert_int_equal(c->end[0], heed_token_id(t, v->ends));
        heed_model_free(g);
    }
    heed_model_free(m);
    close_place(&p);
}

/* ---- Types ---- */

static void types(void **state) {
    (void)state;
    heed_error err = {0};
    char path[TEST_PATH + 40];
    place p;
    open_place(&p);
    must_convert(&p, FAMILIES "llama", "half", "f16");
    must_convert(&p, FAMILIES "llama", "brain", "bf16");
    must_convert(&p, at(&p, "half", path), "kept", NULL);
    heed_tensors *want = heed_tensors_open(NULL, FAMILIES "llama", &err);
    heed_tensors *half = heed_tensors_open(NULL, path, &err);
    heed_tensors *brain = heed_tensors_open(NULL, at(&p, "brain", path), &err);
    heed_tensors *kept = heed_tensors_open(NULL, at(&p, "kept", path), &err);
    expect_no_error(&err);
    for (int64_t i = 0; i < heed_tensors_count(want); i++) {
        const heed_tensor *t = heed_tensors_at(want, i);
        const heed_tensor *h = heed_tensors_find(half, t->name);
        const heed_tensor *b = heed_tensors_find(brain, t->name);
        const heed_tensor *k = heed_tensors_find(kept, t->name);
        assert_true(h->type == HEED_F16 && b->type == HEED_BF16 && k->type == HEED_F16);
        assert_memory_equal(h->data, k->data, h->bytes);
        float *x = floats(t);
        for (int64_t j = 0; j < heed_tensor_elements(t); j++) {
            uint16_t narrow[2];
            memcpy(&narrow[0], (const char *)h->data + 2 * j, 2);
            memcpy(&narrow[1], (const char *)b->data + 2 * j, 2);
            assert_int_equal(narrow[0], heed_f16_from_f32(x[j]));
            assert_int_equal(narrow[1], heed_bf16_from_f32(x[j]));
        }
        free(x);
    }
    heed_tensors_free(want);
    heed_tensors_free(half);
    heed_tensors_free(brain);
    heed_tensors_free(kept);
    /* In GGUF a vector stays f32, which is why there is then no one type to keep. */
    must_convert(&p, FAMILIES "gpt2", "m.gguf", "bf16");
    heed_gguf *g = heed_gguf_open(NULL, at(&p, "m.gguf", path), &err);
    const heed_tensors *in = heed_gguf_tensors(g);
    assert_int_equal(heed_tensors_find(in, "token_embd.weight")->type, HEED_BF16);
    assert_int_equal(heed_tensors_find(in, "blk.0.attn_qkv.weight")->type, HEED_BF16);
    assert_int_equal(heed_tensors_find(in, "blk.0.attn_qkv.bias")->type, HEED_F32);
    assert_int_equal(heed_tensors_find(in, "position_embd.weight")->type, HEED_F32);
    heed_gguf_free(g);
    close_place(&p);
}

/* ---- What is refused ---- */

static void refused(place *p, const char *from, const char *to, const char *type,
                    const char *part) {
    heed_error err = {0};
    char path[TEST_PATH + 40];
    assert_false(convert(p, from, to, type, &err));
    expect_error(&err, HEED_VALUE, part);
    if (strncmp(to, "there", 5) != 0)
        assert_int_equal(access(at(p, to, path), F_OK), -1);
}

static void too_large(place *p) {
    heed_error err = {0};
    char folder[TEST_PATH + 40];
    heed_model *m = heed_model_open(p->engine, FAMILIES "llama", &err);
    heed_weight_entry *e = heed_weights_find(heed_model_weights(m), "decoder.norm.weight");
    float gains[16] = {65519, 65520};
    assert_int_equal(e->cols, 16);
    assert_true(heed_weights_own(heed_model_weights(m), e->name, gains, &err));
    assert_true(heed_model_save(m, at(p, "large", folder), &err));
    heed_model_free(m);
    must_convert(p, folder, "large.gguf", "f16"); /* where a vector stays f32 */
    assert_false(convert(p, folder, "half", "f16", &err));
    expect_error(&err, HEED_VALUE, "weight 'model.norm.weight' holds 65520, which f16 cannot; use");
    must_convert(p, folder, "half", "bf16"); /* nothing of the first is in its way */
}

static void refusals(void **state) {
    (void)state;
    char path[TEST_PATH + 40];
    place p;
    open_place(&p);
    refused(&p, FAMILIES "t5", "m.gguf", NULL, "family 't5' is not written as GGUF: gpt2, llama");
    refused(&p, FAMILIES "qwen2", "m.gguf", NULL,
            "GGUF's qwen2 cannot say that 'sliding_window' is 2");
    refused(&p, FAMILIES "gpt2-layer-scale", "m.gguf", NULL,
            "GGUF's gpt2 cannot say that 'scale_attn_by_inverse_layer_idx' is true");
    refused(&p, FAMILIES "llama-dynamic", "m.gguf", NULL, "'dynamic' cannot be said in GGUF");
    refused(&p, FAMILIES "llama-model", "m.gguf", NULL,
            "GGUF's llama has logits over the vocabulary on its last layer");
    refused(&p, FAMILIES "bert-masked", "m.gguf", NULL, "GGUF's bert has nothing on its last");
    refused(&p, FAMILIES "llama", "m.gguf", "f64", "type 'f64' is none that is written");
    must_convert(&p, FAMILIES "bert-model", "there.gguf", NULL);
    assert_string_equal(p.note, "the pooler has no place in GGUF and is left out");
    must_convert(&p, FAMILIES "llama", "there", NULL);
    refused(&p, at(&p, "there", path), "there", NULL, "is what is read: name another place");
    refused(&p, FAMILIES "llama", "there", NULL, "there' holds files of a model already");
    refused(&p, FAMILIES "llama", "there.gguf", NULL, "there.gguf' is there already: name another");
    too_large(&p);
    close_place(&p);
}

static bool to_gguf_and_back(const heed_host *host, void *ctx, heed_error *err) {
    place *p = ctx;
    char gguf[TEST_PATH + 40], folder[TEST_PATH + 40];
    heed_engine *engine = heed_engine_new(host, 1, NULL, err);
    heed_convert_options o = {.to = HEED_TO_GGUF, .over = true};
    bool ok = engine && heed_convert(engine, FAMILIES "llama", at(p, "m.gguf", gguf), &o, err);
    o.to = HEED_TO_FOLDER;
    ok = ok && heed_convert(engine, gguf, at(p, "again", folder), &o, err);
    heed_engine_free(engine);
    return ok;
}

static void memory(void **state) {
    (void)state;
    place p;
    open_place(&p);
    for_each_failing_allocation(to_gguf_and_back, &p);
    close_place(&p);
}

int main(void) {
    static const round_case rounds[] = {
        {"llama", 0, 0},      {"llama-tied-linear", 0, 0},
        {"llama-yarn", 0, 0}, {"llama-llama3", 0, 1e-5}, /* four numbers out of a table of floats */
        {"qwen2-full", 0, 0}, {"qwen3", 0, 0},
        {"gemma", 1e-7, 0}, /* w is taken from the rounded 1 + w, with which both compute */
        {"gpt2", 0, 0},       {"bert-model", 0, 0}};
    static const vocabulary vocabularies[] = {
        {"tests/golden/vocab/gguf/gpt2.gguf", "gpt2", NULL},
        {"tests/golden/vocab/gguf/llama.gguf", "llama", "</s>"},
        {"tests/golden/vocab/gguf/bert.gguf", "bert", NULL},
        {"tests/golden/vocab/folders/bert", "bert", NULL},
        {"tests/golden/vocab/folders/llama", "llama", "</s>"}};
    enum {
        ROUNDS = sizeof rounds / sizeof *rounds,
        VOCABULARIES = sizeof vocabularies / sizeof *vocabularies
    };
    struct CMUnitTest tests[ROUNDS + VOCABULARIES + 3] = {
        cmocka_unit_test(types), cmocka_unit_test(refusals), cmocka_unit_test(memory)};
    for (int i = 0; i < ROUNDS; i++)
        tests[3 + i] = (struct CMUnitTest){rounds[i].name, there_and_back, NULL, NULL,
                                           (void *)(uintptr_t)&rounds[i]};
    for (int i = 0; i < VOCABULARIES; i++)
        tests[3 + ROUNDS + i] = (struct CMUnitTest){vocabularies[i].path, same_ids, NULL, NULL,
                                                    (void *)(uintptr_t)&vocabularies[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
