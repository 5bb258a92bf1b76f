/* Lines for the operator, on stderr, one per write. As text, the default, or as JSON (log-format = json):
 *
 *     time=2026-11-16T10:31:00.123Z level=warning message="the disk is full" bandit=shop
 *     {"time":"2026-11-16T10:31:00.123Z","level":"warning","message":"the disk is full","bandit":"shop"}
 */
#ifndef EENET_SERVER_LOG_H
#define EENET_SERVER_LOG_H

#include <stdatomic.h>

#include "base/json.h"

typedef enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG } log_level;
typedef enum server_log_format { SERVER_LOG_TEXT, SERVER_LOG_JSON } server_log_format;

/* A reload may change both. */
typedef struct server_log {
    atomic_int level;  /* a log_level: less urgent lines are not written */
    atomic_int format; /* a server_log_format */
} server_log;

/* What follows the message. A list of them ends with a field without a name. */
typedef struct log_field {
    const char *name;
    const char *text; /* NULL: the number. May come from a client; see server_log_plain */
    double number;
} log_field;

static inline int server_log_wants(const server_log *self, log_level level)
{
    return (int)level <= atomic_load_explicit(&self->level, memory_order_relaxed);
}

/* Makes text from a client safe as the value of a field: everything except printable ASCII, and also blanks and quotes,
 * becomes a question mark. Too long text is truncated. */
void server_log_plain(json_text from, char *out, size_t capacity);

/* fields: NULL for none. */
__attribute__((format(printf, 4, 5))) void server_log_write(const server_log *self, log_level level,
                                                            const log_field *fields, const char *format, ...);

/* The line that server_log_write writes at a time (microseconds since 1970), with its newline: at most capacity bytes.
 * Fields that do not fit are left out. Returns its length. */
size_t server_log_line(server_log_format format, int64_t time, log_level level, const log_field *fields,
                       const char *message, char *out, size_t capacity);

#endif
