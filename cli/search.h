/* search.h: the options of a search, for the commands that translate.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_CLI_SEARCH_H
#define HEED_CLI_SEARCH_H

#include "cli/cli.h"

typedef struct {
    cli_whole beam, stop, min_length, max_length, batch_tokens, max_source, no_repeat;
    cli_number length_penalty, max_ratio, repetition_penalty;
    const char *start, *first;
    bool no_unk;
} cli_search_values;

extern const char *const cli_stops[];

/* Tokens that were given. */
typedef struct {
    int32_t start, first;
} cli_tokens;

/* The model's own settings with what was given laid over them; they point into *tokens. False, and
 * told, where a token is none. */
bool cli_search(const heed_model *model, const cli_search_values *v, cli_tokens *tokens,
                heed_translate_options *out);
/* Says which lines were cut or empty; `what` names them ("line"). */
void cli_report_sources(const heed_translations *t, const char *what);

#define CLI_SEARCH_OPTIONS(type)                                                                   \
    {.name = "beam",                                                                               \
     .letter = 'b',                                                                                \
     .kind = CLI_WHOLE,                                                                            \
     .offset = offsetof(type, search.beam),                                                        \
     .value = "N",                                                                                 \
     .help = "beams; 1 is greedy",                                                                 \
     .otherwise = "the model's",                                                                   \
     .low = 1,                                                                                     \
     .high = 1000},                                                                                \
        {.name = "length-penalty",                                                                 \
         .kind = CLI_NUMBER,                                                                       \
         .offset = offsetof(type, search.length_penalty),                                          \
         .value = "X",                                                                             \
         .help = "score = log-probability / tokens^X",                                             \
         .otherwise = "the model's"},                                                              \
        {.name = "stop",                                                                           \
         .kind = CLI_CHOICE,                                                                       \
         .offset = offsetof(type, search.stop),                                                    \
         .value = "WHEN",                                                                          \
         .help = "when a search with beams is over",                                               \
         .otherwise = "the model's",                                                               \
         .choices = cli_stops},                                                                    \
        {.name = "min-length",                                                                     \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, search.min_length),                                              \
         .value = "N",                                                                             \
         .help = "tokens at least, start and end counted",                                         \
         .otherwise = "the model's",                                                               \
         .low = 0,                                                                                 \
         .high = 1e9},                                                                             \
        {.name = "max-length",                                                                     \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, search.max_length),                                              \
         .value = "N",                                                                             \
         .help = "tokens at most, start and end counted",                                          \
         .otherwise = "the model's",                                                               \
         .low = 2,                                                                                 \
         .high = 1e9},                                                                             \
        {.name = "max-ratio",                                                                      \
         .kind = CLI_NUMBER,                                                                       \
         .offset = offsetof(type, search.max_ratio),                                               \
         .value = "X",                                                                             \
         .help = "also at most X times the source's tokens, plus 10",                              \
         .otherwise = "no such bound",                                                             \
         .low = 0.1,                                                                               \
         .high = 1000},                                                                            \
        {.name = "max-source",                                                                     \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, search.max_source),                                              \
         .value = "N",                                                                             \
         .help = "longer sources are cut to N tokens",                                             \
         .otherwise = "what the model holds",                                                      \
         .low = 1,                                                                                 \
         .high = 1e9},                                                                             \
        {.name = "no-repeat",                                                                      \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, search.no_repeat),                                               \
         .value = "N",                                                                             \
         .help = "no run of N tokens comes twice; 0: it may",                                      \
         .otherwise = "the model's",                                                               \
         .low = 0,                                                                                 \
         .high = 1e9},                                                                             \
        {.name = "repeat-penalty",                                                                 \
         .kind = CLI_NUMBER,                                                                       \
         .offset = offsetof(type, search.repetition_penalty),                                      \
         .value = "X",                                                                             \
         .help = "tokens that have come are less likely by X; 1: they are not",                    \
         .otherwise = "the model's",                                                               \
         .low = 0.01,                                                                              \
         .high = 100},                                                                             \
        {.name = "start",                                                                          \
         .kind = CLI_TEXT,                                                                         \
         .offset = offsetof(type, search.start),                                                   \
         .value = "TOKEN",                                                                         \
         .help = "what the decoder begins with (mBART: the language, as ro_RO)",                   \
         .otherwise = "the model's"},                                                              \
        {.name = "first",                                                                          \
         .kind = CLI_TEXT,                                                                         \
         .offset = offsetof(type, search.first),                                                   \
         .value = "TOKEN",                                                                         \
         .help = "the first token behind it (NLLB: the language, as fra_Latn)",                    \
         .otherwise = "the model's"},                                                              \
        {.name = "no-unk",                                                                         \
         .kind = CLI_FLAG,                                                                         \
         .offset = offsetof(type, search.no_unk),                                                  \
         .help = "never the unknown token"},                                                       \
    {                                                                                              \
        .name = "batch-tokens", .kind = CLI_WHOLE, .offset = offsetof(type, search.batch_tokens),  \
        .value = "N", .help = "source tokens worked on at once; results do not depend on it",      \
        .otherwise = "2048", .low = 1, .high = 1e7                                                 \
    }

#endif
