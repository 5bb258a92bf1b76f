/* What a format of logs provides. To add one: write its file in this folder, with a function that opens it, and call
 * that in log.c. */
#ifndef EENET_LOG_KIND_H
#define EENET_LOG_KIND_H

#include "byte_stream.h"
#include "id_set.h"
#include "log.h"

/* What a line turned out to be. */
typedef enum log_verdict { LOG_EVENT, LOG_BLANK, LOG_BROKEN, LOG_FOREIGN, LOG_INVALID, LOG_REPEATED } log_verdict;

enum { LOG_REASON_SIZE = sizeof((log_counts *)0)->first_reasons[0] };

typedef struct log_note {
    log_verdict verdict;
    char reason[LOG_REASON_SIZE]; /* why it is no event */
} log_note;

/* Notes it and returns: for lines that are no event. */
__attribute__((format(printf, 3, 4))) void log_pass_over(log_note *note, log_verdict verdict, const char *format, ...);

typedef struct log_kind {
    /* The next line or record: event->line, and the rest where the verdict is LOG_EVENT. *found false after the last.
     */
    ee_status (*next)(log_reader *log, log_event *event, log_note *note, bool *found, ee_error *error);
    void (*close)(log_reader *log); /* what the owner and the stream do not hold; NULL for nothing */
} log_kind;

/* The first member of every kind's own struct. */
struct log_reader {
    memory owner; /* of all of it */
    const log_kind *kind;
    log_options options;
    log_counts counts;
    byte_stream *stream;
    size_t dim;
    uint64_t fingerprint;
    id_set seen;
    bool cut_noted;
};

/* Each makes its own struct, takes the stream over and leaves the rest of the head to log.c. On failure the stream
 * stays with the caller. */
ee_status log_open_dsjson(byte_stream *stream, log_reader **out, ee_error *error);
ee_status log_open_compact(byte_stream *stream, log_reader **out, ee_error *error);
/* path: of the stream, to look for the actions in it. */
ee_status log_open_csv(byte_stream *stream, const char *path, const char *options, log_reader **out, ee_error *error);

/* folder: NAME.csv, perhaps packed, and item_context.csv. The stream is its own. fingerprint becomes that of the second
 * file. */
ee_status log_open_bandit(const char *folder, log_reader **out, ee_error *error);

/* log_open of a stream, which it takes over and closes, on failure too. csv_options NULL: its first bytes tell what it
 * is. */
ee_status log_open_stream(byte_stream *stream, const char *path, const char *csv_options, const log_options *options,
                          log_reader **out, ee_error *error);

#endif
