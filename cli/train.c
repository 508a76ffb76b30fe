/* train.c: trains what a recipe says, and tells how it goes.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

typedef struct {
    bool resume, over, json;
    cli_engine_values engine;
} values_of_train;

/* The first interrupt asks the training to save and stop, the second ends the program. */
static volatile bool cancelled;

static void on_signal(int number) {
    cancelled = true;
    signal(number, SIG_DFL);
}

/* ---- Words for numbers ---- */

typedef struct {
    char s[32];
} text;

static text count(int64_t n) {
    text t;
    if (n < 100000) {
        snprintf(t.s, sizeof t.s, "%" PRId64, n);
    } else if (n < 10000000) {
        snprintf(t.s, sizeof t.s, "%.0fk", (double)n / 1e3);
    } else {
        snprintf(t.s, sizeof t.s, "%.1fM", (double)n / 1e6);
    }
    return t;
}

static text duration(double seconds) {
    text t;
    long s = seconds > 0 ? lround(seconds) : 0;
    if (s < 60) {
        snprintf(t.s, sizeof t.s, "%ld s", s);
    } else if (s < 3600) {
        snprintf(t.s, sizeof t.s, "%ld:%02ld min", s / 60, s % 60);
    } else {
        snprintf(t.s, sizeof t.s, "%ld:%02ld h", s / 3600, s / 60 % 60);
    }
    return t;
}

static text mebibytes(size_t bytes) {
    text t;
    snprintf(t.s, sizeof t.s, "%.1f MiB", (double)bytes / 1048576);
    return t;
}

/* ---- What is told ---- */

typedef struct {
    cli_progress shown;
    bool json;
} teller;

static void print_json(const heed_training_progress *p) {
    static const char *const kinds[] = {"step", "valid", "saved", "done", "sample"};
    bool measured = p->kind != HEED_TRAINING_SAVED && p->kind != HEED_TRAINING_SAMPLE;
    const struct {
        const char *name;
        double value;
        bool given;
    } numbers[] = {
        {"loss", p->loss, measured},
        {"lr", p->lr, p->kind == HEED_TRAINING_STEP},
        {"norm", p->norm, p->kind == HEED_TRAINING_STEP},
        {"tokens_per_second", p->tokens_per_second, p->kind == HEED_TRAINING_STEP},
        {p->metric ? p->metric : "score", p->score, p->metric && measured},
        {"seconds", p->seconds, true},
    };
    printf("{\"kind\": \"%s\", \"step\": %" PRId64 ", \"epoch\": %" PRId64, kinds[p->kind], p->step,
           p->epoch);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].given) {
            printf(", \"%s\": ", numbers[i].name);
            cli_print_number(stdout, numbers[i].value);
        }
    }
    if (p->text) {
        printf(", \"text\": ");
        cli_print_string(stdout, p->text, strlen(p->text));
    }
    printf("}\n");
    fflush(stdout);
}

static void show_step(teller *t, const heed_training_progress *p) {
    char of[40] = "", left[48] = "";
    if (p->updates > 0) {
        snprintf(of, sizeof of, "/%" PRId64, p->updates);
    }
    if (p->seconds_left >= 0) {
        snprintf(left, sizeof left, "  %s left", duration(p->seconds_left).s);
    }
    cli_show_progress(
        &t->shown, "update %" PRId64 "%s  epoch %" PRId64 "  loss %.3f  lr %.2e  %s tokens/s  %s%s",
        p->step, of, p->epoch, p->loss, p->lr, count((int64_t)p->tokens_per_second).s,
        mebibytes(p->bytes).s, left);
}

static void show_valid(teller *t, const heed_training_progress *p) {
    cli_end_progress(&t->shown);
    fprintf(stderr, "%s %" PRId64 "  epoch %" PRId64 "  valid loss %.4f  perplexity %.2f",
            p->kind == HEED_TRAINING_DONE ? "done at update" : "update", p->step, p->epoch, p->loss,
            exp(p->loss));
    if (p->metric) {
        fprintf(stderr, "  %s %.2f", p->metric, p->score);
    }
    fprintf(stderr, "%s  after %s\n", p->best ? "  (best so far)" : "", duration(p->seconds).s);
}

static void on_progress(void *ctx, const heed_training_progress *p) {
    teller *t = ctx;
    if (t->json) {
        print_json(p);
        return;
    }
    switch (p->kind) {
    case HEED_TRAINING_STEP:
        show_step(t, p);
        break;
    case HEED_TRAINING_SAVED:
        break;
    case HEED_TRAINING_SAMPLE:
        cli_end_progress(&t->shown);
        fprintf(stderr, "update %" PRId64 " says: %s\n", p->step, p->text);
        break;
    case HEED_TRAINING_VALID:
    case HEED_TRAINING_DONE:
        if (p->loss > 0) {
            show_valid(t, p);
        }
        break;
    }
}

static void on_note(void *ctx, const char *line) {
    teller *t = ctx;
    cli_end_progress(&t->shown);
    cli_warn("%s", line);
}

static void show_data(const heed_training_outlook *o) {
    if (o->documents > 0) {
        fprintf(stderr,
                "%" PRId64 " documents, %s tokens an epoch of %" PRId64
                " updates, %.3g for each parameter\n",
                o->documents, count(o->target_tokens).s, o->updates_an_epoch,
                (double)o->target_tokens / (double)o->parameters);
        return;
    }
    fprintf(stderr,
            "%" PRId64 " pairs, %s source and %s target tokens an epoch of %" PRId64 " updates\n",
            o->pairs, count(o->source_tokens).s, count(o->target_tokens).s, o->updates_an_epoch);
}

static void show_outlook(const heed_training_outlook *o) {
    fprintf(stderr, "%s in '%s': %s parameters, %s tokens in the vocabulary\n", o->family,
            o->folder, count(o->parameters).s, count(o->vocab).s);
    show_data(o);
    if (o->done > 0) {
        fprintf(stderr, "resumed behind update %" PRId64 "\n", o->done);
    }
    fprintf(stderr, "memory %s; a model that knows nothing has loss %.3f",
            mebibytes(o->need.total).s, o->start_loss);
    if (o->updates > 0) {
        fprintf(stderr, "; %" PRId64 " updates", o->updates - o->done);
    }
    if (o->seconds > 0) {
        fprintf(stderr, "%s about %s", o->updates > 0 ? " in" : ";", duration(o->seconds).s);
    }
    fputc('\n', stderr);
}

/* ---- Running ---- */

static int explain(const heed_error *err, const char *folder) {
    if (err->code == HEED_CANCEL) {
        cli_warn("stopped; the training is saved in '%s'", folder);
        cli_hint("the same command with --resume goes on to the same bits");
        return CLI_INPUT;
    }
    cli_fail(err);
    if (err->code == HEED_VALUE && strstr(err->text, "holds a training")) {
        cli_hint("--resume goes on with it, --over starts anew");
    }
    return CLI_INPUT;
}

static int run(const cli_call *call) {
    const values_of_train *v = call->values;
    teller t = {.json = v->json};
    heed_error err = {0};
    if (v->resume && v->over) {
        return cli_misuse("--resume and --over exclude each other");
    }
    bool no_file = cli_is_setting(call->arg[0]);
    heed_training_options options = {
        .recipe = no_file ? NULL : call->arg[0],
        .settings = call->arg + !no_file,
        .n_settings = call->args - !no_file,
        .start = v->resume ? HEED_START_RESUME
                 : v->over ? HEED_START_OVER
                           : HEED_START_NEW,
        .threads = (int)v->engine.threads.value,
        .isa = v->engine.isa,
        .note = on_note,
        .progress = on_progress,
        .ctx = &t,
        .cancel = &cancelled,
    };
    heed_trainer *trainer = heed_trainer_new(&options, &err);
    if (!trainer) {
        return explain(&err, "");
    }
    heed_training_outlook outlook = heed_trainer_look(trainer);
    show_outlook(&outlook);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    int status = CLI_FINE;
    if (!heed_trainer_run(trainer, &err)) {
        cli_end_progress(&t.shown);
        status = explain(&err, outlook.folder);
    } else {
        cli_end_progress(&t.shown);
        fprintf(stderr, "the model is in '%s'\n", outlook.folder);
    }
    heed_trainer_free(trainer);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "resume",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_train, resume),
     .help = "go on from the newest checkpoint, to the same bits as without a stop"},
    {.name = "over",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_train, over),
     .help = "take old checkpoints away and start anew"},
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_train, json),
     .help = "a JSON object for each update, validation and checkpoint"},
    CLI_ENGINE_OPTIONS(values_of_train),
    {0},
};

const cli_command cli_train = {
    .name = "train",
    .summary = "trains a model on parallel text, or on text, as a recipe says",
    .usage = "RECIPE [KEY=VALUE ...]",
    .examples = "  heed train recipes/zh-en.yaml\n"
                "  heed train recipes/zh-en.yaml train.lr=3e-4 out.folder=out/other\n"
                "  heed train recipes/zh-en.yaml --resume\n"
                "  heed train model.from=smollm2.gguf data.text=notes.txt train.lr=1e-5\n",
    .notes =
        "KEY=VALUE wins over the recipe; all keys stand in docs/training.md. An interrupt saves\n"
        "a checkpoint and stops; a second one stops at once. The folder gets the model, the\n"
        "recipe as it was used, metrics.jsonl and events for TensorBoard.\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_train),
    .least = 1,
    .most = -1,
    .run = run,
};
