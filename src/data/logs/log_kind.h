/* The interface of a log format. To add one, write a file in this folder with a function that opens it, and call that
 * in log_open.c. */
#ifndef EENET_LOG_KIND_H
#define EENET_LOG_KIND_H

#include "data/files/byte_stream.h"
#include "data/values/id_set.h"
#include "log.h"

/* What a line turned out to be. */
typedef enum log_verdict { LOG_EVENT, LOG_BLANK, LOG_BROKEN, LOG_FOREIGN, LOG_INVALID, LOG_REPEATED } log_verdict;

enum { LOG_REASON_SIZE = sizeof((log_counts *)0)->first_reasons[0] };

typedef struct log_note {
    log_verdict verdict;
    char reason[LOG_REASON_SIZE]; /* why it is not an event */
} log_note;

/* Records why a line is not an event. */
__attribute__((format(printf, 3, 4))) void log_skip(log_note *note, log_verdict verdict, const char *format, ...);

/* Checks probabilities and rewards; limits a probability that rounding left above 1. False, with a note, if the event
 * is impossible. log_next does it for every event. */
bool log_check(log_event *event, log_note *note);

/* The first member of every format's struct. */
struct log_reader {
    memory owner; /* of all of it */
    /* Reads the next line or record: fills event->line, and the rest if the verdict is LOG_EVENT. *found is false after
     * the last. */
    ee_status (*next)(log_reader *log, log_event *event, log_note *note, bool *found, ee_error *error);
    log_options options;
    log_counts counts;
    byte_stream *stream;
    size_t dim;
    uint64_t fingerprint;
    id_set seen;
    bool cut_noted;
    char remarks[LOG_REMARKS][LOG_REMARK_SIZE]; /* (remark_count) see log_remark */
    size_t remark_count;
    const log_column *columns; /* (column_count) see log_columns_used */
    size_t column_count;
};

/* Adds a sentence to the remarks, if there is room. */
__attribute__((format(printf, 2, 3))) void log_remark_add(log_reader *log, const char *format, ...);

/* Each creates its struct with memory_create_owner and sets next and stream; log_open.c fills in the rest of the head.
 * On failure *out may be set: the caller closes it. */
ee_status log_open_dsjson(byte_stream *stream, log_reader **out, ee_error *error);
ee_status log_open_compact(byte_stream *stream, log_reader **out, ee_error *error);
/* path: of the stream, to scan it first. reading: which of its events are read. */
ee_status log_open_csv(byte_stream *stream, const char *path, const char *options, const log_options *reading,
                       log_reader **out, ee_error *error);

/* Vowpal Wabbit's text format. path: of the stream, to read the actions of cb first. */
ee_status log_open_vw(byte_stream *stream, const char *path, const char *options, const log_options *reading,
                      log_reader **out, ee_error *error);

/* Whether the first bytes of a file look like that format: a label and '|'. */
bool log_vw_recognize(const char *bytes, size_t size);

/* folder has NAME.csv, plain or compressed, and item_context.csv. Opens the stream itself. Sets fingerprint to the
 * fingerprint of the second file. */
ee_status log_open_bandit(const char *folder, log_reader **out, ee_error *error);

/* A format with options: log_open_csv or log_open_vw. */
typedef struct log_form {
    ee_status (*open)(byte_stream *stream, const char *path, const char *options, const log_options *reading,
                      log_reader **out, ee_error *error);
    const char *options;
} log_form;

/* log_open for a stream, which it takes over and closes, on failure too. form NULL: detects the format from the first
 * bytes. */
ee_status log_open_stream(byte_stream *stream, const char *path, const log_form *form, const log_options *options,
                          log_reader **out, ee_error *error);

#endif
