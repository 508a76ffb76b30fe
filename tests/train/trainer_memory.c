/* trainer_memory.c: memory fails at every allocation of a training of two updates: each time a
 * clean error and nothing left behind.
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

static char folder[TEST_PATH], data[TEST_PATH + 64], out[TEST_PATH + 64];

static bool train_with(const heed_host *host, void *ctx, heed_error *err) {
    (void)ctx;
    const char *settings[] = {data,
                              out,
                              "data.split_valid=0.3",
                              "model.width=4",
                              "model.heads=2",
                              "model.feed_forward=4",
                              "model.encoder_layers=1",
                              "model.decoder_layers=1",
                              "model.max_positions=16",
                              "tokenizer.type=char",
                              "tokenizer.vocab=24",
                              "tokenizer.byte_fallback=false",
                              "train.batch_tokens=16",
                              "train.steps=2",
                              "train.warmup=1",
                              "train.metric=chrf",
                              "train.threads=1",
                              "translate.beam=1",
                              "translate.max_length_extra=2"};
    heed_training_options o = {.host = host,
                               .settings = settings,
                               .n_settings = sizeof settings / sizeof *settings,
                               .start = HEED_START_OVER,
                               .threads = 1};
    heed_trainer *t = heed_trainer_new(&o, err);
    bool ok = t && heed_trainer_run(t, err);
    heed_trainer_free(t);
    return ok;
}

static void memory_may_fail_anywhere(void **state) {
    (void)state;
    char path[TEST_PATH + 32];
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1); /* hundreds of synced files: no disk for them */
    }
    temp_folder(folder);
    snprintf(path, sizeof path, "%s/pairs.tsv", folder);
    snprintf(data, sizeof data, "data.train=%s", path);
    snprintf(out, sizeof out, "out.folder=%s/out", folder);
    write_text(path, "a b\tb a\nb c\tc b\nc a\ta c\na a\ta a\nb b\tb b\nc c\tc c\na c\tc a\n");
    for_each_failing_allocation(train_with, NULL);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_may_fail_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
