/* convert.c: a model into another format or another type.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

typedef struct {
    cli_whole to;
    cli_whole type;
    bool over;
} values_of_convert;

static const char *const FORMATS[] = {"safetensors", "gguf", NULL};
static const char *const TYPES[] = {"f32", "f16", "bf16", NULL};

static bool is_gguf(const char *path) {
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".gguf") == 0;
}

static void note(void *ctx, const char *line) {
    (void)ctx;
    cli_warn("%s", line);
}

static int run(const cli_call *call) {
    const values_of_convert *v = call->values;
    const char *out = call->arg[1];
    bool gguf = v->to.set ? v->to.value == 1 : is_gguf(out);
    heed_error err = {0};
    heed_engine *engine = heed_engine_new(NULL, 1, NULL, &err);
    bool fine = engine && heed_convert(engine, call->arg[0], out,
                                       &(heed_convert_options){
                                           .to = gguf ? HEED_TO_GGUF : HEED_TO_FOLDER,
                                           .type = v->type.set ? TYPES[v->type.value] : NULL,
                                           .over = v->over,
                                           .note = note,
                                       },
                                       &err);
    heed_engine_free(engine);
    if (fine) {
        return CLI_FINE;
    }
    cli_fail(&err);
    if (err.code == HEED_VALUE && strstr(err.text, " already: name another place")) {
        cli_hint("--over writes over it");
    }
    return CLI_INPUT;
}

static const cli_option OPTIONS[] = {
    {.name = "to",
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_convert, to),
     .value = "FORMAT",
     .help = "safetensors (a folder) or gguf (a file)",
     .otherwise = "as OUT is called",
     .choices = FORMATS},
    {.name = "type",
     .kind = CLI_CHOICE,
     .offset = offsetof(values_of_convert, type),
     .value = "TYPE",
     .help = "type of the numbers",
     .otherwise = "the one that all tensors have, else f32",
     .choices = TYPES},
    {.name = "over",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_convert, over),
     .help = "take the place of what is at OUT already"},
    {0},
};

const cli_command cli_convert = {
    .name = "convert",
    .summary = "writes a model as a folder of transformers' or as a GGUF file",
    .usage = "MODEL OUT",
    .examples = "  heed convert model model.gguf               for llama.cpp and its kin\n"
                "  heed convert model.gguf folder              for transformers\n"
                "  heed convert model half --type f16          in half the room\n",
    .notes =
        "MODEL is whatever heed opens. GGUF: families llama, qwen2, qwen3, gemma, gpt2 and bert,\n"
        "with the vocabulary; what it cannot say is refused. Vectors, and tables that are added,\n"
        "stay f32 there. Rounding is to nearest even; what f16 cannot hold is refused.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_convert),
    .least = 2,
    .most = 2,
    .run = run,
};
