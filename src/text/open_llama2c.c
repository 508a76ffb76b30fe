/* open_llama2c.c: the tokenizer.bin of llama2.c.
 *
 * Format: length of the longest token (i32), then for each token its score (f32), its length (i32)
 * and its bytes, to the end of the file; little-endian. The tokens are a SentencePiece model's in
 * its order: unknown, start, end, 256 bytes, pieces with spaces for marks; they are cut as that
 * model cuts, by score.
 * Source: Karpathy, llama2.c, tokenizer.py and run.c.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/little.h"
#include "text/open.h"
#include "text/spm.h"

enum { HEAD = 8, FIRST_BYTE = 3, LAST_BYTE = 258, PATH = 4096 };

typedef struct {
    const unsigned char *data;
    size_t n, at;
    int64_t longest;
    heed_region region; /* of texts with marks */
    heed_error *err;
} reader;

static int64_t number_at(const reader *r, size_t at) {
    uint64_t bits = heed_little(r->data + at, 4);
    return bits < 1u << 31 ? (int64_t)bits : (int64_t)bits - ((int64_t)1 << 32);
}

/* A token's bytes with a mark for each space. */
static char *with_marks(reader *r, const unsigned char *s, size_t n, size_t *length) {
    char *out = heed_region_alloc(&r->region, n * HEED_SPM_MARK_BYTES + 1, 1, r->err);
    *length = 0;
    for (size_t i = 0; out && i < n; i++) {
        if (s[i] == ' ') {
            memcpy(out + *length, HEED_SPM_MARK, HEED_SPM_MARK_BYTES);
            *length += HEED_SPM_MARK_BYTES;
        } else {
            out[(*length)++] = (char)s[i];
        }
    }
    return out;
}

static heed_spm_type type_at(size_t place) {
    return place == 0           ? HEED_SPM_UNKNOWN
           : place < FIRST_BYTE ? HEED_SPM_CONTROL
           : place <= LAST_BYTE ? HEED_SPM_BYTE
                                : HEED_SPM_NORMAL;
}

static bool read_token(reader *r, heed_spm *spm) {
    static const char *const own[] = {NULL, "<s>", "</s>"}; /* there they stand between newlines */
    if (r->n - r->at < HEAD) {
        return heed_fail(r->err, HEED_FILE, "the file ends inside token %zu, at byte %zu", spm->n,
                         r->at);
    }
    uint32_t bits = (uint32_t)heed_little(r->data + r->at, 4);
    float score;
    memcpy(&score, &bits, sizeof score);
    int64_t n = number_at(r, r->at + 4);
    if (n < 1 || n > r->longest || (uint64_t)n > r->n - r->at - HEAD) {
        return heed_fail(r->err, HEED_FILE,
                         "token %zu at byte %zu has %lld bytes: wanted 1 to %lld, %zu are left",
                         spm->n, r->at, (long long)n, (long long)r->longest, r->n - r->at - HEAD);
    }
    size_t length = 0, place = spm->n;
    const char *text = with_marks(r, r->data + r->at + HEAD, (size_t)n, &length);
    if (text && place > 0 && place < FIRST_BYTE) {
        text = own[place];
        length = strlen(text);
    }
    r->at += HEAD + (size_t)n;
    return text && heed_spm_add(spm, text, length, score, type_at(place), r->err);
}

static bool read_all(reader *r, heed_spm *spm) {
    r->longest = r->n >= 4 ? number_at(r, 0) : 0;
    if (r->longest < 1 || r->longest > HEED_SPM_MAX_PIECE) {
        return heed_fail(r->err, HEED_FILE,
                         "this is no tokenizer.bin of llama2.c: its longest token has %lld bytes",
                         (long long)r->longest);
    }
    for (r->at = 4; r->at < r->n;) {
        if (!read_token(r, spm)) {
            return false;
        }
    }
    return spm->n > LAST_BYTE ||
           heed_fail(r->err, HEED_FILE, "%zu tokens, wanted more than %d", spm->n, LAST_BYTE);
}

static heed_tokenizer *finish(heed_tokenizer *t, heed_error *err) {
    json_t *post =
        t ? heed_json_ends(t->host, "<s>", NULL, heed_find_in_vocab, t, NULL, err) : NULL;
    if (!post || !heed_tokenizer_complete(t, NULL, post, err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

heed_tokenizer *heed_llama2c_parse(const heed_host *host, const char *data, size_t n,
                                   heed_error *err) {
    reader r = {(const unsigned char *)data, n, 0, 0, {.host = host}, err};
    heed_spm spm;
    heed_spm_init(&spm, host);
    spm.kind = HEED_SPM_BPE;
    spm.byte_fallback = true;
    spm.tidy = false;
    heed_tokenizer *t = NULL;
    if (read_all(&r, &spm)) {
        t = finish(heed_spm_tokenizer(&spm, err), err);
    } else {
        heed_spm_free(&spm);
    }
    heed_region_free(&r.region);
    return t;
}

bool heed_llama2c_vocabulary(const char *model, int64_t tokens, char *out, size_t size,
                             heed_error *err) {
    char folder[PATH], names[2][40] = {"tokenizer.bin"};
    snprintf(names[1], sizeof names[1], "tok%" PRId64 ".bin", tokens);
    if (!heed_folder_of(folder, sizeof folder, model, err)) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (!heed_join_path(out, size, folder, names[i], err)) {
            return false;
        }
        if (heed_is_there(out)) {
            return true;
        }
    }
    out[0] = '\0';
    return true;
}

heed_tokenizer *heed_open_llama2c(const heed_folder *f, const char *name, heed_error *err) {
    size_t n = 0;
    char *data = heed_folder_read(f, name, &n, err);
    heed_tokenizer *t = data ? heed_llama2c_parse(f->host, data, n, err) : NULL;
    heed_free(f->host, data);
    return t;
}
