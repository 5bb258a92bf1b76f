/* Lines for the operator, on stderr: one at a time, whole, as key=value.
 *
 *     time=2026-11-16T10:31:00.123Z level=warning message="the disk is full" bandit=shop
 */
#ifndef EENET_SERVER_LOG_H
#define EENET_SERVER_LOG_H

#include <stdatomic.h>

#include "base/json.h"

typedef enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG } log_level;

/* What is less urgent than `level` is not written. */
typedef struct server_log {
    atomic_int level;
} server_log;

static inline int server_log_wants(const server_log *self, log_level level)
{
    return (int)level <= atomic_load_explicit(&self->level, memory_order_relaxed);
}

/* Makes text from a client safe as the value of a field: everything except printable ASCII, and also blanks and quotes,
 * becomes a question mark. Too long text is truncated. */
void server_log_plain(json_text from, char *out, size_t capacity);

/* fields: what follows the message, as "bandit=shop"; "" for nothing. */
__attribute__((format(printf, 4, 5))) void server_log_write(const server_log *self, log_level level, const char *fields,
                                                            const char *format, ...);

#endif
