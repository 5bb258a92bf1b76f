/* Opens a log of any format. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "data/files/byte_sink.h"
#include "log_compact.h"

typedef enum place_kind { PLACE_FILE, PLACE_CSV, PLACE_VW, PLACE_OPEN_BANDIT } place_kind;

/* The parts of a text: "csv:PLACE,OPTIONS", "vw:PLACE,OPTIONS", "open-bandit:PLACE" or a path. */
typedef struct log_place {
    place_kind kind;
    char *place;         /* free with memory_free; the options follow in the same block */
    const char *options; /* of CSV and VW; else NULL */
} log_place;

static ee_status split_name(const char *name, log_place *out, ee_error *error)
{
    static const char *const heads[] = {[PLACE_CSV] = "csv:", [PLACE_VW] = "vw:", [PLACE_OPEN_BANDIT] = "open-bandit:"};
    size_t skipped = 0;
    out->kind = PLACE_FILE;
    for (place_kind i = PLACE_CSV; i <= PLACE_OPEN_BANDIT; i++) {
        if (strncmp(name, heads[i], strlen(heads[i])) != 0) continue;
        out->kind = i;
        skipped = strlen(heads[i]);
    }
    size_t size = strlen(name + skipped) + 1;
    ee_status status = memory_create(NULL, &out->place, size, 1, error);
    if (status) return status;
    memcpy(out->place, name + skipped, size);
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

bool log_is_pipe(const char *name)
{
    log_place from = {0};
    struct stat about;
    if (split_name(name, &from, NULL)) return true; /* out of memory: opening it will report that */
    bool pipe = strcmp(from.place, "-") == 0 ||
                (stat(from.place, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
    memory_free(from.place);
    return pipe;
}

/* Detects the format from the first bytes; only if they do not decide, from the name. */
static ee_status open_file(byte_stream *stream, const char *path, const log_options *reading, log_reader **out,
                           ee_error *error)
{
    enum { LOOKED_AT = 4096 };
    char *first;
    size_t size;
    ee_status status = byte_stream_peek(stream, LOOKED_AT, &first, &size, error);
    if (status) return status;
    if (size >= COMPACT_MAGIC && memcmp(first, compact_magic, COMPACT_MAGIC) == 0)
        return log_open_compact(stream, out, error);
    size_t blanks = strspn(first, "\xef\xbb\xbf \t\r\n"); /* a byte order mark among them */
    bool object = first[blanks] == '{' || first[blanks] == '[' || !first[blanks];
    if (object || byte_sink_is_named(path, ".dsjson") || byte_sink_is_named(path, ".json"))
        return log_open_dsjson(stream, out, error);
    bool vw = log_vw_recognize(first + blanks, size - blanks) || byte_sink_is_named(path, ".vw") ||
              byte_sink_is_named(path, ".ldf");
    return vw ? log_open_vw(stream, path, "", reading, out, error)
              : log_open_csv(stream, path, "", reading, out, error);
}

/* Fills in what is the same for all formats. */
static void settle(log_reader *log, const char *name, const log_options *options)
{
    log->seen.owner = &log->owner;
    log->options = *options;
    uint64_t facts[3] = {archive_checksum((const uint8_t *)name, strlen(name)), byte_stream_fingerprint(log->stream),
                         log->fingerprint};
    log->fingerprint = archive_checksum((const uint8_t *)facts, sizeof facts);
    log->counts.total_bytes = byte_stream_total(log->stream);
}

static ee_status close_failed(ee_status status, log_reader **out)
{
    if (!status) return EE_OK;
    log_close(*out);
    *out = NULL;
    return status;
}

ee_status log_open_stream(byte_stream *stream, const char *path, const log_form *form, const log_options *options,
                          log_reader **out, ee_error *error)
{
    *out = NULL;
    ee_status status = form ? form->open(stream, path, form->options, options, out, error)
                            : open_file(stream, path, options, out, error);
    if (!status)
        settle(*out, path, options);
    else if (!*out)
        byte_stream_close(stream);
    return close_failed(status, out);
}

/* For "FILE.csv,action=COLUMN", which lacks "csv:", and "FILE,format=cb". */
static void suggest_kind(const char *name, ee_error *error)
{
    const char *comma = strchr(name, ',');
    size_t used = error ? strlen(error->message) : 0;
    if (!error || !comma || !strchr(comma, '=')) return;
    snprintf(error->message + used, sizeof error->message - used, "; did you mean %s%.60s?",
             strstr(comma, "format=") ? "vw:" : "csv:", name);
}

ee_status log_open(const char *name, const log_options *options, log_reader **out, ee_error *error)
{
    log_place from = {0};
    byte_stream *stream;
    *out = NULL;
    ee_status status = split_name(name, &from, error);
    if (!status) status = check_place(&from, error);
    if (!status && from.kind == PLACE_OPEN_BANDIT) {
        status = log_open_bandit(from.place, out, error);
    } else if (!status) {
        status = byte_stream_open(from.place, &stream, error);
        if (status && from.kind == PLACE_FILE) suggest_kind(name, error);
        log_form form = {from.kind == PLACE_VW ? log_open_vw : log_open_csv, from.options};
        if (!status) status = log_open_stream(stream, from.place, from.options ? &form : NULL, options, out, error);
    }
    if (!status) settle(*out, name, options); /* known by its options too */
    memory_free(from.place);
    return close_failed(status, out);
}
