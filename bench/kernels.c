/* kernels.c: what the kernels reach on this machine, beside what it could do.
 *
 *   bench_kernels [SET]      SET: an instruction set of `heed cpu`; the best one when absent
 *
 * Each figure is the best of many short runs, so that other work on the machine spoils few of them.
 * The probe is a loop of independent multiply-adds; percentages are of it.
 * SPDX-License-Identifier: MIT
 */
#include "base/thread.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double heed_probe_avx2(long rounds);
double heed_probe_avx512(long rounds);

enum { TRIES = 100, PROBE_ROUNDS = 30000 };
#define RUN 0.002 /* seconds: shorter than a turn of the scheduler */
#define LIMIT 0.5 /* seconds for one figure */

static heed_kernels k;
static double peak; /* operations a second of one thread; 0 where there is no probe */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one call: the best of short runs, each of about RUN seconds or one call. */
static double seconds(void (*run)(void *), void *what, double expected) {
    long calls = (long)(RUN / fmax(expected, 1e-9)) + 1;
    double best = INFINITY, begun = now();
    for (int i = 0; i < TRIES && (i < 3 || now() - begun < LIMIT); i++) {
        double start = now();
        for (long c = 0; c < calls; c++) {
            run(what);
        }
        best = fmin(best, (now() - start) / (double)calls);
    }
    return best;
}

static float *numbers(int64_t n, float low, float high) {
    float *x = aligned_alloc(64, ((size_t)n * sizeof *x + 127) / 64 * 64);
    if (!x) {
        fputs("bench_kernels: out of memory\n", stderr);
        exit(1);
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = low + (high - low) * (float)rand() / (float)RAND_MAX;
    }
    return x;
}

/* ---- The probe ---- */

static double (*probe)(long rounds);

static void probe_task(void *ctx, int64_t i) {
    (void)ctx, (void)i;
    probe(PROBE_ROUNDS);
}

static void probe_all(void *pool) {
    heed_pool_run(pool, heed_pool_threads(pool), probe_task, NULL);
}

static void show_probe(heed_pool *pool) {
    if (!probe) {
        return;
    }
    double work = probe(1), one = seconds(probe_all, NULL, 0.002);
    peak = work * PROBE_ROUNDS / one;
    printf("multiply-adds, Gop/s: 1 thread %.0f", peak * 1e-9);
    int threads = heed_pool_threads(pool);
    if (threads > 1) {
        printf(", %d threads %.0f", threads,
               work * PROBE_ROUNDS * threads / seconds(probe_all, pool, 0.002) * 1e-9);
    }
    puts("");
}

/* ---- Products ---- */

static void run_gemm(void *g) {
    k.gemm(g);
}

typedef struct {
    int64_t k, n, b_row, b_col;
    const float *b;
    float *packed;
} packing;

static void run_pack(void *what) {
    packing *p = what;
    k.pack(p->k, p->n, p->b, p->b_row, p->b_col, 0, heed_panels(p->n, k.nr), p->packed);
}

static void show_gemm(int64_t m, int64_t n, int64_t depth) {
    float *a = numbers(m * depth, -1, 1), *b = numbers(depth * n, -1, 1), *c = numbers(m * n, 0, 0);
    float *packed = numbers(heed_packed_size(depth, n, k.nr), 0, 0);
    packing rows = {depth, n, n, 1, b, packed}, columns = {depth, n, 1, depth, b, packed};
    heed_gemm g = {.m = m,
                   .n = n,
                   .k = depth,
                   .a = a,
                   .a_row = depth,
                   .a_col = 1,
                   .packed = packed,
                   .panel1 = heed_panels(n, k.nr),
                   .c = c,
                   .ldc = n};
    double work = 2.0 * (double)m * (double)n * (double)depth, guess = work / 5e10;
    double time = seconds(run_gemm, &g, guess);
    g.a_row = 1;
    g.a_col = m;
    double turned = seconds(run_gemm, &g, guess);
    double by_rows = seconds(run_pack, &rows, guess),
           by_columns = seconds(run_pack, &columns, guess);
    double bytes = 4e-9 * (double)n * (double)depth;
    printf("%5d x %5d x %5d  %8.1f %5.0f %%  %8.1f %5.0f %%  %7.1f  %7.1f %7.1f\n", (int)m, (int)n,
           (int)depth, work / time * 1e-9, work / time / peak * 100, work / turned * 1e-9,
           work / turned / peak * 100, bytes / time, bytes / by_rows, bytes / by_columns);
    free(a), free(b), free(c), free(packed);
}

static void show_products(void) {
    static const int SIZES[][3] = {
        {2048, 2048, 2048}, {1024, 1024, 1024}, {512, 768, 768},   {128, 768, 768},
        {16, 3072, 768},    {4, 768, 768},      {1, 3072, 768},    {1500, 256, 256},
        {1500, 1024, 256},  {1500, 256, 1024},  {1500, 8000, 256}, {256, 256, 1500},
        {256, 1024, 1500},  {8000, 256, 1500},  {25, 512, 512},    {5, 512, 512},
        {1, 512, 512},
    };
    puts("\nproduct m x n x k     Gop/s            A by columns    B GB/s   pack by rows, columns "
         "GB/s");
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        show_gemm(SIZES[i][0], SIZES[i][1], SIZES[i][2]);
    }
}

/* ---- Attention: HEADS heads beside each other, as in a model ---- */

enum { HEADS = 8, LONGEST = 2048 };

typedef struct {
    heed_attention head[HEADS];
    heed_pool *pool;
} heads;

static void forward_head(void *h, int64_t i) {
    k.attention(&((heads *)h)->head[i]);
}
static void backward_head(void *h, int64_t i) {
    k.attention_back(&((heads *)h)->head[i]);
}
static void forward(void *h) {
    heed_pool_run(((heads *)h)->pool, HEADS, forward_head, h);
}
static void backward(void *h) {
    heed_pool_run(((heads *)h)->pool, HEADS, backward_head, h);
}

static void show_attention(heed_pool *pool, int64_t queries, int64_t keys, int64_t width,
                           bool causal) {
    static int32_t begin[LONGEST], end[LONGEST];
    int64_t row = HEADS * width;
    float *data[8], *lse = numbers(HEADS * queries, 0, 0);
    for (int i = 0; i < 8; i++) {
        data[i] = numbers((queries > keys ? queries : keys) * row, -1, 1);
    }
    for (int64_t i = 0; i < queries; i++) {
        end[i] = (int32_t)(causal ? keys - queries + i + 1 : keys);
    }
    heads h = {.pool = NULL};
    for (int64_t i = 0; i < HEADS; i++) {
        int64_t at = i * width;
        h.head[i] = (heed_attention){.queries = queries,
                                     .keys = keys,
                                     .width = width,
                                     .value_width = width,
                                     .q = data[0] + at,
                                     .q_stride = row,
                                     .k = data[1] + at,
                                     .k_stride = row,
                                     .v = data[2] + at,
                                     .v_stride = row,
                                     .scale = 1 / sqrtf((float)width),
                                     .begin = begin,
                                     .end = end,
                                     .out = data[3] + at,
                                     .out_stride = row,
                                     .lse = lse + i * queries,
                                     .d_out = data[4] + at,
                                     .d_out_stride = row,
                                     .d_q = data[5] + at,
                                     .d_q_stride = row,
                                     .d_k = data[6] + at,
                                     .d_k_stride = row,
                                     .d_v = data[7] + at,
                                     .d_v_stride = row};
    }
    double share = causal ? 1 - (double)(queries - 1) / 2 / (double)keys : 1;
    double work = 4.0 * HEADS * (double)(queries * keys * width) * share, guess = work / 3e10;
    double one = seconds(forward, &h, guess), back = seconds(backward, &h, 3 * guess);
    h.pool = pool;
    double all = seconds(forward, &h, guess), back_all = seconds(backward, &h, 3 * guess);
    printf("%5d x %5d x %4d %-6s %9.3f %5.0f %% %9.3f  %9.3f %5.0f %% %9.3f\n", (int)queries,
           (int)keys, (int)width, causal ? "causal" : "full", one * 1e3, work / one / peak * 100,
           all * 1e3, back * 1e3, 2.5 * work / back / peak * 100, back_all * 1e3);
    for (int i = 0; i < 8; i++) {
        free(data[i]);
    }
    free(lse);
}

static void show_attentions(heed_pool *pool) {
    static const int SIZES[][3] = {{512, 512, 64}, {2048, 2048, 64}, {25, 25, 32}, {25, 25, 64},
                                   {40, 40, 64},   {128, 128, 64},   {1, 25, 64},  {1, 1024, 64}};
    printf("\nattention, %d heads    forward ms, 1 thread; %d    backward ms, 1 thread; %d\n",
           HEADS, heed_pool_threads(pool), heed_pool_threads(pool));
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        for (int causal = 0; causal < (SIZES[i][0] > 1 ? 2 : 1); causal++) {
            show_attention(pool, SIZES[i][0], SIZES[i][1], SIZES[i][2], causal);
        }
    }
}

/* ---- Rows ---- */

enum { ROW = 8192 };
static float x[ROW], y[ROW], gain[ROW], m[ROW], v[ROW], out[ROW];

#define ROW_RUN(name, call)                                                                        \
    static void run_##name(void *n) {                                                              \
        int64_t length = *(int64_t *)n;                                                            \
        call;                                                                                      \
    }
static float unused[2];
static const heed_drop DROP = {.threshold = 429496730};
static const heed_adam ADAM = {.lr = 1e-3f,
                               .beta1 = 0.9f,
                               .beta2 = 0.98f,
                               .eps = 1e-9f,
                               .bias1 = 0.1f,
                               .bias2 = 0.02f,
                               .grad_scale = 1};
ROW_RUN(add, k.add(length, x, y, out))
ROW_RUN(exp, k.exp(length, x, out))
ROW_RUN(gelu, k.act(HEED_GELU, length, x, out))
ROW_RUN(gelu_back, k.act_back(HEED_GELU, length, x, y, out))
ROW_RUN(silu, k.act(HEED_SILU, length, x, out))
ROW_RUN(softmax, k.softmax(length, x, out))
ROW_RUN(layernorm, k.layernorm(length, 1e-5f, x, gain, y, out, unused, unused + 1))
ROW_RUN(layernorm_back, k.layernorm_back(length, x, gain, 0.1f, 1.1f, y, out))
ROW_RUN(xent, unused[0] = k.xent(length, 0.1f, x, 3, out))
ROW_RUN(dropout, k.dropout(&DROP, 5, length, x, NULL, out))
ROW_RUN(adam, k.adam(&ADAM, length, x, out, m, v))

static void show_rows(void) {
    static const struct {
        const char *name;
        void (*run)(void *);
    } ROWS[] = {{"add", run_add},
                {"exp", run_exp},
                {"gelu", run_gelu},
                {"gelu_back", run_gelu_back},
                {"silu", run_silu},
                {"softmax", run_softmax},
                {"layernorm", run_layernorm},
                {"layernorm_back", run_layernorm_back},
                {"xent", run_xent},
                {"dropout", run_dropout},
                {"adam", run_adam}};
    for (int i = 0; i < ROW; i++) {
        x[i] = (float)(i % 97) / 20 - 2, y[i] = (float)(i % 31) / 10, gain[i] = 1, v[i] = 1;
    }
    puts("\nrow of n, ns an element    n = 512   n = 8000");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        int64_t few = 512, many = 8000;
        printf("%-24s  %8.3f   %8.3f\n", ROWS[i].name, seconds(ROWS[i].run, &few, 5e-7) / 512 * 1e9,
               seconds(ROWS[i].run, &many, 8e-6) / 8000 * 1e9);
    }
}

int main(int argc, char **argv) {
    if (!heed_kernels_init(&k, argc > 1 ? argv[1] : NULL)) {
        fprintf(stderr, "bench_kernels: this machine has no '%s'\n", argv[1]);
        return 1;
    }
    heed_error err = {0};
    heed_pool *pool = heed_pool_new(NULL, 0, &err);
    if (!pool) {
        fprintf(stderr, "bench_kernels: %s\n", err.text);
        return 1;
    }
    probe = strcmp(k.isa, "avx2") == 0     ? heed_probe_avx2
            : strcmp(k.isa, "avx512") == 0 ? heed_probe_avx512
                                           : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", k.isa);
    show_probe(pool);
    show_products();
    show_attentions(pool);
    show_rows();
    heed_pool_free(pool);
    return 0;
}
