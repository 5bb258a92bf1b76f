#include "results.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct line_writer {
    char *text;
    size_t capacity;
    size_t length; /* of the whole line, even where it does not fit */
} line_writer;

__attribute__((format(printf, 2, 3))) static void append(line_writer *out, const char *format, ...)
{
    size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    out->length += (size_t)vsnprintf(room ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
}

static void append_text(line_writer *out, const char *name, const char *text)
{
    append(out, "\"%s\":\"", name);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            append(out, "\\%c", byte);
        else if (byte < 32)
            append(out, "\\u%04x", byte);
        else
            append(out, "%c", byte);
    }
    append(out, "\",");
}

/* The shortest decimal that reads back as the same double. */
static void append_real(line_writer *out, const char *name, double value)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    append(out, "\"%s\":%s,", name, text);
}

size_t results_format(const run_report *report, char *line, size_t capacity)
{
    line_writer out = {line, capacity, 0};
    append(&out, "{");
    append_text(&out, "dataset", dataset_text(report->job->data));
    append_text(&out, "policy", report->job->policy);
    append_text(&out, "options", report->options);
    append(&out, "\"seed\":%" PRIu64 ",\"rounds\":%" PRIu64 ",", report->job->seed, report->result->rounds);
    append_real(&out, "regret", report->result->regret);
    append_real(&out, "reward", report->result->reward);
    append_real(&out, "optimal", (double)report->result->optimal / (double)report->result->rounds);
    append_real(&out, "seconds", report->result->seconds);
    append(&out, "\"version\":\"%s\"}\n", ee_version());
    return out.length;
}
