/* spm_read.c: a SentencePiece .model file, read from the bytes of its protocol buffer.
 *
 * Wire format: fields one behind the other, each a key (number << 3 | type) and a value; unknown
 * ones are passed over, a field that comes twice counts the last time. A cursor never passes its
 * end; a message inside is a cursor of its own.
 * Source: "Protocol Buffers: Encoding"; sentencepiece_model.proto for the numbers.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "file/little.h"
#include "text/spm.h"

typedef struct {
    const unsigned char *data;
    size_t n, at;
    size_t base; /* of data in the file: for errors */
    heed_error *err;
} cursor;

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct {
    uint32_t number;
    int type;
    uint64_t value; /* of VARINT, FIXED32, FIXED64 */
    cursor bytes;   /* of BYTES */
} field;

static bool wrong(const cursor *c, const char *what) {
    return heed_fail(c->err, HEED_FILE, "%s at byte %zu", what, c->base + c->at);
}

static bool read_varint(cursor *c, uint64_t *value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (c->at == c->n) {
            return wrong(c, "the file ends inside a number");
        }
        unsigned char byte = c->data[c->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return wrong(c, "a number is longer than 64 bits");
}

static bool read_fixed(cursor *c, int bytes, uint64_t *value) {
    if (c->n - c->at < (size_t)bytes) {
        return wrong(c, "the file ends inside a number");
    }
    *value = heed_little(c->data + c->at, bytes);
    c->at += (size_t)bytes;
    return true;
}

static bool read_bytes(cursor *c, cursor *bytes) {
    uint64_t n = 0;
    if (!read_varint(c, &n)) {
        return false;
    }
    if (n > c->n - c->at) {
        return heed_fail(c->err, HEED_FILE,
                         "a field of %" PRIu64 " bytes at byte %zu does not fit: %zu are left", n,
                         c->base + c->at, c->n - c->at);
    }
    *bytes = (cursor){c->data + c->at, (size_t)n, 0, c->base + c->at, c->err};
    c->at += (size_t)n;
    return true;
}

static bool next_field(cursor *c, field *f) {
    uint64_t key = 0;
    if (!read_varint(c, &key)) {
        return false;
    }
    f->number = (uint32_t)(key >> 3);
    f->type = (int)(key & 7);
    if (key >> 3 == 0 || key >> 3 >= 1u << 29) {
        return wrong(c, "a field has no number");
    }
    switch (f->type) {
    case VARINT:
        return read_varint(c, &f->value);
    case FIXED64:
        return read_fixed(c, 8, &f->value);
    case FIXED32:
        return read_fixed(c, 4, &f->value);
    case BYTES:
        return read_bytes(c, &f->bytes);
    default:
        return wrong(c, "a field has a type that is not known");
    }
}

static bool wants(const cursor *c, const field *f, int type) {
    return f->type == type ||
           heed_fail(c->err, HEED_FILE, "field %" PRIu32 " before byte %zu has type %d, wanted %d",
                     f->number, c->base + c->at, f->type, type);
}

static float float_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* ---- Messages ------------------------------------------------------------------------------ */

static bool read_piece(heed_spm *spm, cursor *c) {
    const char *text = "";
    size_t n = 0;
    float score = 0;
    uint64_t type = HEED_SPM_NORMAL;
    while (c->at < c->n) {
        field f;
        if (!next_field(c, &f) || (f.number == 1 && !wants(c, &f, BYTES)) ||
            (f.number == 2 && !wants(c, &f, FIXED32)) || (f.number == 3 && !wants(c, &f, VARINT))) {
            return false;
        }
        if (f.number == 1) {
            text = (const char *)f.bytes.data;
            n = f.bytes.n;
        } else if (f.number == 2) {
            score = float_of(f.value);
        } else if (f.number == 3) {
            type = f.value;
        }
    }
    if (type < HEED_SPM_NORMAL || type > HEED_SPM_BYTE) {
        return heed_fail(c->err, HEED_FILE, "piece %zu has type %" PRIu64 ", wanted 1 to 6", spm->n,
                         type);
    }
    return heed_spm_add(spm, text, n, score, (heed_spm_type)type, c->err);
}

/* Fields of TrainerSpec that say how to cut; the others say how the model was made. */
enum { KIND = 3, SUFFIX = 24, BYTE_FALLBACK = 35, UNK_SURFACE = 44 };

static bool take_trainer(heed_spm *spm, const cursor *c, const field *f) {
    switch (f->number) {
    case KIND:
        spm->kind = (heed_spm_kind)f->value;
        return (f->value >= HEED_SPM_UNIGRAM && f->value <= HEED_SPM_CHAR) ||
               heed_fail(c->err, HEED_FILE, "model_type %" PRIu64 " is not known", f->value);
    case SUFFIX:
        spm->suffix = f->value != 0;
        return true;
    case BYTE_FALLBACK:
        spm->byte_fallback = f->value != 0;
        return true;
    default:
        spm->unk_surface = (const char *)f->bytes.data;
        spm->unk_surface_n = f->bytes.n;
        return true;
    }
}

static bool read_trainer(heed_spm *spm, cursor *c) {
    while (c->at < c->n) {
        field f;
        if (!next_field(c, &f)) {
            return false;
        }
        bool flag = f.number == KIND || f.number == SUFFIX || f.number == BYTE_FALLBACK;
        bool known = flag || f.number == UNK_SURFACE;
        if (known && (!wants(c, &f, flag ? VARINT : BYTES) || !take_trainer(spm, c, &f))) {
            return false;
        }
    }
    return true;
}

/* Fields of NormalizerSpec. The denormalizer has the same message; only its rules count. */
enum { CHARSMAP = 2, DUMMY_PREFIX = 3, TIDY = 4, ESCAPE = 5 };

static bool read_normalizer(heed_spm *spm, cursor *c, heed_line *map) {
    bool forward = map == &spm->map_bytes;
    while (c->at < c->n) {
        field f;
        if (!next_field(c, &f)) {
            return false;
        }
        bool flag = f.number >= DUMMY_PREFIX && f.number <= ESCAPE;
        if ((flag && !wants(c, &f, VARINT)) || (f.number == CHARSMAP && !wants(c, &f, BYTES))) {
            return false;
        }
        if (f.number == CHARSMAP) {
            *map = (heed_line){(const char *)f.bytes.data, f.bytes.n};
        }
        if (forward && flag) {
            bool *const to[] = {&spm->dummy_prefix, &spm->tidy, &spm->escape};
            *to[f.number - DUMMY_PREFIX] = f.value != 0;
        }
    }
    return true;
}

/* Fields of ModelProto. */
enum { PIECE = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };

static bool read_message(heed_spm *spm, field *f) {
    switch (f->number) {
    case PIECE:
        return read_piece(spm, &f->bytes);
    case TRAINER:
        return read_trainer(spm, &f->bytes);
    case NORMALIZER:
        return read_normalizer(spm, &f->bytes, &spm->map_bytes);
    case DENORMALIZER:
        return read_normalizer(spm, &f->bytes, &spm->unmap_bytes);
    default:
        return true;
    }
}

bool heed_spm_read(heed_spm *spm, const char *data, size_t n, heed_error *err) {
    cursor c = {(const unsigned char *)data, n, 0, 0, err};
    while (c.at < c.n) {
        field f;
        if (!next_field(&c, &f)) {
            return false;
        }
        bool known = f.number == PIECE || f.number == TRAINER || f.number == NORMALIZER ||
                     f.number == DENORMALIZER;
        if (known && (!wants(&c, &f, BYTES) || !read_message(spm, &f))) {
            return false;
        }
    }
    return spm->n > 0 || heed_fail(err, HEED_FILE, "no pieces in a file of %zu bytes", n);
}

/* A piece is a field of bytes that begins with its text, which is a field of bytes too. */
bool heed_spm_looks(const char *data, size_t n) {
    return n >= 4 && data[0] == (PIECE << 3 | BYTES) && (unsigned char)data[1] < 0x80 &&
           data[2] == (1 << 3 | BYTES);
}
