/* heed.h: use a Transformer from C: open a folder, translate, train, look inside.
 *
 * The part below is what every call shares: the error box and the host. Threads: an object is used by
 * one thread at a time unless its comment says it is shared; there are no globals.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_H
#define HEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEED_API __attribute__((visibility("default")))
#define HEED_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HEED_API
#define HEED_PRINTF(f, a)
#endif

/* ---- Errors -------------------------------------------------------------------------------- */

/* The one list of error codes: name, what it means. Everything else about codes is derived from it. */
#define HEED_CODES(X)                                                                              \
    X(OK, "no error")                                                                              \
    X(NOMEM, "the host's alloc returned NULL")                                                     \
    X(SHAPE, "sizes that do not fit each other")                                                   \
    X(NAME, "a name nobody knows, or one that is missing")                                         \
    X(FILE, "a file that is missing, unreadable, damaged or of the wrong kind")                    \
    X(TEXT, "text that is not UTF-8, or lines that do not match")                                  \
    X(VALUE, "an argument or setting out of range")                                                \
    X(LIMIT, "more than the planned capacity, or than fits in memory")                             \
    X(NONFINITE, "a value became infinite or NaN")                                                 \
    X(CANCEL, "the caller asked to stop")                                                          \
    X(SYSTEM, "the operating system refused: disk full, no thread, no permission")

typedef enum {
#define HEED_CODE_ENUM(name, text) HEED_##name,
    HEED_CODES(HEED_CODE_ENUM)
#undef HEED_CODE_ENUM
} heed_code;

/* The caller owns the box and zeroes it before the first call ({0}). The library fills it once: the first
 * failure stays. text is one line without a newline: what failed, where, both numbers. Every function that
 * takes a heed_error * accepts NULL where the caller does not care why. */
typedef struct {
    heed_code code;
    char text[500];
} heed_error;

/* Name of a code ("NOMEM"); static storage. */
HEED_API const char *heed_code_name(heed_code code);

/* ---- Memory -------------------------------------------------------------------------------- */

/* Where memory comes from. alloc returns `bytes` bytes aligned to 64, contents undefined, or NULL; release
 * takes what alloc gave (NULL is allowed). Both may be called from several threads at once. NULL instead of
 * a host means the C library. The host must outlive everything made with it. */
typedef struct {
    void *(*alloc)(void *self, size_t bytes);
    void (*release)(void *self, void *p);
    void *self;
} heed_host;

/* ---- Engine -------------------------------------------------------------------------------- */

/* Where arithmetic happens: an instruction set, a pool of threads, the host's memory. Made once by the caller,
 * shared by everything made with it (callers on several threads wait for each other's use of the pool), freed
 * last. threads: 0 = physical cores this process may use; isa: NULL = the best that the processor has, unless
 * the environment names one in HEED_ISA ("ref", "avx2", "avx512"); values have the same bits for any number of
 * threads. Errors: HEED_VALUE (no such set here, says why), HEED_SYSTEM (no thread), HEED_NOMEM. */
typedef struct heed_engine heed_engine;
HEED_API heed_engine *heed_engine_new(const heed_host *host, int threads, const char *isa, heed_error *err);
HEED_API void heed_engine_free(heed_engine *engine);
HEED_API const char *heed_engine_isa(const heed_engine *engine);
HEED_API int heed_engine_threads(const heed_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
