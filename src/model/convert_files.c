/* convert_files.c: what stands in a model's folder beside config.json and the weights.
 *
 * A folder that becomes a folder keeps these files as they are. The same names tell whether a
 * folder holds a model already, and are what goes where it is written over: a file that the new
 * model does not have would otherwise be read with it.
 * SPDX-License-Identifier: MIT
 */
#include "model/convert.h"

#include "base/fs.h"

#include <string.h>

enum { PATH = 4096, LIMIT = 16 << 20 };

/* Files of any family's folder. */
static const char *const files[] = {
    "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja", "vocab.json", "merges.txt", "vocab.txt",
    "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "source.spm", "target.spm",
    "tokenizer.bin", "preprocessor_config.json",
    /* sentence-transformers */
    "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json",
    "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json", "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json", NULL};
/* Those that are written anew. */
static const char *const own_files[] = {"model.safetensors", "model.safetensors.index.json",
                                        "pytorch_model.bin", "pytorch_model.bin.index.json",
                                        "config.json",       NULL};
/* Files of a module of sentence-transformers, in a folder of its own. */
static const char *const module_files[] = {"config.json", "model.safetensors", "pytorch_model.bin",
                                           NULL};

/* ---- What is there ---- */

static bool holds_one_of(const char *folder, const char *const *names) {
    char path[PATH];
    for (; *names; names++)
        if (heed_join_path(path, sizeof path, folder, *names, NULL) && heed_is_there(path))
            return true;
    return false;
}

bool heed_convert_is_model(const char *folder) {
    return holds_one_of(folder, own_files) || holds_one_of(folder, files);
}

static bool remove_all(const char *folder, const char *const *names, heed_error *err) {
    char path[PATH];
    for (; *names; names++)
        if (!heed_join_path(path, sizeof path, folder, *names, err) || !heed_remove_file(path, err))
            return false;
    return true;
}

/* The weights first: a folder with weights is complete. */
bool heed_convert_clear(const char *folder, heed_error *err) {
    return remove_all(folder, own_files, err) && remove_all(folder, files, err);
}

/* ---- Copying ---- */

/* Those of the files from/name that are there. */
static bool copy(const heed_conversion *c, const char *from, const char *to,
                 const char *const *names, heed_error *err) {
    bool fine = true;
    for (; fine && *names; names++) {
        char source[PATH], target[PATH];
        heed_mapped file = {0};
        if (!heed_join_path(source, sizeof source, from, *names, err) ||
            !heed_join_path(target, sizeof target, to, *names, err))
            return false;
        if (!heed_is_there(source))
            continue;
        fine = heed_map_file(&file, source, err) &&
               heed_write_file(heed_model_host(c->from), target, file.data, file.n, err);
        heed_unmap_file(&file);
    }
    return fine;
}

/* "1_Pooling", "2_Dense"; the model itself is the module without a folder. */
static bool copy_module(const heed_conversion *c, const json_t *module, heed_error *err) {
    const char *path = heed_json_string(module, "path", NULL, err);
    char from[PATH], to[PATH];
    if (!path || !*path)
        return path != NULL;
    if (path[0] == '/' || strstr(path, ".."))
        return heed_fail(err, HEED_VALUE, "path '%.60s' leads out of the folder", path);
    return heed_join_path(from, sizeof from, c->path, path, err) &&
           heed_join_path(to, sizeof to, c->out, path, err) && heed_make_folder(to, err) &&
           copy(c, from, to, module_files, err);
}

static bool copy_modules(const heed_conversion *c, heed_error *err) {
    char path[PATH];
    if (!heed_join_path(path, sizeof path, c->path, "modules.json", err))
        return false;
    if (!heed_is_there(path))
        return true;
    json_t *root = heed_json_read(heed_model_host(c->from), path, LIMIT, err);
    bool fine = root;
    for (size_t i = 0; fine && i < json_array_size(root); i++) {
        heed_error why = {0};
        fine = copy_module(c, json_array_get(root, i), &why) ||
               heed_fail(err, why.code, "'%s': module %zu: %s", path, i + 1, why.text);
    }
    json_decref(root);
    return fine;
}

bool heed_convert_copy_files(const heed_conversion *c, heed_error *err) {
    return copy(c, c->path, c->out, files, err) && copy_modules(c, err);
}
