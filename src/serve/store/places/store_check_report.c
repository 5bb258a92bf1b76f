/* What a check reports while it runs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store_check_parts.h"

void check_found(check *self, uint64_t *part, const char *format, ...)
{
    char sentence[sizeof self->result->first];
    va_list values;
    ++*part;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    if (!self->result->first[0]) memcpy(self->result->first, sentence, sizeof sentence);
    if (self->sentences++ < MOST_SENTENCES && self->request->found)
        self->request->found(self->request->context, sentence);
}

bool check_goes_on(check *self, const char *what, double share)
{
    if (!self->request->progress || self->stopped) return !self->stopped;
    self->stopped = !self->request->progress(self->request->context, what, share);
    return !self->stopped;
}

ee_status check_stopped(ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "store: the check was interrupted");
}
