#include "shard_claim.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/decimal.h"

enum { MOST_SHARDS = 1000000 };

/* ---- as it is written ---- */

ee_status shard_parse(const char *text, run_shard *out, ee_error *error)
{
    uint64_t index, count;
    const char *end = decimal_whole(text, &index);
    end = end && *end == '/' ? decimal_whole(end + 1, &count) : NULL;
    if (!end || *end || count < 1 || count > MOST_SHARDS)
        return status_fail(error, EE_BAD_OPTION,
                           "--shard: expected I/N such as 0/16, part I (from 0) of N (at most %d), got '%s'",
                           MOST_SHARDS, text);
    if (index >= count)
        return status_fail(error, EE_BAD_OPTION,
                           "--shard %s: expected 0/%" PRIu64 " to %" PRIu64 "/%" PRIu64 "; shards are numbered from 0",
                           text, count, count - 1, count);
    *out = (run_shard){(size_t)index, (size_t)count};
    return EE_OK;
}

/* ---- from Slurm's environment ---- */

/* usual: where it is not set. */
static ee_status read_number(const char *name, const char *text, uint64_t usual, uint64_t *out, ee_error *error)
{
    *out = usual;
    if (!text) return EE_OK;
    const char *end = decimal_whole(text, out);
    if (end && !*end && *out <= UINT32_MAX) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "%s: expected a whole number, got '%s'; give --shard I/N yourself, or --shard 0/1 to run all",
                       name, text);
}

static ee_status read_array(const slurm_words *words, run_shard *out, ee_error *error)
{
    uint64_t id, count, first, last, step;
    *out = (run_shard){0, 1};
    if (!words->array_id || !words->array_count) return EE_OK;
    ee_status status = read_number("SLURM_ARRAY_TASK_ID", words->array_id, 0, &id, error);
    if (!status) status = read_number("SLURM_ARRAY_TASK_COUNT", words->array_count, 1, &count, error);
    if (!status) status = read_number("SLURM_ARRAY_TASK_MIN", words->array_min, 0, &first, error);
    if (!status) status = read_number("SLURM_ARRAY_TASK_STEP", words->array_step, 1, &step, error);
    if (status) return status;
    uint64_t usual_last = count ? first + (count - 1) * step : first;
    status = read_number("SLURM_ARRAY_TASK_MAX", words->array_max, usual_last, &last, error);
    if (status) return status;
    if (count == 1) return EE_OK; /* perhaps one task of many that is tried again: it may play all */
    bool even = count && step && last == usual_last && id >= first && id <= last && (id - first) % step == 0;
    if (!even)
        return status_fail(error, EE_BAD_OPTION,
                           "the %" PRIu64 " tasks of this array, %" PRIu64 " to %" PRIu64
                           ", are not evenly spaced: give task %" PRIu64
                           " its --shard I/N, with I from 0; or --shard 0/1 to run all",
                           count, first, last, id);
    *out = (run_shard){(size_t)((id - first) / step), (size_t)count};
    return EE_OK;
}

/* A batch script, and a shell that salloc opened, are steps of their own kind, with numbers from this on, or names. */
static const uint64_t first_special_step = 0xfffffff0;

static ee_status read_step(const slurm_words *words, run_shard *out, ee_error *error)
{
    uint64_t id, tasks, process;
    *out = (run_shard){0, 1};
    if (!words->step_id || !words->step_tasks || !words->process) return EE_OK;
    const char *end = decimal_whole(words->step_id, &id);
    if (!end || *end || id >= first_special_step) return EE_OK;
    ee_status status = read_number("SLURM_STEP_NUM_TASKS", words->step_tasks, 1, &tasks, error);
    if (!status) status = read_number("SLURM_PROCID", words->process, 0, &process, error);
    if (status || tasks <= 1) return status;
    if (process >= tasks)
        return status_fail(error, EE_BAD_OPTION,
                           "SLURM_PROCID is %" PRIu64 " of %" PRIu64
                           " tasks: give --shard I/N yourself, or --shard 0/1 to run all",
                           process, tasks);
    *out = (run_shard){(size_t)process, (size_t)tasks};
    return EE_OK;
}

ee_status shard_of_slurm(const slurm_words *words, run_shard *out, ee_error *error)
{
    run_shard array, step;
    ee_status status = read_array(words, &array, error);
    if (!status) status = read_step(words, &step, error);
    if (status) return status;
    *out = (run_shard){array.index * step.count + step.index, array.count * step.count};
    if (out->count <= MOST_SHARDS) return EE_OK;
    return status_fail(error, EE_BAD_OPTION, "this array and its steps have %zu tasks; expected at most %d shards",
                       out->count, MOST_SHARDS);
}
