/* metrics.c: metrics as JSON lines and TensorBoard events, appended and cut back on a resume.
 *
 * Invariant: a file's `size` counts whole lines or records only; what a failed write left behind it
 * is cut off before the next one.
 * SPDX-License-Identifier: MIT
 */
#include "train/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"
#include "file/json.h"
#include "train/events.h"

enum { PATH_MOST = 4096 };

typedef struct {
    int fd; /* -1: not open */
    int64_t size;
    char path[PATH_MOST];
} log_file;

struct heed_metrics {
    const heed_host *host;
    log_file lines, events;
};

static bool fail_system(const log_file *f, const char *what, heed_error *err) {
    return heed_fail_system(err, HEED_SYSTEM, errno, "cannot %s '%s'", what, f->path);
}

static bool open_log(log_file *f, const char *folder, const char *name, int64_t keep,
                     heed_error *err) {
    if (!heed_join_path(f->path, sizeof f->path, folder, name, err)) {
        return false;
    }
    f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct stat st;
    if (f->fd < 0 || fstat(f->fd, &st) != 0) {
        return fail_system(f, "open", err);
    }
    if ((int64_t)st.st_size < keep) {
        return heed_fail(err, HEED_FILE,
                         "'%s' has %" PRId64 " bytes, the checkpoint saw %" PRId64
                         ": it is the file of another run",
                         f->path, (int64_t)st.st_size, keep);
    }
    f->size = keep;
    return ftruncate(f->fd, (off_t)keep) == 0 || fail_system(f, "cut", err);
}

/* Appends all of it or nothing. */
static bool append(log_file *f, const char *data, size_t n, heed_error *err) {
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite(f->fd, data + done, n - done, (off_t)f->size + (off_t)done);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            fail_system(f, "write", err);
            return ftruncate(f->fd, (off_t)f->size) == 0 && false;
        }
        done += (size_t)wrote;
    }
    f->size += (int64_t)n;
    return true;
}

static bool append_buf(log_file *f, heed_buf *buf, heed_error *err) {
    bool ok = buf->failed ? heed_fail(err, HEED_NOMEM, "out of memory for a line of '%s'", f->path)
                          : append(f, buf->data, buf->n, err);
    heed_buf_free(buf);
    return ok;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool open_events(heed_metrics *m, const char *folder, int64_t keep, heed_error *err) {
    if (!open_log(&m->events, folder, "events.out.tfevents.heed", keep, err)) {
        return false;
    }
    heed_buf record = {.host = m->host};
    if (keep > 0) {
        return true;
    }
    heed_event_open(&record, now());
    return append_buf(&m->events, &record, err);
}

heed_metrics *heed_metrics_open(const heed_host *host, const char *folder, bool events,
                                heed_metrics_size keep, heed_error *err) {
    heed_metrics *m = heed_alloc(host, 1, sizeof *m, err);
    if (!m) {
        return NULL;
    }
    m->host = host;
    m->lines.fd = m->events.fd = -1;
    if (!open_log(&m->lines, folder, "metrics.jsonl", keep.lines, err) ||
        (events && !open_events(m, folder, keep.events, err))) {
        heed_metrics_close(m);
        return NULL;
    }
    return m;
}

static void add_value(heed_buf *line, const heed_metric *metric) {
    char number[32];
    if (!isfinite(metric->value)) {
        heed_buf_text(line, "null");
    } else if (metric->whole) {
        heed_buf_format(line, "%" PRId64, (int64_t)metric->value);
    } else {
        heed_json_format_real(metric->value, number);
        heed_buf_text(line, number);
    }
}

static bool add_line(heed_metrics *m, const char *kind, int64_t step, const heed_metric *list,
                     size_t n, heed_error *err) {
    heed_buf line = {.host = m->host};
    heed_buf_format(&line, "{\"kind\":\"%s\",\"step\":%" PRId64, kind, step);
    for (size_t i = 0; i < n; i++) {
        heed_buf_format(&line, ",\"%s\":", list[i].name);
        add_value(&line, &list[i]);
    }
    heed_buf_text(&line, "}\n");
    return append_buf(&m->lines, &line, err);
}

static bool add_events(heed_metrics *m, const char *kind, int64_t step, const heed_metric *list,
                       size_t n, heed_error *err) {
    heed_buf records = {.host = m->host}, tag = {.host = m->host};
    double seconds = now();
    heed_buf_text(&records, "");
    for (size_t i = 0; i < n; i++) {
        if (list[i].whole) {
            continue;
        }
        tag.n = 0;
        heed_buf_format(&tag, "%s/%s", kind, list[i].name);
        if (!tag.failed) {
            heed_event_scalar(&records, seconds, step, tag.data, (float)list[i].value);
        }
    }
    records.failed = records.failed || tag.failed;
    heed_buf_free(&tag);
    return append_buf(&m->events, &records, err);
}

bool heed_metrics_add(heed_metrics *metrics, const char *kind, int64_t step,
                      const heed_metric *list, size_t n, heed_error *err) {
    return add_line(metrics, kind, step, list, n, err) &&
           (metrics->events.fd < 0 || add_events(metrics, kind, step, list, n, err));
}

static bool sync_log(const log_file *f, heed_error *err) {
    return f->fd < 0 || fsync(f->fd) == 0 || fail_system(f, "sync", err);
}

bool heed_metrics_sync(heed_metrics *metrics, heed_metrics_size *size, heed_error *err) {
    size->lines = metrics->lines.size;
    size->events = metrics->events.size;
    return sync_log(&metrics->lines, err) && sync_log(&metrics->events, err);
}

void heed_metrics_close(heed_metrics *metrics) {
    if (!metrics) {
        return;
    }
    if (metrics->lines.fd >= 0) {
        close(metrics->lines.fd);
    }
    if (metrics->events.fd >= 0) {
        close(metrics->events.fd);
    }
    heed_free(metrics->host, metrics);
}
