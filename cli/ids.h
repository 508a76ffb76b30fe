/* ids.h: token ids on the command line: lists from a file.
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
void cli_free_ids(cli_id_lists *lists);

#endif
