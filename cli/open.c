/* open.c: what commands open: the engine, a model, lines of text.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

heed_engine *cli_engine(const cli_engine_values *values) {
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, (int)values->threads.value, values->isa, &err);
    if (!engine) {
        cli_fail(&err);
        if (err.code == HEED_VALUE) {
            cli_hint("`heed cpu` lists the instruction sets and why one is not usable");
        }
    }
    return engine;
}

const char *const cli_computes[] = {"kept", "float", "int8", "bf16", NULL};

heed_open_options cli_how_to_open(const cli_open_values *values) {
    return (heed_open_options){.untie = values->untie,
                               .compute = (heed_compute)values->compute.value};
}

heed_model *cli_open_model(heed_engine *engine, const char *path, const cli_open_values *values) {
    heed_error err = {0};
    const heed_open_options options = cli_how_to_open(values);
    heed_model *model = heed_model_open_with(engine, path, &options, &err);
    if (!model) {
        cli_fail(&err);
    }
    return model;
}

bool cli_needs_tokenizer(const heed_model *model, const char *what) {
    if (heed_model_tokenizer(model)) {
        return true;
    }
    cli_warn("the model has no tokenizer, by which %s: put its files beside the weights", what);
    return false;
}

/* All of standard input from malloc; NULL without memory. What could not be read is in ferror. */
static char *read_all(FILE *in, size_t *n) {
    size_t room = 1 << 16, got;
    char *data = malloc(room);
    *n = 0;
    while (data && (got = fread(data + *n, 1, room - *n, in)) > 0) {
        *n += got;
        if (*n == room) {
            char *more = realloc(data, room *= 2);
            if (!more) {
                free(data);
            }
            data = more;
        }
    }
    return data;
}

bool cli_read_lines(heed_lines *lines, const char *path) {
    heed_error err = {0};
    bool ok;
    if (path && strcmp(path, "-") != 0) {
        ok = heed_lines_read(lines, NULL, path, 0, &err);
    } else {
        size_t n;
        char *text = read_all(stdin, &n);
        if (!text) {
            cli_warn("no memory for standard input");
            return false;
        }
        if (ferror(stdin)) {
            free(text);
            cli_fail_system("cannot read standard input");
            return false;
        }
        ok = heed_lines_parse(lines, NULL, "standard input", text, n, &err);
        free(text);
    }
    if (!ok) {
        cli_fail(&err);
    }
    return ok;
}

FILE *cli_create(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        cli_fail_system("cannot write '%s'", path);
    }
    return out;
}

bool cli_finish(FILE *out, const char *path) {
    errno = 0;
    bool ok = fflush(out) == 0 && !ferror(out);
    int number = errno;
    if (fclose(out) != 0 && ok) {
        number = errno;
        ok = false;
    }
    errno = number;
    if (!ok) {
        cli_fail_system("cannot write '%s'", path);
    }
    return ok;
}
