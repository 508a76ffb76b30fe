/* cpu.c: which arithmetic runs here, why not a faster one, and on how many cores.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

typedef struct {
    cli_engine_values engine;
    bool json;
} values_of_cpu;

static void print_json(const heed_engine *engine) {
    printf("{\"chosen\": \"%s\", \"threads\": %d, \"cores\": %d, \"sets\": [",
           heed_engine_isa(engine), heed_engine_threads(engine), heed_cpu_cores());
    for (int i = 0; heed_cpu_isa(i).name; i++) {
        heed_cpu_set set = heed_cpu_isa(i);
        printf("%s{\"name\": \"%s\", \"usable\": %s", i ? ", " : "", set.name,
               set.usable ? "true" : "false");
        if (!set.usable) {
            printf(", \"why\": ");
            cli_print_string(stdout, set.why, strlen(set.why));
        }
        printf("}");
    }
    printf("]}\n");
}

static void print_table(const heed_engine *engine) {
    bool above = false;
    for (int i = 0; heed_cpu_isa(i).name; i++) {
        heed_cpu_set set = heed_cpu_isa(i);
        bool chosen = strcmp(set.name, heed_engine_isa(engine)) == 0;
        const char *what = !set.usable ? set.why
                           : chosen    ? "chosen"
                           : above     ? "usable, but another was asked for"
                                       : "usable";
        printf("%c %-12s %s\n", chosen ? '*' : ' ', set.name, what);
        above = above || chosen;
    }
    printf("\n%d physical cores for this process, %d threads\n", heed_cpu_cores(),
           heed_engine_threads(engine));
}

static int run(const cli_call *call) {
    const values_of_cpu *v = call->values;
    heed_engine *engine = cli_engine(&v->engine);
    if (!engine) {
        return CLI_INPUT;
    }
    if (v->json) {
        print_json(engine);
    } else {
        print_table(engine);
    }
    heed_engine_free(engine);
    return CLI_FINE;
}

static const cli_option OPTIONS[] = {
    CLI_ENGINE_OPTIONS(values_of_cpu),
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_cpu, json),
     .help = "one JSON object"},
    {0},
};

const cli_command cli_cpu = {
    .name = "cpu",
    .summary = "shows the instruction sets, which one is used and why not the next",
    .usage = "",
    .examples = "  heed cpu\n  HEED_ISA=ref heed cpu\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_cpu),
    .most = 0,
    .run = run,
};
