/* open_keep.c: the files that a tokenizer was opened from, kept for saving.
 *
 * A SentencePiece model has no tokenizer.json that is quite the same, and Marian's pair none at
 * all. So what a folder held is what a folder gets again: the same ids here, and the same classes
 * in transformers. Nothing is kept of a tokenizer.json, whose own text is there anyway.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "text/open.h"

enum { PATH = 4096 };

struct heed_kept {
    heed_kept *after;
    const char *name;
    char *data;
    size_t n;
};

static bool keep_one(heed_tokenizer *t, const heed_folder *f, const char *name, heed_error *err) {
    heed_kept *k = heed_region_alloc(&t->region, 1, sizeof *k, err);
    if (!k) {
        return false;
    }
    k->name = heed_region_text(&t->region, name, strlen(name), err);
    k->data = k->name ? heed_folder_read(f, name, &k->n, err) : NULL;
    if (!k->data) {
        return false;
    }
    k->after = t->kept;
    t->kept = k;
    return true;
}

bool heed_keep_files(heed_tokenizer *t, const heed_folder *f, const char *const *names, size_t n,
                     heed_error *err) {
    static const char *const settings[] = {"tokenizer_config.json", "special_tokens_map.json",
                                           "added_tokens.json"};
    for (size_t i = 0; i < n; i++) {
        if (names[i] && !keep_one(t, f, names[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (heed_folder_has(f, settings[i]) && !keep_one(t, f, settings[i], err)) {
            return false;
        }
    }
    return true;
}

void heed_kept_free(const heed_tokenizer *t) {
    for (heed_kept *k = t->kept; k; k = k->after) {
        heed_free(t->host, k->data);
    }
}

bool heed_tokenizer_save_folder(const heed_tokenizer *t, const char *folder, bool *own,
                                heed_error *err) {
    char path[PATH];
    *own = t->kept != NULL;
    if (!t->kept) {
        return heed_join_path(path, sizeof path, folder, "tokenizer.json", err) &&
               heed_tokenizer_save(t, path, err);
    }
    for (const heed_kept *k = t->kept; k; k = k->after) {
        if (!heed_join_path(path, sizeof path, folder, k->name, err) ||
            !heed_write_file(t->host, path, k->data, k->n, err)) {
            return false;
        }
    }
    return true;
}
