/* gguf_split.c: GGUF files in parts.
 *
 * llama.cpp's gguf-split numbers them in their names, NAME-00001-of-00003.gguf, and in their
 * settings: split.no (from 0), split.count, split.tensors.count (of all parts together). The first
 * has the settings of the model. Every part must be there and say the same as its name.
 * SPDX-License-Identifier: MIT
 */
#include "file/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"

enum { PATH = 4096, ENDING = 40, PARTS = 99999 };

/* A setting's integer; `absent` where there is none. */
static int64_t number(const heed_gguf *g, const char *key, int64_t absent) {
    const heed_gguf_value *v = heed_gguf_find(g, key);
    return v && v->kind == HEED_GGUF_INTEGER ? v->integer : absent;
}

static void name_ending(char out[ENDING], int64_t part, int64_t parts) {
    snprintf(out, ENDING, "-%05" PRId64 "-of-%05" PRId64 ".gguf", part, parts);
}

/* The path of another part, by that of part `no` (from 1). */
static bool path_of(const char *path, int64_t no, int64_t other, int64_t parts, char out[PATH],
                    heed_error *err) {
    char mine[ENDING], theirs[ENDING];
    name_ending(mine, no, parts);
    name_ending(theirs, other, parts);
    size_t n = strlen(path), end = strlen(mine);
    if (n < end || n + 1 > PATH || strcmp(path + n - end, mine) != 0)
        return heed_fail(err, HEED_FILE,
                         "'%s': this is part %" PRId64 " of %" PRId64
                         ", whose name must end in '%s' for the others to be found",
                         path, no, parts, mine);
    snprintf(out, PATH, "%.*s%s", (int)(n - end), path, theirs);
    return true;
}

static bool add_part(const heed_host *host, heed_gguf *g, const char *path, int64_t no,
                     int64_t parts, heed_error *err) {
    if (!heed_is_there(path))
        return heed_fail(err, HEED_FILE, "part %" PRId64 " of %" PRId64 " is missing: '%s'", no,
                         parts, path);
    heed_gguf *part = heed_gguf_open_part(host, path, err);
    if (!part)
        return false;
    int64_t said = number(part, "split.no", -1), of = number(part, "split.count", -1);
    if (said == no - 1 && of == parts) {
        if (heed_gguf_join(g, part, err))
            return true;
        heed_error_at(err, "'%s'", path);
        return false;
    }
    heed_gguf_free(part);
    return heed_fail(err, HEED_FILE,
                     "'%s': split.no is %" PRId64 " of %" PRId64 ", by its name it is %" PRId64
                     " of %" PRId64,
                     path, said, of, no - 1, parts);
}

static bool join(const heed_host *host, heed_gguf *g, const char *path, int64_t parts,
                 heed_error *err) {
    char other[PATH];
    int64_t no = number(g, "split.no", -1) + 1;
    if (parts > PARTS || no < 1 || no > parts)
        return heed_fail(err, HEED_FILE, "'%s': split.no is %" PRId64 ", split.count %" PRId64,
                         path, no - 1, parts);
    if (!path_of(path, no, 1, parts, other, err))
        return false;
    if (no > 1)
        return heed_fail(err, HEED_FILE,
                         "'%s': this is part %" PRId64 " of %" PRId64 ": name the first, '%s'",
                         path, no, parts, other);
    for (int64_t i = 2; i <= parts; i++)
        if (!path_of(path, 1, i, parts, other, err) || !add_part(host, g, other, i, parts, err))
            return false;
    int64_t have = heed_tensors_count(heed_gguf_tensors(g));
    int64_t wanted = number(g, "split.tensors.count", have);
    return have == wanted ||
           heed_fail(err, HEED_FILE,
                     "'%s': the parts have %" PRId64 " tensors, split.tensors.count is %" PRId64,
                     path, have, wanted);
}

/* Are all of the folder's files the parts of one? */
int heed_gguf_in_folder(const char *folder, char out[HEED_GGUF_NAME]) {
    char all[ENDING], first[ENDING + 8], one[HEED_GGUF_NAME];
    int files = heed_find_ending(folder, ".gguf", out, HEED_GGUF_NAME);
    snprintf(all, sizeof all, "-of-%05d.gguf", files);
    snprintf(first, sizeof first, "-00001%s", all);
    bool parts = files > 1 && heed_find_ending(folder, all, one, sizeof one) == files &&
                 heed_find_ending(folder, first, out, HEED_GGUF_NAME) == 1;
    return parts ? 1 : files;
}

heed_gguf *heed_gguf_open(const heed_host *host, const char *path, heed_error *err) {
    heed_gguf *g = heed_gguf_open_part(host, path, err);
    int64_t parts = g ? number(g, "split.count", 1) : 1;
    if (parts <= 1 || join(host, g, path, parts, err))
        return g;
    heed_gguf_free(g);
    return NULL;
}
