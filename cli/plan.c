/* plan.c: the memory that a training or a translation takes, before it is taken.
 * SPDX-License-Identifier: MIT
 */
#include "cli/search.h"

#include <string.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    cli_search_values search;
    cli_number limit;
    bool json;
} values_of_plan;

enum { PARTS = 8 };

static void list(const heed_need *n, const char *name[PARTS], size_t bytes[PARTS]) {
    const struct {
        const char *name;
        size_t bytes;
    } parts[PARTS] = {
        {"weights", n->weights},       {"packed", n->packed}, {"gradients", n->gradients},
        {"moments", n->moments},       {"values", n->values}, {"cache", n->cache},
        {"validation", n->validation}, {"data", n->data},
    };
    for (int i = 0; i < PARTS; i++) {
        name[i] = parts[i].name;
        bytes[i] = parts[i].bytes;
    }
}

static void print_need(const heed_need *n, bool json) {
    const char *name[PARTS];
    size_t bytes[PARTS];
    list(n, name, bytes);
    fputs(json ? "{" : "", stdout);
    for (int i = 0; i < PARTS; i++) {
        if (json) {
            printf("\"%s\": %zu, ", name[i], bytes[i]);
        } else if (bytes[i]) {
            printf("%-11s %9.1f MiB\n", name[i], (double)bytes[i] / 1048576);
        }
    }
    if (json) {
        printf("\"total\": %zu}\n", n->total);
    } else {
        printf("%-11s %9.1f MiB of %.0f\n", "together", (double)n->total / 1048576,
               (double)heed_machine_bytes() / 1048576);
    }
}

static void note(void *ctx, const char *line) {
    (void)ctx;
    cli_warn("%s", line);
}

static int refuse(const heed_error *err) {
    cli_fail(err);
    if (err->code == HEED_LIMIT) {
        cli_hint("less at once takes less: train.batch_tokens, or --batch-tokens and --beam");
    }
    return CLI_INPUT;
}

static int training(const cli_call *call, size_t limit) {
    const values_of_plan *v = call->values;
    bool no_file = cli_is_setting(call->arg[0]);
    heed_training_options options = {.recipe = no_file ? NULL : call->arg[0],
                                     .settings = call->arg + !no_file,
                                     .n_settings = call->args - !no_file,
                                     .threads = (int)v->engine.threads.value,
                                     .isa = v->engine.isa,
                                     .limit = limit,
                                     .plan_only = true,
                                     .note = note};
    heed_error err = {0};
    heed_trainer *trainer = heed_trainer_new(&options, &err);
    if (!trainer) {
        return refuse(&err);
    }
    heed_training_outlook look = heed_trainer_look(trainer);
    print_need(&look.need, v->json);
    heed_trainer_free(trainer);
    return CLI_FINE;
}

static int translating(heed_model *model, const values_of_plan *v, size_t limit) {
    heed_error err = {0};
    cli_tokens tokens;
    heed_translate_options o;
    if (!cli_search(model, &v->search, &tokens, &o)) {
        return CLI_INPUT;
    }
    o.limit = limit;
    o.plan_only = true;
    heed_translator *translator = heed_translator_new(model, &o, &err);
    if (!translator) {
        return refuse(&err);
    }
    heed_need need = heed_translator_need(translator);
    print_need(&need, v->json);
    heed_translator_free(translator);
    return CLI_FINE;
}

/* Recipes are YAML whatever they are called; models in one file are called by their format. */
static bool is_model(const char *path) {
    size_t n = strlen(path);
    return cli_is_folder(path) || (n > 5 && strcmp(path + n - 5, ".gguf") == 0) ||
           (n > 4 && strcmp(path + n - 4, ".bin") == 0);
}

static int run(const cli_call *call) {
    const values_of_plan *v = call->values;
    size_t limit = v->limit.set ? (size_t)(v->limit.value * 1048576) : heed_most_bytes();
    if (!is_model(call->arg[0])) {
        return training(call, limit);
    }
    if (call->args > 1) {
        return cli_misuse("'heed plan' takes KEY=VALUE with a recipe, not with a model");
    }
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    int status = model ? translating(model, v, limit) : CLI_INPUT;
    heed_model_free(model);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "limit",
     .kind = CLI_NUMBER,
     .offset = offsetof(values_of_plan, limit),
     .value = "MIB",
     .help = "refuse what takes more",
     .otherwise = "15/16 of the machine's memory",
     .low = 1,
     .high = 1e9},
    CLI_SEARCH_OPTIONS(values_of_plan),
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_plan, json),
     .help = "one JSON object, in bytes"},
    CLI_OPEN_OPTIONS(values_of_plan),
    CLI_ENGINE_OPTIONS(values_of_plan),
    {0},
};

const cli_command cli_plan = {
    .name = "plan",
    .summary = "tells the memory that a training or a translation will take",
    .usage = "RECIPE [KEY=VALUE ...] | MODEL",
    .examples = "  heed plan recipes/zh-en.yaml train.batch_tokens=8192\n"
                "  heed plan model --beam 5\n",
    .notes = "Nothing of it is taken. What does not fit is refused, as it is when it runs.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_plan),
    .least = 1,
    .most = -1,
    .run = run,
};
