/* tokenize.c: text to tokens and back.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bool json, ids, decode, no_special, jsonl, explain;
} values_of_tokenize;

typedef struct {
    const heed_tokenizer *tokenizer;
    const values_of_tokenize *v;
    heed_tokens tokens;
    heed_buf text;
    int32_t *id;
    size_t id_cap;
} job;

static bool show_token(job *j, int32_t id) {
    j->text.n = 0;
    return heed_token_show(j->tokenizer, id, &j->text);
}

static void print_texts(heed_line text, heed_line pair) {
    printf("{\"text\": ");
    cli_print_string(stdout, text.s, text.n);
    if (pair.s) {
        printf(", \"pair\": ");
        cli_print_string(stdout, pair.s, pair.n);
    }
}

/* Numbers of the tokens, one each. */
static void print_numbers(const job *j, const char *name, int64_t (*of)(const heed_token *)) {
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < j->tokens.n; i++) {
        printf("%s%" PRId64, i ? ", " : "", of(&j->tokens.item[i]));
    }
    putchar(']');
}

static int64_t id_of(const heed_token *token) {
    return token->id;
}

static int64_t type_of(const heed_token *token) {
    return token->type;
}

static bool print_json(job *j, heed_line text, heed_line pair) {
    print_texts(text, pair);
    print_numbers(j, "ids", id_of);
    if (pair.s) {
        print_numbers(j, "types", type_of);
    }
    printf(", \"tokens\": [");
    for (size_t i = 0; i < j->tokens.n; i++) {
        const char *stored = heed_token_text(j->tokenizer, j->tokens.item[i].id);
        fputs(i ? ", " : "", stdout);
        cli_print_string(stdout, stored, strlen(stored));
    }
    printf("], \"offsets\": [");
    for (size_t i = 0; i < j->tokens.n; i++) {
        printf("%s[%" PRIu32 ", %" PRIu32 "]", i ? ", " : "", j->tokens.item[i].begin,
               j->tokens.item[i].end);
    }
    printf("]}\n");
    return true;
}

static bool print_plain(job *j) {
    for (size_t i = 0; i < j->tokens.n; i++) {
        int32_t id = j->tokens.item[i].id;
        if (!j->v->ids && !show_token(j, id)) {
            return false;
        }
        fputs(i ? " " : "", stdout);
        if (j->v->ids) {
            printf("%" PRId32, id);
        } else {
            fwrite(j->text.data, 1, j->text.n, stdout);
        }
    }
    putchar('\n');
    return true;
}

static bool encode_texts(job *j, heed_line text, heed_line pair, heed_error *err) {
    heed_encode_options options = {.pair = pair, .no_special = j->v->no_special};
    j->tokens.n = 0;
    return heed_encode_with(j->tokenizer, text, &options, &j->tokens, err) &&
           (j->v->json ? print_json(j, text, pair) : print_plain(j));
}

static bool show_stage(void *ctx, const heed_stage *stage) {
    (void)ctx;
    printf("%s%s%s:", stage->place, *stage->type ? " " : "", stage->type);
    for (size_t i = 0; i < stage->n; i++) {
        putchar(' ');
        cli_print_string(stdout, stage->word[i].s, stage->word[i].n);
    }
    putchar('\n');
    return true;
}

static bool refuse_line(heed_error *err, const char *why) {
    err->code = HEED_TEXT;
    snprintf(err->text, sizeof err->text, "%s", why);
    return false;
}

/* What jansson says, without the bytes of the line that it quotes. */
static bool refuse_json(heed_error *err, const json_error_t *why) {
    char text[120];
    const char *near = strstr(why->text, " near ");
    int n = near ? (int)(near - why->text) : (int)strlen(why->text);
    snprintf(text, sizeof text, "%.*s, at byte %d", n < 80 ? n : 80, why->text, why->position);
    return refuse_line(err, text);
}

/* The string of that name; none where the object has no such member. */
static bool take_string(const json_t *object, const char *name, heed_line *out) {
    const json_t *value = json_object_get(object, name);
    *out = (heed_line){json_string_value(value), json_string_length(value)};
    return !value || out->s;
}

static bool encode_object(job *j, const json_t *object, heed_error *err) {
    heed_line text, pair;
    if (!json_is_object(object)) {
        return refuse_line(err, "no JSON object");
    }
    if (!take_string(object, "text", &text) || !take_string(object, "pair", &pair)) {
        return refuse_line(err, "\"text\" or \"pair\" is no string");
    }
    return text.s ? encode_texts(j, text, pair, err)
                  : refuse_line(err, "the object has no \"text\"");
}

/* A line of JSON with a text and perhaps its pair. */
static bool encode_json_line(job *j, heed_line line, heed_error *err) {
    json_error_t why;
    json_t *object = json_loadb(line.s, line.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    bool ok = object ? encode_object(j, object, err) : refuse_json(err, &why);
    json_decref(object);
    return ok;
}

static bool encode_line(job *j, heed_line line, heed_error *err) {
    if (j->v->jsonl) {
        return encode_json_line(j, line, err);
    }
    if (j->v->explain) {
        return heed_explain(j->tokenizer, line, show_stage, NULL, err);
    }
    return encode_texts(j, line, (heed_line){0}, err);
}

static size_t count_digits(heed_line line, size_t from) {
    size_t n = 0;
    while (from + n < line.n && line.s[from + n] >= '0' && line.s[from + n] <= '9') {
        n++;
    }
    return n;
}

static bool make_room(job *j, size_t n) {
    if (n < j->id_cap) {
        return true;
    }
    size_t cap = j->id_cap ? 2 * j->id_cap : 256;
    int32_t *more = realloc(j->id, cap * sizeof *more);
    if (more) {
        j->id = more;
        j->id_cap = cap;
    }
    return more != NULL;
}

/* Reads a line of ids divided by spaces, commas or brackets into j->id; -1 where something else
 * stands there. */
static int64_t read_ids(job *j, heed_line line) {
    int64_t n = 0;
    for (size_t i = 0; i < line.n;) {
        if (strchr(" ,[]\t", line.s[i])) {
            i++;
            continue;
        }
        size_t digits = count_digits(line, i);
        if (digits == 0 || digits > 9 || !make_room(j, (size_t)n)) {
            return -1;
        }
        j->id[n++] = (int32_t)strtol(line.s + i, NULL, 10);
        i += digits;
    }
    return n;
}

static bool decode_line(job *j, heed_line line, heed_error *err) {
    int64_t n = read_ids(j, line);
    j->text.n = 0;
    if (n < 0) {
        return refuse_line(err, "token ids are whole numbers divided by spaces");
    }
    if (!heed_decode(j->tokenizer, j->id, (size_t)n, j->v->no_special, &j->text, err)) {
        return false;
    }
    if (j->v->json) {
        printf("{\"text\": ");
        cli_print_string(stdout, j->text.data, j->text.n);
        printf("}\n");
    } else {
        fwrite(j->text.data, 1, j->text.n, stdout);
        putchar('\n');
    }
    return true;
}

static int each_line(job *j, const heed_lines *lines) {
    for (int64_t i = 0; i < lines->n; i++) {
        heed_error err = {0};
        bool ok = j->v->decode ? decode_line(j, lines->line[i], &err)
                               : encode_line(j, lines->line[i], &err);
        if (!ok) {
            fprintf(stderr, "heed: line %" PRId64 ": %s\n", i + 1,
                    err.text[0] ? err.text : "no memory");
            return CLI_INPUT;
        }
    }
    return CLI_FINE;
}

static heed_tokenizer *open_tokenizer(const char *path) {
    heed_error err = {0};
    heed_tokenizer *tokenizer = heed_tokenizer_open(NULL, path, &err);
    if (!tokenizer) {
        cli_fail(&err);
    }
    return tokenizer;
}

static int run(const cli_call *call) {
    const values_of_tokenize *v = call->values;
    if (v->explain && (v->json || v->jsonl || v->decode || v->ids)) {
        return cli_misuse("--explain stands alone");
    }
    if (v->decode && v->jsonl) {
        return cli_misuse("--decode reads lines of ids, --jsonl lines of texts: choose one");
    }
    heed_lines lines = {0};
    heed_tokenizer *tokenizer = open_tokenizer(call->arg[0]);
    job j = {.tokenizer = tokenizer, .v = call->values};
    int status = CLI_INPUT;
    if (tokenizer && cli_read_lines(&lines, call->args > 1 ? call->arg[1] : NULL)) {
        status = each_line(&j, &lines);
    }
    heed_tokens_free(&j.tokens);
    heed_buf_free(&j.text);
    free(j.id);
    heed_lines_free(&lines);
    heed_tokenizer_free(tokenizer);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "ids",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, ids),
     .help = "print ids, not tokens"},
    {.name = "decode",
     .letter = 'd',
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, decode),
     .help = "from lines of ids to text"},
    {.name = "no-special",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, no_special),
     .help = "leave out special tokens such as </s>"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, json),
     .help = "a JSON object a line: text, ids, tokens, offsets in bytes"},
    {.name = "jsonl",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, jsonl),
     .help = "lines are {\"text\": ..., \"pair\": ...}, the pair optional"},
    {.name = "explain",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_tokenize, explain),
     .help = "print what each stage makes of a line"},
    {0},
};

const cli_command cli_tokenize = {
    .name = "tokenize",
    .summary = "cuts lines of text into tokens, or joins tokens to text",
    .usage = "MODEL [FILE]",
    .examples = "  echo 我爱中国 | heed tokenize model\n"
                "  heed tokenize model corpus.txt.gz --json\n"
                "  echo 5 17 2 | heed tokenize model --decode\n"
                "  echo 我爱中国 | heed tokenize model --explain\n",
    .notes = "MODEL is a model's folder or a file that holds a tokenizer: tokenizer.json, a\n"
             "SentencePiece model, vocab.txt, GGUF, llama2.c's tokenizer.bin. FILE is plain or gz\n"
             "text, by default standard input. Spaces inside tokens are shown as ▁.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_tokenize),
    .least = 1,
    .most = 2,
    .run = run,
};
