/* Reads the events of an open log and checks what no format allows. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "log_kind.h"

log_options log_options_usual(void)
{
    return (log_options){.from = (double)NAN, .until = (double)NAN};
}

bool log_slot_is_partial(const log_slot *slot)
{
    return slot->count > 1 && isnan(slot->probabilities[1]);
}

/* A reason may quote a line and may be truncated: bytes that are not UTF-8 and control characters become question
 * marks. */
static void make_printable(char *string)
{
    for (size_t size; *string; string += size) {
        for (size = 1; size < 4 && ((uint8_t)string[size] & 0xc0) == 0x80;) size++;
        bool control = (uint8_t)string[0] < ' ' || string[0] == 0x7f;
        if (control || !json_is_utf8((json_text){string, size})) memset(string, '?', size);
    }
}

void log_skip(log_note *note, log_verdict verdict, const char *format, ...)
{
    note->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->reason, sizeof note->reason, format, arguments);
    va_end(arguments);
    make_printable(note->reason);
}

void log_close(log_reader *log)
{
    if (!log) return;
    byte_stream_close(log->stream);
    memory_release(&log->owner);
}

/* ---- lines that are not events ---- */

/* Foreign and repeated lines may be many; they take at most a few of the places, so that broken and invalid lines are
 * reported too. */
static void remember(log_counts *counts, size_t line, const log_note *note)
{
    enum { PLACES = sizeof counts->first_lines / sizeof counts->first_lines[0], USUAL = 2 };
    bool usual = note->verdict == LOG_FOREIGN || note->verdict == LOG_REPEATED;
    size_t before = note->verdict == LOG_FOREIGN ? counts->foreign : counts->repeated;
    if (counts->first_count == PLACES || (usual && before > USUAL)) return;
    if (usual && counts->first_bad == counts->first_count) counts->first_bad++;
    counts->first_lines[counts->first_count] = line;
    memcpy(counts->first_reasons[counts->first_count], note->reason, sizeof note->reason);
    counts->first_count++;
}

static ee_status count_skipped(log_reader *log, size_t line, const log_note *note, ee_error *error)
{
    log_counts *counts = &log->counts;
    if (log->options.strict)
        return status_fail(error, EE_BAD_INPUT, "%s, line %zu: %s", byte_stream_name(log->stream), line, note->reason);
    counts->broken += note->verdict == LOG_BROKEN;
    counts->foreign += note->verdict == LOG_FOREIGN;
    counts->invalid += note->verdict == LOG_INVALID;
    counts->repeated += note->verdict == LOG_REPEATED;
    remember(counts, line, note);
    return EE_OK;
}

/* ---- checks that apply to every format ---- */

/* A value above 1 by the rounding of a float counts as 1. */
static bool is_probability(double value)
{
    return value >= 0 && value <= 1 + 1e-6;
}

/* A guess about a value that is not a probability. */
static const char *guess_value(double value)
{
    if (value < 0) return " (a log-probability?)";
    return value > 1 && isfinite(value) ? " (a percentage, or 1 / p?)" : "";
}

static bool check_probabilities(const double *values, size_t count, log_note *note)
{
    for (size_t i = 0; i < count; i++) {
        if (is_probability(values[i])) continue;
        log_skip(note, LOG_INVALID, "a probability must be 0 to 1, got %.6g%s", values[i], guess_value(values[i]));
        return false;
    }
    return true;
}

/* In a slot, only the probability of the chosen action must be known. */
static bool check_slot(const log_slot *slot, log_note *note)
{
    size_t known = log_slot_is_partial(slot) ? 1 : slot->count;
    for (size_t i = known; i < slot->count; i++)
        if (!isnan(slot->probabilities[i])) known = slot->count;
    return check_probabilities(slot->probabilities, known, note);
}

static bool check_taken(double probability, log_note *note)
{
    if (is_probability(probability) && isfinite(1 / probability)) return true;
    log_skip(note, LOG_INVALID, "the probability of the chosen action must be above 0 and at most 1, got %.6g%s",
             probability, guess_value(probability));
    return false;
}

static bool check_reward(double reward, log_note *note)
{
    static const double largest = 1e9; /* the same limit as in the library */
    if (fabs(reward) <= largest) return true;
    log_skip(note, LOG_INVALID, "the reward must be -1e9 to 1e9, got %.6g", reward);
    return false;
}

static bool check_metrics(const log_event *event, log_note *note)
{
    if (event->metric_count > LOG_METRICS) {
        log_skip(note, LOG_INVALID, "%zu metrics, expected at most %d", event->metric_count, LOG_METRICS);
        return false;
    }
    for (size_t i = 0; i < event->metric_count; i++) {
        const log_metric *one = &event->metrics[i];
        bool twice = false;
        for (size_t k = 0; k < i; k++) twice = twice || json_compare(event->metrics[k].name, one->name) == 0;
        if (!one->name.length || one->name.length > LOG_METRIC_NAME)
            log_skip(note, LOG_INVALID, "the name of a metric must have 1 to %d bytes", LOG_METRIC_NAME);
        else if (twice)
            log_skip(note, LOG_INVALID, "the metric '%.*s' is given twice", (int)one->name.length, one->name.bytes);
        else if (!(fabs(one->value) <= 1e9))
            log_skip(note, LOG_INVALID, "a metric must be -1e9 to 1e9, got %.6g", one->value);
        if (note->verdict) return false;
    }
    return true;
}

static bool check_share(const log_guard *guard, log_note *note)
{
    if (guard->treated_share >= 0 && guard->treated_share <= 1) return true;
    log_skip(note, LOG_INVALID, "the treated share must be 0 to 1, got %.6g", guard->treated_share);
    return false;
}

bool log_check(log_event *event, log_note *note)
{
    if (!check_taken(event->probability, note) || !check_reward(event->reward, note)) return false;
    if (!check_metrics(event, note) || !check_share(&event->guard, note)) return false;
    if (event->probabilities && !check_probabilities(event->probabilities, event->count, note)) return false;
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        if (!check_taken(slot->probabilities[0], note) || !check_slot(slot, note)) return false;
        if (!event->slate && !check_reward(slot->reward, note)) return false;
    }
    if (event->probability > 1) event->probability = 1;
    if (!event->guard.group) event->guard.treated_share = 0;
    return true;
}

/* ---- reading ---- */

static bool is_outside(const log_options *options, double time)
{
    return time < options->from || time >= options->until; /* NaN compares false: no limit */
}

static ee_status check_repeated(log_reader *log, const log_event *event, log_note *note, ee_error *error)
{
    bool there = false;
    if (!event->id.length) return EE_OK;
    ee_status status = id_set_add(&log->seen, id_hash(event->id.bytes, event->id.length), &there, error);
    if (there)
        log_skip(note, LOG_REPEATED, "duplicate event id %.*s", event->id.length < 60 ? (int)event->id.length : 60,
                 event->id.bytes);
    return status;
}

/* A CSV log whose actions were collected before: an event has one of them, unless it came later. */
static void check_action(const log_event *event, log_note *note)
{
    if (event->action >= event->count)
        log_skip(note, LOG_INVALID, "the action is new: the file changed after it was opened");
}

/* Compressed data that ends early counts as one more broken line if the last line was complete. */
static ee_status note_cut(log_reader *log, ee_error *error)
{
    if (!byte_stream_is_cut(log->stream) || log->cut_noted) return EE_OK;
    log->cut_noted = true;
    log_note note;
    log_skip(&note, LOG_BROKEN, "the compressed data ends early");
    return count_skipped(log, log->counts.lines, &note, error);
}

ee_status log_next(log_reader *log, log_event *event, bool *found, ee_error *error)
{
    log_counts *counts = &log->counts;
    for (;;) {
        log_note note = {LOG_EVENT, ""};
        ee_status status = log->next(log, event, &note, found, error);
        counts->bytes = byte_stream_bytes(log->stream);
        if (status) return status;
        if (!*found) return note_cut(log, error);
        if (note.verdict == LOG_BLANK) continue;
        if (note.verdict == LOG_EVENT) log_check(event, &note);
        if (note.verdict == LOG_EVENT && is_outside(&log->options, event->time)) {
            counts->outside++;
            continue;
        }
        if (note.verdict == LOG_EVENT) status = check_repeated(log, event, &note, error);
        if (status) return status;
        if (note.verdict == LOG_EVENT) check_action(event, &note);
        if (note.verdict == LOG_EVENT) {
            counts->events++;
            counts->skipped += event->skipped;
            counts->timeless += isnan(event->time) != 0;
            return EE_OK;
        }
        status = count_skipped(log, event->line, &note, error);
        if (status) return status;
    }
}

const log_counts *log_read(const log_reader *log)
{
    return &log->counts;
}

size_t log_dim(const log_reader *log)
{
    return log->dim;
}

bool log_can_repeat(const log_reader *log)
{
    return byte_stream_can_repeat(log->stream);
}

void log_remark_add(log_reader *log, const char *format, ...)
{
    if (log->remark_count == LOG_REMARKS) return;
    char *into = log->remarks[log->remark_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(into, LOG_REMARK_SIZE, format, arguments);
    va_end(arguments);
    make_printable(into);
}

const char *log_remark(const log_reader *log, size_t number)
{
    return number < log->remark_count ? log->remarks[number] : NULL;
}

const log_column *log_columns_used(const log_reader *log, size_t *count)
{
    *count = log->column_count;
    return log->columns;
}

uint64_t log_fingerprint(const log_reader *log)
{
    return log->fingerprint;
}
