/* eval_text.h: the part of `heed eval` that measures a text.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_CLI_EVAL_TEXT_H
#define HEED_CLI_EVAL_TEXT_H

#include "cli/cli.h"

typedef struct {
    const char *text;
    cli_whole window, stride, windows;
    bool llama;
} cli_text_values;

/* Prints perplexity, loss and number of tokens; an exit status. */
int cli_eval_text(heed_model *model, const cli_text_values *v, bool json);

#define CLI_TEXT_OPTIONS(type)                                                                     \
    {.name = "text",                                                                               \
     .kind = CLI_TEXT,                                                                             \
     .offset = offsetof(type, plain.text),                                                         \
     .value = "FILE",                                                                              \
     .help = "perplexity of this text, for a model that continues texts"},                         \
        {.name = "window",                                                                         \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, plain.window),                                                   \
         .value = "N",                                                                             \
         .help = "tokens of the text that the model sees at once",                                 \
         .otherwise = "512, or all positions",                                                     \
         .low = 2,                                                                                 \
         .high = 1e6},                                                                             \
        {.name = "stride",                                                                         \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, plain.stride),                                                   \
         .value = "N",                                                                             \
         .help = "tokens from the begin of one window to the next",                                \
         .otherwise = "the window",                                                                \
         .low = 1,                                                                                 \
         .high = 1e6},                                                                             \
        {.name = "windows",                                                                        \
         .kind = CLI_WHOLE,                                                                        \
         .offset = offsetof(type, plain.windows),                                                  \
         .value = "N",                                                                             \
         .help = "windows at most",                                                                \
         .otherwise = "all",                                                                       \
         .low = 1,                                                                                 \
         .high = 1e9},                                                                             \
    {                                                                                              \
        .name = "llama", .kind = CLI_FLAG, .offset = offsetof(type, plain.llama),                  \
        .help = "count as llama.cpp does: the second half of each whole window"                    \
    }

#endif
