#include "iso_duration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Reads "12.5" at *at; false if there is no number. */
static bool take_number(const char **at, const char *end, double *out)
{
    const char *start = *at;
    while (*at < end && ((**at >= '0' && **at <= '9') || **at == '.')) ++*at;
    if (*at == start || *at - start > 18) return false;
    double whole = 0, place = 1;
    bool behind = false;
    for (const char *digit = start; digit < *at; digit++) {
        if (*digit == '.') {
            if (behind) return false;
            behind = true;
            continue;
        }
        whole = whole * 10 + (*digit - '0');
        if (behind) place *= 10;
    }
    *out = whole / place;
    return true;
}

/* How many seconds the letter means; 0: it may not come now. Letters come in the order of `order`. */
static double unit_of(char letter, bool within_day, int *order)
{
    static const struct {
        char letter;
        bool within_day;
        double seconds;
    } units[] = {{'W', false, 604800}, {'D', false, 86400}, {'H', true, 3600}, {'M', true, 60}, {'S', true, 1}};
    for (int i = *order; i < 5; i++) {
        if (units[i].letter != letter || units[i].within_day != within_day) continue;
        *order = i + 1;
        return units[i].seconds;
    }
    return 0;
}

bool iso_duration_parse(json_text text, double *seconds)
{
    const char *at = text.bytes, *end = at + text.length;
    bool within_day = false, any = false;
    int order = 0;
    if (text.length < 3 || *at++ != 'P') return false;
    *seconds = 0;
    while (at < end) {
        double number, unit;
        if (*at == 'T' && !within_day) {
            within_day = true;
            at++;
            any = false;
            continue;
        }
        if (!take_number(&at, end, &number) || at == end) return false;
        unit = unit_of(*at++, within_day, &order);
        if (unit == 0) return false;
        *seconds += number * unit;
        any = true;
    }
    return any;
}

void iso_duration_format(double seconds, char out[ISO_DURATION_SIZE])
{
    int64_t milliseconds = llround(fmin(fmax(seconds, 0), 1e12) * 1000);
    int64_t days = milliseconds / 86400000, hours = milliseconds / 3600000 % 24, minutes = milliseconds / 60000 % 60;
    int64_t rest = milliseconds % 60000;
    size_t used = (size_t)snprintf(out, ISO_DURATION_SIZE, "P");
    if (days) used += (size_t)snprintf(out + used, ISO_DURATION_SIZE - used, "%" PRId64 "D", days);
    if (days && milliseconds % 86400000 == 0) return;
    used += (size_t)snprintf(out + used, ISO_DURATION_SIZE - used, "T");
    if (hours) used += (size_t)snprintf(out + used, ISO_DURATION_SIZE - used, "%" PRId64 "H", hours);
    if (minutes) used += (size_t)snprintf(out + used, ISO_DURATION_SIZE - used, "%" PRId64 "M", minutes);
    if (rest % 1000)
        snprintf(out + used, ISO_DURATION_SIZE - used, "%" PRId64 ".%03" PRId64 "S", rest / 1000, rest % 1000);
    else if (rest || milliseconds == 0)
        snprintf(out + used, ISO_DURATION_SIZE - used, "%" PRId64 "S", rest / 1000);
}
