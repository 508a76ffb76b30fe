/* options.c: command lines against a table of options.
 *
 * --name VALUE, --name=VALUE, -l VALUE, -lVALUE; flags alone; "--" ends the options; "-" is an
 * argument. Options may stand anywhere.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OPTIONS = 64 };

static void *field(void *values, const cli_option *o) {
    return (char *)values + o->offset;
}

static bool in_range(const cli_option *o, double x, const char *text) {
    if (o->high > o->low && !(x >= o->low && x <= o->high)) {
        cli_misuse("--%s wants %.15g to %.15g, not '%s'", o->name, o->low, o->high, text);
        return false;
    }
    return true;
}

static bool set_whole(void *values, const cli_option *o, const char *text) {
    char *end;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (errno || end == text || *end) {
        cli_misuse("--%s wants a whole number, not '%s'", o->name, text);
        return false;
    }
    *(cli_whole *)field(values, o) = (cli_whole){.value = x, .set = true};
    return in_range(o, (double)x, text);
}

static bool set_number(void *values, const cli_option *o, const char *text) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x)) {
        cli_misuse("--%s wants a number, not '%s'", o->name, text);
        return false;
    }
    *(cli_number *)field(values, o) = (cli_number){.value = x, .set = true};
    return in_range(o, x, text);
}

static bool set_choice(void *values, const cli_option *o, const char *text) {
    char list[200] = "";
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *(cli_whole *)field(values, o) = (cli_whole){.value = i, .set = true};
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    cli_misuse("--%s is one of %s, not '%s'", o->name, list, text);
    return false;
}

static bool set(void *values, const cli_option *o, const char *text) {
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)field(values, o) = true;
        return true;
    case CLI_TEXT:
        *(const char **)field(values, o) = text;
        return true;
    case CLI_WHOLE:
        return set_whole(values, o, text);
    case CLI_NUMBER:
        return set_number(values, o, text);
    case CLI_CHOICE:
        return set_choice(values, o, text);
    }
    return false;
}

static const cli_option *find_letter(const cli_command *command, char letter) {
    for (const cli_option *o = command->options; o->name; o++) {
        if (o->letter == letter) {
            return o;
        }
    }
    return NULL;
}

static const cli_option *find_alias(const cli_command *command, const char *word) {
    for (const cli_option *o = command->options; o->name; o++) {
        if (o->alias && strcmp(o->alias, word) == 0) {
            return o;
        }
    }
    return NULL;
}

static const cli_option *find_name(const cli_command *command, const char *name, size_t n) {
    for (const cli_option *o = command->options; o->name; o++) {
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0) {
            return o;
        }
    }
    return NULL;
}

static void complain_unknown(const cli_command *command, const char *word) {
    const char *names[MOST_OPTIONS];
    size_t n = 0;
    for (const cli_option *o = command->options; o->name && n < MOST_OPTIONS; o++) {
        names[n++] = o->name;
    }
    cli_misuse("'heed %s' has no option '%s'", command->name, word);
    const char *near = word[1] == '-' ? cli_nearest(word + 2, names, n) : NULL;
    if (near) {
        cli_hint("did you mean '--%s'?", near);
    } else {
        cli_hint("`heed %s --help` lists the options", command->name);
    }
}

/* The option that argv[*at] names and the text given with it (NULL: none); moves *at on where the
 * text is the next word. NULL after a complaint. */
static const cli_option *read_option(const cli_command *command, int argc, const char **argv,
                                     int *at, const char **text) {
    const char *word = argv[*at];
    const cli_option *alias = find_alias(command, word + 1);
    *text = NULL;
    if (alias) {
        return alias;
    }
    bool lengthy = word[1] == '-';
    const char *name = word + 2;
    size_t n = strcspn(name, "=");
    const cli_option *o = lengthy ? find_name(command, name, n) : find_letter(command, word[1]);
    if (!o) {
        complain_unknown(command, word);
        return NULL;
    }
    if (lengthy) {
        *text = name[n] == '=' ? name + n + 1 : NULL;
    } else {
        *text = word[2] ? word + 2 : NULL;
    }
    if (o->kind == CLI_FLAG && *text) {
        cli_misuse("--%s takes no value", o->name);
        return NULL;
    }
    if (o->kind != CLI_FLAG && !*text) {
        if (*at + 1 >= argc) {
            cli_misuse("--%s wants a value: %s", o->name, o->value);
            return NULL;
        }
        *text = argv[++*at];
    }
    return o;
}

bool cli_is_setting(const char *word) {
    return word[strcspn(word, "=/")] == '=' && access(word, F_OK) != 0;
}

static bool set_standards(const cli_command *command, void *values) {
    for (const cli_option *o = command->options; o->name; o++) {
        if (o->standard && !set(values, o, o->standard)) {
            return false;
        }
        if (o->kind == CLI_WHOLE || o->kind == CLI_CHOICE) {
            ((cli_whole *)field(values, o))->set = false;
        } else if (o->kind == CLI_NUMBER) {
            ((cli_number *)field(values, o))->set = false;
        }
    }
    return true;
}

int cli_parse(const cli_command *command, int argc, const char **argv, void *values, bool *help) {
    int args = 0;
    bool ended = false;
    if (!set_standards(command, values)) {
        return -1;
    }
    for (int i = 0; i < argc; i++) {
        const char *text, *word = argv[i];
        if (ended || word[0] != '-' || !word[1]) {
            argv[args++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            ended = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            *help = true;
            return args;
        }
        const cli_option *o = read_option(command, argc, argv, &i, &text);
        if (!o || !set(values, o, text)) {
            return -1;
        }
    }
    return args;
}
