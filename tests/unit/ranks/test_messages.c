#include "ranks/messages.h"

#include <string.h>

#include "base/memory.h"
#include "support.h"

/* Writes the message, reads it again and gives both that and its words, which are to be freed. */
static uint64_t *send(const message *from, message *out, size_t *count)
{
    uint64_t *words;
    ee_error error = {EE_OK, ""};
    ok(message_write(from, &words, count, &error));
    if (message_read(words, *count, out, &error)) fail_msg("%s", error.message);
    assert_int_equal(out->kind, from->kind);
    return words;
}

static message make_report(const double *curve, uint64_t rounds)
{
    message made = {MESSAGE_REPORT, .report = {.options = "alpha=0.5 exclusive=on",
                                               .machine = "x86_64 Linux",
                                               .curve = curve,
                                               .error = {EE_DIVERGED, "policy: training diverged"}}};
    run_result *result = &made.report.result;
    result->status = EE_DIVERGED;
    result->finished = true;
    result->rounds = rounds;
    result->optimal = 5;
    result->regret = 0.1;
    result->reward = -0.0;
    result->seconds = 1e-300;
    result->bytes = 12345;
    result->slots = 3;
    for (size_t i = 0; i < RUN_SLOTS; i++) result->slot_regrets[i] = 0.1 * (double)i;
    for (size_t i = 0; i < RUN_PARTS; i++) {
        result->marks[i] = 1.0 / (double)(i + 3);
        result->directions[i] = (run_direction){i, i + 1, i + 2, i + 3, i + 4, 0.1, 0.2, 0.3, 0.4, (double)i / 7.0};
    }
    return made;
}

TEST(test_report)
{
    const double curve[] = {0.1, 0.2, 0.30000000000000004};
    for (uint64_t rounds = 0; rounds <= 3; rounds++) {
        message from = make_report(rounds ? curve : NULL, rounds), got;
        size_t count;
        auto_memory uint64_t *words = send(&from, &got, &count);
        assert_memory_equal(&got.report.result, &from.report.result, sizeof(run_result));
        assert_string_equal(got.report.options, from.report.options);
        assert_string_equal(got.report.machine, from.report.machine);
        assert_int_equal(got.report.error.status, EE_DIVERGED);
        assert_string_equal(got.report.error.message, "policy: training diverged");
        if (rounds)
            assert_memory_equal(got.report.curve, curve, rounds * sizeof *curve);
        else
            assert_null(got.report.curve);
    }
}

TEST(test_job)
{
    message from = {MESSAGE_JOB, .job = {.job = {.policy = "eenet:paper",
                                                 .options = "f1.width=50",
                                                 .seed = UINT64_MAX,
                                                 .rounds = 10000,
                                                 .tuning = true,
                                                 .late = {DELAY_CLICKS, 100, 12.5},
                                                 .slots = 4},
                                         .dataset = 7,
                                         .curve = true}},
            got;
    size_t count;
    auto_memory uint64_t *words = send(&from, &got, &count);
    const run_job *job = &got.job.job;
    assert_string_equal(job->policy, "eenet:paper");
    assert_string_equal(job->options, "f1.width=50");
    assert_int_equal(job->seed, UINT64_MAX);
    assert_int_equal(job->rounds, 10000);
    assert_true(job->tuning);
    assert_true(delay_same(&job->late, &from.job.job.late));
    assert_int_equal(job->slots, 4);
    assert_null(job->data);
    assert_null(job->log);
    assert_int_equal(got.job.dataset, 7);
    assert_true(got.job.curve);
    memory_free(words);

    from.job.job.options = NULL; /* none */
    words = send(&from, &got, &count);
    assert_string_equal(got.job.job.options, "");
}

TEST(test_others)
{
    message got, call = {MESSAGE_CALL, .call = {"0.1.0 neon", 64, 3}};
    size_t count;
    uint64_t *words = send(&call, &got, &count);
    assert_string_equal(got.call.version, "0.1.0 neon");
    assert_int_equal(got.call.workers, 64);
    assert_int_equal(got.call.datasets, 3);
    memory_free(words);

    message data = {MESSAGE_DATA, .data = {"table:\xc3\xa4 b.csv,label=x", NULL, 0xfedcba9876543210}};
    words = send(&data, &got, &count);
    assert_string_equal(got.data.text, data.data.text);
    assert_string_equal(got.data.cache, "");
    assert_true(got.data.fingerprint == 0xfedcba9876543210);
    memory_free(words);

    message answer = {MESSAGE_ANSWER, .answer = {"node7", 0, {EE_FILE_ERROR, "file: could not open x"}}};
    words = send(&answer, &got, &count);
    assert_string_equal(got.answer.host, "node7");
    assert_int_equal(got.answer.workers, 0);
    assert_int_equal(got.answer.error.status, EE_FILE_ERROR);
    assert_string_equal(got.answer.error.message, "file: could not open x");
    memory_free(words);

    message progress = {MESSAGE_PROGRESS, .progress = {99, 0.1}};
    words = send(&progress, &got, &count);
    assert_int_equal(got.progress.played, 99);
    assert_true(got.progress.seconds == 0.1);
    memory_free(words);

    for (size_t i = 0; i < 2; i++) {
        message plain = {.kind = i ? MESSAGE_END : MESSAGE_LEAVE};
        words = send(&plain, &got, &count);
        assert_int_equal(count, 2);
        memory_free(words);
    }
}

TEST(test_cut_or_damaged)
{
    const double curve[] = {0.1, 0.2, 0.3};
    message from = make_report(curve, 3), got;
    size_t count;
    auto_memory uint64_t *words = send(&from, &got, &count);
    ee_error error;
    for (size_t kept = 0; kept < count; kept++) {
        RELEASED_BY(guard_free) guard wall;
        uint64_t *some = guard_end_bytes(&wall, kept * sizeof *words);
        memcpy(some, words, kept * sizeof *words);
        assert_int_equal(message_read(some, kept, &got, &error), EE_BAD_INPUT);
    }
    for (size_t bit = 0; bit < 64 * count; bit++) {
        words[bit / 64] ^= (uint64_t)1 << bit % 64;
        assert_int_equal(message_read(words, count, &got, &error), EE_BAD_INPUT);
        words[bit / 64] ^= (uint64_t)1 << bit % 64;
    }
    assert_string_equal(error.message + strlen(error.message) - 23, "is truncated or damaged");
}
