/* Any bytes as JSON: refused with a line, or printed and read again to an equal tree.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include "file/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_error err = {0};
    json_t *root = heed_json_parse(NULL, "fuzz", (const char *)data, n, &err);
    expect((root != NULL) == (err.code == HEED_OK));
    if (!root)
        return 0;
    heed_buf out = {0};
    expect(heed_json_print(&out, root, (int)(n % 3), &err));
    json_t *again = heed_json_parse(NULL, "again", out.data, out.n, &err);
    expect(json_equal(root, again));
    heed_json_find(root, "a.0.b");
    json_decref(again);
    json_decref(root);
    heed_buf_free(&out);
    return 0;
}
