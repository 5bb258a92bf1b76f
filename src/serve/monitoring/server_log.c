#define _POSIX_C_SOURCE 200809L
#include "server_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void server_log_plain(json_text from, char *out, size_t capacity)
{
    size_t length = from.length < capacity ? from.length : capacity - 1;
    for (size_t i = 0; i < length; i++) {
        char byte = from.bytes[i];
        out[i] = byte > ' ' && byte < 127 && byte != '"' ? byte : '?';
    }
    out[length] = '\0';
}

void server_log_write(const server_log *self, log_level level, const char *fields, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    if (!server_log_wants(self, level)) return;
    char message[1024], quoted[2048], line[4096], day[32];
    struct timespec now;
    struct tm parts;
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    size_t length = json_quote((json_text){message, strlen(message)}, quoted, sizeof quoted - 1);
    quoted[length < sizeof quoted ? length : sizeof quoted - 1] = '\0';
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    int size = snprintf(line, sizeof line, "time=%s.%03dZ level=%s message=%s%s%s\n", day, (int)(now.tv_nsec / 1000000),
                        names[level], quoted, fields[0] ? " " : "", fields);
    if (size >= (int)sizeof line) size = (int)sizeof line - 1;
    /* One write, so that lines of several threads do not mix. A failure cannot be reported anywhere. */
    if (write(STDERR_FILENO, line, (size_t)size) < 0) return;
}
