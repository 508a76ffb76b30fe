/* engine.c: an instruction set, a pool of threads and the host, under one handle.
 * SPDX-License-Identifier: MIT
 */
#include "graph/graph.h"

#include <stdlib.h>

static bool choose_kernels(heed_kernels *k, const char *isa, heed_error *err) {
    const char *name = isa ? isa : getenv("HEED_ISA");
    if (name && !name[0])
        name = NULL;
    if (heed_kernels_init(k, name))
        return true;
    for (int i = 0; name && i < heed_isa_count(); i++) {
        heed_isa set = heed_isa_at(i);
        const char *a = set.name, *c = name;
        while (*a && *a == *c)
            a++, c++;
        if (*a == *c)
            return heed_fail(err, HEED_VALUE, "instruction set '%s' cannot run here: %s", name,
                             set.why);
    }
    return heed_fail(err, HEED_VALUE,
                     "instruction set '%s' is not in this build; `heed cpu` lists those that are",
                     name ? name : "(best)");
}

heed_engine *heed_engine_new(const heed_host *host, int threads, const char *isa, heed_error *err) {
    heed_engine *e = heed_alloc(host, 1, sizeof *e, err);
    if (!e)
        return NULL;
    e->host = host;
    if (choose_kernels(&e->kernels, isa, err))
        e->pool = heed_pool_new(host, threads, err);
    if (e->pool)
        return e;
    heed_free(host, e);
    return NULL;
}

void heed_engine_free(heed_engine *e) {
    if (!e)
        return;
    heed_pool_free(e->pool);
    heed_free(e->host, e);
}

const char *heed_engine_isa(const heed_engine *e) {
    return e->kernels.isa;
}

int heed_engine_threads(const heed_engine *e) {
    return heed_pool_threads(e->pool);
}

const heed_host *heed_engine_host(const heed_engine *e) {
    return e->host;
}

heed_pool *heed_engine_pool(const heed_engine *e) {
    return e->pool;
}

const heed_kernels *heed_engine_kernels(const heed_engine *e) {
    return &e->kernels;
}
