#define _POSIX_C_SOURCE 200809L
#include "messages.h"

#include <string.h>

#include "base/archive.h"
#include "base/memory.h"

enum { WORD = sizeof(uint64_t) };

/* ---- parts of messages, both communicators ---- */

static void visit_double(archive *a, double *value)
{
    archive_bytes(a, value, sizeof *value);
}

static void visit_bool(archive *a, bool *value)
{
    size_t number = *value;
    archive_size(a, &number, 0, 1, "a yes or no");
    *value = number != 0;
}

static void visit_size(archive *a, size_t *value)
{
    archive_size(a, value, 0, SIZE_MAX, "a number");
}

/* Its length, and its bytes with the zero at their end; NULL is as "". */
static void visit_text(archive *a, const char **text)
{
    if (!a->reading && !*text) *text = "";
    size_t length = a->reading ? 0 : strlen(*text);
    archive_size(a, &length, 0, a->reading ? archive_remaining(a) : SIZE_MAX, "the length of a string");
    if (!a->reading) {
        archive_bytes(a, (char *)*text, length + 1);
        return;
    }
    *text = "";
    if (a->status) return;
    if (archive_remaining(a) <= length || strnlen((const char *)a->source + a->position, length + 1) != length) {
        archive_fail(a, EE_BAD_INPUT, "an unterminated string");
        return;
    }
    *text = (const char *)a->source + a->position;
    a->position += length + 1;
}

/* Zeros up to a multiple of eight bytes. */
static void visit_padding(archive *a)
{
    uint8_t zeros[WORD] = {0};
    size_t position = a->reading ? a->position : a->size;
    archive_bytes(a, zeros, (WORD - position % WORD) % WORD);
}

static void visit_curve(archive *a, const double **curve, uint64_t rounds)
{
    bool has = *curve != NULL;
    visit_bool(a, &has);
    visit_padding(a);
    if (!a->reading) {
        if (has) archive_bytes(a, (double *)*curve, (size_t)rounds * sizeof **curve);
        return;
    }
    *curve = NULL;
    if (a->status || !has) return;
    if (rounds > archive_remaining(a) / sizeof **curve) {
        archive_fail(a, EE_BAD_INPUT, "a truncated curve");
        return;
    }
    *curve = (const double *)(const void *)(a->source + a->position);
    a->position += (size_t)rounds * sizeof **curve;
}

static void visit_error(archive *a, ee_error *error)
{
    size_t status = (size_t)error->status;
    archive_size(a, &status, 0, UINT16_MAX, "a status");
    error->status = (ee_status)status;
    archive_text(a, error->message, sizeof error->message, "a sentence");
}

static void visit_direction(archive *a, run_direction *of)
{
    uint64_t *counts[] = {&of->arms, &of->up, &of->down, &of->up_right, &of->down_right};
    double *sums[] = {&of->gain, &of->exploration, &of->gain_squares, &of->exploration_squares, &of->products};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) archive_u64(a, counts[i]);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) visit_double(a, sums[i]);
}

/* Its status comes from the report's error. */
static void visit_result(archive *a, run_result *of)
{
    visit_bool(a, &of->finished);
    archive_u64(a, &of->rounds);
    archive_u64(a, &of->optimal);
    visit_double(a, &of->regret);
    visit_double(a, &of->reward);
    visit_double(a, &of->seconds);
    visit_size(a, &of->bytes);
    archive_size(a, &of->slots, 0, RUN_SLOTS, "slots");
    for (size_t i = 0; i < RUN_SLOTS; i++) visit_double(a, &of->slot_regrets[i]);
    for (size_t i = 0; i < RUN_PARTS; i++) visit_double(a, &of->marks[i]);
    for (size_t i = 0; i < RUN_PARTS; i++) visit_direction(a, &of->directions[i]);
}

static void visit_delay(archive *a, delay *of)
{
    size_t kind = (size_t)of->kind;
    archive_size(a, &kind, DELAY_ROUNDS, DELAY_CLICKS, "a kind of delay");
    of->kind = (delay_kind)kind;
    archive_u64(a, &of->rounds);
    visit_double(a, &of->mean);
}

/* ---- messages, both communicators ---- */

static void visit_call(archive *a, call_message *of)
{
    visit_text(a, &of->version);
    visit_size(a, &of->workers);
    visit_size(a, &of->datasets);
}

static void visit_data(archive *a, data_message *of)
{
    visit_text(a, &of->text);
    visit_text(a, &of->cache);
    archive_u64(a, &of->fingerprint);
}

static void visit_answer(archive *a, answer_message *of)
{
    visit_text(a, &of->host);
    visit_size(a, &of->workers);
    visit_error(a, &of->error);
}

static void visit_job(archive *a, job_message *of)
{
    visit_text(a, &of->job.policy);
    visit_text(a, &of->job.options);
    archive_u64(a, &of->job.seed);
    archive_u64(a, &of->job.rounds);
    visit_bool(a, &of->job.tuning);
    visit_delay(a, &of->job.late);
    archive_size(a, &of->job.slots, 0, RUN_SLOTS, "slots");
    visit_size(a, &of->dataset);
    visit_bool(a, &of->curve);
}

static void visit_progress(archive *a, progress_message *of)
{
    archive_u64(a, &of->played);
    visit_double(a, &of->seconds);
}

static void visit_report(archive *a, report_message *of)
{
    visit_error(a, &of->error);
    visit_result(a, &of->result);
    of->result.status = of->error.status;
    visit_text(a, &of->options);
    visit_text(a, &of->machine);
    visit_curve(a, &of->curve, of->result.rounds);
}

static void visit(archive *a, message *of)
{
    size_t kind = (size_t)of->kind;
    archive_size(a, &kind, MESSAGE_CALL, MESSAGE_REPORT, "a kind of message");
    of->kind = (message_kind)kind;
    switch (of->kind) {
    case MESSAGE_CALL:
        visit_call(a, &of->call);
        break;
    case MESSAGE_DATA:
        visit_data(a, &of->data);
        break;
    case MESSAGE_ANSWER:
        visit_answer(a, &of->answer);
        break;
    case MESSAGE_JOB:
        visit_job(a, &of->job);
        break;
    case MESSAGE_PROGRESS:
        visit_progress(a, &of->progress);
        break;
    case MESSAGE_REPORT:
        visit_report(a, &of->report);
        break;
    case MESSAGE_END:
    case MESSAGE_LEAVE:
        break;
    }
    visit_padding(a);
}

/* ---- whole ---- */

ee_status message_write(const message *from, uint64_t **words, size_t *count, ee_error *error)
{
    message copy = *from; /* a visit may write, where it reads */
    archive a = archive_writer(error);
    visit(&a, &copy);
    if (!a.status) {
        uint64_t checksum = archive_checksum(a.bytes, a.size);
        archive_u64(&a, &checksum);
    }
    if (a.status) {
        memory_free(a.bytes);
        a.bytes = NULL;
    }
    *words = (uint64_t *)(void *)a.bytes; /* aligned, as all that is allocated */
    *count = a.size / WORD;
    return a.status;
}

ee_status message_read(const uint64_t *words, size_t count, message *out, ee_error *error)
{
    memset(out, 0, sizeof *out);
    const uint8_t *bytes = (const uint8_t *)words;
    size_t size = count ? (count - 1) * WORD : 0;
    if (count && archive_checksum(bytes, size) == words[count - 1]) {
        archive a = archive_reader(bytes, size, NULL);
        visit(&a, out);
        if (!a.status && !archive_remaining(&a)) return EE_OK;
    }
    return status_fail(error, EE_BAD_INPUT, "ranks: a message of %zu bytes is truncated or damaged", count * WORD);
}
