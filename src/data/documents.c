/* documents.c: which files, their texts, and where documents begin and end.
 * SPDX-License-Identifier: MIT
 */
#include "data/documents.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/utf8.h"

enum { PATH = 4096 };

/* ---- Which files ---- */

typedef struct {
    heed_region names;
    char **item;
    size_t n, cap;
} name_list;

static bool wanted(const char *name, bool json) {
    static const char *const texts[] = {".txt", ".txt.gz", NULL};
    static const char *const jsons[] = {".json", ".jsonl", ".json.gz", ".jsonl.gz", NULL};
    for (const char *const *ending = json ? jsons : texts; *ending; ending++)
        if (heed_ends_in(name, *ending))
            return name[0] != '.';
    return false;
}

static int by_bytes(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static bool take_name(name_list *list, const char *name, heed_error *err) {
    if (!heed_reserve(list->names.host, (void **)&list->item, &list->cap, list->n + 1,
                      sizeof *list->item, err))
        return false;
    list->item[list->n] = heed_region_text(&list->names, name, strlen(name), err);
    return list->item[list->n++] != NULL;
}

static bool list_folder(name_list *list, const char *folder, bool json, heed_error *err) {
    DIR *dir = opendir(folder);
    if (!dir)
        return heed_fail_system(err, HEED_FILE, errno, "cannot read folder '%s'", folder);
    bool ok = true;
    for (const struct dirent *e; ok && (e = readdir(dir));)
        ok = !wanted(e->d_name, json) || take_name(list, e->d_name, err);
    closedir(dir);
    if (ok && !list->n)
        return heed_fail(err, HEED_FILE, "folder '%s' has no file that ends in %s", folder,
                         json ? ".json or .jsonl" : ".txt");
    if (ok)
        qsort(list->item, list->n, sizeof *list->item, by_bytes);
    return ok;
}

/* ---- Cutting ---- */

bool heed_documents_add(heed_documents *d, heed_line text, heed_error *err) {
    if (!heed_line_trim(text).n) {
        d->empty++;
        return true;
    }
    if (!heed_reserve(d->host, (void **)&d->item, &d->cap, (size_t)d->n + 1, sizeof *d->item, err))
        return false;
    d->item[d->n++] = (heed_document){.text = text};
    return true;
}

/* The line that begins at `at`, without its end; *next: behind it. */
static heed_line line_at(heed_line text, size_t at, size_t *next) {
    const char *s = text.s + at, *stop = memchr(s, '\n', text.n - at);
    size_t n = stop ? (size_t)(stop - s) : text.n - at;
    *next = at + n + (stop != NULL);
    return (heed_line){s, stop && n && s[n - 1] == '\r' ? n - 1 : n};
}

static bool cut_lines(heed_documents *d, heed_line text, heed_error *err) {
    for (size_t at = 0, next; at < text.n; at = next) {
        heed_line line = line_at(text, at, &next);
        if (heed_line_trim(line).n && !heed_documents_add(d, line, err))
            return false;
    }
    return true;
}

/* From the first line that is not blank to the end of the last before one that is. */
static bool cut_blanks(heed_documents *d, heed_line text, heed_error *err) {
    size_t from = 0, to = 0; /* of the document so far; equal: there is none */
    for (size_t at = 0, next; at < text.n; at = next) {
        heed_line line = line_at(text, at, &next);
        bool blank = !heed_line_trim(line).n;
        if (blank && to > from &&
            !heed_documents_add(d, (heed_line){text.s + from, to - from}, err))
            return false;
        if (blank)
            from = to = next;
        else
            to = at + line.n;
    }
    return to <= from || heed_documents_add(d, (heed_line){text.s + from, to - from}, err);
}

static bool cut(heed_documents *d, const heed_documents_opts *o, const char *path, heed_line text,
                heed_error *err) {
    if (o->column && *o->column)
        return heed_documents_json(d, path, o->column, text, err);
    switch (o->cut) {
    case HEED_DOCUMENT_LINE:
        return cut_lines(d, text, err);
    case HEED_DOCUMENT_BLANK:
        return cut_blanks(d, text, err);
    default:
        return heed_documents_add(d, text, err);
    }
}

/* ---- Reading ---- */

static bool not_utf8(const char *path, heed_line text, size_t bad, heed_error *err) {
    int64_t line = 1;
    size_t start = 0;
    for (size_t i = 0; i < bad; i++)
        if (text.s[i] == '\n') {
            line++;
            start = i + 1;
        }
    return heed_fail(err, HEED_TEXT,
                     "'%s' line %" PRId64 ": byte %zu of the line (0x%02x) is not UTF-8", path,
                     line, bad - start + 1, (unsigned)(unsigned char)text.s[bad]);
}

static bool read_file(heed_documents *d, const heed_documents_opts *o, const char *path,
                      heed_error *err) {
    size_t n = 0;
    if (!heed_reserve(d->host, (void **)&d->file, &d->file_cap, (size_t)d->files + 1,
                      sizeof *d->file, err))
        return false;
    char *s = heed_read_text(d->host, path, o->limit ? o->limit : (size_t)8 << 30, &n, err);
    if (!s)
        return false;
    d->file[d->files++] = s;
    size_t bad = heed_utf8_check(s, n), mark = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    heed_line text = {s + mark, n - mark};
    return bad < n ? not_utf8(path, (heed_line){s, n}, bad, err) : cut(d, o, path, text, err);
}

static bool read_folder(heed_documents *d, const heed_documents_opts *o, heed_error *err) {
    name_list list = {.names = {.host = d->host}};
    char path[PATH];
    bool ok = list_folder(&list, o->path, o->column && *o->column, err);
    for (size_t i = 0; ok && i < list.n; i++)
        ok = heed_join_path(path, sizeof path, o->path, list.item[i], err) &&
             read_file(d, o, path, err);
    heed_free(d->host, list.item);
    heed_region_free(&list.names);
    return ok;
}

static bool read_all(heed_documents *d, const heed_documents_opts *o, heed_error *err) {
    if (heed_is_folder(o->path) ? !read_folder(d, o, err) : !read_file(d, o, o->path, err))
        return false;
    if (!d->n)
        return heed_fail(err, HEED_VALUE, "'%s' has no text", o->path);
    if (o->match && *o->match && !heed_documents_match(d, o->match, err))
        return false;
    return d->n || heed_fail(err, HEED_VALUE,
                             "the expression matches in none of the %" PRId64 " documents of '%s'",
                             d->unmatched, o->path);
}

bool heed_documents_read(heed_documents *d, const heed_host *host, const heed_documents_opts *opts,
                         heed_error *err) {
    *d = (heed_documents){.host = host, .texts = {.host = host}};
    if (read_all(d, opts, err))
        return true;
    heed_documents_free(d);
    return false;
}

void heed_documents_free(heed_documents *d) {
    for (int64_t i = 0; i < d->files; i++)
        heed_free(d->host, d->file[i]);
    heed_free(d->host, d->file);
    heed_free(d->host, d->item);
    heed_region_free(&d->texts);
    *d = (heed_documents){.host = d->host, .texts = {.host = d->host}};
}
