/* show_html.c: attention as one page that works without a network.
 *
 * Weights are written in thousandths. Inside the data, '<' is written as an escape, so that no text
 * can end the script element; outside, text is escaped as HTML.
 * SPDX-License-Identifier: MIT
 */
#include "base/error.h"
#include "file/json.h"
#include "heed_look.h"
#include "look/page.h"

#include <string.h>

static void add_html(heed_buf *out, const char *s) {
    for (; *s; s++) {
        const char *name = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : NULL;
        if (name) {
            heed_buf_text(out, name);
        } else {
            heed_buf_add(out, s, 1);
        }
    }
}

/* A JSON string without '<', '>' and '&'. */
static void add_string(heed_buf *out, const char *s) {
    heed_buf text = {.host = out->host};
    heed_json_print_string(&text, s, strlen(s));
    for (size_t i = 0; i < text.n; i++) {
        char c = text.data[i];
        if (c == '<' || c == '>' || c == '&') {
            heed_buf_format(out, "\\u%04x", (unsigned)c);
        } else {
            heed_buf_add(out, &c, 1);
        }
    }
    out->failed = out->failed || text.failed;
    heed_buf_free(&text);
}

static void add_tokens(heed_buf *out, const char *name, const heed_shown_token *list, int64_t n) {
    heed_buf_format(out, ",\"%s\":[", name);
    for (int64_t i = 0; i < n; i++) {
        heed_buf_text(out, i ? "," : "");
        add_string(out, list[i].shown);
    }
    heed_buf_text(out, "]");
}

static void add_map(heed_buf *out, const char *name, const heed_attention_map *m) {
    int64_t n = m->layers * m->heads * m->queries * m->keys;
    heed_buf_format(out, "{\"name\":\"%s\",\"layers\":%d,\"heads\":%d", name, (int)m->layers,
                    (int)m->heads);
    add_tokens(out, "queries", m->query, m->queries);
    add_tokens(out, "keys", m->key, m->keys);
    heed_buf_text(out, ",\"weight\":[");
    for (int64_t i = 0; i < n; i++) {
        heed_buf_format(out, "%s%d", i ? "," : "", (int)(1000 * m->weight[i] + 0.5f));
    }
    heed_buf_text(out, "]}");
}

bool heed_attention_html(const heed_attention *a, heed_buf *out, heed_error *err) {
    static const char *const names[] = {"cross", "encoder", "decoder"};
    heed_buf_text(out, "<!doctype html>\n<html>\n<head>\n");
    heed_buf_text(out, PAGE_STYLE);
    heed_buf_text(out, "<title>");
    add_html(out, heed_attention_source(a));
    heed_buf_text(out, "</title>\n</head>\n<body>\n<h1>");
    add_html(out, heed_attention_source(a));
    heed_buf_text(out, "</h1>\n<p>");
    add_html(out, heed_attention_target(a));
    heed_buf_text(out, "</p>\n");
    heed_buf_text(out, PAGE_BODY);
    heed_buf_text(out, "<script type=\"application/json\" id=\"data\">{\"maps\":[");
    for (int i = 0; i < 3; i++) {
        heed_attention_map m = heed_attention_of(a, (heed_attention_kind)i);
        heed_buf_text(out, i ? "," : "");
        add_map(out, names[i], &m);
    }
    heed_buf_text(out, "]}</script>\n");
    heed_buf_text(out, PAGE_SCRIPT);
    heed_buf_text(out, "</body>\n</html>\n");
    return !out->failed || heed_fail(err, HEED_NOMEM, "no memory for the page");
}
