/* tokenize.c: text to tokens and back.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bool json, ids, decode, no_special;
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

static bool print_json(job *j, heed_line line) {
    printf("{\"text\": ");
    cli_print_string(stdout, line.s, line.n);
    printf(", \"ids\": [");
    for (size_t i = 0; i < j->tokens.n; i++) {
        printf("%s%" PRId32, i ? ", " : "", j->tokens.item[i].id);
    }
    printf("], \"tokens\": [");
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

static bool encode_line(job *j, heed_line line, heed_error *err) {
    j->tokens.n = 0;
    return heed_encode(j->tokenizer, line.s, line.n, !j->v->no_special, &j->tokens, err) &&
           (j->v->json ? print_json(j, line) : print_plain(j));
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
        err->code = HEED_TEXT;
        snprintf(err->text, sizeof err->text, "token ids are whole numbers divided by spaces");
        return false;
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

/* A model's folder, or a tokenizer.json itself. */
static heed_tokenizer *open_tokenizer(const char *path) {
    char inner[4096];
    heed_error err = {0};
    if (cli_is_folder(path)) {
        snprintf(inner, sizeof inner, "%s/tokenizer.json", path);
        path = inner;
    }
    heed_tokenizer *tokenizer = heed_tokenizer_open(NULL, path, &err);
    if (!tokenizer) {
        cli_fail(&err);
    }
    return tokenizer;
}

static int run(const cli_call *call) {
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
    {0},
};

const cli_command cli_tokenize = {
    .name = "tokenize",
    .summary = "cuts lines of text into tokens, or joins tokens to text",
    .usage = "MODEL [FILE]",
    .examples = "  echo 我爱中国 | heed tokenize model\n"
                "  heed tokenize model corpus.txt.gz --json\n"
                "  echo 5 17 2 | heed tokenize model --decode\n",
    .notes = "MODEL is a model's folder or a tokenizer.json; FILE is plain or gz text, by default\n"
             "standard input. Spaces inside tokens are shown as ▁.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_tokenize),
    .least = 1,
    .most = 2,
    .run = run,
};
