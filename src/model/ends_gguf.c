/* ends_gguf.c: the tokens that end a text in a GGUF file: those that its settings name, and those
 * that are known by their texts.
 *
 * llama.cpp stops at any token with one of these texts, whatever the settings say, and files are
 * made with that in mind: a chat model's end of a turn often stands in none of them.
 * Source: llama.cpp, llama-vocab.cpp (special_eog_ids).
 * SPDX-License-Identifier: MIT
 */
#include "model/inside.h"

#include <string.h>

bool heed_add_end(heed_config *c, int32_t id, heed_error *err) {
    if (!c->ends && c->eos >= 0)
        c->end[c->ends++] = c->eos;
    for (int64_t i = 0; i < c->ends; i++)
        if (c->end[i] == id)
            return true;
    if (c->ends == HEED_ENDS)
        return heed_fail(err, HEED_LIMIT, "more than %d tokens end a text", HEED_ENDS);
    c->end[c->ends++] = id;
    return true;
}

static bool ends_a_text(heed_gguf_text text) {
    static const char *const known[] = {
        "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",
        "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
        "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
        "<\xef\xbd\x9c"
        "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
        "[e~[",
        /* Where a gap in a program that was to be filled, or its file, is over. */
        "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<|fim_repo|>", "<|repo_name|>", "<fim-repo>",
        "<reponame>", "<|file_sep|>"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == text.n && !memcmp(known[i], text.data, text.n))
            return true;
    return false;
}

bool heed_find_ends(heed_model *m, heed_error *err) {
    const heed_gguf_value *v = heed_gguf_find(m->gguf, "tokenizer.ggml.tokens");
    if (m->config.kind != HEED_DECODER || !v || v->kind != HEED_GGUF_ARRAY ||
        v->item != HEED_GGUF_TEXT)
        return true;
    heed_gguf_text *text = heed_alloc(heed_model_host(m), (size_t)v->count, sizeof *text, err);
    bool fine = text && heed_gguf_items_text(v, text, err);
    for (int64_t i = 0; fine && i < v->count && i < m->config.vocab; i++)
        fine = !ends_a_text(text[i]) || heed_add_end(&m->config, (int32_t)i, err);
    heed_free(heed_model_host(m), text);
    return fine;
}
