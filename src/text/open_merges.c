/* open_merges.c: vocab.json and merges.txt: byte-level BPE as GPT-2 and its kin store it.
 *
 * merges.txt: a line "#version" or none, then one pair a line with a space between, the first of
 * rank 0. What else belongs to a tokenizer (which words, which tokens round a text) is the family's
 * and stands in no file; families that are not listed here are refused.
 * Source: Radford et al. 2019; convert_slow_tokenizer.py of transformers for the families.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/error.h"
#include "text/open.h"
#include "text/scan.h"

typedef struct {
    const char *kind;            /* heed_folder.kind */
    const char *template, *pair; /* NULL: what add_bos_token and add_eos_token say */
    const char *regex;           /* of words; NULL: GPT-2's */
    bool nfc, trim;
    const char *unk, *bos, *eos, *cls, *sep, *pad, *mask;
} family;

#define ROBERTA                                                                                    \
    "<s> $A </s>", "<s> $A </s> </s> $B </s>", NULL, false, true, "<unk>", "<s>", "</s>", "<s>",   \
        "</s>", "<pad>", "<mask>"
#define END "<|endoftext|>"

/* The first is taken where the folder does not say what it is. */
static const family families[] = {
    {"gpt2", NULL, NULL, NULL, false, false, END, END, END, NULL, NULL, NULL, NULL},
    {"gptneo", NULL, NULL, NULL, false, false, END, END, END, NULL, NULL, NULL, NULL},
    {"gptneox", NULL, NULL, NULL, false, false, END, END, END, NULL, NULL, NULL, NULL},
    {"gptj", NULL, NULL, NULL, false, false, END, END, END, NULL, NULL, NULL, NULL},
    {"opt", "</s> $A", "</s> $A </s> $B", NULL, false, false, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL},
    {"codegen", NULL, NULL, NULL, false, false, END, END, END, NULL, NULL, NULL, NULL},
    {"roberta", ROBERTA},
    {"camembertv2", ROBERTA},
    {"bart", ROBERTA},
    {"longformer", ROBERTA},
    {"led", ROBERTA},
    {"deberta", "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", NULL, false, false, "[UNK]",
     "[CLS]", "[SEP]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"},
    {"qwen2", NULL, NULL, HEED_REGEX_QWEN2, true, false, NULL, NULL, END, NULL, NULL, END, NULL},
};

static const family *family_of(const heed_folder *f, heed_error *err) {
    if (f->kind[0] == '\0') {
        return &families[0];
    }
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].kind, f->kind) == 0) {
            return &families[i];
        }
    }
    heed_fail(err, HEED_FILE,
              "vocab.json and merges.txt of '%s' are not known here: save the tokenizer as "
              "tokenizer.json with transformers",
              f->kind);
    return NULL;
}

/* ---- Merges -------------------------------------------------------------------------------- */

/* One line into the list; an empty one and that of the version are passed over. */
static bool add_line(json_t *list, const char *line, size_t n, size_t number, heed_error *err) {
    static const char version[] = "#version";
    bool comment = n >= sizeof version - 1 && memcmp(line, version, sizeof version - 1) == 0;
    if (n > 0 && line[n - 1] == '\r') {
        n--;
    }
    if (n == 0 || comment) {
        return true;
    }
    const char *space = memchr(line, ' ', n);
    size_t left = space ? (size_t)(space - line) : n;
    bool pair = left > 0 && left + 1 < n && !memchr(space + 1, ' ', n - left - 1);
    if (!pair) {
        return heed_fail(err, HEED_FILE,
                         "merges.txt line %zu: wanted two tokens with a space between", number);
    }
    json_t *merge = json_pack("[s%, s%]", line, left, space + 1, n - left - 1);
    return (merge && json_array_append_new(list, merge) == 0) ||
           heed_fail(err, HEED_FILE, "merges.txt line %zu is not UTF-8", number);
}

static json_t *read_merges(const char *text, size_t n, heed_error *err) {
    json_t *list = json_array();
    bool ok = list || heed_fail(err, HEED_NOMEM, "out of memory: merges.txt");
    size_t number = 0;
    for (size_t at = 0; ok && at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        ok = add_line(list, text + at, length, ++number, err);
        at += length + 1;
    }
    if (!ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ---- The tokenizer ------------------------------------------------------------------------- */

/* What goes round a text; where the family does not say, two flags do. */
static json_t *template_of(const heed_folder *f, const family *own, const json_t *vocab,
                           const json_t *added, heed_error *err) {
    bool bos = false, eos = false;
    if (own->template) {
        return heed_json_template(own->template, own->pair, heed_find_in_object, vocab, added, err);
    }
    if (!heed_folder_flag(f, "add_bos_token", &bos, err) ||
        !heed_folder_flag(f, "add_eos_token", &eos, err)) {
        return NULL;
    }
    const char *first = heed_folder_token(f, "bos_token", own->bos);
    const char *last = heed_folder_token(f, "eos_token", own->eos);
    if ((bos && !first) || (eos && !last)) {
        heed_fail(err, HEED_FILE, "tokenizer_config.json: %s is true, but no file names %s",
                  bos && !first ? "add_bos_token" : "add_eos_token",
                  bos && !first ? "bos_token" : "eos_token");
        return NULL;
    }
    return heed_json_ends(f->host, bos ? first : NULL, eos ? last : NULL, heed_find_in_object,
                          vocab, added, err);
}

static json_t *post_of(const heed_folder *f, const family *own, const json_t *vocab,
                       const json_t *added, bool prefix, heed_error *err) {
    json_t *template = template_of(f, own, vocab, added, err);
    if (!template || !own->trim) {
        return template;
    }
    json_t *both = json_pack("{s:s, s:[o, o]}", "type", "Sequence", "processors",
                             heed_json_byte_level(prefix, true, true), template);
    if (!both) {
        heed_fail(err, HEED_NOMEM, "out of memory: a post-processor");
    }
    return both;
}

static json_t *words_of(const family *own, bool prefix) {
    if (!own->regex) {
        return heed_json_byte_level(prefix, true, true);
    }
    return json_pack("{s:s, s:[o, o]}", "type", "Sequence", "pretokenizers",
                     heed_json_split(own->regex), heed_json_byte_level(false, false, false));
}

static int64_t next_id(const json_t *vocab) {
    int64_t next = 0;
    const char *text;
    json_t *id;
    json_object_foreach((json_t *)(uintptr_t)vocab, text, id) {
        int64_t value = json_is_integer(id) ? json_integer_value(id) : -1;
        next = value >= next && value < INT32_MAX ? value + 1 : next;
    }
    return next;
}

/* merges are taken over. */
static json_t *tree_of(const heed_folder *f, const family *own, json_t *vocab, json_t *merges,
                       heed_error *err) {
    const heed_usual_token usual[] = {
        {"bos_token", own->bos, false}, {"eos_token", own->eos, false},
        {"unk_token", own->unk, false}, {"sep_token", own->sep, false},
        {"pad_token", own->pad, false}, {"cls_token", own->cls, false},
        {"mask_token", own->mask, true}};
    bool prefix = false;
    heed_json_parts p = {0};
    if (heed_folder_flag(f, "add_prefix_space", &prefix, err)) {
        p.added = heed_folder_added(f, usual, sizeof usual / sizeof usual[0], heed_find_in_object,
                                    vocab, next_id(vocab), err);
    }
    if (p.added) {
        p.post_processor = post_of(f, own, vocab, p.added, prefix, err);
    }
    if (!p.post_processor) {
        json_decref(p.added);
        json_decref(merges);
        return NULL;
    }
    p.normalizer = own->nfc ? json_pack("{s:s}", "type", "NFC") : NULL;
    p.pre_tokenizer = words_of(own, prefix);
    p.decoder = heed_json_byte_level(true, true, true);
    p.model = json_pack("{s:s, s:n, s:n, s:s, s:s, s:b, s:b, s:b, s:O, s:o}", "type", "BPE",
                        "dropout", "unk_token", "continuing_subword_prefix", "",
                        "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0,
                        "ignore_merges", 0, "vocab", vocab, "merges", merges);
    return heed_json_tokenizer(p, err);
}

heed_tokenizer *heed_merges_parse(const heed_folder *f, const char *text, size_t n,
                                  const char *merges, size_t merges_n, heed_error *err) {
    const family *own = family_of(f, err);
    json_t *vocab = own ? heed_vocab_json(f->host, text, n, err) : NULL;
    json_t *list = vocab ? read_merges(merges, merges_n, err) : NULL;
    json_t *root = list ? tree_of(f, own, vocab, list, err) : NULL;
    heed_tokenizer *t = root ? heed_tokenizer_from(f->host, root, f->path, err) : NULL;
    json_decref(root);
    json_decref(vocab);
    return t;
}

heed_tokenizer *heed_open_merges(const heed_folder *f, heed_error *err) {
    size_t n = 0, merges_n = 0;
    char *vocab = heed_folder_read(f, "vocab.json", &n, err);
    char *merges = vocab ? heed_folder_read(f, "merges.txt", &merges_n, err) : NULL;
    heed_tokenizer *t = merges ? heed_merges_parse(f, vocab, n, merges, merges_n, err) : NULL;
    heed_free(f->host, vocab);
    heed_free(f->host, merges);
    return t;
}
