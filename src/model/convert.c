/* convert.c: a model into another format or another type.
 *
 * Method: the settings are written by the tables that read them, and read back; the model that they
 * then describe asks for weights, and each is found in the source by its name. So what a format
 * cannot say shows before a number is read, and there is no second list of anything. Numbers go
 * from file to file one tensor at a time.
 * SPDX-License-Identifier: MIT
 */
#include "model/convert.h"

#include "base/fs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void heed_convert_note(const heed_conversion *c, const char *format, ...) {
    char line[400];
    va_list args;
    if (!c->options->note)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    c->options->note(c->options->ctx, line);
}

static bool is_writable(heed_type type) {
    return type == HEED_F32 || type == HEED_F16 || type == HEED_BF16;
}

/* The one type that all weights have in the file, else F32. */
static heed_type stored_type(const heed_model *m) {
    heed_type type = HEED_TYPE_COUNT;
    for (int64_t i = 0; i < heed_weights_count(m->weights); i++) {
        const heed_tensor *t = m->stored[i] ? heed_tensors_find(m->tensors, m->stored[i]) : NULL;
        if (!t)
            continue;
        if (!is_writable(t->type) || (type != HEED_TYPE_COUNT && type != t->type))
            return HEED_F32;
        type = t->type;
    }
    return type == HEED_TYPE_COUNT ? HEED_F32 : type;
}

static bool choose_type(heed_conversion *c, heed_error *err) {
    static const struct {
        const char *name;
        heed_type type;
    } known[] = {{"f32", HEED_F32}, {"f16", HEED_F16}, {"bf16", HEED_BF16}};
    if (!c->options->type) {
        c->type = stored_type(c->from);
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, c->options->type)) {
            c->type = known[i].type;
            return true;
        }
    return heed_fail(err, HEED_VALUE, "type '%.40s' is none that is written: f32, f16, bf16",
                     c->options->type);
}

/* The source stays mapped while the target is written: it must be another file. */
static bool is_elsewhere(const heed_conversion *c, heed_error *err) {
    if (c->options->to == HEED_TO_GGUF ? heed_is_folder(c->out) : heed_is_file(c->out))
        return heed_fail(err, HEED_VALUE, "'%s' is a %s, and a %s is to be written", c->out,
                         heed_is_folder(c->out) ? "folder" : "file",
                         heed_is_folder(c->out) ? "file" : "folder");
    if (heed_same_file(c->path, c->out))
        return heed_fail(err, HEED_VALUE, "'%s' is what is read: name another place to write to",
                         c->out);
    bool folder = heed_is_folder(c->out);
    bool taken = folder ? heed_convert_is_model(c->out) : heed_is_file(c->out);
    return !taken || c->options->over ||
           heed_fail(err, HEED_VALUE, "'%s' %s already: name another place to write to", c->out,
                     folder ? "holds files of a model" : "is there");
}

bool heed_convert(heed_engine *engine, const char *path, const char *out,
                  const heed_convert_options *options, heed_error *err) {
    heed_conversion c = {.path = path, .out = out, .options = options};
    if (!is_elsewhere(&c, err))
        return false;
    c.from = heed_model_open_matched(engine, path, err);
    bool fine =
        c.from && choose_type(&c, err) &&
        (options->to == HEED_TO_GGUF ? heed_convert_gguf(&c, err) : heed_convert_folder(&c, err));
    heed_convert_release(&c);
    heed_model_free(c.to);
    heed_model_free(c.from);
    return fine;
}
