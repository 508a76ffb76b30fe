/* Any bytes as a text or JSON file, cut into documents in every way: refused with a line, or
 * documents that lie in the text, of which any share can be held out. Memory stays bounded.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/folder.h"

#include "data/documents.h"

static const char *const names[] = {"a.txt", NULL};

static void check(heed_documents_opts o) {
    heed_documents d;
    heed_error err = {0};
    bool ok = heed_documents_read(&d, &fuzz_host, &o, &err);
    expect(ok == (err.code == HEED_OK) && ok == (d.n > 0) && (ok || err.text[0]));
    size_t bytes = 0;
    for (int64_t i = 0; i < d.n; i++) {
        touch(d.item[i].text.s, d.item[i].text.n);
        expect(heed_line_trim(d.item[i].text).n > 0);
        bytes += d.item[i].text.n;
    }
    for (int way = 0; ok && way < 3; way++) {
        heed_documents_hold hold = {.share = 0.3, .end = way > 0, .within = way > 1};
        err = (heed_error){0};
        expect(heed_documents_split(&d, hold, &err) == (err.code == HEED_OK));
        size_t after = 0;
        for (int64_t i = 0; i < d.n; i++)
            after += d.item[i].text.n;
        expect(after == bytes);
    }
    heed_documents_free(&d);
    expect(fuzz_live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char path[400];
    make_fuzz_folder();
    fuzz_split(names, data, n);
    fuzz_path(path, "a.txt");
    fuzz_live = fuzz_most = 0;
    for (int cut = HEED_DOCUMENT_FILE; cut <= HEED_DOCUMENT_BLANK; cut++)
        check((heed_documents_opts){.path = path, .cut = (heed_document_cut)cut});
    check((heed_documents_opts){.path = path, .match = "\\w+|(?m)^.$"});
    check((heed_documents_opts){.path = path, .column = "t"});
    check((heed_documents_opts){.path = path, .column = "t", .match = "a?"});
    return 0;
}
