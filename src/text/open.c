/* open.c: opening a tokenizer from whatever a file or a folder holds.
 *
 * A folder is searched for the files of `forms` in that order, then for one GGUF file; the first
 * form that is whole is opened. A file says by its first bytes what it is; only the formats that
 * are plain text are known by their names.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/little.h"
#include "file/llama2c.h"
#include "text/open.h"
#include "text/spm.h"

enum { PATH = 4096 };
static const size_t FILE_LIMIT = (size_t)1 << 30;

/* ---- Folders ------------------------------------------------------------------------------- */

static heed_tokenizer *open_json(const heed_folder *f, const char *name, heed_error *err) {
    char path[PATH];
    return heed_join_path(path, sizeof path, f->path, name, err)
               ? heed_tokenizer_open(f->host, path, err)
               : NULL;
}

static heed_tokenizer *open_merges(const heed_folder *f, const char *name, heed_error *err) {
    (void)name;
    return heed_open_merges(f, err);
}

typedef struct {
    const char *file, *also, *besides; /* all must be there; NULL: no more */
    heed_tokenizer *(*open)(const heed_folder *f, const char *name, heed_error *err);
    const char *target; /* the other side's file; NULL: one tokenizer serves both */
} form;

static const form forms[] = {
    {"tokenizer.json", NULL, NULL, open_json, NULL},
    {"source.spm", "target.spm", "vocab.json", heed_open_marian, "target.spm"},
    {"tokenizer.model", NULL, NULL, heed_open_spm, NULL},
    {"spiece.model", NULL, NULL, heed_open_spm, NULL},
    {"sentencepiece.bpe.model", "vocab.json", NULL, heed_open_m2m, NULL},
    {"sentencepiece.bpe.model", NULL, NULL, heed_open_spm, NULL},
    {"vocab.json", "merges.txt", NULL, open_merges, NULL},
    {"vocab.txt", NULL, NULL, heed_open_bert, NULL},
    {"tokenizer.bin", NULL, NULL, heed_open_llama2c, NULL},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const form *find_form(const heed_folder *f) {
    for (int i = 0; i < FORMS; i++) {
        if (heed_folder_has(f, forms[i].file) &&
            (!forms[i].also || heed_folder_has(f, forms[i].also)) &&
            (!forms[i].besides || heed_folder_has(f, forms[i].besides))) {
            return &forms[i];
        }
    }
    return NULL;
}

bool heed_tokenizer_in_folder(const char *path, const char *model_type) {
    const form *found = find_form(&(heed_folder){.path = path});
    return found && (found->open != heed_open_bert || heed_vocab_txt_of(model_type));
}

static bool none_there(const char *path, heed_error *err) {
    char looked[400] = "";
    for (int i = 0; i < FORMS; i++) {
        size_t n = strlen(looked);
        snprintf(looked + n, sizeof looked - n, "%s%s%s%s%s, ", forms[i].file,
                 forms[i].also ? " with " : "", forms[i].also ? forms[i].also : "",
                 forms[i].besides ? " and " : "", forms[i].besides ? forms[i].besides : "");
    }
    return heed_fail(err, HEED_FILE, "'%s' has no tokenizer: looked for %sone GGUF file", path,
                     looked);
}

static heed_tokenizer *open_and_keep(const heed_folder *f, const form *found, const char *name,
                                     heed_error *err) {
    const char *const names[] = {found->file, found->also, found->besides};
    heed_tokenizer *t = found->open(f, name, err);
    if (t && !t->json && !heed_keep_files(t, f, names, sizeof names / sizeof names[0], err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

static bool open_form(const heed_folder *f, const form *found, heed_tokenizer_pair *out,
                      heed_error *err) {
    out->source = open_and_keep(f, found, found->file, err);
    if (out->source && found->target) {
        out->target = open_and_keep(f, found, found->target, err);
    }
    if (out->source && (out->target || !found->target)) {
        return true;
    }
    if (found->open != open_json) {
        heed_error_at(err, "'%s' %s", f->path, out->source ? found->target : found->file);
    }
    heed_tokenizer_free(out->source);
    out->source = NULL;
    return false;
}

bool heed_tokenizer_open_folder(const heed_host *host, const char *path, heed_tokenizer_pair *out,
                                heed_error *err) {
    heed_folder f;
    *out = (heed_tokenizer_pair){0};
    const form *found = find_form(&(heed_folder){.path = path});
    if (!found) {
        return none_there(path, err);
    }
    if (!heed_folder_open(&f, host, path, err)) {
        return false;
    }
    bool ok = open_form(&f, found, out, err);
    heed_folder_close(&f);
    return ok;
}

/* ---- Files --------------------------------------------------------------------------------- */

/* A file that means something only together with the settings beside it. */
static heed_tokenizer *open_beside(const heed_host *host, const char *path, heed_error *err) {
    char folder[PATH];
    const char *name = heed_name_in(path);
    heed_folder f;
    if (!heed_folder_of(folder, sizeof folder, path, err) ||
        !heed_folder_open(&f, host, folder, err)) {
        return NULL;
    }
    bool words = heed_ends_in(name, ".txt") && strcmp(name, "merges.txt") != 0;
    heed_tokenizer *t = words ? heed_open_bert(&f, name, err) : heed_open_merges(&f, err);
    heed_folder_close(&f);
    return t;
}

static bool looks_json(const char *data, size_t n) {
    size_t at = 0;
    while (at < n && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t' ||
                      (unsigned char)data[at] == 0xef || (unsigned char)data[at] == 0xbb ||
                      (unsigned char)data[at] == 0xbf)) {
        at++;
    }
    return at < n && (data[at] == '{' || data[at] == '[');
}

/* Length of the longest token, then a first token that fits it. */
static bool looks_llama2c(const char *data, size_t n) {
    const unsigned char *bytes = (const unsigned char *)data;
    uint64_t longest = n >= 12 ? heed_little(bytes, 4) : 0;
    uint64_t first = n >= 12 ? heed_little(bytes + 8, 4) : 0;
    return longest > 0 && longest <= HEED_SPM_MAX_PIECE && first > 0 && first <= longest &&
           first <= n - 12;
}

static heed_tokenizer *open_bytes(const heed_host *host, const char *data, size_t n,
                                  const char *path, heed_error *err) {
    heed_tokenizer *t = NULL;
    if (heed_spm_looks(data, n)) {
        t = heed_spm_parse(host, data, n, err);
    } else if (looks_llama2c(data, n)) {
        t = heed_llama2c_parse(host, data, n, err);
    } else {
        heed_fail(err, HEED_FILE,
                  "no vocabulary that is known here: wanted a tokenizer.json, a SentencePiece "
                  "model, a vocab.txt, a GGUF file or llama2.c's tokenizer.bin");
    }
    if (!t) {
        heed_error_at(err, "'%s'", path);
    }
    return t;
}

static heed_tokenizer *open_gguf(const heed_host *host, const char *path, heed_error *err) {
    heed_gguf *gguf = heed_gguf_open(host, path, err);
    heed_tokenizer *t = gguf ? heed_open_gguf(host, gguf, err) : NULL;
    if (gguf && !t) {
        heed_error_at(err, "'%s'", path);
    }
    heed_gguf_free(gguf);
    return t;
}

/* The vocabulary of a folder's GGUF file, where no file of `forms` is there. */
static bool only_gguf(const char *folder, char inside[PATH]) {
    char name[HEED_GGUF_NAME];
    return !find_form(&(heed_folder){.path = folder}) && heed_gguf_in_folder(folder, name) == 1 &&
           heed_join_path(inside, PATH, folder, name, NULL);
}

static heed_tokenizer *open_folder(const heed_host *host, const char *path, heed_error *err) {
    char inside[PATH];
    heed_tokenizer_pair both;
    if (only_gguf(path, inside)) {
        return open_gguf(host, inside, err);
    }
    if (!heed_tokenizer_open_folder(host, path, &both, err)) {
        return NULL;
    }
    heed_tokenizer_free(both.target);
    return both.source;
}

/* Tokens of a model of llama2.c; 0: the file is none, or cannot be read. */
static int64_t model_tokens(const char *path) {
    heed_mapped file;
    int64_t tokens = 0;
    if (heed_map_file(&file, path, NULL)) {
        tokens = heed_llama2c_tokens(file.data, file.n);
        heed_unmap_file(&file);
    }
    return tokens;
}

static heed_tokenizer *open_any(const heed_host *host, const char *path, heed_error *err) {
    size_t n = 0;
    char *data = heed_read_file(host, path, FILE_LIMIT, &n, err);
    if (data && looks_json(data, n)) {
        return heed_tokenizer_take(host, data, n, path, err);
    }
    heed_tokenizer *t = data ? open_bytes(host, data, n, path, err) : NULL;
    heed_free(host, data);
    return t;
}

heed_tokenizer *heed_tokenizer_open(const heed_host *host, const char *path, heed_error *err) {
    const char *name = heed_name_in(path);
    char beside[PATH];
    if (heed_is_folder(path)) {
        return open_folder(host, path, err);
    }
    if (heed_is_gguf(path)) {
        return open_gguf(host, path, err);
    }
    if (heed_ends_in(name, ".txt") || strcmp(name, "vocab.json") == 0) {
        return open_beside(host, path, err);
    }
    int64_t tokens = model_tokens(path);
    if (tokens == 0) {
        return open_any(host, path, err);
    }
    if (!heed_llama2c_vocabulary(path, tokens, beside, sizeof beside, err)) {
        return NULL;
    }
    if (beside[0]) {
        return open_any(host, beside, err);
    }
    heed_fail(err, HEED_FILE,
              "'%s' is a model of llama2.c, and its vocabulary is not beside it: tokenizer.bin or "
              "tok%" PRId64 ".bin",
              path, tokens);
    return NULL;
}
