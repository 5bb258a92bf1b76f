#define _POSIX_C_SOURCE 200809L
#include "server_log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MESSAGE = 1024, MOST_VALUE = 512, LINE_SIZE = 8192 };

void server_log_plain(json_text from, char *out, size_t capacity)
{
    size_t length = from.length < capacity ? from.length : capacity - 1;
    for (size_t i = 0; i < length; i++) {
        char byte = from.bytes[i];
        out[i] = byte > ' ' && byte < 127 && byte != '"' ? byte : '?';
    }
    out[length] = '\0';
}

/* Part of a line: appended as a whole or not at all. */
typedef struct log_line {
    char *bytes;
    size_t length, capacity;
} log_line;

static bool append(log_line *self, const char *bytes, size_t size)
{
    if (size > self->capacity - self->length) return false;
    memcpy(self->bytes + self->length, bytes, size);
    self->length += size;
    return true;
}

static void append_string(log_line *self, const char *string)
{
    append(self, string, strlen(string));
}

/* As a JSON string. Bytes that are not UTF-8 become question marks. */
static void append_quoted(log_line *self, const char *string)
{
    char valid[MOST_MESSAGE], quoted[6 * MOST_MESSAGE + 2];
    snprintf(valid, sizeof valid, "%s", string);
    if (!json_is_utf8((json_text){valid, strlen(valid)}))
        for (char *at = valid; *at; at++)
            if ((unsigned char)*at >= 0x80) *at = '?';
    size_t length = json_quote((json_text){valid, strlen(valid)}, quoted, sizeof quoted);
    if (!append(self, quoted, length)) append_string(self, "\"\"");
}

static void append_value(log_line *self, server_log_format format, const log_field *field)
{
    char value[MOST_VALUE];
    if (!field->text) {
        bool whole = field->number == floor(field->number) && fabs(field->number) < 1e15;
        snprintf(value, sizeof value, whole ? "%.0f" : "%.6f", isfinite(field->number) ? field->number : 0);
        append_string(self, value);
        return;
    }
    server_log_plain((json_text){field->text, strlen(field->text)}, value, sizeof value);
    if (format == SERVER_LOG_JSON)
        append_quoted(self, value);
    else
        append_string(self, value);
}

/* A field that does not fit is left out as a whole. */
static void append_field(log_line *self, server_log_format format, const log_field *field)
{
    char bytes[MOST_VALUE * 2 + 64];
    log_line one = {.bytes = bytes, .capacity = sizeof bytes};
    append_string(&one, format == SERVER_LOG_JSON ? ",\"" : " ");
    append_string(&one, field->name);
    append_string(&one, format == SERVER_LOG_JSON ? "\":" : "=");
    append_value(&one, format, field);
    append(self, one.bytes, one.length);
}

static void append_head(log_line *self, server_log_format format, int64_t time, log_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const char *form = format == SERVER_LOG_JSON ? "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"message\":"
                                                 : "time=%s.%03dZ level=%s message=";
    char day[32], head[96];
    time_t seconds = (time_t)(time / 1000000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(head, sizeof head, form, day, (int)(time % 1000000 / 1000), names[level]);
    append_string(self, head);
}

size_t server_log_line(server_log_format format, int64_t time, log_level level, const log_field *fields,
                       const char *message, char *out, size_t capacity)
{
    const char *end = format == SERVER_LOG_JSON ? "}\n" : "\n";
    log_line line = {.bytes = out, .capacity = capacity - strlen(end)};
    append_head(&line, format, time, level);
    append_quoted(&line, message);
    for (; fields && fields->name; fields++) append_field(&line, format, fields);
    line.capacity = capacity;
    append_string(&line, end);
    return line.length;
}

void server_log_write(const server_log *self, log_level level, const log_field *fields, const char *format, ...)
{
    if (!server_log_wants(self, level)) return;
    char message[MOST_MESSAGE], line[LINE_SIZE];
    struct timespec now;
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    clock_gettime(CLOCK_REALTIME, &now);
    size_t size =
        server_log_line((server_log_format)atomic_load_explicit(&self->format, memory_order_relaxed),
                        (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, level, fields, message, line, sizeof line);
    /* One write, so that lines of several threads do not mix. A failure cannot be reported anywhere. */
    if (write(STDERR_FILENO, line, size) < 0) return;
}
