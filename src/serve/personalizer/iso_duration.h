/* Durations as ISO 8601 writes them: "PT10M", "P7D", "P1DT12H", "PT0.5S". */
#ifndef EENET_ISO_DURATION_H
#define EENET_ISO_DURATION_H

#include "base/json.h"

/* false if it is invalid; months and years, which have no fixed length, are invalid. */
bool iso_duration_parse(json_text text, double *seconds);

/* seconds: 0 or more, written as whole milliseconds in as few parts as possible. */
enum { ISO_DURATION_SIZE = 40 };
void iso_duration_format(double seconds, char out[ISO_DURATION_SIZE]);

#endif
