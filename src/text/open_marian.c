/* open_marian.c: SentencePiece models whose pieces have their ids from a vocab.json: Marian's two
 * and one vocabulary for both, M2M-100's one.
 *
 * source.spm cuts what is translated, target.spm what it is translated to. A piece that vocab.json
 * does not have is unknown, while an unknown run that it has is known: the other side's piece. A
 * text for Marian may begin with a language, ">>fra<<"; M2M-100 puts that of the source in front,
 * and the languages have the ids behind the vocabulary.
 * Source: Junczys-Dowmunt et al. 2018, "Marian"; Tiedemann and Thottingal 2020, "OPUS-MT"; Fan et
 * al. 2020, "Beyond English-centric multilingual machine translation".
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/open.h"
#include "text/spm.h"

/* M2M-100's languages, each a token "__en__", in the order of their ids. */
static const char languages[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt "
    "lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss "
    "su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";

static bool place_pieces(heed_spm *spm, const json_t *vocab, heed_error *err) {
    for (size_t i = 0; i < spm->n; i++) {
        heed_spm_piece *p = &spm->piece[i];
        int64_t id = heed_find_in_object(vocab, p->text, p->n);
        if (id > HEED_MAX_ID) {
            return heed_fail(err, HEED_FILE,
                             "vocab.json: token '%.*s' has id %" PRId64 ", wanted 0 to %d",
                             (int)p->n, p->text, id, HEED_MAX_ID);
        }
        p->id = p->type == HEED_SPM_CONTROL ? -1 : (int32_t)(id < 0 ? -1 : id);
    }
    return true;
}

/* What stands in vocab.json beside the model's pieces. */
static bool add_rest(heed_tokenizer *t, const json_t *vocab, heed_error *err) {
    const char *text;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)vocab, text, value) {
        if (!json_is_integer(value)) {
            return heed_fail(err, HEED_FILE,
                             "vocab.json: id of token '%s' is %s, wanted an integer", text,
                             heed_json_kind(value));
        }
        size_t n = strlen(text);
        int64_t id = json_integer_value(value);
        if (heed_vocab_find(t, text, n) != id && !heed_vocab_add(t, text, n, id, true, err)) {
            return false;
        }
    }
    return true;
}

static int name_language(const char *code, size_t n, char token[16]) {
    return snprintf(token, 16, "__%.*s__", (int)n, code);
}

static bool add_languages(heed_tokenizer *t, heed_error *err) {
    const char *list = languages, *code;
    size_t n;
    while (heed_next_word(&list, &code, &n)) {
        char token[16];
        size_t length = (size_t)name_language(code, n, token);
        if (!heed_vocab_add(t, token, length, (int64_t)t->n_pieces, true, err)) {
            return false;
        }
    }
    return true;
}

typedef struct {
    heed_usual_token item[4 + sizeof languages / 3]; /* a code takes three bytes or more */
    char token[sizeof languages / 3][16];
    size_t n;
} usual;

static bool is_there(const heed_tokenizer *t, const char *text, heed_error *err) {
    return heed_vocab_find(t, text, strlen(text)) >= 0 ||
           heed_fail(err, HEED_FILE, "vocab.json: token '%s' is missing", text);
}

static bool take_usual(usual *u, const heed_tokenizer *t, bool spoken, heed_error *err) {
    static const heed_usual_token own[] = {
        {"eos_token", "</s>", false}, {"unk_token", "<unk>", false}, {"pad_token", "<pad>", false}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        u->item[u->n++] = own[i];
        if (!is_there(t, own[i].text, err)) {
            return false;
        }
    }
    const char *list = spoken ? languages : NULL, *code;
    size_t n;
    for (int k = 0; heed_next_word(&list, &code, &n); k++) {
        name_language(code, n, u->token[k]);
        u->item[u->n++] = (heed_usual_token){NULL, u->token[k], false};
    }
    return true;
}

static json_t *added_of(const heed_folder *f, const heed_tokenizer *t, bool spoken,
                        heed_error *err) {
    usual *u = heed_alloc(f->host, 1, sizeof *u, err);
    json_t *added = NULL;
    if (u && take_usual(u, t, spoken, err)) {
        added =
            heed_folder_added(f, u->item, u->n, heed_find_in_vocab, t, (int64_t)t->n_pieces, err);
    }
    heed_free(f->host, u);
    return added;
}

/* The source's language in front of a text. */
static json_t *spoken_template(const heed_folder *f, const heed_tokenizer *t, const json_t *added,
                               heed_error *err) {
    const char *code = "en";
    char single[64], pair[64];
    if (!heed_json_opt_string(f->tokenizer, "src_lang", &code, err)) {
        return NULL;
    }
    snprintf(single, sizeof single, "__%.8s__ $A </s>", code);
    snprintf(pair, sizeof pair, "__%.8s__ $A $B </s>", code);
    return heed_json_template(single, pair, heed_find_in_vocab, t, added, err);
}

/* A join of all pieces with spaces for marks, none at the ends. */
static bool set_decoder(heed_tokenizer *t, heed_error *err) {
    json_t *root =
        json_pack("{s:{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s}, {s:s, s:s, s:i, s:i}]}}", "decoder",
                  "type", "Sequence", "decoders", "type", "Replace", "pattern", "String",
                  HEED_SPM_MARK, "content", " ", "type", "Fuse", "type", "Strip", "content", " ",
                  "start", HEED_MAX_ID, "stop", HEED_MAX_ID);
    t->decoder.n = 0;
    bool ok = root ? heed_chain_read(t, root, &heed_decoders, &t->decoder, err)
                   : heed_fail(err, HEED_NOMEM, "out of memory: a decoder");
    json_decref(root);
    return ok;
}

/* From ">>" to the first "<<": one token, unknown where the vocabulary has no such language. */
static bool take_language(const heed_tokenizer *t, heed_work *work, size_t *from, size_t to) {
    const char *s = work->text;
    size_t end = *from;
    if (to - *from < 4 || memcmp(s + *from, ">>", 2) != 0) {
        return true;
    }
    while (end + 2 <= to && memcmp(s + end, "<<", 2) != 0) {
        end++;
    }
    if (end + 2 > to) {
        return true;
    }
    end += 2;
    const heed_spm *spm = heed_spm_of(t);
    int32_t id = heed_vocab_find(t, s + *from, end - *from);
    if (!heed_work_emit_at(work, id >= 0 ? id : spm->piece[spm->unk].id, (uint32_t)*from,
                           (uint32_t)end)) {
        return false;
    }
    *from = end;
    return true;
}

static bool finish(const heed_folder *f, heed_tokenizer *t, const json_t *vocab, bool spoken,
                   heed_error *err) {
    if (!add_rest(t, vocab, err) || !set_decoder(t, err) || (spoken && !add_languages(t, err))) {
        return false;
    }
    t->lead = spoken ? NULL : take_language;
    json_t *added = added_of(f, t, spoken, err);
    json_t *post =
        !added   ? NULL
        : spoken ? spoken_template(f, t, added, err)
                 : heed_json_template("$A </s>", "$A $B </s>", heed_find_in_vocab, t, added, err);
    if (!post) {
        json_decref(added);
        return false;
    }
    return heed_tokenizer_complete(t, added, post, err);
}

static heed_tokenizer *make(const heed_folder *f, const json_t *vocab, const char *data, size_t n,
                            bool spoken, heed_error *err) {
    heed_spm spm;
    heed_spm_init(&spm, f->host);
    if (!heed_spm_read(&spm, data, n, err) || !place_pieces(&spm, vocab, err)) {
        heed_spm_free(&spm);
        return NULL;
    }
    spm.by_text = true;
    heed_tokenizer *t = heed_spm_tokenizer(&spm, err);
    if (t && !finish(f, t, vocab, spoken, err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

/* Two vocabularies would be two sets of ids: which one a model's output has is not the tokenizer's
 * to say. */
static bool is_single(const heed_folder *f, heed_error *err) {
    bool separate = false;
    return heed_folder_flag(f, "separate_vocabs", &separate, err) &&
           (!separate ||
            heed_fail(err, HEED_FILE, "tokenizer_config.json: separate_vocabs is not supported"));
}

static heed_tokenizer *open_either(const heed_folder *f, const char *name, bool spoken,
                                   heed_error *err) {
    size_t n = 0, vocab_n = 0;
    char *text = heed_folder_read(f, "vocab.json", &vocab_n, err);
    json_t *vocab = text ? heed_vocab_json(f->host, text, vocab_n, err) : NULL;
    heed_free(f->host, text);
    char *data = vocab ? heed_folder_read(f, name, &n, err) : NULL;
    heed_tokenizer *t = data ? make(f, vocab, data, n, spoken, err) : NULL;
    heed_free(f->host, data);
    json_decref(vocab);
    return t;
}

heed_tokenizer *heed_open_marian(const heed_folder *f, const char *name, heed_error *err) {
    return is_single(f, err) ? open_either(f, name, false, err) : NULL;
}

heed_tokenizer *heed_open_m2m(const heed_folder *f, const char *name, heed_error *err) {
    const char *codes = "m2m100";
    if (!heed_json_opt_string(f->tokenizer, "language_codes", &codes, err)) {
        return NULL;
    }
    if (strcmp(f->kind, "m2m100") != 0 || strcmp(codes, "m2m100") != 0) {
        heed_fail(err, HEED_FILE,
                  "vocab.json and %s of '%s' with the languages '%s' are not known here", name,
                  f->kind, codes);
        return NULL;
    }
    return open_either(f, name, true, err);
}
