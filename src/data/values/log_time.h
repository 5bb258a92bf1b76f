/* Converts times between ISO 8601 and seconds since 1970. */
#ifndef EENET_LOG_TIME_H
#define EENET_LOG_TIME_H

#include <stdbool.h>

#include "base/json.h"

/* "2021-05-18T13:28:29.6560000Z". A blank may replace the T; the time of day, the seconds, their fraction and the zone
 * (Z or +02:00; default: UTC) are optional. */
bool log_time_parse(json_text text, double *seconds);

/* With a T, seven digits and a Z, as .NET writes it; from 1987 on it reads back as the same double. Divide microseconds
 * by 1e6: multiplying them by 1e-6 gives another double, whose last digits would show. */
enum { LOG_TIME_SIZE = 40 };
void log_time_format(double seconds, char out[LOG_TIME_SIZE]);

#endif
