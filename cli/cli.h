/* cli.h: what every command leans on: its description, options, messages.
 *
 * A command is one file: a table of options, a description, a function. The table gives parsing and
 * --help (and what is made of it: manual page, completion). Exit statuses: 0; 1 your input; 2
 * usage. Results go to standard output, everything else to standard error.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_CLI_CLI_H
#define HEED_CLI_CLI_H

#include "heed.h"

#include <stdio.h>

enum { CLI_FINE = 0, CLI_INPUT = 1, CLI_USAGE = 2 };

/* ---- Options -------------------------------------------------------------------------------- */

/* What an option's field is: bool; const char * (NULL: not given); cli_whole; cli_number; cli_whole
 * holding the index of a choice. */
typedef enum { CLI_FLAG, CLI_TEXT, CLI_WHOLE, CLI_NUMBER, CLI_CHOICE } cli_kind;
typedef struct {
    int64_t value;
    bool set;
} cli_whole;
typedef struct {
    double value;
    bool set;
} cli_number;

typedef struct {
    const char *name;  /* "beam": given as --beam N or --beam=N */
    char letter;       /* 'b': given as -b N or -bN; 0: none */
    const char *alias; /* "lc": a flag given as -lc too */
    cli_kind kind;
    size_t offset;              /* of its field in the command's values */
    const char *value;          /* what stands behind it in the help: "N", "FILE" */
    const char *help;           /* one line */
    const char *standard;       /* default: put into the field as if given, and shown */
    const char *otherwise;      /* shown as the default where the field stays unset */
    double low, high;           /* range of a number, where high > low */
    const char *const *choices; /* ends with NULL */
} cli_option;

/* ---- Commands ------------------------------------------------------------------------------- */

typedef struct {
    const char *const *arg; /* what is no option */
    int args;
    const void *values; /* the command's, filled from its options */
} cli_call;

typedef struct {
    const char *name, *summary;
    const char *usage;         /* arguments: "MODEL [FILE]" */
    const char *examples;      /* lines, indented by two */
    const char *notes;         /* text behind the options, or NULL */
    const cli_option *options; /* ends with name NULL */
    size_t bytes;              /* of its values, at most CLI_VALUES */
    int least, most;           /* arguments; most < 0: any number */
    int (*run)(const cli_call *call);
} cli_command;

enum { CLI_VALUES = 1024 };

#define COMMAND(name) extern const cli_command cli_##name;
#include "cli/commands.def"
#undef COMMAND

/* options.c: fills values and puts what is no option to the front of argv; its number, or -1 after
 * a complaint. argv[0] is the first word behind the command's name. *help: --help was among them.
 */
int cli_parse(const cli_command *command, int argc, const char **argv, void *values, bool *help);
/* KEY=VALUE: no '/' stands before the first '=', and no file has that name. */
bool cli_is_setting(const char *word);
/* help.c */
void cli_print_help(const cli_command *command, FILE *out);

/* ---- Options that several commands have ------------------------------------------------------ */

typedef struct {
    cli_whole threads;
    const char *isa;
} cli_engine_values;
/* Entries of an option table for the field `engine` of the values type `type`. */
#define CLI_ENGINE_OPTIONS(type)                                                                   \
    {.name = "threads",                                                                            \
     .letter = 'j',                                                                                \
     .kind = CLI_WHOLE,                                                                            \
     .offset = offsetof(type, engine.threads),                                                     \
     .value = "N",                                                                                 \
     .help = "worker threads; results do not depend on them",                                      \
     .otherwise = "physical cores",                                                                \
     .low = 1,                                                                                     \
     .high = 1024},                                                                                \
    {                                                                                              \
        .name = "isa", .kind = CLI_TEXT, .offset = offsetof(type, engine.isa), .value = "NAME",    \
        .help = "instruction set, see `heed cpu`", .otherwise = "$HEED_ISA, else the best"         \
    }
bool cli_is_folder(const char *path);
/* NULL after a complaint. */
heed_engine *cli_engine(const cli_engine_values *values);

/* How a model is opened: the field `open` of a values type. */
typedef struct {
    bool untie;
    cli_whole compute;
} cli_open_values;
#define CLI_OPEN_OPTIONS(type)                                                                     \
    {.name = "untie",                                                                              \
     .kind = CLI_FLAG,                                                                             \
     .offset = offsetof(type, open.untie),                                                         \
     .help = "take the file's output matrix, though config.json says it is the embedding"},        \
    {                                                                                              \
        .name = "compute", .kind = CLI_CHOICE, .offset = offsetof(type, open.compute),             \
        .choices = cli_computes, .value = "HOW", .standard = "kept",                               \
        .help = "products with weights"                                                            \
    }
extern const char *const cli_computes[]; /* by heed_compute */
heed_open_options cli_how_to_open(const cli_open_values *values);
/* NULL after a complaint. */
heed_model *cli_open_model(heed_engine *engine, const char *path, const cli_open_values *values);
/* False after a complaint that the model has no tokenizer, by which what is named is done. */
bool cli_needs_tokenizer(const heed_model *model, const char *what);
/* Reads a file, plain or gz, or standard input for "-" and NULL. False after a complaint. */
bool cli_read_lines(heed_lines *lines, const char *path);
/* An empty file to write to; NULL after a complaint. */
FILE *cli_create(const char *path);
/* Closes it; false after a complaint, where not all that was written is in it. */
bool cli_finish(FILE *out, const char *path);

/* ---- Messages -------------------------------------------------------------------------------- */

/* "heed: ..." on standard error; returns CLI_INPUT. */
int cli_fail(const heed_error *err);
/* "heed: ...: " and the system's words for errno, where that is set; returns CLI_INPUT. */
int cli_fail_system(const char *format, ...) HEED_PRINTF(1, 2);
/* "heed: ..."; returns CLI_USAGE. */
int cli_misuse(const char *format, ...) HEED_PRINTF(1, 2);
void cli_warn(const char *format, ...) HEED_PRINTF(1, 2);
/* "hint: ..." */
void cli_hint(const char *format, ...) HEED_PRINTF(1, 2);
/* The word of a list (ends with NULL) nearest to `word` by edits, or NULL where none is near. */
const char *cli_nearest(const char *word, const char *const *list, size_t n);

/* Columns of the terminal that a descriptor is, 80 where that is not known. */
int cli_columns(int descriptor);
/* A line that is rewritten on a terminal (several times a second at most, cut to its width), and
 * printed now and then elsewhere. Starts as {0}. */
typedef struct {
    double last;
    int shown; /* columns on the terminal */
} cli_progress;
void cli_show_progress(cli_progress *p, const char *format, ...) HEED_PRINTF(2, 3);
/* Takes the line away, or leaves it as the last. */
void cli_end_progress(cli_progress *p);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* UTF-8 in quotes, escaped. */
void cli_print_string(FILE *out, const char *s, size_t n);
/* The shortest digits that read back to the same number; null where it is not finite. */
void cli_print_number(FILE *out, double x);

#endif
