/* generate.c: continues a text, or lists of token ids.
 * SPDX-License-Identifier: MIT
 */
#include "cli/ids.h"
#include "heed_generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    cli_whole max_new;
    cli_number repetition_penalty;
    const char *ids;
    bool json;
} values_of_generate;

/* ---- A text as it comes ---- */

/* Ids of prompt and answer, and how much of their text stands on standard output (or, with JSON,
 * was there before the answer). The prompt is decoded with the answer, since what a token looks
 * like may depend on what stands before it. */
typedef struct {
    const heed_tokenizer *tokenizer;
    int32_t *id;
    size_t n, cap, shown;
    heed_buf text;
    bool json, failed;
} stream;

/* Bytes of text that later tokens cannot change: not the marks that an unfinished character leaves
 * at the end. */
static size_t settled(const heed_buf *text) {
    size_t n = text->n;
    while (n >= 3 && memcmp(text->data + n - 3, "\xef\xbf\xbd", 3) == 0) {
        n -= 3;
    }
    return n;
}

/* The ids' text into s->text; none without a tokenizer. */
static void decode(stream *s) {
    heed_error err = {0};
    s->text.n = 0;
    if (s->tokenizer && !s->failed &&
        !heed_decode(s->tokenizer, s->id, s->n, true, &s->text, &err)) {
        s->failed = true;
        cli_fail(&err);
    }
}

static void show(stream *s, bool last) {
    decode(s);
    if (s->failed) {
        return;
    }
    size_t end = last ? s->text.n : settled(&s->text);
    if (!s->json && end > s->shown) {
        fwrite(s->text.data + s->shown, 1, end - s->shown, stdout);
        fflush(stdout);
        s->shown = end;
    }
}

static bool put(stream *s, int32_t id) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        int32_t *more = realloc(s->id, cap * sizeof *more);
        if (!more) {
            cli_warn("no memory for %zu tokens", cap);
            s->failed = true;
            return false;
        }
        s->id = more;
        s->cap = cap;
    }
    s->id[s->n++] = id;
    return true;
}

static bool take_token(void *ctx, const heed_generated_token *token) {
    stream *s = ctx;
    if (!put(s, token->id) || s->json) {
        return !s->failed;
    }
    show(s, false);
    if (!s->tokenizer) {
        printf("%" PRId32 "\n", token->id);
        fflush(stdout);
    }
    return !s->failed;
}

/* ---- One prompt ---- */

static void print_json(const stream *s, int64_t prompt, const heed_generation *g) {
    static const char *const whys[] = {"end", "length", "full", "stopped"};
    printf("{\"prompt_ids\": [");
    cli_print_ids(s->id, prompt, ", ");
    printf("], \"ids\": [");
    cli_print_ids(g->id, g->n, ", ");
    printf("], \"text\": ");
    if (s->tokenizer) {
        cli_print_string(stdout, s->text.data + s->shown, s->text.n - s->shown);
    } else {
        printf("null");
    }
    printf(", \"log_prob\": ");
    cli_print_number(stdout, g->log_prob);
    printf(", \"ended\": \"%s\"}\n", whys[g->why]);
}

static bool continue_one(heed_generator *g, stream *s, const int32_t *prompt, int64_t n) {
    heed_generation out;
    heed_error err = {0};
    s->n = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!put(s, prompt[i])) {
            return false;
        }
    }
    decode(s);
    s->shown = s->text.n;
    if (s->failed) {
        return false;
    }
    if (!heed_generate(g, prompt, n, &out, &err)) {
        cli_fail(&err);
        return false;
    }
    show(s, true);
    if (s->failed) {
        return false;
    }
    if (s->json) {
        print_json(s, n, &out);
    } else if (s->tokenizer) {
        printf("\n");
    }
    return fflush(stdout) == 0;
}

/* ---- Prompts ---- */

/* All prompts, one behind the other, as lists of ids. */
static bool read_prompts(const heed_model *model, const cli_call *call, cli_id_lists *out) {
    const values_of_generate *v = call->values;
    const char *text = call->args > 1 ? call->arg[1] : "";
    return v->ids ? cli_read_ids(out, v->ids) : cli_prompt_ids(out, model, text);
}

static bool continue_all(heed_model *model, const cli_id_lists *lists,
                         const values_of_generate *v) {
    stream s = {.tokenizer = heed_model_tokenizer(model), .json = v->json};
    heed_generate_options o = {.max_new = v->max_new.value,
                               .repetition_penalty = v->repetition_penalty.value,
                               .limit = heed_most_bytes(),
                               .token = take_token,
                               .ctx = &s};
    for (int64_t i = 0; i < lists->n; i++) {
        int64_t n = lists->start[i + 1] - lists->start[i] + o.max_new;
        o.longest = n > o.longest ? n : o.longest;
    }
    heed_error err = {0};
    heed_generator *g = heed_generator_new(model, &o, &err);
    bool ok = g || (cli_fail(&err), false);
    for (int64_t i = 0; ok && i < lists->n; i++) {
        int64_t from = lists->start[i];
        ok = continue_one(g, &s, lists->id + from, lists->start[i + 1] - from);
    }
    heed_generator_free(g);
    heed_buf_free(&s.text);
    free(s.id);
    return ok;
}

static int run(const cli_call *call) {
    const values_of_generate *v = call->values;
    if (v->ids && call->args > 1) {
        return cli_misuse("PROMPT and --ids FILE exclude each other");
    }
    cli_id_lists lists = {0};
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    bool ok = model && read_prompts(model, call, &lists) && continue_all(model, &lists, v);
    cli_free_ids(&lists);
    heed_model_free(model);
    heed_engine_free(engine);
    return ok ? CLI_FINE : CLI_INPUT;
}

static const cli_option OPTIONS[] = {
    {.name = "max-new",
     .letter = 'n',
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_generate, max_new),
     .value = "N",
     .help = "new tokens at most",
     .standard = "256",
     .low = 1,
     .high = 1e6},
    {.name = "repeat-penalty",
     .kind = CLI_NUMBER,
     .offset = offsetof(values_of_generate, repetition_penalty),
     .value = "X",
     .help = "tokens that have come are less likely by X; 1: they are not",
     .otherwise = "the model's",
     .low = 0.01,
     .high = 100},
    {.name = "ids",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_generate, ids),
     .value = "FILE",
     .help = "prompts as token ids: a JSON list of lists"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_generate, json),
     .help = "a JSON object for each prompt: prompt_ids, ids, text, log_prob, ended"},
    CLI_OPEN_OPTIONS(values_of_generate),
    CLI_ENGINE_OPTIONS(values_of_generate),
    {0},
};

const cli_command cli_generate = {
    .name = "generate",
    .summary = "continues a text with the likeliest tokens",
    .usage = "MODEL [PROMPT]",
    .examples = "  heed generate model 'The capital of France is' -n 20\n"
                "  heed generate model.gguf --json < /dev/null\n"
                "  heed generate model --ids prompts.json --json\n",
    .notes =
        "MODEL is a folder or a GGUF file. Without PROMPT a text begins with the token that\n"
        "begins texts. What comes out is what follows the prompt, as it is made; token ids, one\n"
        "a line, where the model has no tokenizer.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_generate),
    .least = 1,
    .most = 2,
    .run = run,
};
