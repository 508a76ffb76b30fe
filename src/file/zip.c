/* zip.c: finding the directory at the end of an archive, and an entry by its name.
 *
 * Invariant: every place and length is compared with the file before it is used; the directory of a
 * file of n bytes has at most n / 46 entries.
 * SPDX-License-Identifier: MIT
 */
#include "file/zip.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "file/little.h"

enum { END = 22, END_64 = 56, LOCATOR = 20, ENTRY = 46, LOCAL = 30, COMMENT_MAX = 65535 };
enum { ENTRIES_MAX = 1 << 18 }; /* bounds the memory that a file of tiny entries asks for */
static const unsigned char END_MARK[] = "PK\5\6", END_64_MARK[] = "PK\6\6",
                           LOCATOR_MARK[] = "PK\6\7", ENTRY_MARK[] = "PK\1\2",
                           LOCAL_MARK[] = "PK\3\4";

/* `need` bytes with `mark` in front at `at`, or NULL. */
static const unsigned char *record(const heed_zip *zip, uint64_t at, size_t need,
                                   const unsigned char *mark) {
    if (at > zip->n || need > zip->n - at || memcmp(zip->data + at, mark, 4) != 0) {
        return NULL;
    }
    return zip->data + at;
}

/* ---- The directory ---- */

typedef struct {
    uint64_t entries, bytes, at;
} directory;

static const unsigned char *find_end(const heed_zip *zip) {
    for (size_t back = END; back <= zip->n && back <= END + COMMENT_MAX; back++) {
        const unsigned char *p = record(zip, zip->n - back, END, END_MARK);
        if (p) {
            return p;
        }
    }
    return NULL;
}

static bool find_directory(const heed_zip *zip, directory *d, heed_error *err) {
    const unsigned char *end = find_end(zip), *wide = NULL;
    if (!end) {
        return heed_fail(err, HEED_FILE,
                         "the archive has no directory at its end: download "
                         "incomplete");
    }
    *d = (directory){heed_little(end + 10, 2), heed_little(end + 12, 4), heed_little(end + 16, 4)};
    size_t place = (size_t)(end - zip->data);
    const unsigned char *locator =
        place < LOCATOR ? NULL : record(zip, place - LOCATOR, LOCATOR, LOCATOR_MARK);
    if (locator) {
        wide = record(zip, heed_little(locator + 8, 8), END_64, END_64_MARK);
        if (!wide) {
            return heed_fail(err, HEED_FILE, "the archive's directory is not where it should be");
        }
        *d = (directory){heed_little(wide + 32, 8), heed_little(wide + 40, 8),
                         heed_little(wide + 48, 8)};
    }
    if (d->at > zip->n || d->bytes > zip->n - d->at || d->entries > d->bytes / ENTRY ||
        d->entries > ENTRIES_MAX) {
        return heed_fail(err, HEED_FILE,
                         "the archive's directory (%" PRIu64 " entries in %" PRIu64
                         " bytes from byte %" PRIu64 ") is not inside of the file",
                         d->entries, d->bytes, d->at);
    }
    return true;
}

bool heed_zip_read(heed_zip *zip, const heed_host *host, const unsigned char *data, size_t n,
                   heed_error *err) {
    *zip = (heed_zip){.data = data, .n = n};
    heed_map_init(&zip->places, host);
    directory d = {0};
    if (!find_directory(zip, &d, err)) {
        return false;
    }
    uint64_t at = d.at, end = d.at + d.bytes;
    for (uint64_t i = 0; i < d.entries; i++) {
        const unsigned char *p = record(zip, at, ENTRY, ENTRY_MARK);
        size_t name = p ? (size_t)heed_little(p + 28, 2) : 0;
        uint64_t whole = p ? ENTRY + name + heed_little(p + 30, 2) + heed_little(p + 32, 2) : 0;
        if (!p || name == 0 || at > end || whole > end - at) {
            return heed_fail(err, HEED_FILE, "entry %" PRIu64 " of the archive is damaged", i + 1);
        }
        bool added;
        if (!heed_map_put(&zip->places, (const char *)p + ENTRY, name, (int64_t)at, &added, err)) {
            return false;
        }
        if (!added) {
            return heed_fail(err, HEED_FILE, "'%.*s' is in the archive twice", (int)name,
                             (const char *)p + ENTRY);
        }
        at += whole;
    }
    return true;
}

void heed_zip_free(heed_zip *zip) {
    heed_map_free(&zip->places);
}

/* ---- An entry ---- */

/* The 64-bit field of a record: its bytes, their number in *n; NULL where there is none. */
static const unsigned char *wide_field(const unsigned char *p, uint64_t *n) {
    const unsigned char *extra = p + ENTRY + heed_little(p + 28, 2),
                        *end = extra + heed_little(p + 30, 2);
    while (end - extra >= 4) {
        *n = heed_little(extra + 2, 2);
        if (*n > (uint64_t)(end - extra - 4)) {
            return NULL;
        }
        if (heed_little(extra, 2) == 1) {
            return extra + 4;
        }
        extra += 4 + *n;
    }
    return NULL;
}

/* Replaces those of size, packed size and place that the record gives as all ones by what its
 * 64-bit field says, in this order. */
static bool widen(const unsigned char *p, uint64_t value[3]) {
    static const uint64_t ONES = 0xffffffff;
    uint64_t n = 0;
    const unsigned char *field = wide_field(p, &n);
    for (int i = 0; i < 3; i++) {
        if (value[i] != ONES) {
            continue;
        }
        if (!field || n < 8) {
            return false;
        }
        value[i] = heed_little(field, 8);
        field += 8;
        n -= 8;
    }
    return true;
}

bool heed_zip_find(const heed_zip *zip, const char *name, const unsigned char **data, size_t *n,
                   heed_error *err) {
    const heed_map_entry *found = heed_map_find(&zip->places, name, strlen(name));
    if (!found) {
        return heed_fail(err, HEED_FILE, "there is no '%s' in the archive", name);
    }
    const unsigned char *p = zip->data + found->value;
    if (heed_little(p + 10, 2) != 0 || (p[8] & 1)) {
        return heed_fail(err, HEED_FILE, "'%s' in the archive is %s; only stored entries are read",
                         name, p[8] & 1 ? "encrypted" : "compressed");
    }
    uint64_t value[3] = {heed_little(p + 24, 4), heed_little(p + 20, 4), heed_little(p + 42, 4)};
    const unsigned char *local = NULL;
    if (widen(p, value)) {
        local = record(zip, value[2], LOCAL, LOCAL_MARK);
    }
    uint64_t start =
        local ? value[2] + LOCAL + heed_little(local + 26, 2) + heed_little(local + 28, 2) : 0;
    if (!local || value[0] != value[1] || start > zip->n || value[0] > zip->n - start) {
        return heed_fail(err, HEED_FILE, "'%s' is not inside of the archive", name);
    }
    *data = zip->data + start;
    *n = (size_t)value[0];
    return true;
}

const char *heed_zip_ending(const heed_zip *zip, const char *end) {
    size_t n = strlen(end);
    for (size_t i = 0; i < zip->places.count; i++) {
        const heed_map_entry *e = &zip->places.entry[i];
        if (e->n >= n && memcmp(e->key + e->n - n, end, n) == 0) {
            return e->key;
        }
    }
    return NULL;
}
