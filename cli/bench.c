/* bench.c: what this machine could do, and what heed makes of it.
 *
 * The ceilings come first. Then each line is run again and again: the figure is the median, with
 * the quarter below and above it as spread; percent is the least time that the ceilings allow over
 * the time taken. Short work is run many times for one time, so that the clock is no part of it.
 * --serve answers one line of standard input a time, for whoever runs others beside it.
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench.h"
#include "heed_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    cli_engine_values engine;
    const char *only, *type, *serve, *model;
    cli_number seconds;
    bool json, list;
} values_of_bench;

enum { MOST = 200 };   /* times of a line */
#define SHORT 0.05     /* seconds: what is shorter is run several times in one */
enum { LEAST = 3 };    /* times of a line, however long it takes */
#define GROWTH "grow/" /* lines that are run where --only asks for them */

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Times ---- */

/* Mean of `calls` runs; negative: it failed. */
static double mean_of(const bench_work *work, int64_t calls, heed_error *err) {
    double sum = 0;
    for (int64_t i = 0; i < calls; i++) {
        double taken = work->run(work->state, err);
        if (taken < 0) {
            return -1;
        }
        sum += taken;
    }
    return sum / (double)calls;
}

/* Runs that make a time long enough; the first runs also warm the caches up. 0: it failed. */
static int64_t calls_of(const bench_work *work, heed_error *err) {
    double first = mean_of(work, 1, err);
    double again = first < 0 || first > SHORT ? first : mean_of(work, 1, err);
    return again < 0 ? 0 : (int64_t)(SHORT / fmax(again, 1e-7)) + 1;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    double median, low, high;
    int n;
} times;

static bool measure(const bench_work *work, double seconds, times *out, heed_error *err) {
    double taken[MOST], begun = bench_now();
    int64_t calls = calls_of(work, err);
    int n = 0;
    while (calls && n < MOST && (n < LEAST || bench_now() - begun < seconds)) {
        taken[n] = mean_of(work, calls, err);
        if (taken[n] < 0) {
            return false;
        }
        n++;
    }
    if (!calls) {
        return false;
    }
    qsort(taken, (size_t)n, sizeof *taken, by_size);
    *out =
        (times){.median = taken[n / 2], .low = taken[n / 4], .high = taken[n - 1 - n / 4], .n = n};
    return true;
}

/* ---- Ceilings ---- */

/* Of the type's products: f16 has none of its own, whole blocks are int8's. */
static double *peak_of(heed_ceiling *c, const char *type) {
    bool wide = strcmp(type, "f32") == 0 || strcmp(type, "f16") == 0;
    return wide ? &c->f32 : strcmp(type, "bf16") == 0 ? &c->bf16 : &c->int8;
}

static double percent(heed_ceiling *c, const bench_line *line, const bench_cost *cost,
                      double seconds) {
    double peak = *peak_of(c, line->type);
    double least = fmax(peak > 0 ? cost->operations / peak : 0, cost->bytes / c->read);
    return least / seconds * 100;
}

static void print_ceiling(const heed_engine *engine, const heed_ceiling *c, bool json) {
    if (json) {
        printf("{\"line\": \"ceiling\", \"isa\": \"%s\", \"threads\": %d, \"f32\": %.4g, "
               "\"bf16\": %.4g, \"int8\": %.4g, \"read\": %.4g, \"fork\": %.3g}\n",
               heed_engine_isa(engine), heed_engine_threads(engine), c->f32, c->bf16, c->int8,
               c->read, c->fork);
        return;
    }
    printf("%s, %d threads; multiply-adds, Gop/s: f32 %.0f", heed_engine_isa(engine),
           heed_engine_threads(engine), c->f32 * 1e-9);
    if (c->bf16 > 0) {
        printf(", bf16 %.0f", c->bf16 * 1e-9);
    }
    if (c->int8 > 0) {
        printf(", int8 %.0f", c->int8 * 1e-9);
    }
    printf("; memory %.1f GB/s; fork and join %.2f us\n\n", c->read * 1e-9, c->fork * 1e6);
}

/* ---- Lines ---- */

static double figure(const bench_cost *cost, double seconds) {
    return cost->units > 0 ? cost->units / seconds : seconds * 1e3;
}

static void print_line(const bench_line *line, const bench_work *work, const times *t, double part,
                       bool json) {
    double middle = figure(&work->cost, t->median), low = figure(&work->cost, t->low),
           high = figure(&work->cost, t->high);
    double spread = fabs(high - low) / middle * 100;
    if (json) {
        printf("{\"line\": \"%s\", \"type\": \"%s\", \"unit\": \"%s\", \"figure\": %.6g, "
               "\"spread\": %.3g, \"seconds\": %.6g, \"times\": %d, \"percent\": %.4g, "
               "\"memory\": %zu, \"kept\": %zu}\n",
               line->name, line->type, line->unit, middle, spread, t->median, t->n, part,
               work->memory, work->kept);
    } else {
        printf("%-32s %-5s %10.4g %-12s %5.1f %% %5.0f %%", line->name, line->type, middle,
               line->unit, spread, part);
        if (work->memory) {
            printf(" %9.1f", (double)work->memory / 1048576);
        }
        putchar('\n');
    }
    fflush(stdout);
}

static void release(bench_work *work) {
    if (work->state) {
        work->free(work->state);
    }
}

static int tell(const bench_line *line, heed_error *err) {
    if (err->code == HEED_NOMEM && !err->text[0]) {
        snprintf(err->text, sizeof err->text, "no memory");
    }
    cli_warn("line '%s' failed", line->name);
    return cli_fail(err);
}

static int run_line(const bench_line *line, heed_engine *engine, heed_ceiling *ceiling,
                    const values_of_bench *v) {
    bench_work work = {0};
    heed_error err = {0};
    times t;
    bool fine = line->make(line, engine, v->model, &work, &err) &&
                measure(&work, v->seconds.value, &t, &err);
    if (fine) {
        if (line->make == bench_make_product) { /* no probe is quite without waiting */
            double *peak = peak_of(ceiling, line->type);
            *peak = fmax(*peak, work.cost.operations / t.low);
        }
        print_line(line, &work, &t, percent(ceiling, line, &work.cost, t.median), v->json);
    }
    release(&work);
    return fine ? CLI_FINE : tell(line, &err);
}

/* One of the words of a list with commas stands in the name. */
static bool wanted(const bench_line *line, const values_of_bench *v) {
    if (v->type && strcmp(v->type, line->type) != 0) {
        return false;
    }
    const char *word = v->only;
    while (word) {
        size_t n = strcspn(word, ",");
        for (const char *at = line->name; n && strlen(at) >= n; at++) {
            if (strncmp(at, word, n) == 0) {
                return true;
            }
        }
        word = word[n] ? word + n + 1 : NULL;
    }
    return !v->only;
}

static int run_lines(heed_engine *engine, const values_of_bench *v) {
    heed_ceiling ceiling;
    heed_error err = {0};
    if (!heed_ceiling_of(engine, &ceiling, &err)) {
        return cli_fail(&err);
    }
    print_ceiling(engine, &ceiling, v->json);
    if (!v->json) {
        printf("%-32s %-5s %10s %-12s %7s %7s %9s\n", "line", "type", "figure", "", "spread",
               "ceiling", "MiB");
    }
    int status = CLI_FINE;
    for (const bench_line *line = bench_lines; line->name && status == CLI_FINE; line++) {
        bool asked = v->only || strncmp(line->name, GROWTH, strlen(GROWTH)) != 0;
        if (asked && wanted(line, v) && !bench_stored(line)) {
            status = run_line(line, engine, &ceiling, v);
        }
    }
    return status;
}

/* ---- Serving ---- */

/* Bytes that this process has in memory; 0 where the system does not tell as Linux does. */
static size_t resident(void) {
    char line[200];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && !kilobytes && fgets(line, sizeof line, status)) {
        sscanf(line, "VmRSS: %zu", &kilobytes);
    }
    if (status) {
        fclose(status);
    }
    return kilobytes << 10;
}

static int serve(heed_engine *engine, const bench_line *line, const char *path) {
    bench_work work = {0};
    heed_error err = {0};
    char request[16];
    size_t base = resident();
    bool fine = line->make(line, engine, path, &work, &err);
    int64_t calls = fine ? calls_of(&work, &err) : 0;
    if (calls) {
        printf("{\"operations\": %.6g, \"bytes\": %.6g, \"traffic\": %.6g, \"units\": %.9g, "
               "\"unit\": \"%s\", \"memory\": %zu, \"kept\": %zu, \"base\": %zu}\n",
               work.cost.operations, work.cost.bytes, work.cost.traffic, work.cost.units,
               line->unit, work.memory, work.kept, base);
        fflush(stdout);
    }
    while (calls && !err.code && fgets(request, sizeof request, stdin)) {
        double taken = mean_of(&work, calls, &err);
        if (!err.code) {
            printf("%.9g\n", taken);
            fflush(stdout);
        }
    }
    release(&work);
    return calls && !err.code ? CLI_FINE : tell(line, &err);
}

static int list(const values_of_bench *v) {
    for (const bench_line *line = bench_lines; line->name; line++) {
        if (wanted(line, v)) {
            printf("%-32s %-5s %s\n", line->name, line->type, line->unit);
        }
    }
    return CLI_FINE;
}

static const bench_line *served(const values_of_bench *v) {
    const char *type = v->type ? v->type : "f32";
    for (const bench_line *line = bench_lines; line->name; line++) {
        if (strcmp(line->name, v->serve) == 0 && strcmp(line->type, type) == 0) {
            return line;
        }
    }
    return NULL;
}

static int run(const cli_call *call) {
    const values_of_bench *v = call->values;
    const bench_line *line = v->serve ? served(v) : NULL;
    if (v->list) {
        return list(v);
    }
    if (v->serve && !line) {
        cli_misuse("there is no line '%s' of type %s", v->serve, v->type ? v->type : "f32");
        cli_hint("`heed bench --list` names the lines");
        return CLI_USAGE;
    }
    if (v->model && !v->serve) {
        return cli_misuse("--model is of --serve");
    }
    if (line && bench_stored(line) && !v->model) {
        return cli_misuse("type %s wants --model: it is a file's own", line->type);
    }
    heed_engine *engine = cli_engine(&v->engine);
    int status = !engine ? CLI_INPUT : line ? serve(engine, line, v->model) : run_lines(engine, v);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "only",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_bench, only),
     .value = "WORDS",
     .help = "lines that have one of these in their name; commas between them",
     .otherwise = "all"},
    {.name = "type",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_bench, type),
     .value = "NAME",
     .help = "lines of this type alone",
     .otherwise = "all; with --serve f32"},
    {.name = "seconds",
     .kind = CLI_NUMBER,
     .offset = offsetof(values_of_bench, seconds),
     .value = "X",
     .help = "time for each line, though at least three runs",
     .standard = "3",
     .low = 0,
     .high = 3600},
    {.name = "list",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_bench, list),
     .help = "name the lines, run nothing"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_bench, json),
     .help = "a JSON object for the ceilings and for each line"},
    {.name = "serve",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_bench, serve),
     .value = "LINE",
     .help = "run one line, once for each line of standard input, and print its seconds"},
    {.name = "model",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_bench, model),
     .value = "PATH",
     .help = "with --serve: this model in place of random weights in memory"},
    CLI_ENGINE_OPTIONS(values_of_bench),
    {0},
};

const cli_command cli_bench = {
    .name = "bench",
    .summary = "measures this machine and what heed reaches on it",
    .usage = "",
    .examples = "  heed bench\n"
                "  heed bench --only decode,prefill --threads 1\n"
                "  heed bench --only product --isa avx2 --json\n",
    .notes =
        "First the ceilings: multiply-adds of the instruction set by type, reading from memory,\n"
        "and handing work to the threads. Then products, attention, and whole models of random\n"
        "weights. Spread is between the quarters of the times; ceiling is the least time that\n"
        "operations and memory allow over the time taken; MiB is what is taken beside weights,\n"
        "gradients, moments, inputs and results. Left out are lines of grow/, where one size "
        "grows\n"
        "(--only grow), and those of types that are a file's own (f16, q8_0 ...; --serve). Other\n"
        "programs beside it: bench/.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_bench),
    .most = 0,
    .run = run,
};
