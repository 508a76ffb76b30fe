/* refused.c: what a family cannot do is refused by name: keys of config.json, classes, pictures.
 * Each case is a golden model with a few keys changed.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "file/json.h"
#include "file/safetensors.h"
#include "heed_look.h"

#include <jansson.h>

#define GOLDEN "tests/golden/families/"

typedef struct {
    const char *folder, *keys; /* JSON laid over config.json */
    heed_code code;
    const char *text;
} refusal;

static void copy_file(const char *from, const char *to) {
    size_t n;
    char *bytes = slurp(from, &n);
    write_bytes(to, bytes, n);
    free(bytes);
}

/* Opens the changed model; NULL with an error where that fails. The folder is gone then. */
static heed_model *open_changed(heed_engine *engine, const char *folder, const char *keys,
                                heed_error *err) {
    char from[200], to[TEST_PATH + 30], temp[TEST_PATH];
    heed_error none = {0};
    temp_folder(temp);
    snprintf(from, sizeof from, GOLDEN "%s/config.json", folder);
    snprintf(to, sizeof to, "%s/config.json", temp);
    json_t *config = heed_json_read(NULL, from, 0, &none);
    json_t *change = json_loads(keys, 0, NULL);
    assert_true(config && change);
    json_object_update(config, change);
    assert_true(heed_json_save(NULL, to, config, 2, &none));
    json_decref(config);
    json_decref(change);
    snprintf(from, sizeof from, GOLDEN "%s/model.safetensors", folder);
    snprintf(to, sizeof to, "%s/model.safetensors", temp);
    copy_file(from, to);
    heed_model *model = heed_model_open(engine, temp, err);
    remove_folder(temp);
    return model;
}

static void test_keys(void **state) {
    (void)state;
    static const refusal all[] = {
        {"phi3",
         "{\"rope_parameters\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1],"
         " \"long_factor\": [2, 2, 2]}}",
         HEED_SHAPE, "longrope has 3 numbers in 'long_factor', wanted 2"},
        {"phi3", "{\"rope_scaling\": {\"type\": \"su\", \"long_factor\": [2, 2]}}", HEED_SHAPE,
         "longrope has 0 numbers in 'short_factor', wanted 2"},
        {"phi3", "{\"rope_parameters\": {\"rope_type\": \"longrope\", \"short_factor\": [\"x\"]}}",
         HEED_VALUE, "key 'short_factor' holds a string, wanted numbers"},
        {"phi3", "{\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2.0}}", HEED_VALUE,
         "family 'phi3' has rope types 'default' and 'longrope' alone"},
        {"phi", "{\"rope_parameters\": {\"rope_type\": \"spiral\", \"arms\": 2}}", HEED_VALUE,
         "rope type 'spiral' is not known here"},
        {"phi3", "{\"attention_bias\": true}", HEED_VALUE,
         "key 'attention_bias' is true, only false is possible here"},
        {"phi", "{\"rope_parameters\": null, \"partial_rotary_factor\": 0.05}", HEED_VALUE,
         "partial_rotary_factor 0.05 turns no number of a head of 8"},
        {"phi", "{\"architectures\": [\"PhiForQuestionAnswering\"]}", HEED_NAME,
         "architecture 'PhiForQuestionAnswering' is not known here, family 'phi' has: "
         "PhiForCausalLM, PhiModel"},
        {"gpt-neox", "{\"rope_parameters\": null, \"rotary_pct\": 1.5}", HEED_VALUE,
         "partial_rotary_factor 1.5 is not in (0, 1]"},
        {"gpt-neox", "{\"attention_twist\": 1}", HEED_NAME, "key 'attention_twist' is not known"},
        {"bloom", "{\"hidden_size\": 0}", HEED_NAME,
         "key 'hidden_size' is missing, or not above 0"},
        {"bloom", "{\"n_layer\": 1000000}", HEED_LIMIT,
         "a stack of 1000000 layers, width 24, 3 heads of 0, feed-forward 96 is too large"},
        {"llama", "{\"head_dim\": 1000000000000}", HEED_LIMIT, "4 heads of 1000000000000"},
        {"opt", "{\"max_position_embeddings\": 9223372036854775807}", HEED_LIMIT,
         "key 'max_position_embeddings' is 9223372036854775807, at most 1099511627776 is possible"},
        {"opt", "{\"word_embed_proj_dim\": 12}", HEED_NAME,
         "weight 'model.decoder.embed_tokens.weight' is (40,16) in the file"},
        {"vit-model", "{\"image_size\": \"large\"}", HEED_VALUE,
         "key 'image_size' is neither a number nor two numbers"},
        {"vit-model", "{\"patch_size\": [4, 4, 4]}", HEED_VALUE,
         "key 'patch_size' is neither a number nor two numbers"},
        {"vit-model", "{\"patch_size\": 16}", HEED_VALUE,
         "patches of 16 x 16 do not fit in pictures of 12 x 12"},
        {"vit-model", "{\"image_size\": 1000000}", HEED_VALUE, "sides up to 32768"},
        {"vit-model", "{\"num_channels\": 0}", HEED_VALUE, "num_channels is 0, wanted 1 to"},
        {"deit-model", "{\"num_channels\": 1}", HEED_SHAPE, "is (16,3,4,4) in the file"},
        {"dinov2-model", "{\"mlp_ratio\": 0}", HEED_VALUE, "mlp_ratio 0 of a width of 16"},
        {"dinov2-model", "{\"model_type\": \"dinov2_with_registers\"}", HEED_NAME,
         "model_type 'dinov2_with_registers' is no family known here"},
    };
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        heed_error err = {0};
        heed_model *model = open_changed(engine, all[i].folder, all[i].keys, &err);
        if (model)
            fail_msg("'%s' with %s opens", all[i].folder, all[i].keys);
        expect_error(&err, all[i].code, all[i].text);
    }
    heed_engine_free(engine);
}

/* What older files say besides changes nothing. */
static void test_known(void **state) {
    (void)state;
    static const char *const all[][2] = {
        {"phi3", "{\"rope_parameters\": {\"type\": \"yarn\", \"short_factor\": [1, 1],"
                 " \"long_factor\": [2, 2]}}"},
        {"phi", "{\"rope_scaling\": null, \"auto_map\": {\"AutoModel\": \"x\"}}"},
        {"gpt-neox", "{\"rotary_pct\": 0.25, \"rotary_emb_base\": 10000, \"is_decoder\": true}"},
        {"bloom", "{\"n_embed\": 24, \"offset_alibi\": 100, \"skip_bias_add\": true,"
                  " \"masked_softmax_fusion\": true, \"seq_length\": 2048, \"n_inner\": null}"},
        {"opt", "{\"activation_dropout\": 0.0, \"prefix\": \"</s>\", \"layerdrop\": 0.1}"},
        {"vit-model", "{\"patch_size\": [4, 4], \"image_size\": [12, 12], \"encoder_stride\": 4}"},
    };
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        heed_error err = {0};
        heed_model *model = open_changed(engine, all[i][0], all[i][1], &err);
        expect_no_error(&err);
        heed_model_free(model);
    }
    heed_engine_free(engine);
}

/* ---- Names of other times ---- */

enum { MOST = 100 };

/* Opens the golden model with its tensors called as `named` says (NULL: as before), and `more`. */
static void open_renamed(const char *folder, const char *(*named)(const char *name, char out[200]),
                         const char *more) {
    static const float triangle[4] = {1, 0, 1, 1};
    char from[200], to[TEST_PATH + 30], temp[TEST_PATH], name[MOST][200];
    heed_error err = {0};
    heed_tensor list[MOST];
    temp_folder(temp);
    snprintf(from, sizeof from, GOLDEN "%s/config.json", folder);
    snprintf(to, sizeof to, "%s/config.json", temp);
    copy_file(from, to);
    snprintf(from, sizeof from, GOLDEN "%s/model.safetensors", folder);
    snprintf(to, sizeof to, "%s/model.safetensors", temp);
    heed_tensors *file = heed_tensors_open(NULL, from, &err);
    int64_t n = heed_tensors_count(file);
    assert_true(n < MOST);
    for (int64_t i = 0; i < n; i++) {
        list[i] = *heed_tensors_at(file, i);
        if (named)
            list[i].name = named(list[i].name, name[i]);
    }
    if (more)
        list[n++] = (heed_tensor){
            .name = more, .type = HEED_F32, .rank = 4, .dim = {1, 1, 2, 2}, .data = triangle};
    heed_tensors_write(NULL, to, list, n, NULL, 0, &err);
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    heed_model *model = heed_model_open(engine, temp, &err);
    expect_no_error(&err);
    heed_model_free(model);
    heed_engine_free(engine);
    heed_tensors_free(file);
    remove_folder(temp);
}

/* Text with `a` once replaced by `b`, where it is there. */
static bool swap(char text[200], const char *a, const char *b) {
    char rest[200];
    char *at = strstr(text, a);
    if (!at)
        return false;
    snprintf(rest, sizeof rest, "%s", at + strlen(a));
    *at = 0;
    strcat(text, b);
    strcat(text, rest); /* names of the goldens leave room for both */
    return true;
}

/* As the modules of transformers 5 are called. */
static const char *new_vit(const char *name, char out[200]) {
    static const char *const pairs[][2] = {{"encoder.layer.", "layers."},
                                           {"attention.attention.query", "attention.q_proj"},
                                           {"attention.attention.key", "attention.k_proj"},
                                           {"attention.attention.value", "attention.v_proj"},
                                           {"attention.output.dense", "attention.o_proj"},
                                           {"intermediate.dense", "mlp.fc1"},
                                           {"output.dense", "mlp.fc2"}};
    snprintf(out, 200, "%s", name);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        swap(out, pairs[i][0], pairs[i][1]);
    return out;
}

static const char *new_head(const char *name, char out[200]) {
    snprintf(out, 200, "%s", name);
    if (!swap(out, "embed_out", "lm_head"))
        swap(out, "gpt_neox.", ""); /* and without the prefix */
    return out;
}

static void test_names(void **state) {
    (void)state;
    open_renamed("vit-classes", new_vit, NULL);
    open_renamed("deit-model", new_vit, NULL);
    open_renamed("gpt-neox", new_head, "layers.1.attention.bias");
    open_renamed("gpt-neox", NULL, "gpt_neox.layers.0.attention.masked_bias");
    open_renamed("gpt-neox-model", NULL, "layers.0.attention.rotary_emb.inv_freq");
    open_renamed("phi", NULL, "model.layers.1.self_attn.rotary_emb.inv_freq");
    open_renamed("dinov2-gated", NULL, "dinov2.embeddings.mask_token");
    open_renamed("vit-model", NULL, "embeddings.mask_token");
}

/* ---- Pictures ---- */

static float pixels[2 * 3 * 12 * 12];

/* Traces the golden model over `list`. */
static void trace(const char *folder, const heed_tensor *list, int64_t n, heed_error *err) {
    char in[TEST_PATH + 20], out[TEST_PATH + 20], temp[TEST_PATH], path[200];
    temp_folder(temp);
    snprintf(in, sizeof in, "%s/in.safetensors", temp);
    snprintf(out, sizeof out, "%s/out.safetensors", temp);
    snprintf(path, sizeof path, GOLDEN "%s", folder);
    assert_true(heed_tensors_write(NULL, in, list, n, NULL, 0, err));
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, err);
    heed_model *model = heed_model_open(engine, path, err);
    expect_no_error(err);
    heed_trace(model, in, out, NULL, err);
    heed_model_free(model);
    heed_engine_free(engine);
    remove_folder(temp);
}

static void test_pictures(void **state) {
    (void)state;
    static const int64_t two[2] = {0, 1}, three[3] = {0, 1, 2};
    heed_tensor picture = {
        .name = "pixel_values", .type = HEED_F32, .rank = 4, .dim = {2, 3, 12, 12}, .data = pixels};
    heed_tensor labels = {.name = "labels", .type = HEED_I64, .rank = 1, .dim = {2}, .data = two};
    heed_tensor list[2] = {picture, labels};
    heed_error err = {0};
    trace("vit-model", &labels, 1, &err);
    expect_error(&err, HEED_NAME, "there is no tensor 'pixel_values'");
    list[0].dim[1] = 1;
    trace("vit-model", list, 1, &err);
    expect_error(&err, HEED_SHAPE,
                 "'pixel_values' is (2,1,12,12), wanted (pictures,3,height,width)");
    list[0] = picture;
    list[0].dim[3] = 3;
    trace("dinov2-model", list, 1, &err);
    expect_error(&err, HEED_SHAPE, "'pixel_values' is (2,3,12,3), which holds no patch of (4,4)");
    list[0] = picture;
    list[1].name = "bool_masked_pos";
    trace("dinov2-model", list, 2, &err);
    expect_error(&err, HEED_NAME, "'bool_masked_pos' of pictures is not known here");
    list[1] = labels;
    list[1].dim[0] = 3;
    list[1].data = three;
    trace("deit-classes", list, 2, &err);
    expect_error(&err, HEED_SHAPE, "'labels' is (3), wanted (2)");
    list[1] = labels;
    trace("deit-teacher", list, 2, &err);
    expect_error(&err, HEED_VALUE, "a DeiT with two heads has no loss");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_known),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
