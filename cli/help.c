/* help.c: a command's --help, from its table.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

/* "  -b, --beam N" */
static void print_name(const cli_option *o, char *out, size_t size) {
    char letter[8] = "    ";
    if (o->alias) {
        snprintf(letter, sizeof letter, "-%s,", o->alias);
    } else if (o->letter) {
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    }
    snprintf(out, size, "  %s--%s%s%s", letter, o->name, o->value ? " " : "",
             o->value ? o->value : "");
}

static int widest(const cli_option *options) {
    int most = 0;
    for (const cli_option *o = options; o->name; o++) {
        char name[100];
        print_name(o, name, sizeof name);
        int width = heed_utf8_columns(name, strlen(name));
        most = width > most ? width : most;
    }
    return most;
}

static void print_option(const cli_option *o, int width, FILE *out) {
    char name[100];
    const char *standard = o->standard ? o->standard : o->otherwise;
    print_name(o, name, sizeof name);
    fprintf(out, "%s%*s  %s", name, width - heed_utf8_columns(name, strlen(name)), "", o->help);
    for (int i = 0; o->choices && o->choices[i]; i++) {
        fprintf(out, "%s%s", i ? ", " : ": ", o->choices[i]);
    }
    if (standard) {
        fprintf(out, " (default: %s)", standard);
    }
    fputc('\n', out);
}

void cli_print_help(const cli_command *command, FILE *out) {
    fprintf(out, "usage: heed %s %s%s[options]\n\n%s.\n\n%s\n", command->name, command->usage,
            command->usage[0] ? " " : "", command->summary, command->examples);
    int width = widest(command->options);
    for (const cli_option *o = command->options; o->name; o++) {
        print_option(o, width, out);
    }
    print_option(&(cli_option){.name = "help", .letter = 'h', .help = "this text"}, width, out);
    if (command->notes) {
        fprintf(out, "\n%s", command->notes);
    }
}
