/* eval.c: BLEU, chrF and perplexity of a model, or BLEU and chrF of a text.
 * SPDX-License-Identifier: MIT
 */
#include "cli/eval_text.h"
#include "cli/search.h"
#include "heed_look.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    cli_open_values open;
    cli_engine_values engine;
    cli_search_values search;
    cli_text_values plain;
    const char *source, *target, *hyp, *against, *output, *tokens, *aligned, *choose;
    bool lowercase, plus, loss, json;
} values_of_eval;

/* ---- Texts ---- */

typedef struct {
    heed_lines source, target, hyp, against; /* hyp: read from a file, or empty */
    heed_translations translations;
    heed_line *made; /* the translations' texts */
} texts;

static void free_texts(texts *t) {
    heed_lines_free(&t->source);
    heed_lines_free(&t->target);
    heed_lines_free(&t->hyp);
    heed_lines_free(&t->against);
    heed_translations_free(&t->translations);
    free(t->made);
}

/* Reads a file that must have as many lines as the references. */
static bool read_beside(heed_lines *lines, const char *what, const char *path, const texts *t,
                        const char *target) {
    if (!path) {
        return true;
    }
    if (!cli_read_lines(lines, path)) {
        return false;
    }
    if (lines->n != t->target.n) {
        cli_warn("%s '%s' has %" PRId64 " lines, reference '%s' has %" PRId64, what, path, lines->n,
                 target, t->target.n);
        return false;
    }
    return true;
}

static bool read_texts(texts *t, const values_of_eval *v) {
    if (!cli_read_lines(&t->target, v->target)) {
        return false;
    }
    if (t->target.n == 0) {
        cli_warn("'%s' is empty", v->target);
        return false;
    }
    return read_beside(&t->source, "source", v->source, t, v->target) &&
           read_beside(&t->hyp, "hypothesis", v->hyp, t, v->target) &&
           read_beside(&t->against, "hypothesis", v->against, t, v->target);
}

/* ---- Translating ---- */

static void progress(void *ctx, int64_t done, int64_t total) {
    cli_show_progress(ctx, "translated %" PRId64 " of %" PRId64, done, total);
}

static bool translate(heed_model *model, texts *t, const values_of_eval *v) {
    cli_progress shown = {0};
    heed_error err = {0};
    cli_tokens tokens;
    heed_translate_options o;
    if (!cli_search(model, &v->search, &tokens, &o)) {
        return false;
    }
    o.progress = progress;
    o.ctx = &shown;
    heed_translator *translator = heed_translator_new(model, &o, &err);
    bool ok = translator &&
              heed_translate(translator, t->source.line, t->source.n, &t->translations, &err);
    cli_end_progress(&shown);
    heed_translator_free(translator);
    t->made = ok ? calloc((size_t)t->source.n, sizeof *t->made) : NULL;
    for (int64_t i = 0; t->made && i < t->source.n; i++) {
        const char *text = t->translations.item[i].text;
        t->made[i] = (heed_line){text, strlen(text)};
    }
    if (!ok) {
        cli_fail(&err);
    } else {
        cli_report_sources(&t->translations, "line");
    }
    return t->made;
}

/* The same, and writes what comes out. The file is opened first: where that fails, nothing is
 * translated in vain. */
static bool translate_into(heed_model *model, texts *t, const values_of_eval *v) {
    FILE *out = v->output ? cli_create(v->output) : NULL;
    bool ok = (out || !v->output) && translate(model, t, v);
    for (int64_t i = 0; out && ok && i < t->source.n; i++) {
        fprintf(out, "%s\n", t->translations.item[i].text);
    }
    return (!out || cli_finish(out, v->output)) && ok;
}

/* ---- Printing ---- */

static void print_paired(const char *name, const heed_paired *p) {
    printf("%s: %.2f (%.2f +- %.2f) against %.2f (%.2f +- %.2f), p = %.4f%s\n", name, p->score[1],
           p->mean[1], p->ci[1], p->score[0], p->mean[0], p->ci[0], p->p,
           p->p < 0.05 ? ", not by chance" : "");
}

static void print_paired_json(const char *name, const heed_paired *p) {
    printf(", \"%s_against\": {\"score\": ", name);
    cli_print_number(stdout, p->score[0]);
    printf(", \"p\": ");
    cli_print_number(stdout, p->p);
    printf("}");
}

typedef struct {
    heed_scores scores;
    heed_paired bleu, chrf;
    heed_likelihood likelihood;
    bool paired, likely;
} results;

static void print_plain(const results *r) {
    printf("BLEU|%s = %.2f %s\n", r->scores.bleu_signature, r->scores.bleu, r->scores.bleu_detail);
    printf("%s|%s = %.2f\n", r->scores.chrf_name, r->scores.chrf_signature, r->scores.chrf);
    if (r->paired) {
        print_paired("BLEU", &r->bleu);
        print_paired(r->scores.chrf_name, &r->chrf);
    }
    if (r->likely) {
        printf("loss = %.4f perplexity = %.3f over %" PRId64 " tokens\n", r->likelihood.loss,
               r->likelihood.perplexity, r->likelihood.labels);
    }
}

static void print_json(const results *r) {
    printf("{\"bleu\": ");
    cli_print_number(stdout, r->scores.bleu);
    printf(", \"bleu_signature\": \"%s\", \"bleu_detail\": \"%s\", \"chrf\": ",
           r->scores.bleu_signature, r->scores.bleu_detail);
    cli_print_number(stdout, r->scores.chrf);
    printf(", \"chrf_name\": \"%s\", \"chrf_signature\": \"%s\"", r->scores.chrf_name,
           r->scores.chrf_signature);
    if (r->paired) {
        print_paired_json("bleu", &r->bleu);
        print_paired_json("chrf", &r->chrf);
    }
    if (r->likely) {
        printf(", \"loss\": ");
        cli_print_number(stdout, r->likelihood.loss);
        printf(", \"perplexity\": ");
        cli_print_number(stdout, r->likelihood.perplexity);
        printf(", \"tokens\": %" PRId64, r->likelihood.labels);
    }
    printf("}\n");
}

/* ---- Alignment ---- */

static int64_t best_head(const heed_alignment *a) {
    int64_t best = 0;
    for (int64_t i = 1; i < a->layers * a->heads; i++) {
        best = a->hits[i] > a->hits[best] ? i : best;
    }
    return best;
}

static double percent(const heed_alignment *a, int64_t head) {
    return 100.0 * (double)a->hits[head] / (double)a->words;
}

/* The head that aligns best in one file, measured on the other. */
static int align(heed_model *model, const values_of_eval *v) {
    heed_alignment chosen = {0}, a = {0};
    heed_error err = {0};
    if (!heed_alignment_of(model, v->choose ? v->choose : v->aligned, &chosen, &err) ||
        !heed_alignment_of(model, v->aligned, &a, &err)) {
        heed_alignment_free(&chosen);
        return cli_fail(&err);
    }
    int64_t head = best_head(&chosen);
    const char *format = v->json ? "{\"alignment\": %.2f, \"layer\": %" PRId64
                                   ", \"head\": %" PRId64 ", \"words\": %" PRId64
                                   ", \"chosen_at\": %.2f}\n"
                                 : "alignment = %.2f of layer %" PRId64 " head %" PRId64
                                   " over %" PRId64 " words (chosen at %.2f)\n";
    printf(format, percent(&a, head), head / a.heads, head % a.heads, a.words,
           percent(&chosen, head));
    heed_alignment_free(&chosen);
    heed_alignment_free(&a);
    return CLI_FINE;
}

/* ---- Working ---- */

static int score(heed_model *model, const texts *t, const values_of_eval *v) {
    heed_score_options o = {
        .lowercase = v->lowercase, .tokens = v->tokens, .words = v->plus ? 2 : 0};
    const heed_line *hyp = model ? t->made : t->hyp.line, *ref = t->target.line;
    results r = {.paired = v->against != NULL, .likely = model && v->loss};
    heed_error err = {0};
    bool ok = heed_score(NULL, hyp, ref, t->target.n, &o, &r.scores, &err);
    if (ok && r.paired) {
        ok = heed_score_paired(NULL, t->against.line, hyp, ref, t->target.n, &o, &r.bleu, &r.chrf,
                               &err);
    }
    if (ok && r.likely) {
        ok = heed_likelihood_of(model, t->source.line, ref, t->target.n, &r.likelihood, &err);
    }
    if (!ok) {
        return cli_fail(&err);
    }
    if (v->json) {
        print_json(&r);
    } else {
        print_plain(&r);
    }
    return CLI_FINE;
}

static int with_model(heed_model *model, texts *t, const values_of_eval *v) {
    if (v->plain.text) {
        return cli_eval_text(model, &v->plain, v->json);
    }
    if (!cli_needs_tokenizer(model, "lines become tokens")) {
        return CLI_INPUT;
    }
    if (v->aligned) {
        return align(model, v);
    }
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (!translate_into(model, t, v)) {
        return CLI_INPUT;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    fprintf(stderr, "%" PRId64 " lines in %.1f s, %.1f a second\n", t->source.n, seconds,
            (double)t->source.n / seconds);
    return score(model, t, v);
}

/* What is to be measured must be there, and nothing besides. */
static bool usable(const values_of_eval *v, bool models) {
    bool translates = v->source || v->output || v->loss;
    if (models && (v->aligned || v->plain.text)) {
        return !translates && !v->target && !v->hyp && !v->against &&
               !(v->aligned && v->plain.text);
    }
    return v->target && !v->aligned && !v->plain.text && !v->choose &&
           (models ? v->source && !v->hyp : v->hyp && !translates);
}

static int run(const cli_call *call) {
    const values_of_eval *v = call->values;
    bool models = call->args == 1;
    if (!usable(v, models)) {
        cli_misuse("'heed eval' wants MODEL --source FILE --target FILE, or --hyp FILE --ref FILE, "
                   "or MODEL --aligned FILE, or MODEL --text FILE");
        return CLI_USAGE;
    }
    texts t = {0};
    int status = CLI_INPUT;
    bool ready = v->aligned || v->plain.text || read_texts(&t, v);
    if (ready && !models) {
        status = score(NULL, &t, v);
    } else if (ready) {
        heed_engine *engine = cli_engine(&v->engine);
        heed_model *model = engine ? cli_open_model(engine, call->arg[0], &v->open) : NULL;
        status = model ? with_model(model, &t, v) : CLI_INPUT;
        heed_model_free(model);
        heed_engine_free(engine);
    }
    free_texts(&t);
    return status;
}

static const cli_option OPTIONS[] = {
    {.name = "source",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, source),
     .value = "FILE",
     .help = "what to translate, a sentence a line; plain or gz"},
    {.name = "target",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, target),
     .value = "FILE",
     .help = "its references"},
    {.name = "ref",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, target),
     .value = "FILE",
     .help = "the same as --target"},
    {.name = "hyp",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, hyp),
     .value = "FILE",
     .help = "translations that are there already, in place of a model"},
    {.name = "against",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, against),
     .value = "FILE",
     .help = "other translations: is the difference luck? (paired bootstrap)"},
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, output),
     .value = "FILE",
     .help = "where to write the translations"},
    {.name = "aligned",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, aligned),
     .value = "FILE",
     .help = "words aligned by hand: does cross-attention find them?"},
    {.name = "choose",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, choose),
     .value = "FILE",
     .help = "aligned words on which to choose the head",
     .otherwise = "the same"},
    {.name = "lowercase",
     .alias = "lc",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_eval, lowercase),
     .help = "letter case does not count"},
    {.name = "tokens",
     .kind = CLI_TEXT,
     .offset = offsetof(values_of_eval, tokens),
     .value = "NAME",
     .help = "BLEU's tokens: 13a, zh, char, intl, none",
     .standard = "13a"},
    {.name = "chrf-words",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_eval, plus),
     .help = "chrF++ in place of chrF"},
    {.name = "loss",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_eval, loss),
     .help = "loss and perplexity of the references too"},
    CLI_SEARCH_OPTIONS(values_of_eval),
    CLI_TEXT_OPTIONS(values_of_eval),
    CLI_OPEN_OPTIONS(values_of_eval),
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(values_of_eval, json),
     .help = "one JSON object"},
    CLI_ENGINE_OPTIONS(values_of_eval),
    {0},
};

const cli_command cli_eval = {
    .name = "eval",
    .summary = "scores translations (BLEU and chrF as sacreBLEU has them), or how likely a text is",
    .usage = "[MODEL]",
    .examples = "  heed eval model --source test.de.gz --target test.en.gz --beam 5 -lc\n"
                "  heed eval --hyp ours.en --ref test.en.gz --against theirs.en\n"
                "  heed eval model --aligned held.tsv --choose train.tsv\n"
                "  heed eval model.gguf --text wiki.test.raw --window 512 --llama\n",
    .options = OPTIONS,
    .bytes = sizeof(values_of_eval),
    .least = 0,
    .most = 1,
    .run = run,
};
