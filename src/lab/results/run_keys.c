#include "run_keys.h"

#include <string.h>

#include "base/archive.h"

static uint64_t text_key(const char *text)
{
    return archive_checksum((const uint8_t *)text, strlen(text));
}

static run_keys keys_of(const char *data_name, uint64_t fingerprint, const char *policy, const char *options,
                        uint64_t rounds, bool tuning, const delay *late, size_t slots, uint64_t seed)
{
    char words[DELAY_TEXT];
    delay_format(late, words);
    uint64_t parts[] = {text_key(data_name), fingerprint, text_key(policy), text_key(options), rounds, tuning,
                        text_key(words),     slots};
    /* Where rewards come at once, and of one slot, the keys are those of folders from before there were others. */
    size_t left_out = slots > 1 ? 0 : delay_is_none(late) ? 2 : 1;
    size_t size = sizeof parts - left_out * sizeof parts[0];
    run_keys keys = {.curves = archive_checksum((const uint8_t *)parts, size)};
    uint64_t both[] = {keys.curves, seed};
    keys.run = archive_checksum((const uint8_t *)both, sizeof both);
    return keys;
}

run_keys run_keys_of_job(const run_job *job, const char *options)
{
    return keys_of(dataset_name(job->data), dataset_fingerprint(job->data), job->policy, options, job->rounds,
                   job->tuning, &job->late, job->slots, job->seed);
}

run_keys run_keys_of_stored(const stored_run *run)
{
    return keys_of(run->dataset, run->fingerprint, run->policy, run->options, run->rounds, run->tuning, &run->late,
                   run->slots, run->seed);
}
