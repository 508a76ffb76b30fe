/* recipe.c: any bytes as a recipe: refused with a line, or read, written, and read to the same.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "train/recipe.h"

static heed_recipe *read_bytes(const char *yaml, size_t n) {
    heed_error err = {0};
    heed_recipe *r = heed_recipe_new(NULL, &err);
    if (r && heed_recipe_parse(r, "fuzz", yaml, n, &err) && heed_recipe_finish(r, &err)) {
        return r;
    }
    if (err.code == HEED_OK || err.text[0] == '\0') {
        abort(); /* a refusal without a reason */
    }
    heed_recipe_free(r);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_recipe *r = read_bytes((const char *)data, n);
    if (!r) {
        return 0;
    }
    heed_buf first = {0}, second = {0};
    heed_recipe_print(r, false, &first);
    heed_recipe *again = read_bytes(first.data, first.n);
    if (!again || !heed_recipe_print(again, false, &second) ||
        strcmp(first.data, second.data) != 0) {
        abort(); /* what was written does not read back to the same */
    }
    heed_recipe_free(again);
    heed_recipe_free(r);
    heed_buf_free(&first);
    heed_buf_free(&second);
    return 0;
}
