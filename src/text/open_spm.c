/* open_spm.c: SentencePiece models in folders of Hugging Face, whose ids the families shift.
 *
 * fairseq's models came with a vocabulary that begins with four tokens of its own, T5 added ids
 * behind the pieces, Pegasus both. Each family here says which tokens come first, how many pieces
 * they stand for, and which come last; a piece that is stood for has no id, and the one that is
 * unknown has that of <unk>. The same file by itself keeps its own ids.
 * Source: Conneau et al. 2020 (XLM-R), Liu et al. 2020 (mBART), Martin et al. 2020 (CamemBERT),
 * Raffel et al. 2020 (T5), Zhang et al. 2020 (Pegasus); convert_slow_tokenizer.py of transformers.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/open.h"
#include "text/spm.h"

typedef struct {
    const char *kind; /* heed_folder.kind */
    const char *head; /* tokens with spaces between that stand for `skip` pieces; NULL: none */
    size_t skip;
    const char *tail;            /* tokens behind the pieces */
    const char *template, *pair; /* NULL: what add_bos_token and add_eos_token say */
    const char *numbered; /* with a number and ">" behind: more tokens, from the highest to 0 */
    const char *language; /* key of the language that takes the place of LANGUAGE in `template` */
    bool bos;             /* add_bos_token where no file says */
    bool mask_strips;
} family;

#define FAIRSEQ "<s> <pad> </s> <unk>"
#define FAIRSEQ_ENDS "<s> $A </s>", "<s> $A </s> </s> $B </s>"
#define LANGUAGE "\x01"
#define MBART                                                                                      \
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "   \
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
#define MBART50                                                                                    \
    MBART " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL "  \
          "ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"

#define UNK(n) " <unk_" n ">"
#define TEN(d)                                                                                     \
    UNK(d "0")                                                                                     \
    UNK(d "1")                                                                                     \
    UNK(d "2") UNK(d "3") UNK(d "4") UNK(d "5") UNK(d "6") UNK(d "7") UNK(d "8") UNK(d "9")
#define PEGASUS                                                                                    \
    "<pad> </s> <mask_1> <mask_2>" UNK("2") UNK("3") UNK("4") UNK("5") UNK("6") UNK("7") UNK("8")  \
        UNK("9") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9")  \
            UNK("100") UNK("101") UNK("102")

static const family families[] = {
    {"xlmroberta", FAIRSEQ, 3, "<mask>", FAIRSEQ_ENDS, NULL, NULL, false, true},
    {"camembert", "<s>NOTUSED <pad> </s>NOTUSED <unk> <unk>NOTUSED", 1, "<mask>", FAIRSEQ_ENDS,
     NULL, NULL, false, true},
    {"mbart", FAIRSEQ, 3, MBART " <mask>", "$A </s> " LANGUAGE, "$A $B </s> " LANGUAGE, NULL,
     "src_lang", false, true},
    {"mbart50", FAIRSEQ, 3, MBART50 " <mask>", LANGUAGE " $A </s>", LANGUAGE " $A $B </s>", NULL,
     "src_lang", false, true},
    {"pegasus", PEGASUS, 2, NULL, "$A </s>", "$A $B </s>", NULL, NULL, false, false},
    {"t5", NULL, 0, NULL, "$A </s>", "$A </s> $B </s>", "<extra_id_", NULL, false, false},
    {"mt5", NULL, 0, NULL, "$A </s>", "$A </s> $B </s>", NULL, NULL, false, false},
    {"umt5", NULL, 0, NULL, "$A </s>", "$A </s> $B </s>", NULL, NULL, false, false},
    {"llama", NULL, 0, NULL, NULL, NULL, NULL, NULL, true, false},
    {"mistral", NULL, 0, NULL, NULL, NULL, NULL, NULL, true, false},
    {"gemma", NULL, 0, NULL, NULL, NULL, NULL, NULL, true, false},
};

static const family plain = {.kind = ""};

/* Names of files that several families use with ids of their own. */
static bool is_shared(const char *name) {
    return strcmp(name, "tokenizer.model") != 0;
}

static const family *family_of(const heed_folder *f, const char *name, heed_error *err) {
    if (!name) {
        return &plain;
    }
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].kind, f->kind) == 0) {
            return &families[i];
        }
    }
    if (f->kind[0] == '\0' && !is_shared(name)) {
        return &plain;
    }
    if (f->kind[0] == '\0') {
        heed_fail(err, HEED_FILE,
                  "no file says whose ids %s has: wanted tokenizer_class in tokenizer_config.json "
                  "or model_type in config.json",
                  name);
    } else {
        heed_fail(err, HEED_FILE,
                  "the ids that '%s' gives to %s are not known here: save the tokenizer as "
                  "tokenizer.json with transformers",
                  f->kind, name);
    }
    return NULL;
}

/* ---- Ids ----------------------------------------------------------------------------------- */

static size_t count_words(const char *list) {
    const char *word;
    size_t n, count = 0;
    while (heed_next_word(&list, &word, &n)) {
        count++;
    }
    return count;
}

/* The place of a word among the words of a list, -1 where it is none. */
static int32_t place_in(const char *list, const char *text, size_t length) {
    const char *word;
    size_t n;
    for (int32_t place = 0; heed_next_word(&list, &word, &n); place++) {
        if (n == length && memcmp(word, text, n) == 0) {
            return place;
        }
    }
    return -1;
}

/* The first pieces take the ids of the family's tokens of the same name; the rest follow. */
static bool place_pieces(heed_spm *spm, const family *own, heed_error *err) {
    int32_t head = (int32_t)count_words(own->head);
    if (spm->n < own->skip) {
        return heed_fail(err, HEED_FILE, "%zu pieces, wanted at least %zu", spm->n, own->skip);
    }
    for (size_t i = 0; i < spm->n; i++) {
        heed_spm_piece *p = &spm->piece[i];
        bool first = i < own->skip;
        p->id = first ? place_in(own->head, p->text, p->n) : (int32_t)(i - own->skip) + head;
        bool unknown = p->type == HEED_SPM_UNKNOWN;
        if (unknown && p->id < 0) {
            return heed_fail(err, HEED_FILE, "the unknown piece '%.*s' is no token of '%s'",
                             (int)p->n, p->text, own->kind);
        }
    }
    return true;
}

/* Tokens that the file does not have; those it has keep their ids. */
static bool add_words(heed_tokenizer *t, const char *list, int64_t id, heed_error *err) {
    const char *word;
    size_t n;
    for (; heed_next_word(&list, &word, &n); id++) {
        if (!heed_vocab_has(t, id) && !heed_vocab_add(t, word, n, id, true, err)) {
            return false;
        }
    }
    return true;
}

/* ---- Tokens round a text ------------------------------------------------------------------- */

static const char *piece_text(const heed_spm *spm, const char *usual) {
    return heed_spm_find(spm, usual, strlen(usual)) >= 0 ? usual : NULL;
}

/* A template with the language's code in its place. */
static void fill_language(const char *template, const char *code, heed_buf *out) {
    const char *place = strstr(template, LANGUAGE);
    heed_buf_add(out, template, (size_t)(place - template));
    heed_buf_text(out, code);
    heed_buf_text(out, place + 1);
}

static json_t *with_language(const heed_folder *f, const family *own, const heed_tokenizer *t,
                             const json_t *added, heed_error *err) {
    const char *code = "en_XX";
    heed_buf single = {.host = f->host}, pair = {.host = f->host};
    json_t *post = NULL;
    if (!heed_json_opt_string(f->tokenizer, own->language, &code, err)) {
        return NULL;
    }
    fill_language(own->template, code, &single);
    fill_language(own->pair, code, &pair);
    if (single.failed || pair.failed) {
        heed_fail(err, HEED_NOMEM, "out of memory: a template");
    } else {
        post = heed_json_template(single.data, pair.data, heed_find_in_vocab, t, added, err);
    }
    heed_buf_free(&single);
    heed_buf_free(&pair);
    return post;
}

static json_t *post_of(const heed_folder *f, const family *own, const heed_tokenizer *t,
                       const json_t *added, heed_error *err) {
    if (own->language) {
        return with_language(f, own, t, added, err);
    }
    if (own->template) {
        return heed_json_template(own->template, own->pair, heed_find_in_vocab, t, added, err);
    }
    bool bos = own->bos, eos = false;
    if (!heed_folder_flag(f, "add_bos_token", &bos, err) ||
        !heed_folder_flag(f, "add_eos_token", &eos, err)) {
        return NULL;
    }
    const heed_spm *spm = heed_spm_of(t);
    const char *first = bos ? heed_folder_token(f, "bos_token", piece_text(spm, "<s>")) : NULL;
    const char *last = eos ? heed_folder_token(f, "eos_token", piece_text(spm, "</s>")) : NULL;
    return heed_json_ends(f->host, first, last, heed_find_in_vocab, t, added, err);
}

/* ---- The tokenizer ------------------------------------------------------------------------- */

/* How many numbered tokens stand behind the pieces. */
static bool count_numbered(const heed_folder *f, const family *own, int64_t *count,
                           heed_error *err) {
    *count = own->numbered ? 100 : 0;
    if (!heed_json_opt_int(f->tokenizer, "extra_ids", count, err)) {
        return false;
    }
    int64_t most = own->numbered ? 1000 : 0;
    return (*count >= 0 && *count <= most) ||
           heed_fail(err, HEED_FILE, "extra_ids %lld: wanted 0 to %lld", (long long)*count,
                     (long long)most);
}

static int name_numbered(const family *own, int64_t i, char name[32]) {
    return snprintf(name, 32, "%s%d>", own->numbered, (int)i);
}

/* T5's sentinels: the last one first. */
static bool add_numbered(heed_tokenizer *t, const family *own, int64_t count, heed_error *err) {
    for (int64_t i = count - 1; i >= 0; i--) {
        char name[32];
        size_t n = (size_t)name_numbered(own, i, name);
        if (heed_vocab_find(t, name, n) < 0 &&
            !heed_vocab_add(t, name, n, (int64_t)t->n_pieces, true, err)) {
            return false;
        }
    }
    return true;
}

typedef struct {
    heed_usual_token *item;
    size_t n;
} usual;

static bool add_usual(heed_tokenizer *t, usual *u, const char *key, const char *text, size_t n,
                      bool lstrip, heed_error *err) {
    if (heed_vocab_find(t, text, n) < 0) {
        return true;
    }
    const char *copy = heed_region_text(&t->region, text, n, err);
    u->item[u->n++] = (heed_usual_token){key, copy, lstrip};
    return copy != NULL;
}

static bool add_usual_words(heed_tokenizer *t, usual *u, const char *list, heed_error *err) {
    const char *word;
    size_t n;
    while (heed_next_word(&list, &word, &n)) {
        if (!add_usual(t, u, NULL, word, n, false, err)) {
            return false;
        }
    }
    return true;
}

/* All that the family has beside the model's pieces is special, and so are those with a name. */
static bool name_usual(heed_tokenizer *t, usual *u, const family *own, int64_t count,
                       heed_error *err) {
    static const struct {
        const char *key, *text;
    } named[] = {{"bos_token", "<s>"},
                 {"eos_token", "</s>"},
                 {"unk_token", "<unk>"},
                 {"pad_token", "<pad>"},
                 {"mask_token", "<mask>"}};
    enum { NAMED = sizeof named / sizeof named[0] };
    size_t most = NAMED + count_words(own->head) + count_words(own->tail) + (size_t)count;
    u->item = heed_region_alloc(&t->region, most, sizeof *u->item, err);
    bool ok = u->item != NULL;
    for (int i = 0; ok && i < NAMED; i++) {
        bool lstrip = own->mask_strips && i == NAMED - 1;
        ok = add_usual(t, u, named[i].key, named[i].text, strlen(named[i].text), lstrip, err);
    }
    ok = ok && add_usual_words(t, u, own->head, err) && add_usual_words(t, u, own->tail, err);
    for (int64_t i = 0; ok && i < count; i++) {
        char name[32];
        size_t n = (size_t)name_numbered(own, i, name);
        ok = add_usual(t, u, NULL, name, n, false, err);
    }
    return ok;
}

static bool finish(const heed_folder *f, heed_tokenizer *t, const family *own, heed_error *err) {
    int64_t count = 0;
    usual u = {0};
    if (!count_numbered(f, own, &count, err) || !add_words(t, own->head, 0, err) ||
        !add_words(t, own->tail, (int64_t)t->n_pieces, err) || !add_numbered(t, own, count, err) ||
        !name_usual(t, &u, own, count, err)) {
        return false;
    }
    json_t *added =
        heed_folder_added(f, u.item, u.n, heed_find_in_vocab, t, (int64_t)t->n_pieces, err);
    json_t *post = added ? post_of(f, own, t, added, err) : NULL;
    if (!post) {
        json_decref(added);
        return false;
    }
    return heed_tokenizer_complete(t, added, post, err);
}

/* In a folder <unk> is a token like others; by itself the model has a text for it. */
static void show_unknown(heed_spm *spm, const family *own) {
    for (size_t i = 0; own != &plain && i < spm->n; i++) {
        if (spm->piece[i].type == HEED_SPM_UNKNOWN) {
            spm->unk_surface = spm->piece[i].text;
            spm->unk_surface_n = spm->piece[i].n;
        }
    }
}

static heed_tokenizer *make(const heed_folder *f, const family *own, const char *data, size_t n,
                            heed_error *err) {
    heed_spm spm;
    bool legacy = strcmp(own->kind, "llama") != 0;
    heed_spm_init(&spm, f->host);
    if (!heed_spm_read(&spm, data, n, err) || !place_pieces(&spm, own, err) ||
        (f->tokenizer && !heed_folder_flag(f, "legacy", &legacy, err))) {
        heed_spm_free(&spm);
        return NULL;
    }
    spm.first_only = !legacy;
    show_unknown(&spm, own);
    heed_tokenizer *t = heed_spm_tokenizer(&spm, err);
    if (t && own != &plain && !finish(f, t, own, err)) {
        heed_tokenizer_free(t);
        return NULL;
    }
    return t;
}

heed_tokenizer *heed_spm_parse(const heed_host *host, const char *data, size_t n, heed_error *err) {
    heed_folder none = {.host = host};
    return make(&none, &plain, data, n, err);
}

heed_tokenizer *heed_open_spm(const heed_folder *f, const char *name, heed_error *err) {
    const family *own = family_of(f, name, err);
    size_t n = 0;
    char *data = own ? heed_folder_read(f, name, &n, err) : NULL;
    heed_tokenizer *t = data ? make(f, own, data, n, err) : NULL;
    heed_free(f->host, data);
    return t;
}
