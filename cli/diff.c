/* diff.c: the first value that differs between two models or two forms of one.
 * SPDX-License-Identifier: MIT
 */
#include "cli/ids.h"
#include "heed_look.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    const char *text, *ids;
    cli_number bound;
    bool all, json;
} values_of_diff;

static void print_one(const heed_difference *d) {
    if (!d->same_shape) {
        printf("%s: (%" PRId64 ",%" PRId64 ") against (%" PRId64 ",%" PRId64 ")\n", d->path,
               d->rows, d->cols, d->other_rows, d->other_cols);
        return;
    }
    printf("%s (%" PRId64 ",%" PRId64 "): %.3g of at most %.3g", d->path, d->rows, d->cols,
           d->difference, d->largest);
    if (d->difference > 0) {
        printf(", at row %" PRId64 " column %" PRId64 ": %.9g against %.9g", d->row, d->col, d->a,
               d->b);
    }
    printf("\n");
}

static void print_json_one(const heed_difference *d) {
    printf("{\"path\": ");
    cli_print_string(stdout, d->path, strlen(d->path));
    printf(", \"shape\": [%" PRId64 ", %" PRId64 "], \"other_shape\": [%" PRId64 ", %" PRId64
           "], \"difference\": ",
           d->rows, d->cols, d->other_rows, d->other_cols);
    cli_print_number(stdout, d->difference);
    printf(", \"largest\": ");
    cli_print_number(stdout, d->largest);
    printf(", \"row\": %" PRId64 ", \"column\": %" PRId64 ", \"a\": ", d->row, d->col);
    cli_print_number(stdout, d->a);
    printf(", \"b\": ");
    cli_print_number(stdout, d->b);
    printf("}");
}

/* Two models that have no value of one name are not the same: nothing was compared. */
static bool are_same(const heed_differences *all) {
    return all->first < 0 && all->n > 0;
}

static void print_json(const heed_differences *all) {
    printf("{\"same\": %s, \"first\": ", are_same(all) ? "true" : "false");
    if (all->first < 0) {
        printf("null");
    } else {
        print_json_one(&all->item[all->first]);
    }
    printf(", \"compared\": %" PRId64 ", \"lonely\": %" PRId64 ", \"values\": [", all->n,
           all->lonely);
    for (int64_t i = 0; i < all->n; i++) {
        printf("%s", i ? ", " : "");
        print_json_one(&all->item[i]);
    }
    printf("]}\n");
}

static void print_plain(const heed_differences *all, const values_of_diff *v) {
    for (int64_t i = 0; v->all && i < all->n; i++) {
        print_one(&all->item[i]);
    }
    if (all->n == 0) {
        printf("nothing to compare: no value has the same name in both\n");
    } else if (all->first < 0) {
        printf("the same within %g: %" PRId64 " values\n", v->bound.value, all->n);
    } else {
        printf("%s", v->all ? "first: " : "");
        print_one(&all->item[all->first]);
    }
    if (all->lonely) {
        printf("%" PRId64 " values are in one of the two alone\n", all->lonely);
    }
}

static int diff(heed_model *a, heed_model *b, const heed_diff_input *in, const values_of_diff *v) {
    heed_differences all;
    heed_error err = {0};
    if (!heed_diff(a, b, in, v->bound.value, &all, &err)) {
        return cli_fail(&err);
    }
    if (v->json) {
        print_json(&all);
    } else {
        print_plain(&all, v);
    }
    int status = are_same(&all) ? CLI_FINE : CLI_INPUT;
    heed_differences_free(&all);
    return status;
}

/* The ids of the text by A's tokenizer, or the file's first list and, for a decoder behind an
 * encoder, its second. */
static int with_models(heed_model *a, heed_model *b, const values_of_diff *v) {
    cli_id_lists lists = {0};
    int status = CLI_INPUT;
    bool ok = v->ids ? cli_read_ids(&lists, v->ids) : cli_prompt_ids(&lists, a, v->text);
    if (ok && lists.n < 1) {
        cli_warn("'%s' holds no list of token ids", v->ids);
    } else if (ok) {
        heed_diff_input in = {.id = lists.id, .n = lists.start[1]};
        in.target = lists.id + lists.start[1];
        in.targets = lists.n > 1 ? lists.start[2] - lists.start[1] : 0;
        status = diff(a, b, &in, v);
    }
    cli_free_ids(&lists);
    return status;
}

static int run(const cli_call *call) {
    const values_of_diff *v = call->values;
    if (!v->text == !v->ids) {
        return cli_misuse("'heed diff' wants --text TEXT or --ids FILE");
    }
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *a = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    heed_model *b = a ? cli_open_model(engine, call->arg[1], &v->open) : NULL;
    int status = b ? with_models(a, b, v) : CLI_INPUT;
    heed_model_free(a);
    heed_model_free(b);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "text",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_diff, text),
     .value = "TEXT",
     .help = "what both run on, by A's tokenizer"},
    {.name = "ids",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_diff, ids),
     .value = "FILE",
     .help = "token ids: a JSON list of a list; a second one is for the decoder behind an encoder"},
    {.name = "bound",
     .kind = CLI_NUMBER,
     .offset = offsetof(values_of_diff, bound),
     .value = "X",
     .help = "differences up to X times a value's largest number do not count",
     .standard = "1e-4",
     .low = 0,
     .high = 1e9},
    {.name = "all",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_diff, all),
     .help = "every value, not the first alone"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_diff, json),
     .help = "one JSON object with every value"},
    CLI_OPEN_OPTIONS(values_of_diff),
    CLI_ENGINE_OPTIONS(values_of_diff),
    {0},
};

const cli_command cli_diff = {
    .name = "diff",
    .summary = "runs two models on the same input and names the first value that differs",
    .usage = "A B",
    .examples = "  heed diff model model.gguf --text 'The capital of France is' --bound 0.05\n"
                "  heed diff before after --ids ids.json --all\n",
    .notes = "The exit status is 1 where a value differs, or none can be compared.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_diff),
    .least = 2,
    .most = 2,
    .run = run,
};
