/* names.c: names between ours and a family's, by patterns.
 * SPDX-License-Identifier: MIT
 */
#include "model/family.h"

#include <string.h>

#define ONE_STACK(name)                                                                            \
    {                                                                                              \
        {#name ".*.self.weights", "attentions.*"}, {#name ".hidden.*", "hidden_states.*"}, {       \
            NULL, NULL                                                                             \
        }                                                                                          \
    }
const heed_rename heed_encoder_values[] = ONE_STACK(encoder);
const heed_rename heed_decoder_values[] = ONE_STACK(decoder);

enum { PARTS = 8 };

typedef struct {
    const char *at[PARTS];
    size_t n[PARTS];
    int count;
} parts;

/* Does pattern match the whole of name? '*' takes one part (no dots), kept in `found`. */
static bool match(const char *pattern, const char *name, parts *found) {
    while (*pattern) {
        if (*pattern != '*') {
            if (*pattern++ != *name++)
                return false;
            continue;
        }
        size_t n = strcspn(name, ".");
        if (!n || found->count == PARTS)
            return false;
        found->at[found->count] = name;
        found->n[found->count++] = n;
        name += n;
        pattern++;
    }
    return !*name;
}

bool heed_name_matches(const char *pattern, const char *name) {
    parts found = {.count = 0};
    return match(pattern, name, &found);
}

static bool fill(const char *pattern, const parts *found, char *out, size_t size) {
    size_t n = 0;
    for (int i = 0; *pattern; pattern++) {
        bool star = *pattern == '*';
        if (star && i == found->count)
            return false;
        size_t more = star ? found->n[i] : 1;
        if (n + more >= size)
            return false;
        memcpy(out + n, star ? found->at[i++] : pattern, more);
        n += more;
    }
    out[n] = 0;
    return true;
}

bool heed_renamed(const heed_rename *table, const char *ours, int n, char *theirs, size_t size) {
    for (; table->ours; table++) {
        parts found = {.count = 0};
        if (match(table->ours, ours, &found) && n-- == 0)
            return fill(table->theirs, &found, theirs, size);
    }
    return false;
}
