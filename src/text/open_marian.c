/* open_marian.c: Marian's two SentencePiece models and one vocabulary for both.
 *
 * source.spm cuts what is translated, target.spm what it is translated to; vocab.json gives the
 * pieces of both their ids. A piece that it does not have is unknown, while an unknown run that it
 * has is known: the other side's piece. A text may begin with a language, ">>fra<<".
 * Source: Junczys-Dowmunt et al. 2018, "Marian"; Tiedemann and Thottingal 2020, "OPUS-MT".
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/open.h"
#include "text/spm.h"

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

static json_t *added_of(const heed_folder *f, const json_t *vocab, heed_error *err) {
    static const heed_usual_token usual[] = {
        {"eos_token", "</s>", false}, {"unk_token", "<unk>", false}, {"pad_token", "<pad>", false}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (heed_find_in_object(vocab, usual[i].text, strlen(usual[i].text)) < 0) {
            heed_fail(err, HEED_FILE, "vocab.json: token '%s' is missing", usual[i].text);
            return NULL;
        }
    }
    int64_t next = (int64_t)json_object_size(vocab);
    return heed_folder_added(f, usual, sizeof usual / sizeof usual[0], heed_find_in_object, vocab,
                             next, err);
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

static bool finish(const heed_folder *f, heed_tokenizer *t, const json_t *vocab, heed_error *err) {
    if (!add_rest(t, vocab, err) || !set_decoder(t, err)) {
        return false;
    }
    t->lead = take_language;
    json_t *added = added_of(f, vocab, err);
    json_t *post =
        added ? heed_json_template("$A </s>", "$A $B </s>", heed_find_in_object, vocab, added, err)
              : NULL;
    if (!post) {
        json_decref(added);
        return false;
    }
    return heed_tokenizer_complete(t, added, post, err);
}

static heed_tokenizer *make(const heed_folder *f, const json_t *vocab, const char *data, size_t n,
                            heed_error *err) {
    heed_spm spm;
    heed_spm_init(&spm, f->host);
    if (!heed_spm_read(&spm, data, n, err) || !place_pieces(&spm, vocab, err)) {
        heed_spm_free(&spm);
        return NULL;
    }
    spm.by_text = true;
    heed_tokenizer *t = heed_spm_tokenizer(&spm, err);
    if (t && !finish(f, t, vocab, err)) {
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

heed_tokenizer *heed_open_marian(const heed_folder *f, const char *name, heed_error *err) {
    size_t n = 0, vocab_n = 0;
    char *text = is_single(f, err) ? heed_folder_read(f, "vocab.json", &vocab_n, err) : NULL;
    json_t *vocab = text ? heed_json_parse(f->host, "vocab.json", text, vocab_n, err) : NULL;
    heed_free(f->host, text);
    bool ok = vocab && (json_is_object(vocab) ||
                        heed_fail(err, HEED_FILE, "vocab.json is %s, wanted an object",
                                  heed_json_kind(vocab)));
    char *data = ok ? heed_folder_read(f, name, &n, err) : NULL;
    heed_tokenizer *t = data ? make(f, vocab, data, n, err) : NULL;
    heed_free(f->host, data);
    json_decref(vocab);
    return t;
}
