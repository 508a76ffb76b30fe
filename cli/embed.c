/* embed.c: a vector for each line of text, or a table of how like each other the lines are.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "heed_embed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    cli_whole pooling, on_long, max_tokens, batch_tokens, format;
    const char *output, *prompt;
    bool normalize, similarity, json;
} values_of_embed;

/* In the order of the library's enums, of which the first way of pooling is the folder's. */
static const char *const POOLINGS[] = {"mean", "cls", "last", "max", "sqrt", "weighted", NULL};
static const char *const LONGS[] = {"cut", "error", "windows", NULL};
typedef enum { TEXT, JSON, NPY } format;
static const char *const FORMATS[] = {"text", "json", "npy", NULL};

/* ---- Vectors ---- */

static void put_u32(unsigned char *out, uint32_t x) {
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(x >> 8 * i);
}

/* NumPy's format, version 1: a header that is a Python dictionary, then the numbers. */
static void write_npy(FILE *out, const float *x, int64_t rows, int64_t cols) {
    char dictionary[128];
    int n =
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                 rows, cols);
    int total = (10 + n + 1 + 63) / 64 * 64; /* the numbers begin at a multiple of 64 */
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fputc((total - 10) & 255, out);
    fputc((total - 10) >> 8, out);
    fprintf(out, "%s%*s\n", dictionary, total - 10 - n - 1, "");
    for (int64_t i = 0; i < rows * cols; i++) {
        unsigned char bytes[4];
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put_u32(bytes, bits);
        fwrite(bytes, 1, 4, out);
    }
}

static void write_numbers(FILE *out, const float *x, int64_t n, const char *between) {
    for (int64_t i = 0; i < n; i++)
        fprintf(out, "%s%.9g", i ? between : "", (double)x[i]);
}

static void write_vectors(FILE *out, const heed_vectors *v, format as) {
    if (as == NPY) {
        write_npy(out, v->vector, v->n, v->width);
        return;
    }
    for (int64_t i = 0; i < v->n; i++) {
        if (as == JSON)
            fprintf(out,
                    "{\"line\": %" PRId64 ", \"tokens\": %" PRId64 ", \"dropped\": %" PRId64
                    ", \"windows\": %" PRId64 ", \"embedding\": [",
                    i + 1, v->text[i].tokens, v->text[i].dropped, v->text[i].windows);
        write_numbers(out, v->vector + i * v->width, v->width, as == JSON ? ", " : " ");
        fprintf(out, as == JSON ? "]}\n" : "\n");
    }
}

/* ---- Similarity ---- */

/* The cosine of rows i and j: 0 where one has no length. */
static float cosine(const heed_vectors *v, int64_t i, int64_t j) {
    const float *a = v->vector + i * v->width, *b = v->vector + j * v->width;
    double ab = 0, aa = 0, bb = 0;
    for (int64_t c = 0; c < v->width; c++) {
        ab += (double)a[c] * (double)b[c];
        aa += (double)a[c] * (double)a[c];
        bb += (double)b[c] * (double)b[c];
    }
    return aa > 0 && bb > 0 ? (float)(ab / sqrt(aa * bb)) : 0;
}

static void write_table(FILE *out, const float *x, int64_t n) {
    fprintf(out, "%5s", "");
    for (int64_t j = 0; j < n; j++)
        fprintf(out, " %7" PRId64, j + 1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(out, "\n%5" PRId64, i + 1);
        for (int64_t j = 0; j < n; j++)
            fprintf(out, " %7.4f", (double)x[i * n + j]);
    }
    fprintf(out, "\n");
}

static bool write_similarity(FILE *out, const heed_vectors *v, format as) {
    float *x = malloc(((size_t)v->n * (size_t)v->n + 1) * sizeof *x);
    if (!x) {
        cli_warn("no memory for a table of %" PRId64 " lines", v->n);
        return false;
    }
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t j = 0; j < v->n; j++)
            x[i * v->n + j] = i == j ? 1 : cosine(v, i, j);
    if (as == NPY)
        write_npy(out, x, v->n, v->n);
    else if (as == TEXT)
        write_table(out, x, v->n);
    for (int64_t i = 0; as == JSON && i < v->n; i++) {
        fprintf(out, "{\"line\": %" PRId64 ", \"similarity\": [", i + 1);
        write_numbers(out, x + i * v->n, v->n, ", ");
        fprintf(out, "]}\n");
    }
    free(x);
    return true;
}

/* ---- Working ---- */

static void progress(void *ctx, int64_t done, int64_t total) {
    cli_show_progress(ctx, "embedded %" PRId64 " of %" PRId64, done, total);
}

/* What was cut, and by whose word. */
static void report(const heed_vectors *v, const heed_embedder *e) {
    heed_embedder_facts facts = heed_embedder_about(e);
    int64_t lines = 0, dropped = 0, first = 0;
    for (int64_t i = 0; i < v->n; i++) {
        if (v->text[i].dropped && !lines++)
            first = i;
        dropped += v->text[i].dropped;
    }
    if (!lines)
        return;
    cli_warn("line %" PRId64 " has %" PRId64 " tokens too many and was cut to %" PRId64
             " (%s); in all %" PRId64 " tokens of %" PRId64 " line%s were dropped",
             first + 1, v->text[first].dropped, facts.max_tokens, facts.max_from, dropped, lines,
             lines > 1 ? "s" : "");
    cli_hint("--long windows embeds all of a line, --long error refuses it");
}

static bool write_all(const values_of_embed *v, const heed_vectors *vectors, format as) {
    FILE *out = v->output ? cli_create(v->output) : stdout;
    if (!out)
        return false;
    bool ok = true;
    if (v->similarity)
        ok = write_similarity(out, vectors, as);
    else
        write_vectors(out, vectors, as);
    return v->output ? cli_finish(out, v->output) && ok : ok;
}

static int work(heed_embedder *e, const cli_call *call, format as, cli_progress *shown) {
    const values_of_embed *v = call->values;
    heed_vectors vectors = {0};
    heed_lines lines = {0};
    heed_error err = {0};
    bool ok = cli_read_lines(&lines, call->args > 1 ? call->arg[1] : NULL);
    if (ok) {
        ok = heed_embed_texts(e, lines.line, lines.n, &vectors, &err);
        cli_end_progress(shown);
        if (ok)
            report(&vectors, e);
        else
            cli_fail(&err);
        ok = ok && write_all(v, &vectors, as);
    }
    heed_vectors_free(&vectors);
    heed_lines_free(&lines);
    return ok ? CLI_FINE : CLI_INPUT;
}

/* What was asked for, or what the name of the output says. */
static format choose_format(const values_of_embed *v) {
    size_t n = v->output ? strlen(v->output) : 0;
    if (v->format.set)
        return (format)v->format.value;
    if (v->json || (n > 5 && !strcmp(v->output + n - 5, ".json")))
        return JSON;
    return n > 4 && !strcmp(v->output + n - 4, ".npy") ? NPY : TEXT;
}

static int with_engine(heed_engine *engine, const cli_call *call, format as) {
    const values_of_embed *v = call->values;
    cli_progress shown = {0};
    heed_error err = {0};
    heed_embed_options o = {.pooling = v->pooling.set ? (heed_pooling)(v->pooling.value + 1)
                                                      : HEED_POOLING_STATED,
                            .normalize = v->normalize,
                            .on_long = (heed_embed_long)v->on_long.value,
                            .max_tokens = v->max_tokens.value,
                            .batch_tokens = v->batch_tokens.value,
                            .prompt = v->prompt,
                            .open = cli_how_to_open(&v->open),
                            .limit = heed_most_bytes(),
                            .progress = isatty(STDERR_FILENO) ? progress : NULL,
                            .ctx = &shown};
    heed_embedder *e = heed_embedder_new(engine, call->arg[0], &o, &err);
    if (!e)
        return cli_fail(&err);
    if (!heed_embedder_about(e).stated && !v->pooling.set)
        cli_warn("the folder has no modules.json: a vector is the mean of a line's rows, and its "
                 "length is left as it is");
    int status = work(e, call, as, &shown);
    heed_embedder_free(e);
    return status;
}

static int run(const cli_call *call) {
    const values_of_embed *v = call->values;
    format as = choose_format(v);
    if (v->json && v->format.set && as != JSON)
        return cli_misuse("--json and --format %s exclude each other", FORMATS[as]);
    if (as == NPY && !v->output && isatty(STDOUT_FILENO))
        return cli_misuse("npy is not for a terminal: --output FILE");
    heed_engine *engine = cli_engine(&v->engine);
    int status = engine ? with_engine(engine, call, as) : CLI_INPUT;
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_embed, output),
     .value = "FILE",
     .help = "where to write; .npy and .json choose the format",
     .otherwise = "standard output"},
    {.name = "format",
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_embed, format),
     .value = "NAME",
     .help = "how vectors are written",
     .otherwise = "by FILE's name, else text",
     .choices = FORMATS},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_embed, json),
     .help = "the same as --format json"},
    {.name = "similarity",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_embed, similarity),
     .help = "the cosine of every two lines, not the vectors"},
    {.name = "long",
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_embed, on_long),
     .value = "WHAT",
     .help = "what becomes of a line that is too long",
     .standard = "cut",
     .choices = LONGS},
    {.name = "max-tokens",
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_embed, max_tokens),
     .value = "N",
     .help = "tokens that a line may have, special ones included",
     .otherwise = "the folder's",
     .low = 1,
     .high = 1e9},
    {.name = "pooling",
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_embed, pooling),
     .value = "HOW",
     .help = "rows to a vector",
     .otherwise = "the folder's or mean",
     .choices = POOLINGS},
    {.name = "normalize",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_embed, normalize),
     .help = "vectors of length 1, also where the folder does not say so"},
    {.name = "prompt",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_embed, prompt),
     .value = "NAME",
     .help = "a prompt of the folder, in front of each line",
     .otherwise = "the folder's default"},
    {.name = "batch-tokens",
     .kind = CLI_WHOLE,
     .offset = offsetof(values_of_embed, batch_tokens),
     .value = "N",
     .help = "tokens worked on at once; results do not depend on it",
     .otherwise = "4096",
     .low = 1,
     .high = 1e7},
    CLI_OPEN_OPTIONS(values_of_embed),
    CLI_ENGINE_OPTIONS(values_of_embed),
    {0},
};

const cli_command cli_embed = {
    .name = "embed",
    .summary = "turns lines of text into vectors",
    .usage = "MODEL [FILE]",
    .examples = "  heed embed model sentences.txt -o vectors.npy\n"
                "  heed embed model sentences.txt --similarity\n"
                "  echo 我爱中国 | heed embed model --json\n",
    .notes =
        "MODEL is a folder as sentence-transformers or transformers write it; its own pooling,\n"
        "length and prompts are followed. FILE is plain or gz text, by default standard input.\n"
        "One vector comes out for each line that goes in: its numbers (text), an object (json), "
        "or\n"
        "a row of a matrix of float32 (npy). The vector of windows is the mean of theirs.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_embed),
    .least = 1,
    .most = 2,
    .run = run,
};
