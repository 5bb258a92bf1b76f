#include "log_time.h"

#include <math.h>
#include <stdio.h>

/* Days from 1970-01-01 in the Gregorian calendar. The year is counted from March, so that the leap day comes last. */
static int64_t days_from(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_from(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t of_eras = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * of_eras + of_eras / 4 - of_eras / 100), shifted = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = of_eras + era * 400 + (*month <= 2);
}

/* Reads exactly this many digits. */
static bool take_digits(json_text *text, size_t count, int *number)
{
    if (text->length < count) return false;
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        if (text->bytes[i] < '0' || text->bytes[i] > '9') return false;
        *number = 10 * *number + (text->bytes[i] - '0');
    }
    text->bytes += count;
    text->length -= count;
    return true;
}

static bool take_byte(json_text *text, char byte)
{
    if (!text->length || text->bytes[0] != byte) return false;
    text->bytes++;
    text->length--;
    return true;
}

/* What follows the point, as a part of a second. Digits beyond the 15th change nothing. */
static bool take_fraction(json_text *text, double *fraction)
{
    double number = 0, scale = 1;
    size_t digits = 0;
    for (int digit; take_digits(text, 1, &digit); digits++) {
        if (digits >= 15) continue;
        number = 10 * number + digit;
        scale *= 10;
    }
    *fraction = number / scale;
    return digits > 0;
}

/* Z, +02:00, -0430 or nothing, and then the end. */
static bool take_zone(json_text *text, int *minutes)
{
    *minutes = 0;
    if (!text->length) return true;
    if (take_byte(text, 'Z') || take_byte(text, 'z')) return !text->length;
    bool west = take_byte(text, '-');
    int hours, rest = 0;
    if ((!west && !take_byte(text, '+')) || !take_digits(text, 2, &hours)) return false;
    take_byte(text, ':');
    if (text->length && !take_digits(text, 2, &rest)) return false;
    *minutes = (west ? -1 : 1) * (60 * hours + rest);
    return !text->length && hours < 24 && rest < 60;
}

bool log_time_parse(json_text text, double *seconds)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour = 0, minute = 0, second = 0, zone = 0;
    double fraction = 0;
    if (!take_digits(&text, 4, &year) || !take_byte(&text, '-') || !take_digits(&text, 2, &month) ||
        !take_byte(&text, '-') || !take_digits(&text, 2, &day))
        return false;
    bool leap = (year % 4 == 0 && year % 100) || year % 400 == 0;
    if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1] + (leap && month == 2)) return false;
    if (take_byte(&text, 'T') || take_byte(&text, ' ') || take_byte(&text, 't')) {
        if (!take_digits(&text, 2, &hour) || !take_byte(&text, ':') || !take_digits(&text, 2, &minute)) return false;
        if (take_byte(&text, ':') && !take_digits(&text, 2, &second)) return false;
        if (take_byte(&text, '.') && !take_fraction(&text, &fraction)) return false;
        if (!take_zone(&text, &zone)) return false;
    }
    if (text.length || hour > 23 || minute > 59 || second > 60) return false; /* 60: a leap second */
    int64_t whole = 86400 * days_from(year, month, day) + 3600 * hour + 60 * (minute - zone) + second;
    *seconds = (double)whole + fraction;
    return true;
}

enum { TICKS = 10000000 };

/* The fraction of a second: in milliseconds if that gives the same double, else in microseconds, else exact. Doubles
 * are a quarter of a microsecond apart today, which would show. */
static int64_t round_ticks(double whole, double seconds)
{
    int64_t ticks = 0;
    for (int64_t step = 10000; step; step = step > 10 ? 10 : step / 10) {
        ticks = (int64_t)llround((seconds - whole) * TICKS / (double)step) * step;
        if (whole + (double)ticks / TICKS == seconds) break;
    }
    return ticks;
}

void log_time_format(double seconds, char out[LOG_TIME_SIZE])
{
    static const double most = 253402300799.0; /* the last second of the year 9999 */
    seconds = seconds > most ? most : seconds < 0 - 62135596800.0 ? -62135596800.0 : seconds;
    double whole = floor(seconds);
    int64_t ticks = round_ticks(whole, seconds);
    int64_t count = (int64_t)whole + ticks / TICKS, days = count / 86400 - (count % 86400 < 0), year;
    int of_day = (int)(count - days * 86400), month, day;
    date_from(days, &year, &month, &day);
    snprintf(out, LOG_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%07dZ", (int)year, month, day, of_day / 3600,
             of_day / 60 % 60, of_day % 60, (int)(ticks % TICKS));
}
