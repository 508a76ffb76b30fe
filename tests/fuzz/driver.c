/* driver.c: gives a fuzz target each file of its corpus, once: what was ever found stays found.
 *
 *     fuzz_json tests/fuzz/corpus/json ...
 *
 * Besides each whole file it gives its first half and the file with its middle byte turned, so that
 * even a corpus of good files meets bad ones.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exactly n bytes from malloc, so that AddressSanitizer sees a read past the end. */
static void give(const uint8_t *data, size_t n, size_t turned) {
    uint8_t *copy = malloc(n > 0 ? n : 1);
    if (!copy) {
        perror("fuzz");
        exit(1);
    }
    memcpy(copy, data, n);
    if (turned < n) {
        copy[turned] ^= 0xff;
    }
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void replay(const char *path) {
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    give(data, n, SIZE_MAX);
    give(data, n / 2, SIZE_MAX);
    give(data, n, n / 2);
}

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        for (struct dirent *e; folder && (e = readdir(folder));) {
            char path[4096];
            if (e->d_name[0] != '.' &&
                snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name) < (int)sizeof path) {
                replay(path);
                files++;
            }
        }
        if (folder) {
            closedir(folder);
        }
    }
    printf("%d files replayed\n", files);
    return files > 0 ? 0 : 1;
}
