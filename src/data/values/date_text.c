#include "date_text.h"

#include <math.h>
#include <string.h>

/* Reads 1 to 4 digits and returns how many; 0 if there are more or none. */
static int read_digits(const char **text, int *number)
{
    int digits = 0;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (++digits <= 4) *number = *number * 10 + (**text - '0');
    return digits <= 4 ? digits : 0;
}

static bool is_day(int month, int day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

bool date_text_is(const char *text)
{
    int digits[3], numbers[3];
    char separator = '\0';
    for (int i = 0; i < 3; i++) {
        digits[i] = read_digits(&text, &numbers[i]);
        if (!digits[i] || digits[i] == 3) return false;
        if (i == 0) separator = *text;
        if (i < 2 && (*text++ != separator || !separator || !strchr("-/.", separator))) return false;
    }
    /* What follows is a time, which begins with the hour. */
    if (*text && (!strchr("T ", *text) || text[1] < '0' || text[1] > '9' || !strchr(text, ':'))) return false;
    if (digits[0] == 4) return digits[1] <= 2 && digits[2] <= 2 && is_day(numbers[1], numbers[2]);
    bool ends_in_year = digits[2] == 4 || (digits[2] == 2 && separator == '/');
    if (digits[0] > 2 || digits[1] > 2 || !ends_in_year) return false;
    return is_day(numbers[1], numbers[0]) || is_day(numbers[0], numbers[1]);
}

bool date_number_is(double number)
{
    static const double first = 19000101, last = 21001231;
    if (!(number >= first && number <= last) || number != floor(number)) return false;
    int digits = (int)number;
    return is_day(digits / 100 % 100, digits % 100);
}
