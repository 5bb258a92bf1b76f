/* Converts times between ISO 8601 and seconds since 1970. */
#ifndef EENET_LOG_TIME_H
#define EENET_LOG_TIME_H

#include <stdbool.h>

#include "base/json.h"

/* "2021-05-18T13:28:29.6560000Z": a blank may stand for the T; the time of day, its seconds, their digits and what
 * follows (Z, +02:00; else UTC) may be missing. */
bool log_time_parse(json_text text, double *seconds);

/* With a T, seven digits and a Z, as .NET writes it, which read back give the same double from 1987 on. Whole
 * microseconds are to be divided by 1e6: times 1e-6 is another double, and its last digits would be seen. */
enum { LOG_TIME_SIZE = 40 };
void log_time_format(double seconds, char out[LOG_TIME_SIZE]);

#endif
