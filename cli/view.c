/* view.c: where a model looks while it translates one sentence.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "heed_look.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    const char *target, *html;
    cli_whole kind, layer, head, width;
    bool mean, colour, plain;
} values_of_view;

/* In the order of heed_attention_kind. */
static const char *const KINDS[] = {"cross", "encoder", "decoder", NULL};

static int write_page(const heed_attention *a, const char *path) {
    heed_buf page = {0};
    heed_error err = {0};
    int status = CLI_INPUT;
    if (!heed_attention_html(a, &page, &err)) {
        cli_fail(&err);
    } else {
        FILE *out = cli_create(path);
        if (out) {
            fwrite(page.data, 1, page.n, out);
            status = cli_finish(out, path) ? CLI_FINE : CLI_INPUT;
        }
    }
    heed_buf_free(&page);
    return status;
}

static int print_map(const heed_attention *a, const values_of_view *v) {
    heed_buf text = {0};
    heed_error err = {0};
    heed_attention_kind kind = (heed_attention_kind)v->kind.value;
    heed_attention_map m = heed_attention_of(a, kind);
    heed_attention_style style = {
        .kind = kind,
        .layer = v->mean        ? -1
                 : v->layer.set ? v->layer.value
                                : m.layers - 1,
        .head = v->head.set ? v->head.value : -1,
        .width = v->width.set ? (int)v->width.value : cli_columns(STDOUT_FILENO),
        .colour = !v->plain && (v->colour || (isatty(STDOUT_FILENO) && !getenv("NO_COLOR"))),
    };
    int status = CLI_FINE;
    if (heed_attention_print(a, &style, &text, &err)) {
        printf("%s → %s\n", heed_attention_source(a), heed_attention_target(a));
        fwrite(text.data, 1, text.n, stdout);
    } else {
        status = cli_fail(&err);
    }
    heed_buf_free(&text);
    return status;
}

static int view(heed_model *model, const cli_call *call) {
    const values_of_view *v = call->values;
    heed_line source = {call->arg[1], strlen(call->arg[1])}, target = {0};
    heed_error err = {0};
    if (v->target) {
        target = (heed_line){v->target, strlen(v->target)};
    }
    heed_attention *a = heed_attention_new(model, source, v->target ? &target : NULL, &err);
    int status = !a ? cli_fail(&err) : v->html ? write_page(a, v->html) : print_map(a, v);
    heed_attention_free(a);
    return status;
}

static int run(const cli_call *call) {
    const values_of_view *v = call->values;
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    int status = model ? view(model, call) : CLI_INPUT;
    heed_model_free(model);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "target",
     .letter = 't',
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_view, target),
     .value = "TEXT",
     .help = "look at this translation",
     .otherwise = "the model's own"},
    {.name = "kind",
     .letter = 'k',
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_view, kind),
     .value = "KIND",
     .help = "which attention",
     .standard = "cross",
     .choices = KINDS},
    {.name = "layer",
     .letter = 'l',
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_view, layer),
     .value = "N",
     .help = "layer, from 0",
     .otherwise = "the last",
     .low = 0,
     .high = 10000},
    {.name = "head",
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_view, head),
     .value = "N",
     .help = "head, from 0",
     .otherwise = "the mean of all",
     .low = 0,
     .high = 10000},
    {.name = "mean",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_view, mean),
     .help = "the mean of all layers"},
    {.name = "html",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_view, html),
     .value = "FILE",
     .help = "write a page with every kind, layer and head instead"},
    {.name = "width",
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_view, width),
     .value = "N",
     .help = "columns to use",
     .otherwise = "the terminal's, else 80",
     .low = 20,
     .high = 10000},
    {.name = "colour",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_view, colour),
     .help = "colours even where the output is no terminal"},
    {.name = "plain",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_view, plain),
     .help = "shades of characters even on a terminal"},
    CLI_OPEN_OPTIONS(values_of_view),
    CLI_ENGINE_OPTIONS(values_of_view),
    {0},
};

const cli_command cli_view = {
    .name = "view",
    .summary = "shows the attention of a sentence, in the terminal or as a page",
    .usage = "MODEL TEXT",
    .examples = "  heed view model 我爱中国\n"
                "  heed view model 我爱中国 --target 'I love China' --layer 0 --head 2\n"
                "  heed view model 我爱中国 --html attention.html\n",
    .notes =
        "Rows are tokens that look, columns tokens that are looked at; each row ends with the\n"
        "strongest. The page is one file that needs no network.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_view),
    .least = 2,
    .most = 2,
    .run = run,
};
