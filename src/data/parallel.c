/* parallel.c: two files or one TSV become pairs; empty sides are left out and counted.
 * SPDX-License-Identifier: MIT
 */
#include "data/parallel.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "data/split.h"

/* ---- Checking what was asked ---- */

static bool check_share(const char *name, double share, heed_error *err) {
    if (share >= 0.0 && share < 1.0)
        return true;
    return heed_fail(err, HEED_VALUE, "share '%s' is %g, wanted 0 or more and below 1", name,
                     share);
}

static bool check_opts(const heed_parallel_opts *o, heed_error *err) {
    if (!check_share("valid", o->valid, err) || !check_share("test", o->test, err))
        return false;
    if (o->valid + o->test >= 1.0)
        return heed_fail(err, HEED_VALUE,
                         "shares %g (valid) and %g (test) leave nothing to train on", o->valid,
                         o->test);
    if (o->source_column < 0 || o->target_column < 0)
        return heed_fail(err, HEED_VALUE,
                         "columns are counted from 1, not %" PRId64 " and %" PRId64,
                         o->source_column, o->target_column);
    return true;
}

/* ---- Pairs ---- */

static void count_empty(heed_parallel_report *r, bool source, bool target, int64_t line) {
    *(source && target ? &r->empty_both : source ? &r->empty_source : &r->empty_target) += 1;
    if (!r->first_empty)
        r->first_empty = line;
}

static void add(heed_parallel *p, heed_line source, heed_line target, int64_t line) {
    source = heed_line_trim(source);
    target = heed_line_trim(target);
    if (source.n && target.n)
        p->pair[p->n++] = (heed_pair){source, target, line};
    else
        count_empty(&p->report, !source.n, !target.n, line);
}

static bool make_room(heed_parallel *p, int64_t lines, heed_error *err) {
    p->report.lines = lines;
    p->pair = heed_alloc(p->host, (size_t)lines, sizeof *p->pair, err);
    return p->pair != NULL;
}

static bool read_files(heed_parallel *p, const heed_parallel_opts *o, heed_error *err) {
    heed_lines *a = &p->text[0], *b = &p->text[1];
    if (!heed_lines_read(a, p->host, o->source, o->limit, err))
        return false;
    if (!heed_lines_read(b, p->host, o->target, o->limit, err))
        return false;
    if (a->n != b->n)
        return heed_fail(err, HEED_TEXT,
                         "source '%s' has %" PRId64 " lines, target '%s' has %" PRId64
                         ": line by line they must say the same",
                         o->source, a->n, o->target, b->n);
    if (!make_room(p, a->n, err))
        return false;
    for (int64_t i = 0; i < a->n; i++)
        add(p, a->line[i], b->line[i], i + 1);
    return true;
}

static bool add_row(heed_parallel *p, const heed_parallel_opts *o, heed_line row, int64_t line,
                    heed_error *err) {
    int64_t from = o->source_column ? o->source_column : 1,
            to = o->target_column ? o->target_column : 2;
    heed_line source, target;
    if (!heed_line_trim(row).n) {
        count_empty(&p->report, true, true, line);
        return true;
    }
    if (!heed_line_column(row, from, &source) || !heed_line_column(row, to, &target)) {
        int64_t columns = 1;
        for (size_t i = 0; i < row.n; i++)
            columns += row.s[i] == '\t';
        return heed_fail(err, HEED_TEXT,
                         "'%s' line %" PRId64 " has %" PRId64 " columns, column %" PRId64
                         " was asked for",
                         o->source, line, columns, from > to ? from : to);
    }
    add(p, source, target, line);
    return true;
}

static bool read_table(heed_parallel *p, const heed_parallel_opts *o, heed_error *err) {
    heed_lines *all = &p->text[0];
    if (!heed_lines_read(all, p->host, o->source, o->limit, err))
        return false;
    if (!make_room(p, all->n, err))
        return false;
    for (int64_t i = 0; i < all->n; i++)
        if (!add_row(p, o, all->line[i], i + 1, err))
            return false;
    return true;
}

bool heed_parallel_read(heed_parallel *p, const heed_host *host, const heed_parallel_opts *opts,
                        heed_error *err) {
    *p = (heed_parallel){.host = host, .text = {{.host = host}, {.host = host}}};
    bool ok = check_opts(opts, err) &&
              (opts->target ? read_files(p, opts, err) : read_table(p, opts, err)) &&
              heed_split_pairs(p, opts, err);
    if (ok)
        p->report.pairs = p->n;
    if (!ok)
        heed_parallel_free(p);
    return ok;
}

void heed_parallel_free(heed_parallel *p) {
    heed_free(p->host, p->pair);
    heed_lines_free(&p->text[0]);
    heed_lines_free(&p->text[1]);
    *p = (heed_parallel){.host = p->host};
}
