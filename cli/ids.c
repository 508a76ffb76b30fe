/* ids.c: token ids from a file or a prompt, and to standard output.
 * SPDX-License-Identifier: MIT
 */
#include "cli/ids.h"
#include "heed_generate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void cli_free_ids(cli_id_lists *lists) {
    free(lists->id);
    free(lists->start);
}

void cli_print_ids(const int32_t *id, int64_t n, const char *between) {
    for (int64_t i = 0; i < n; i++) {
        printf("%s%" PRId32, i ? between : "", id[i]);
    }
}

/* Room for n lists of `ids` ids in all. */
static bool make(cli_id_lists *out, size_t n, size_t ids) {
    out->n = (int64_t)n;
    out->id = malloc((ids + 1) * sizeof *out->id);
    out->start = calloc(n + 1, sizeof *out->start);
    if (!out->id || !out->start) {
        cli_warn("no memory for %zu token ids", ids);
    }
    return out->id && out->start;
}

bool cli_prompt_ids(cli_id_lists *out, const heed_model *model, const char *text) {
    heed_tokens tokens = {0};
    heed_error err = {0};
    bool ok = heed_prompt_ids(model, text, strlen(text), &tokens, &err);
    if (!ok) {
        cli_fail(&err);
    }
    if (!ok && !heed_model_tokenizer(model)) {
        cli_hint("--ids FILE takes token ids");
    }
    ok = ok && make(out, 1, tokens.n);
    for (size_t i = 0; ok && i < tokens.n; i++) {
        out->id[i] = tokens.item[i].id;
        out->start[1]++;
    }
    heed_tokens_free(&tokens);
    return ok;
}

static size_t count_ids(const json_t *root) {
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        n += json_array_size(json_array_get(root, i));
    }
    return n;
}

static bool copy_ids(cli_id_lists *out, const json_t *root, const char *path) {
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *row = json_array_get(root, i);
        out->start[i + 1] = out->start[i] + (int64_t)json_array_size(row);
        for (size_t j = 0; j < json_array_size(row); j++) {
            json_int_t id = json_integer_value(json_array_get(row, j));
            if (!json_is_integer(json_array_get(row, j)) || id < 0 || id > INT32_MAX) {
                cli_warn("'%s': list %zu holds something that is no token id, at place %zu", path,
                         i + 1, j + 1);
                return false;
            }
            out->id[out->start[i] + (int64_t)j] = (int32_t)id;
        }
        if (!json_is_array(row)) {
            cli_warn("'%s': item %zu is no list of token ids", path, i + 1);
            return false;
        }
    }
    return true;
}

bool cli_read_ids(cli_id_lists *out, const char *path) {
    json_error_t error;
    FILE *in = fopen(path, "r");
    if (!in) {
        cli_fail_system("cannot open '%s'", path);
        return false;
    }
    json_t *root = json_loadf(in, 0, &error);
    if (ferror(in)) {
        cli_fail_system("cannot read '%s'", path);
        fclose(in);
        json_decref(root);
        return false;
    }
    fclose(in);
    if (!root) {
        cli_warn("'%s' line %d column %d: %s", path, error.line, error.column, error.text);
        return false;
    }
    bool ok = json_is_array(root);
    if (!ok) {
        cli_warn("'%s' is to hold a list of lists of token ids", path);
    } else {
        ok = make(out, json_array_size(root), count_ids(root)) && copy_ids(out, root, path);
    }
    json_decref(root);
    return ok;
}
