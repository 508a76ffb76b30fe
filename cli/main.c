/* main.c: the command `heed`: finds the command named, reads its options, runs it.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const COMMANDS[] = {
#define COMMAND(name) &cli_##name,
#include "cli/commands.def"
#undef COMMAND
};
enum { COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static const cli_command *find(const char *name) {
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0) {
            return COMMANDS[i];
        }
    }
    return NULL;
}

static int unknown(const char *name) {
    const char *names[COUNT];
    for (int i = 0; i < COUNT; i++) {
        names[i] = COMMANDS[i]->name;
    }
    cli_misuse("there is no command '%s'", name);
    const char *near = cli_nearest(name, names, COUNT);
    if (near) {
        cli_hint("did you mean 'heed %s'?", near);
    } else {
        cli_hint("`heed help` lists the commands");
    }
    return CLI_USAGE;
}

static void print_overview(FILE *out) {
    fprintf(out, "usage: heed COMMAND ...\n\n");
    for (int i = 0; i < COUNT; i++) {
        fprintf(out, "  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    }
    fprintf(out,
            "\n`heed COMMAND --help` tells a command's options; `heed --version`, the version.\n"
            "Results go to standard output, all else to standard error. Exit status: 1 for\n"
            "bad input, 2 for bad usage.\n");
}

/* Results that did not reach their reader are no results. */
static int flushed(int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return status;
    }
    int failed = cli_fail_system("cannot write to standard output");
    return status ? status : failed;
}

static int run(const cli_command *command, int argc, const char **argv) {
    _Alignas(max_align_t) unsigned char values[CLI_VALUES] = {0};
    bool help = false;
    int args = cli_parse(command, argc, argv, values, &help);
    if (help) {
        cli_print_help(command, stdout);
        return CLI_FINE;
    }
    if (args < 0) {
        return CLI_USAGE;
    }
    if (command->most == 0 && args > 0) {
        return cli_misuse("'heed %s' takes no arguments", command->name);
    }
    if (args < command->least || (command->most >= 0 && args > command->most)) {
        cli_misuse("'heed %s' wants %s%s", command->name, command->usage,
                   args < command->least ? "" : " and no more");
        cli_hint("`heed %s --help` shows examples", command->name);
        return CLI_USAGE;
    }
    return command->run(&(cli_call){.arg = argv, .args = args, .values = values});
}

static int help(int argc, const char **argv) {
    const cli_command *command = argc > 0 ? find(argv[0]) : NULL;
    if (argc > 0 && !command) {
        return unknown(argv[0]);
    }
    if (command) {
        cli_print_help(command, stdout);
    } else {
        print_overview(stdout);
    }
    return CLI_FINE;
}

static int dispatch(int argc, const char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("heed %s\n", heed_version());
        return CLI_FINE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return help(argc - 2, argv + 2);
    }
    const cli_command *command = find(argv[1]);
    return command ? run(command, argc - 2, argv + 2) : unknown(argv[1]);
}

/* Models are read where they lie: bytes that somebody has cut off a file meanwhile are met as this
 * signal. Any other bus error is ours, and ends the program as it would without this. */
static void shrunk(int number, siginfo_t *info, void *context) {
    static const char line[] = "heed: a file became shorter while it was in use\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        signal(number, SIG_DFL);
        return;
    }
    ssize_t told = write(STDERR_FILENO, line, sizeof line - 1);
    (void)told;
    _exit(CLI_INPUT);
}

static void expect_shrinking(void) {
    struct sigaction action = {.sa_sigaction = shrunk, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
}

int main(int argc, char **argv) {
    expect_shrinking();
    setlocale(LC_CTYPE, "");
    return flushed(dispatch(argc, (const char **)argv));
}
