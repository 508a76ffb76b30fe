/* info.c: what a model is, or a file of tensors.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <jansson.h>
#include <string.h>

typedef struct {
    bool json;
} values_of_info;

enum { TEXT_MOST = 200 }; /* bytes of a text that a table shows: a chat template has thousands */

/* Others' text on one line, without what would steer the terminal. */
static void print_text(const char *s) {
    size_t n = strlen(s), most = n;
    if (n > TEXT_MOST) {
        for (most = TEXT_MOST; (s[most] & 0xc0) == 0x80; most--) {}
    }
    for (size_t i = 0; i < most; i++) {
        unsigned char c = (unsigned char)s[i];
        putchar(c < ' ' || c == 0x7f ? ' ' : c);
    }
    printf("%s", most < n ? "…" : "");
}

/* Tensors that do not fit: names, or objects with a name, a shape and the one wanted. */
static void print_list(const json_t *list) {
    printf("%zu\n", json_array_size(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i), *wanted = json_object_get(item, "wanted");
        printf("  ");
        print_text(json_string_value(json_is_string(item) ? item : json_object_get(item, "name")));
        if (json_object_get(item, "shape")) {
            printf(" %s", json_string_value(json_object_get(item, "shape")));
        }
        if (wanted) {
            printf(", wanted (%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ")",
                   json_integer_value(json_array_get(wanted, 0)),
                   json_integer_value(json_array_get(wanted, 1)));
        }
        printf("\n");
    }
}

/* A NULL is none. */
static void print_value(const json_t *value) {
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        print_text(json_string_value(value));
        printf("\n");
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
    case JSON_ARRAY:
        print_list(value);
        break;
    default:
        printf("none\n");
    }
}

enum { MODEL_COLUMNS = 28, NAME_COLUMNS = 44 };

/* Tokens that a model has not are below 0. */
static bool no_token(const char *head, const json_t *value) {
    return strcmp(head, "tokens") == 0 && json_integer_value(value) < 0;
}

/* "encoder.layers   6", one level of objects deep. */
static void print_table(const char *head, json_t *object, int columns) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        char name[100];
        snprintf(name, sizeof name, "%s%s%s", head, head[0] ? "." : "", key);
        if (json_is_object(value)) {
            print_table(name, value, columns);
        } else {
            print_text(name);
            printf("%*s ", strlen(name) < (size_t)columns ? columns - (int)strlen(name) : 0, "");
            print_value(no_token(head, value) ? NULL : value);
        }
    }
}

/* "blk.0.attn_q.weight   Q4_1 (576,576)" */
static void print_tensors(const json_t *tensors) {
    const char *name;
    json_t *tensor;
    json_object_foreach((json_t *)(uintptr_t)tensors, name, tensor) {
        const json_t *shape = json_object_get(tensor, "shape");
        print_text(name);
        int columns = heed_utf8_columns(name, strlen(name));
        printf("%*s %s (", columns < NAME_COLUMNS ? NAME_COLUMNS - columns : 0, "",
               json_string_value(json_object_get(tensor, "type")));
        for (size_t i = 0; i < json_array_size(shape); i++) {
            printf("%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                   json_integer_value(json_array_get(shape, i)));
        }
        printf(")\n");
    }
}

/* Prints the description: as it is, or as a table. */
static int print(const heed_buf *text, bool json) {
    if (json) {
        printf("%s\n", text->data);
        return CLI_FINE;
    }
    json_t *root = json_loadb(text->data, text->n, JSON_ALLOW_NUL, NULL);
    if (!root) {
        cli_warn("no memory for a table");
        return CLI_INPUT;
    }
    json_t *tensors = json_object_get(root, "tensors");
    json_incref(tensors);
    json_object_del(root, "tensors");
    print_table("", root, tensors ? NAME_COLUMNS : MODEL_COLUMNS);
    print_tensors(tensors);
    json_decref(tensors);
    json_decref(root);
    return CLI_FINE;
}

static bool describe_model(const char *folder, heed_buf *text, heed_error *err) {
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, err);
    bool fine = engine && heed_path_describe(engine, folder, text, err);
    heed_engine_free(engine);
    return fine;
}

static int run(const cli_call *call) {
    const values_of_info *v = call->values;
    heed_buf text = {0};
    heed_error err = {0};
    bool fine = cli_is_folder(call->arg[0]) ? describe_model(call->arg[0], &text, &err)
                                            : heed_file_describe(NULL, call->arg[0], &text, &err);
    int status = text.n > 0 ? print(&text, v->json) : CLI_FINE;
    if (!fine) {
        fflush(stdout);
        status = cli_fail(&err);
    }
    heed_buf_free(&text);
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
    .summary = "shows what a model is: family, sizes, special tokens, search; or a file's tensors",
    .usage = "MODEL|FILE",
    .examples = "  heed info model\n  heed info model --json\n  heed info model.gguf\n",
    .notes =
        "Of the weights nothing is read but names and shapes; all that are missing, unused or of\n"
        "another shape are listed. A FILE is safetensors, GGUF (versions 2 and 3), llama2.c's, or\n"
        "what torch.save wrote.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_info),
    .least = 1,
    .most = 1,
    .run = run,
};
