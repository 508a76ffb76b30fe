/* translate.c: one translation a line, in the order of the lines.
 * SPDX-License-Identifier: MIT
 */
#include "cli/ids.h"
#include "cli/search.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    cli_search_values search;
    cli_whole n_best;
    const char *ids;
    bool json, scores;
} values_of_translate;

/* ---- Printing ---- */

static void print_json_one(const heed_translation *t) {
    printf("{\"ids\": [");
    cli_print_ids(t->id, t->n, ", ");
    printf("], \"text\": ");
    if (t->text) {
        cli_print_string(stdout, t->text, strlen(t->text));
    } else {
        printf("null");
    }
    printf(", \"score\": ");
    cli_print_number(stdout, t->score);
    printf(", \"log_prob\": ");
    cli_print_number(stdout, t->log_prob);
    printf(", \"ended\": %s}", t->ended ? "true" : "false");
}

static void print_json(const heed_translations *t, int64_t line, int64_t number) {
    static const char *const names[] = {"fine", "empty", "cut"};
    printf("{\"line\": %" PRId64 ", \"source\": \"%s\", \"translations\": [", number,
           names[t->source[line]]);
    for (int64_t j = 0; j < t->n_best; j++) {
        fputs(j ? ", " : "", stdout);
        print_json_one(&t->item[line * t->n_best + j]);
    }
    printf("]}\n");
}

static void print_plain(const heed_translations *t, int64_t line, bool scores) {
    for (int64_t j = 0; j < t->n_best; j++) {
        const heed_translation *item = &t->item[line * t->n_best + j];
        if (scores) {
            printf("%.4f\t", item->score);
        }
        if (item->text) {
            printf("%s", item->text);
        } else {
            cli_print_ids(item->id, item->n, " ");
        }
        printf("\n");
    }
}

static void print_all(const heed_translations *t, const values_of_translate *v, int64_t first) {
    for (int64_t i = 0; i < t->lines; i++) {
        if (v->json) {
            print_json(t, i, first + i);
        } else {
            print_plain(t, i, v->scores);
        }
    }
    fflush(stdout);
}

/* ---- Working ---- */

static void progress(void *ctx, int64_t done, int64_t total) {
    cli_show_progress(ctx, "translated %" PRId64 " of %" PRId64, done, total);
}

/* Lines as they are typed. */
static int converse(heed_translator *t, const values_of_translate *v) {
    char text[1 << 16];
    for (int64_t number = 1; fgets(text, sizeof text, stdin); number++) {
        heed_line line = {text, strcspn(text, "\r\n")};
        heed_translations out = {0};
        heed_error err = {0};
        if (!heed_translate(t, &line, 1, &out, &err)) {
            return cli_fail(&err);
        }
        print_all(&out, v, number);
        heed_translations_free(&out);
    }
    return CLI_FINE;
}

static int work(heed_translator *t, const cli_call *call, cli_progress *shown) {
    const values_of_translate *v = call->values;
    const char *path = call->args > 1 ? call->arg[1] : NULL;
    heed_translations out = {0};
    heed_lines lines = {0};
    cli_id_lists ids = {0};
    heed_error err = {0};
    bool ok = v->ids ? cli_read_ids(&ids, v->ids) : cli_read_lines(&lines, path);
    if (ok) {
        ok = v->ids ? heed_translate_ids(t, ids.id, ids.start, ids.n, &out, &err)
                    : heed_translate(t, lines.line, lines.n, &out, &err);
        cli_end_progress(shown);
        if (ok) {
            print_all(&out, v, 1);
            cli_report_sources(&out, v->ids ? "list" : "line");
        } else {
            cli_fail(&err);
        }
    }
    heed_translations_free(&out);
    heed_lines_free(&lines);
    cli_free_ids(&ids);
    return ok ? CLI_FINE : CLI_INPUT;
}

static int with_model(heed_model *model, const cli_call *call) {
    const values_of_translate *v = call->values;
    cli_progress shown = {0};
    heed_error err = {0};
    cli_tokens tokens;
    heed_translate_options o;
    if (!cli_search(model, &v->search, &tokens, &o)) {
        return CLI_INPUT;
    }
    o.n_best = v->n_best.value;
    bool typed = !v->ids && call->args < 2 && isatty(STDIN_FILENO);
    o.progress = !typed && isatty(STDERR_FILENO) ? progress : NULL;
    o.ctx = &shown;
    heed_translator *t = heed_translator_new(model, &o, &err);
    if (!t) {
        return cli_fail(&err);
    }
    int status = typed ? converse(t, v) : work(t, call, &shown);
    if (status && !v->ids && !heed_model_tokenizer(model)) {
        cli_hint("--ids FILE takes token ids");
    }
    heed_translator_free(t);
    return status;
}

static int run(const cli_call *call) {
    const values_of_translate *v = call->values;
    if (v->ids && call->args > 1) {
        return cli_misuse("FILE and --ids FILE exclude each other");
    }
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    int status = model ? with_model(model, call) : CLI_INPUT;
    heed_model_free(model);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    CLI_SEARCH_OPTIONS(values_of_translate),
    {.name = "n-best",
     .letter = 'n',
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_translate, n_best),
     .value = "N",
     .help = "translations for each line, at most the beams",
     .standard = "1",
     .low = 1,
     .high = 1000},
    {.name = "scores",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_translate, scores),
     .help = "score and a tab before each translation"},
    {.name = "ids",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_translate, ids),
     .value = "FILE",
     .help = "sources as token ids: a JSON list of lists"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_translate, json),
     .help = "a JSON object a line: ids, text, score, log_prob, ended"},
    CLI_OPEN_OPTIONS(values_of_translate),
    CLI_ENGINE_OPTIONS(values_of_translate),
    {0},
};

const cli_command cli_translate = {
    .name = "translate",
    .summary = "translates lines of text",
    .usage = "MODEL [FILE]",
    .examples = "  echo 我爱中国 | heed translate model\n"
                "  heed translate model test.zh.gz --beam 5 > test.en\n"
                "  heed translate model --ids sources.json --json --beam 4 --n-best 4\n",
    .notes =
        "FILE is plain or gz text, by default standard input. One line comes out for each line\n"
        "that goes in (N lines with --n-best N); an empty line stays empty.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_translate),
    .least = 1,
    .most = 2,
    .run = run,
};
