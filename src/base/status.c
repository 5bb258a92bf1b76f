#include "status.h"

#include <stdarg.h>
#include <stdio.h>

/* Text from a file may contain line breaks and terminal codes. */
void status_keep_in_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = ' ';
}

ee_status status_fail(ee_error *error, ee_status status, const char *format, ...)
{
    if (!error) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    status_keep_in_one_line(error->message);
    return status;
}

ee_status status_no_memory(ee_error *error, size_t bytes)
{
    return status_fail(error, EE_NO_MEMORY, "memory: could not allocate %zu bytes", bytes);
}

const char *ee_status_name(ee_status status)
{
    switch (status) { /* no default, so that the compiler warns of a missing status */
    case EE_OK:
        return "EE_OK";
    case EE_BAD_INPUT:
        return "EE_BAD_INPUT";
    case EE_BAD_OPTION:
        return "EE_BAD_OPTION";
    case EE_NO_MEMORY:
        return "EE_NO_MEMORY";
    case EE_UNKNOWN_DECISION:
        return "EE_UNKNOWN_DECISION";
    case EE_EXPIRED_DECISION:
        return "EE_EXPIRED_DECISION";
    case EE_REWARDED_DECISION:
        return "EE_REWARDED_DECISION";
    case EE_FILE_ERROR:
        return "EE_FILE_ERROR";
    case EE_BAD_MODEL:
        return "EE_BAD_MODEL";
    case EE_DIVERGED:
        return "EE_DIVERGED";
    case EE_NO_FILE:
        return "EE_NO_FILE";
    case EE_BAD_RECORD:
        return "EE_BAD_RECORD";
    }
    return "unknown";
}
