/* eval_text.c: the perplexity of a text.
 * SPDX-License-Identifier: MIT
 */
#include "cli/eval_text.h"

#include "heed_look.h"

#include <inttypes.h>

static void progress(void *ctx, int64_t done, int64_t total, double perplexity) {
    cli_show_progress(ctx, "window %" PRId64 " of %" PRId64 ", perplexity %.4f", done, total,
                      perplexity);
}

static void print(const heed_likelihood *l, bool json) {
    if (!json) {
        printf("perplexity = %.4f loss = %.6f over %" PRId64 " tokens\n", l->perplexity, l->loss,
               l->labels);
        return;
    }
    printf("{\"perplexity\": ");
    cli_print_number(stdout, l->perplexity);
    printf(", \"loss\": ");
    cli_print_number(stdout, l->loss);
    printf(", \"tokens\": %" PRId64 ", \"left_out\": %" PRId64 "}\n", l->labels, l->left_out);
}

enum { WINDOW = 512 };

static int64_t choose_window(const heed_model *model, const cli_text_values *v) {
    int64_t most = heed_model_positions(model);
    if (!v->window.set) {
        return most > 1 && most < WINDOW ? most : WINDOW;
    }
    if (most > 0 && v->window.value > most) {
        cli_warn("a window of %" PRId64 " is more than the %" PRId64
                 " positions that the model was made for",
                 v->window.value, most);
    }
    return v->window.value;
}

int cli_eval_text(heed_model *model, const cli_text_values *v, bool json) {
    cli_progress shown = {0};
    heed_lines lines = {0};
    heed_likelihood likelihood;
    heed_error err = {0};
    if (!cli_needs_tokenizer(model, "a text is measured")) {
        return CLI_INPUT;
    }
    heed_perplexity_options o = {.window = choose_window(model, v),
                                 .stride = v->stride.value,
                                 .llama = v->llama,
                                 .windows = v->windows.value,
                                 .progress = progress,
                                 .ctx = &shown};
    if (!cli_read_lines(&lines, v->text)) {
        return CLI_INPUT;
    }
    /* The lines lie in one text, as it was read: all of it but a last end of line. */
    heed_line text = {"", 0};
    if (lines.n > 0) {
        const heed_line *last = &lines.line[lines.n - 1];
        text = (heed_line){lines.line[0].s, (size_t)(last->s + last->n - lines.line[0].s)};
    }
    bool ok = heed_perplexity_of(model, text, &o, &likelihood, &err);
    cli_end_progress(&shown);
    heed_lines_free(&lines);
    if (!ok) {
        return cli_fail(&err);
    }
    print(&likelihood, json);
    return CLI_FINE;
}
