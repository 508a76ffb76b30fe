/* heed_describe_file.c: what one file of tensors holds, as JSON.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "file/gguf.h"
#include "file/json.h"

/* NULL, as from every function here, where there is no memory. */
static json_t *tensor(const heed_tensor *t) {
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++) {
        if (json_array_append_new(shape, json_integer(t->dim[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "type", heed_type_name(t->type), "shape", shape);
}

/* Sets "tensors", their number of numbers and of bytes. */
static bool add_tensors(json_t *root, const heed_tensors *list) {
    json_t *all = json_object();
    json_int_t numbers = 0, bytes = 0;
    bool fine = true;
    for (int64_t i = 0; fine && i < heed_tensors_count(list); i++) {
        const heed_tensor *t = heed_tensors_at(list, i);
        fine = json_object_set_new(all, t->name, tensor(t)) == 0;
        numbers += heed_tensor_elements(t);
        bytes += (json_int_t)t->bytes;
    }
    fine = json_object_set_new(root, "numbers", json_integer(numbers)) == 0 && fine;
    fine = json_object_set_new(root, "bytes", json_integer(bytes)) == 0 && fine;
    return json_object_set_new(root, "tensors", all) == 0 && fine;
}

static json_t *plain(const heed_tensors *list) {
    json_t *settings = json_object();
    for (int64_t i = 0; i < heed_tensors_meta_count(list); i++) {
        const heed_meta *meta = heed_tensors_meta_at(list, i);
        if (json_object_set_new(settings, meta->key, json_string(meta->value)) != 0) {
            json_decref(settings);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "format", heed_tensors_format(list), "settings", settings);
}

/* Arrays (a vocabulary, its scores) are told by their length. Null stands for what JSON cannot
 * hold: text that is no UTF-8, numbers that are not finite. */
static json_t *setting(const heed_gguf_value *v) {
    static const char *const KINDS[] = {"integer", "real", "bool", "text", "array"};
    switch (v->kind) {
    case HEED_GGUF_INTEGER:
        return json_integer(v->integer);
    case HEED_GGUF_REAL:
        return isfinite(v->real) ? json_real(v->real) : json_null();
    case HEED_GGUF_BOOL:
        return json_boolean(v->integer);
    case HEED_GGUF_TEXT:
        return heed_utf8_check(v->text.data, v->text.n) == v->text.n
                   ? json_stringn(v->text.data, v->text.n)
                   : json_null();
    case HEED_GGUF_ARRAY:
        break;
    }
    return json_pack("{s:I, s:s}", "items", (json_int_t)v->count, "of", KINDS[v->item]);
}

static json_t *gguf(const heed_gguf *g) {
    json_t *settings = json_object();
    for (int64_t i = 0; i < heed_gguf_count(g); i++) {
        const heed_gguf_value *v = heed_gguf_at(g, i);
        json_t *value = setting(v);
        if (json_object_set_new(settings, v->key, value) != 0) {
            json_decref(settings);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "format", "gguf", "settings", settings);
}

static bool print(heed_buf *out, json_t *root, const heed_tensors *list, heed_error *err) {
    bool fine = root && add_tensors(root, list);
    if (!fine) {
        heed_fail(err, HEED_NOMEM, "no memory for the description of a file");
    }
    fine = fine && heed_json_print(out, root, 2, err);
    json_decref(root);
    return fine;
}

bool heed_file_describe(const heed_host *host, const char *path, heed_buf *json, heed_error *err) {
    if (heed_is_gguf(path)) {
        heed_gguf *g = heed_gguf_open(host, path, err);
        bool fine = g && print(json, gguf(g), heed_gguf_tensors(g), err);
        heed_gguf_free(g);
        return fine;
    }
    heed_tensors *list = heed_tensors_open(host, path, err);
    bool fine = list && print(json, plain(list), list, err);
    heed_tensors_free(list);
    return fine;
}
