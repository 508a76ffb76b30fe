/* load_llama2c.c: a model from a file of llama2.c, with the vocabulary that lies beside it.
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include <stdlib.h>
#include <string.h>

enum { PATH = 4096 };

static const heed_form *find_form(heed_model *m, const char *format) {
    for (int i = 0; heed_family_at(i); i++)
        for (const heed_form *f = heed_family_at(i)->forms; f && f->format; f++)
            if (!strcmp(f->format, format)) {
                m->family = heed_family_at(i);
                return f;
            }
    return NULL;
}

/* The header's numbers, which the reader keeps as texts. */
static bool read_header(heed_model *m, const heed_form *form, heed_error *err) {
    json_t *root = json_object();
    bool fine = root != NULL;
    for (int64_t i = 0; fine && i < heed_tensors_meta_count(m->tensors); i++) {
        const heed_meta *meta = heed_tensors_meta_at(m->tensors, i);
        fine =
            json_object_set_new(root, meta->key, json_integer(strtoll(meta->value, NULL, 10))) == 0;
    }
    if (!fine)
        heed_fail(err, HEED_NOMEM, "no memory for the header");
    fine = fine && heed_keys_read(root, "header", form->keys, &m->config, err) &&
           form->finish(&m->config, m->tensors, err);
    json_decref(root);
    return fine;
}

static bool read_tokenizer(heed_model *m, const char *path, heed_error *err) {
    char beside[PATH];
    return heed_llama2c_vocabulary(path, m->config.vocab, beside, sizeof beside, err) &&
           (!beside[0] || heed_model_read_tokenizer(m, beside, err));
}

bool heed_model_read_llama2c(heed_model *m, const char *path, heed_error *err) {
    m->own = heed_tensors_open(heed_model_host(m), path, err);
    if (!m->own)
        return false;
    m->tensors = m->own;
    const heed_form *form = find_form(m, heed_tensors_format(m->own));
    if (!form)
        return heed_fail(err, HEED_FILE,
                         "the file holds tensors alone (%s): name the folder that it is in",
                         heed_tensors_format(m->own));
    heed_model_take_form(m, form);
    return read_header(m, form, err) && read_tokenizer(m, path, err);
}
