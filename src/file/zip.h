/* zip.h: the entries of a zip archive that are stored as they are, found in its mapped bytes.
 *
 * Format: PKWARE's APPNOTE 6.3, with the 64-bit records. What PyTorch writes is never compressed; a
 * compressed or encrypted entry is refused when it is asked for.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_FILE_ZIP_H
#define HEED_FILE_ZIP_H

#include "base/map.h"

typedef struct {
    const unsigned char *data;
    size_t n;
    heed_map places; /* name to the place of the entry's record in the directory */
} heed_zip;

/* Reads the directory. The bytes must outlive the zip; free with heed_zip_free also after a
 * failure. A name twice, a directory outside of the file: HEED_FILE. */
bool heed_zip_read(heed_zip *zip, const heed_host *host, const unsigned char *data, size_t n,
                   heed_error *err);
void heed_zip_free(heed_zip *zip);
/* The bytes of an entry; HEED_FILE where there is none. */
bool heed_zip_find(const heed_zip *zip, const char *name, const unsigned char **data, size_t *n,
                   heed_error *err);
/* The name of the first entry that ends in `end`, or NULL; lives as long as the zip. */
const char *heed_zip_ending(const heed_zip *zip, const char *end);

#endif
