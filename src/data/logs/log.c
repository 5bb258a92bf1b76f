#define _POSIX_C_SOURCE 200809L
#include "log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "data/files/byte_sink.h"
#include "log_compact.h"

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
static void make_printable(char *words)
{
    for (size_t size; *words; words += size) {
        for (size = 1; size < 4 && ((uint8_t)words[size] & 0xc0) == 0x80;) size++;
        bool control = (uint8_t)words[0] < ' ' || words[0] == 0x7f;
        if (control || !json_is_utf8((json_text){words, size})) memset(words, '?', size);
    }
}

void log_pass_over(log_note *note, log_verdict verdict, const char *format, ...)
{
    note->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->reason, sizeof note->reason, format, arguments);
    va_end(arguments);
    make_printable(note->reason);
}

/* ---- opening ---- */

typedef enum place_kind { PLACE_FILE, PLACE_CSV, PLACE_VW, PLACE_OPEN_BANDIT } place_kind;

/* The parts of a text: "csv:PLACE,OPTIONS", "vw:PLACE,OPTIONS", "open-bandit:PLACE" or a path. */
typedef struct log_place {
    place_kind kind;
    char *place;         /* to be freed with memory_free; the options follow it there */
    const char *options; /* of CSV and VW; else NULL */
} log_place;

static ee_status take_apart(const char *words, log_place *out, ee_error *error)
{
    static const char *const heads[] = {[PLACE_CSV] = "csv:", [PLACE_VW] = "vw:", [PLACE_OPEN_BANDIT] = "open-bandit:"};
    size_t skipped = 0;
    out->kind = PLACE_FILE;
    for (place_kind i = PLACE_CSV; i <= PLACE_OPEN_BANDIT; i++) {
        if (strncmp(words, heads[i], strlen(heads[i])) != 0) continue;
        out->kind = i;
        skipped = strlen(heads[i]);
    }
    size_t size = strlen(words + skipped) + 1;
    ee_status status = memory_create(NULL, &out->place, size, 1, error);
    if (status) return status;
    memcpy(out->place, words + skipped, size);
    if (out->kind != PLACE_CSV && out->kind != PLACE_VW) return EE_OK;
    char *comma = options_find(out->place);
    out->options = comma ? comma + 1 : "";
    if (comma) *comma = '\0';
    return EE_OK;
}

static ee_status check_place(const log_place *from, ee_error *error)
{
    static const char *const expected[] = {
        [PLACE_FILE] = "a file name",
        [PLACE_CSV] = "a file name after 'csv:'",
        [PLACE_VW] = "a file name after 'vw:'",
        [PLACE_OPEN_BANDIT] = "a folder after 'open-bandit:'",
    };
    if (from->place[0]) return EE_OK;
    return status_fail(error, EE_FILE_ERROR, "log: expected %s", expected[from->kind]);
}

bool log_is_pipe(const char *words)
{
    log_place from = {0};
    struct stat about;
    if (take_apart(words, &from, NULL)) return true; /* no memory: nothing is lost by not looking */
    bool pipe = strcmp(from.place, "-") == 0 ||
                (stat(from.place, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
    memory_free(from.place);
    return pipe;
}

static bool is_named(const char *path, const char *ending)
{
    size_t stem = byte_sink_stem(path), length = strlen(ending);
    return stem > length && memcmp(path + stem - length, ending, length) == 0;
}

/* Detects the format from the first bytes; only if they do not decide, from the name. */
static ee_status open_file(byte_stream *stream, const char *path, const log_options *reading, log_reader **out,
                           ee_error *error)
{
    enum { LOOKED_AT = 4096 };
    char *first;
    size_t size;
    ee_status status = byte_stream_look(stream, LOOKED_AT, &first, &size, error);
    if (status) return status;
    if (size >= COMPACT_MAGIC && memcmp(first, compact_magic, COMPACT_MAGIC) == 0)
        return log_open_compact(stream, out, error);
    size_t blanks = strspn(first, "\xef\xbb\xbf \t\r\n"); /* a byte order mark among them */
    bool object = first[blanks] == '{' || first[blanks] == '[' || !first[blanks];
    if (object || is_named(path, ".dsjson") || is_named(path, ".json")) return log_open_dsjson(stream, out, error);
    bool vw = log_vw_looks_so(first + blanks, size - blanks) || is_named(path, ".vw") || is_named(path, ".ldf");
    return vw ? log_open_vw(stream, path, "", reading, out, error)
              : log_open_csv(stream, path, "", reading, out, error);
}

/* What all kinds have in common. */
static void settle(log_reader *log, const char *words, const log_options *options)
{
    log->seen.owner = &log->owner;
    log->options = *options;
    uint64_t facts[3] = {archive_checksum((const uint8_t *)words, strlen(words)), byte_stream_fingerprint(log->stream),
                         log->fingerprint};
    log->fingerprint = archive_checksum((const uint8_t *)facts, sizeof facts);
    log->counts.total_bytes = byte_stream_total(log->stream);
}

ee_status log_open_stream(byte_stream *stream, const char *path, const log_form *form, const log_options *options,
                          log_reader **out, ee_error *error)
{
    *out = NULL;
    ee_status status = form ? form->open(stream, path, form->options, options, out, error)
                            : open_file(stream, path, options, out, error);
    if (status)
        byte_stream_close(stream);
    else
        settle(*out, path, options);
    return status;
}

/* For "FILE.csv,action=COLUMN", which lacks "csv:", and "FILE,format=cb". */
static void suggest_kind(const char *words, ee_error *error)
{
    const char *comma = strchr(words, ',');
    size_t used = error ? strlen(error->message) : 0;
    if (!error || !comma || !strchr(comma, '=')) return;
    snprintf(error->message + used, sizeof error->message - used, "; did you mean %s%.60s?",
             strstr(comma, "format=") ? "vw:" : "csv:", words);
}

ee_status log_open(const char *words, const log_options *options, log_reader **out, ee_error *error)
{
    log_place from = {0};
    byte_stream *stream;
    *out = NULL;
    ee_status status = take_apart(words, &from, error);
    if (!status) status = check_place(&from, error);
    if (!status && from.kind == PLACE_OPEN_BANDIT) {
        status = log_open_bandit(from.place, out, error);
    } else if (!status) {
        status = byte_stream_open(from.place, &stream, error);
        if (status && from.kind == PLACE_FILE) suggest_kind(words, error);
        log_form form = {from.kind == PLACE_VW ? log_open_vw : log_open_csv, from.options};
        if (!status) status = log_open_stream(stream, from.place, from.options ? &form : NULL, options, out, error);
    }
    if (!status) settle(*out, words, options); /* known by its options too */
    memory_free(from.place);
    return status;
}

void log_close(log_reader *log)
{
    if (!log) return;
    byte_stream_close(log->stream);
    if (log->kind->close) log->kind->close(log);
    memory_release(&log->owner);
}

/* ---- lines that are not events ---- */

/* A few places are left to broken lines and decisions that cannot be: rewards without their decision, and events that
 * come again, may be many. */
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

static ee_status count_passed(log_reader *log, size_t line, const log_note *note, ee_error *error)
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

/* ---- what cannot be, whatever the format ---- */

/* Above 1 by the rounding of a float is 1. */
static bool is_probability(double value)
{
    return value >= 0 && value <= 1 + 1e-6;
}

/* What a value that is not a probability probably is. */
static const char *guess_value(double value)
{
    if (value < 0) return " (a log-probability?)";
    return value > 1 && isfinite(value) ? " (a percentage, or 1 / p?)" : "";
}

static bool check_probabilities(const double *values, size_t count, log_note *note)
{
    for (size_t i = 0; i < count; i++) {
        if (is_probability(values[i])) continue;
        log_pass_over(note, LOG_INVALID, "a probability must be 0 to 1, got %.6g%s", values[i], guess_value(values[i]));
        return false;
    }
    return true;
}

/* Of a slot: those after the chosen action's may be unknown. */
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
    log_pass_over(note, LOG_INVALID, "the probability of the chosen action must be above 0 and at most 1, got %.6g%s",
                  probability, guess_value(probability));
    return false;
}

static bool check_reward(double reward, log_note *note)
{
    static const double largest = 1e9; /* as the library has it */
    if (fabs(reward) <= largest) return true;
    log_pass_over(note, LOG_INVALID, "the reward must be -1e9 to 1e9, got %.6g", reward);
    return false;
}

static void check(log_event *event, log_note *note)
{
    if (!check_taken(event->probability, note) || !check_reward(event->reward, note)) return;
    if (event->probabilities && !check_probabilities(event->probabilities, event->count, note)) return;
    for (size_t i = 0; i < event->slot_count; i++) {
        const log_slot *slot = &event->slots[i];
        if (!check_taken(slot->probabilities[0], note)) return;
        if (!check_slot(slot, note)) return;
        if (!event->slate && !check_reward(slot->reward, note)) return;
    }
    if (event->probability > 1) event->probability = 1;
}

/* ---- reading ---- */

static bool is_outside(const log_options *options, double time)
{
    return time < options->from || time >= options->until; /* neither where one of them is not a number */
}

static ee_status check_repeated(log_reader *log, const log_event *event, log_note *note, ee_error *error)
{
    bool there = false;
    if (!event->id.length) return EE_OK;
    ee_status status = id_set_add(&log->seen, id_hash(event->id.bytes, event->id.length), &there, error);
    if (there)
        log_pass_over(note, LOG_REPEATED, "duplicate event id %.*s", event->id.length < 60 ? (int)event->id.length : 60,
                      event->id.bytes);
    return status;
}

/* A CSV log whose actions were collected before: an event has one of them, unless it came later. */
static void check_action(const log_event *event, log_note *note)
{
    if (event->action >= event->count)
        log_pass_over(note, LOG_INVALID, "the action is new: the file changed after it was opened");
}

/* Compressed data that ends early counts as one more broken line if the last line was complete. */
static ee_status note_cut(log_reader *log, ee_error *error)
{
    if (!byte_stream_is_cut(log->stream) || log->cut_noted) return EE_OK;
    log->cut_noted = true;
    log_note note;
    log_pass_over(&note, LOG_BROKEN, "the compressed data ends early");
    return count_passed(log, log->counts.lines, &note, error);
}

ee_status log_next(log_reader *log, log_event *event, bool *found, ee_error *error)
{
    log_counts *counts = &log->counts;
    for (;;) {
        log_note note = {LOG_EVENT, ""};
        ee_status status = log->kind->next(log, event, &note, found, error);
        counts->bytes = byte_stream_bytes(log->stream);
        if (status) return status;
        if (!*found) return note_cut(log, error);
        if (note.verdict == LOG_BLANK) continue;
        if (note.verdict == LOG_EVENT) check(event, &note);
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
        status = count_passed(log, event->line, &note, error);
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
