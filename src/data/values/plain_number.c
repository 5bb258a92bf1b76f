#include "plain_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

plain_number plain_number_of(double value, int digits)
{
    plain_number out;
    double size = fabs(value);
    if (!(size < 1e15) || (size < 1e-9 && size > 0.0)) {
        snprintf(out.text, sizeof out.text, "%.*g", digits, value);
        return out;
    }
    snprintf(out.text, sizeof out.text, "%.*e", digits - 1, value);
    /* The exponent of the rounded number: 9.996 in three digits is 10.0. */
    int places = digits - 1 - atoi(strchr(out.text, 'e') + 1);
    snprintf(out.text, sizeof out.text, "%.*f", places > 0 ? places : 0, value + 0.0); /* a zero has no sign */
    if (!strchr(out.text, '.')) return out;
    size_t length = strlen(out.text);
    while (out.text[length - 1] == '0') length--;
    out.text[length - (out.text[length - 1] == '.')] = '\0';
    return out;
}
