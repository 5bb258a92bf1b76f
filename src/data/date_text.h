/* Dates and times in tables, told by how they are written. They are no features yet: a table takes them for categories
 * or for plain numbers, and remarks on it. */
#ifndef EENET_DATE_TEXT_H
#define EENET_DATE_TEXT_H

#include <stdbool.h>

/* Whether a text is a date, perhaps with a time behind it: 2020-01-31, 2020/1/31, 31.01.2020, 1/31/20,
 * 2020-01-31T10:15:00Z, 2020-01-31 10:15. */
bool date_text_is(const char *text);

/* Whether a number is a date in its digits, as 20200131, of the years 1900 to 2100. */
bool date_number_is(double number);

#endif
