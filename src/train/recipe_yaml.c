/* recipe_yaml.c: a recipe from YAML, by libyaml's events and the table of keys.
 *
 * A recipe is a mapping of sections, each a mapping of keys to scalars. Everything else YAML can
 * say (lists, anchors, aliases, tags, several documents, a key twice) is refused where it stands.
 * Invariant: reader.event holds an event of the parser whenever reader.live is set.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "train/recipe_value.h"

enum { KEYS_MOST = 128, PATH_MOST = 160 };

typedef struct {
    yaml_parser_t yaml;
    yaml_event_t event;
    bool live;
    heed_recipe *recipe;
    const char *name, *text;
    size_t n;
    size_t key_line[KEYS_MOST];     /* where each key stood, 0: not yet */
    size_t section_line[KEYS_MOST]; /* the same for sections, by their first key */
    heed_error *err;
} reader;

/* Puts a place in front of the error that was just made. */
static bool at(const reader *r, size_t line, size_t column) {
    heed_error_at(r->err, "%s:%zu:%zu", r->name, line, column);
    return false;
}

static bool at_event(const reader *r) {
    return at(r, r->event.start_mark.line + 1, r->event.start_mark.column + 1);
}

static bool refuse(const reader *r, const char *text) {
    heed_fail(r->err, HEED_VALUE, "%s", text);
    return at_event(r);
}

/* libyaml gives bad bytes by their offset alone. */
static bool refuse_bytes(const reader *r) {
    size_t line = 1, start = 0, end = r->yaml.problem_offset < r->n ? r->yaml.problem_offset : r->n;
    for (size_t i = 0; i < end; i++) {
        if (r->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    heed_fail(r->err, HEED_TEXT, "not YAML: %s", r->yaml.problem);
    return at(r, line, end - start + 1);
}

static bool refuse_yaml(const reader *r) {
    if (r->yaml.error == YAML_MEMORY_ERROR) {
        return heed_fail(r->err, HEED_NOMEM, "%s: out of memory", r->name);
    }
    if (r->yaml.error == YAML_READER_ERROR) {
        return refuse_bytes(r);
    }
    heed_fail(r->err, HEED_VALUE, "not YAML: %s", r->yaml.problem ? r->yaml.problem : "unreadable");
    return at(r, r->yaml.problem_mark.line + 1, r->yaml.problem_mark.column + 1);
}

static bool has_properties(const yaml_event_t *e) {
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    default:
        return false;
    }
}

/* The next event; what no recipe may have is refused here. */
static bool next(reader *r) {
    if (r->live) {
        yaml_event_delete(&r->event);
    }
    r->live = yaml_parser_parse(&r->yaml, &r->event) == 1;
    if (!r->live) {
        return refuse_yaml(r);
    }
    if (r->event.type == YAML_ALIAS_EVENT || has_properties(&r->event)) {
        return refuse(r, "a recipe has no anchors, aliases and tags, write the value itself");
    }
    return true;
}

static const char *scalar(const reader *r, size_t *n) {
    *n = r->event.data.scalar.length;
    return (const char *)r->event.data.scalar.value;
}

static bool is_plain(const reader *r) {
    return r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* An empty value, as in "train:" with nothing under it. */
static bool is_nothing(const reader *r) {
    if (r->event.type != YAML_SCALAR_EVENT || !is_plain(r)) {
        return false;
    }
    size_t n;
    const char *text = scalar(r, &n);
    return n == 0 || (n == 1 && text[0] == '~') || (n == 4 && memcmp(text, "null", 4) == 0);
}

/* Notes that a key or section stands here; the second time is an error. */
static bool note(const reader *r, size_t *line, const char *what) {
    if (*line > 0) {
        heed_fail(r->err, HEED_VALUE, "%s is here for the second time, the first is line %zu", what,
                  *line);
        return at_event(r);
    }
    *line = r->event.start_mark.line + 1;
    return true;
}

static bool refuse_section(const reader *r, const char *text, size_t n) {
    char shown[HEED_SHOWN], list[200] = "";
    size_t count, end = 0;
    const heed_recipe_key *key = heed_recipe_keys(&count);
    for (size_t i = 0; i < count; i++) {
        size_t more = strlen(key[i].section);
        if ((i == 0 || strcmp(key[i].section, key[i - 1].section) != 0) &&
            end + more + 3 < sizeof list) {
            memcpy(list + end, ", ", 2);
            memcpy(list + end + 2, key[i].section, more + 1);
            end += more + 2;
        }
    }
    heed_fail(r->err, HEED_NAME, "unknown section %s, the sections are %s",
              heed_recipe_show(shown, text, n), list + 2);
    return at_event(r);
}

/* The first key of the section that the current event names. */
static const heed_recipe_key *read_section_name(reader *r) {
    size_t n, count;
    const char *text = scalar(r, &n);
    const heed_recipe_key *key = heed_recipe_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strlen(key[i].section) == n && memcmp(key[i].section, text, n) == 0) {
            return note(r, &r->section_line[i], key[i].section) ? &key[i] : NULL;
        }
    }
    refuse_section(r, text, n);
    return NULL;
}

/* The key of that section that the current event names. */
static const heed_recipe_key *read_key_name(reader *r, const char *section) {
    char path[PATH_MOST], shown[HEED_SHOWN];
    size_t n, count, start = strlen(section) + 1;
    const char *name = scalar(r, &n);
    size_t fits = n < PATH_MOST - start - 1 ? n : PATH_MOST - start - 1;
    memcpy(path, section, start - 1);
    path[start - 1] = '.';
    memcpy(path + start, name, fits);
    path[start + fits] = '\0';
    const heed_recipe_key *key = fits == n ? heed_recipe_find(path, start + n) : NULL;
    if (key) {
        return note(r, &r->key_line[key - heed_recipe_keys(&count)], path) ? key : NULL;
    }
    const heed_recipe_key *near = heed_recipe_nearest(path, start + fits);
    heed_fail(r->err, HEED_NAME, near ? "unknown key %s, did you mean '%s.%s'?" : "unknown key %s",
              heed_recipe_show(shown, path, start + fits), near ? near->section : "",
              near ? near->name : "");
    at_event(r);
    return NULL;
}

/* "name:line:column" of the current event, kept with the recipe. */
static const char *keep_place(reader *r) {
    yaml_mark_t mark = r->event.start_mark;
    heed_buf place = {.host = r->recipe->host};
    heed_buf_format(&place, "%s:%zu:%zu", r->name, mark.line + 1, mark.column + 1);
    const char *kept = NULL;
    if (place.failed) {
        heed_fail(r->err, HEED_NOMEM, "%s: out of memory", r->name);
    } else {
        kept = heed_region_text(&r->recipe->texts, place.data, place.n, r->err);
    }
    heed_buf_free(&place);
    return kept;
}

static bool read_value(reader *r, const heed_recipe_key *key) {
    if (r->event.type != YAML_SCALAR_EVENT) {
        heed_fail(r->err, HEED_VALUE, "%s.%s is a %s, must be one value", key->section, key->name,
                  r->event.type == YAML_SEQUENCE_START_EVENT ? "list" : "mapping");
        return at_event(r);
    }
    size_t n;
    const char *text = scalar(r, &n), *place = keep_place(r);
    if (!place) {
        return false;
    }
    return heed_recipe_assign(r->recipe, key, text, n, is_plain(r), place, r->err) || at_event(r);
}

static bool read_section(reader *r, const char *section) {
    if (is_nothing(r)) {
        return true;
    }
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        return refuse(r, "a section holds keys, write 'key: value' lines under its name");
    }
    for (;;) {
        if (!next(r)) {
            return false;
        }
        if (r->event.type == YAML_MAPPING_END_EVENT) {
            return true;
        }
        if (r->event.type != YAML_SCALAR_EVENT) {
            return refuse(r, "the name of a key is wanted here");
        }
        const heed_recipe_key *key = read_key_name(r, section);
        if (!key || !next(r) || !read_value(r, key)) {
            return false;
        }
    }
}

static bool read_root(reader *r) {
    if (is_nothing(r)) {
        return true;
    }
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        return refuse(r,
                      "a recipe is sections with keys, such as 'train:' and below it '  lr: 3e-4'");
    }
    for (;;) {
        if (!next(r)) {
            return false;
        }
        if (r->event.type == YAML_MAPPING_END_EVENT) {
            return true;
        }
        if (r->event.type != YAML_SCALAR_EVENT) {
            return refuse(r, "the name of a section is wanted here");
        }
        const heed_recipe_key *first = read_section_name(r);
        if (!first || !next(r) || !read_section(r, first->section)) {
            return false;
        }
    }
}

static bool read_stream(reader *r) {
    if (!next(r) || !next(r)) { /* the stream's start, and what is in it */
        return false;
    }
    if (r->event.type == YAML_STREAM_END_EVENT) {
        return true;
    }
    if (!next(r) || !read_root(r) || !next(r) ||
        !next(r)) { /* root, document's end, what follows */
        return false;
    }
    return r->event.type == YAML_STREAM_END_EVENT || refuse(r, "a recipe is one document");
}

bool heed_recipe_parse(heed_recipe *recipe, const char *name, const char *yaml, size_t n,
                       heed_error *err) {
    reader r = {.recipe = recipe, .name = name, .text = yaml, .n = n, .err = err};
    if (!yaml_parser_initialize(&r.yaml)) {
        return heed_fail(err, HEED_NOMEM, "%s: out of memory", name);
    }
    yaml_parser_set_encoding(&r.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)yaml, n);
    bool ok = read_stream(&r);
    if (r.live) {
        yaml_event_delete(&r.event);
    }
    yaml_parser_delete(&r.yaml);
    return ok;
}
