/* trace.c: every named value of a run, from safetensors to safetensors.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "heed_look.h"

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    const char *input, *output;
    bool attention, hidden, grads;
} values_of_trace;

static int run(const cli_call *call) {
    const values_of_trace *v = call->values;
    heed_trace_options options = {v->attention, v->hidden, v->grads};
    heed_error err = {0};
    if (!v->input || !v->output) {
        cli_misuse("'heed trace' wants --input FILE and --output FILE");
        cli_hint("`heed trace --help` shows examples");
        return CLI_USAGE;
    }
    heed_engine *engine = cli_engine(&v->engine);
    heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
    int status = model ? CLI_FINE : CLI_INPUT;
    if (model && !heed_trace(model, v->input, v->output, &options, &err)) {
        status = cli_fail(&err);
    }
    heed_model_free(model);
    heed_engine_free(engine);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "input",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_trace, input),
     .value = "FILE",
     .help = "safetensors: input_ids, labels or decoder_input_ids, masks; pixel_values"},
    {.name = "output",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_trace, output),
     .value = "FILE",
     .help = "safetensors: logits, encoder_last_hidden_state, loss, and"},
    {.name = "attention",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_trace, attention),
     .help = "encoder_attentions.N, decoder_attentions.N, cross_attentions.N"},
    {.name = "hidden",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_trace, hidden),
     .help = "encoder_hidden_states.N, decoder_hidden_states.N"},
    {.name = "grads",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_trace, grads),
     .help = "grad.NAME for each trained tensor of the checkpoint"},
    CLI_OPEN_OPTIONS(values_of_trace),
    CLI_ENGINE_OPTIONS(values_of_trace),
    {0},
};

const cli_command cli_trace = {
    .name = "trace",
    .summary = "writes every named value of a run",
    .usage = "MODEL --input FILE --output FILE",
    .examples = "  heed trace model --input in.safetensors --output out.safetensors\n"
                "  heed trace model --input in.safetensors --output out.safetensors --grads\n",
    .notes = "Tensors are padded and named as in transformers; rows at padding (a 0 in\n"
             "attention_mask, decoder_attention_mask) come back as zeros.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_trace),
    .least = 1,
    .most = 1,
    .run = run,
};
