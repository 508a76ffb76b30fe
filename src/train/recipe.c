/* recipe.c: a recipe's life: defaults, arguments, writing, documentation.
 * SPDX-License-Identifier: MIT
 */
#include "train/recipe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fs.h"
#include "train/recipe_value.h"

enum { RECIPE_MOST = 1 << 20 }; /* bytes of a recipe */

static bool set_defaults(heed_recipe *recipe, heed_error *err) {
    size_t count;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (!heed_recipe_assign(recipe, &key[i], key[i].value, strlen(key[i].value), true, NULL,
                                err)) {
            return false;
        }
    }
    return true;
}

heed_recipe *heed_recipe_new(const heed_host *host, heed_error *err) {
    size_t count;
    heed_recipe_keys(&count);
    heed_recipe *recipe = heed_alloc(host, 1, sizeof *recipe, err);
    if (!recipe) {
        return NULL;
    }
    recipe->host = host;
    recipe->texts.host = host;
    recipe->where = heed_alloc(host, count, sizeof *recipe->where, err);
    if (!recipe->where || !set_defaults(recipe, err)) {
        heed_recipe_free(recipe);
        return NULL;
    }
    return recipe;
}

void heed_recipe_free(heed_recipe *recipe) {
    if (!recipe) {
        return;
    }
    heed_region_free(&recipe->texts);
    heed_free(recipe->host, recipe->where);
    heed_free(recipe->host, recipe);
}

bool heed_recipe_read(heed_recipe *recipe, const char *path, heed_error *err) {
    size_t n;
    char *yaml = heed_read_text(recipe->host, path, RECIPE_MOST, &n, err);
    bool ok = yaml && heed_recipe_parse(recipe, path, yaml, n, err);
    heed_free(recipe->host, yaml);
    return ok;
}

static bool set_argument(heed_recipe *recipe, const char *argument, const char *where,
                         heed_error *err) {
    const char *equals = strchr(argument, '=');
    if (!equals) {
        return heed_fail(err, HEED_VALUE, "no '=' in it, write section.key=value");
    }
    size_t n = (size_t)(equals - argument);
    const heed_recipe_key *key = heed_recipe_find(argument, n);
    if (!key) {
        char shown[HEED_SHOWN];
        const heed_recipe_key *near = heed_recipe_nearest(argument, n);
        heed_recipe_show(shown, argument, n);
        if (near) {
            return heed_fail(err, HEED_NAME, "unknown key %s, did you mean '%s.%s'?", shown,
                             near->section, near->name);
        }
        return heed_fail(err, HEED_NAME, "unknown key %s, see the keys of a recipe", shown);
    }
    return heed_recipe_assign(recipe, key, equals + 1, strlen(equals + 1), true, where, err);
}

bool heed_recipe_set(heed_recipe *recipe, const char *argument, heed_error *err) {
    char shown[HEED_SHOWN];
    heed_buf buf = {.host = recipe->host};
    heed_recipe_show(shown, argument, strlen(argument));
    heed_buf_format(&buf, "argument %s", shown);
    const char *where = buf.failed ? NULL : heed_region_text(&recipe->texts, buf.data, buf.n, err);
    heed_buf_free(&buf);
    if (!where) {
        return heed_fail(err, HEED_NOMEM, "out of memory for an argument");
    }
    if (set_argument(recipe, argument, where, err)) {
        return true;
    }
    heed_error_at(err, "%s", where);
    return false;
}

bool heed_recipe_print(const heed_recipe *recipe, bool only_set, heed_buf *out) {
    size_t count;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    const char *section = "";
    for (size_t i = 0; i < count; i++) {
        if (only_set && !recipe->where[i]) {
            continue;
        }
        if (strcmp(section, key[i].section) != 0) {
            heed_buf_format(out, "%s%s:\n", *section ? "\n" : "", key[i].section);
            section = key[i].section;
        }
        heed_buf_format(out, "  %s: ", key[i].name);
        heed_recipe_print_value(recipe, &key[i], out);
        heed_buf_text(out, "\n");
    }
    return !out->failed;
}

bool heed_recipe_write(const heed_recipe *recipe, const char *path, heed_error *err) {
    heed_buf yaml = {.host = recipe->host};
    bool ok = heed_recipe_print(recipe, false, &yaml)
                  ? heed_write_file(recipe->host, path, yaml.data, yaml.n, err)
                  : heed_fail(err, HEED_NOMEM, "out of memory for the text of '%s'", path);
    heed_buf_free(&yaml);
    return ok;
}

/* Appends the value of the ${NAME} at `text`; returns the bytes of the reference, 0 where it is
 * none. */
static size_t expand_one(heed_buf *out, const char *text, heed_error *err) {
    const char *end = text[0] == '$' && text[1] == '{' ? strchr(text, '}') : NULL;
    if (!end || end == text + 2) {
        return 0;
    }
    char name[64];
    size_t n = (size_t)(end - text) - 2;
    if (n < sizeof name) {
        memcpy(name, text + 2, n);
        name[n] = '\0';
        const char *value = getenv(name);
        if (value) {
            heed_buf_text(out, value);
            return n + 3;
        }
    }
    heed_fail(err, HEED_NAME, "'%s': environment variable '%.*s' is not set", text, (int)n,
              text + 2);
    return 0;
}

char *heed_recipe_path(const heed_host *host, const char *text, heed_error *err) {
    heed_buf out = {.host = host};
    heed_error first = {0};
    heed_buf_text(&out, "");
    for (const char *at = text; *at;) {
        size_t n = expand_one(&out, at, &first);
        if (n == 0) {
            heed_buf_add(&out, at, n = 1);
        }
        at += n;
    }
    if (first.code || out.failed) {
        heed_fail(err, first.code ? first.code : HEED_NOMEM, "%s",
                  first.code ? first.text : "out of memory for a path");
        heed_buf_free(&out);
        return NULL;
    }
    return out.data;
}

static void document_range(const heed_recipe_key *key, heed_buf *out) {
    if (key->choices) {
        for (int i = 0; key->choices[i]; i++) {
            heed_buf_format(out, "%s`%s`", i > 0 ? " " : "", key->choices[i]);
        }
    } else if (key->kind == HEED_KEY_FLAG) {
        heed_buf_text(out, "`true` `false`");
    } else if (key->kind == HEED_KEY_TEXT) {
        heed_buf_text(out, "text");
    } else {
        heed_buf_format(out, "%s%s %.16g to %s%.16g", key->kind == HEED_KEY_WHOLE ? "whole, " : "",
                        key->range.above ? "above" : "from", key->range.low,
                        key->range.below ? "below " : "", key->range.high);
    }
}

bool heed_recipe_document(heed_buf *out) {
    size_t count;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    const char *section = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(section, key[i].section) != 0) {
            section = key[i].section;
            heed_buf_format(out,
                            "\n### %s\n\n| key | default | values | meaning |\n|---|---|---|---|\n",
                            section);
        }
        const char *value = *key[i].value ? key[i].value : "\"\"";
        heed_buf_format(out, "| `%s` | `%s` | ", key[i].name, value);
        document_range(&key[i], out);
        heed_buf_format(out, " | %s |\n", key[i].help);
    }
    return !out->failed;
}
