/* ids.h: token ids on the command line: lists from a file, or those of a prompt.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_CLI_IDS_H
#define HEED_CLI_IDS_H

#include "cli/cli.h"

/* List i is id[start[i]] up to id[start[i + 1]]. Starts as {0}. */
typedef struct {
    int32_t *id;
    int64_t *start, n;
} cli_id_lists;

/* Reads a JSON list of lists of ids. False after a complaint. */
bool cli_read_ids(cli_id_lists *out, const char *path);
/* One list: what heed_prompt_ids makes of the text. False after a complaint. */
bool cli_prompt_ids(cli_id_lists *out, const heed_model *model, const char *text);
void cli_free_ids(cli_id_lists *lists);
/* To standard output. */
void cli_print_ids(const int32_t *id, int64_t n, const char *between);

#endif
