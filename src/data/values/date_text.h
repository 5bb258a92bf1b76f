/* Recognises dates and times in tables. A table reads them as categories or plain numbers and warns about that. */
#ifndef EENET_DATE_TEXT_H
#define EENET_DATE_TEXT_H

#include <stdbool.h>

/* Whether a text is a date, optionally followed by a time: 2020-01-31, 2020/1/31, 31.01.2020, 1/31/20,
 * 2020-01-31T10:15:00Z, 2020-01-31 10:15. */
bool date_text_is(const char *text);

/* Whether the digits of a number are a date such as 20200131, in the years 1900 to 2100. */
bool date_number_is(double number);

#endif
