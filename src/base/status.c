#include "status.h"

#include <stdarg.h>
#include <stdio.h>

ee_status status_fail(ee_error *error, ee_status status, const char *format, ...)
{
    if (!error) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

ee_status status_no_memory(ee_error *error, size_t bytes)
{
    return status_fail(error, EE_NO_MEMORY, "memory: could not allocate %zu bytes", bytes);
}
