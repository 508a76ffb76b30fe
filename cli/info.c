/* info.c: what a model is.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

typedef struct {
    bool json;
} values_of_info;

static void print_value(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        printf("%s\n", json_string_value(value));
        break;
    case JSON_INTEGER:
        printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
        break;
    case JSON_REAL:
        printf("%g\n", json_real_value(value));
        break;
    case JSON_TRUE:
        printf("yes\n");
        break;
    case JSON_FALSE:
        printf("no\n");
        break;
    default:
        printf("none\n");
    }
}

/* "encoder.layers   6", one level of objects deep. */
static void print_table(const char *head, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        char name[100];
        snprintf(name, sizeof name, "%s%s%s", head, head[0] ? "." : "", key);
        if (json_is_object(value)) {
            print_table(name, value);
        } else {
            printf("%-28s ", name);
            print_value(value);
        }
    }
}

static int describe(const heed_model *model, bool json) {
    heed_buf text = {0};
    heed_error err = {0};
    if (!heed_model_describe(model, &text, &err)) {
        heed_buf_free(&text);
        return cli_fail(&err);
    }
    json_t *root = json ? NULL : json_loads(text.data, 0, NULL);
    if (json) {
        printf("%s\n", text.data);
    } else {
        print_table("", root);
    }
    json_decref(root);
    heed_buf_free(&text);
    return CLI_FINE;
}

static int run(const cli_call *call) {
    const values_of_info *v = call->values;
    heed_engine *engine = cli_engine(&(cli_engine_values){.threads = {.value = 1}});
    heed_model *model = engine ? cli_open_model(engine, call->arg[0]) : NULL;
    int status = model ? describe(model, v->json) : CLI_INPUT;
    heed_model_free(model);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_info, json),
     .help = "one JSON object"},
    {0},
};

const cli_command cli_info = {
    .name = "info",
    .summary = "shows what a model is: family, sizes, special tokens, search",
    .usage = "MODEL",
    .examples = "  heed info model\n  heed info model --json\n",
    .notes =
        "Opens the model as every command does, so a damaged or unfitting folder is told here.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_info),
    .least = 1,
    .most = 1,
    .run = run,
};
