#include "json_members.h"

#include <inttypes.h>
#include <math.h>

#include "log_time.h"

void text_comma(text *into)
{
    char last = into->length ? into->bytes[into->length - 1] : '{';
    if (last != '{' && last != '[') text_bytes(into, ",", 1);
}

void text_key(text *into, const char *key)
{
    text_comma(into);
    text_add(into, "\"%s\":", key);
}

void text_string(text *into, const char *value)
{
    text_json(into, (json_text){value, strlen(value)});
}

void text_member(text *into, const char *key, const char *value)
{
    text_key(into, key);
    text_string(into, value);
}

void text_member_number(text *into, const char *key, double value)
{
    text_key(into, key);
    text_number(into, value);
}

void text_member_count(text *into, const char *key, uint64_t value)
{
    text_key(into, key);
    text_add(into, "%" PRIu64, value);
}

void text_member_flag(text *into, const char *key, bool value)
{
    text_key(into, key);
    text_add(into, value ? "true" : "false");
}

void text_member_time(text *into, const char *key, double seconds)
{
    char time[LOG_TIME_SIZE];
    text_key(into, key);
    if (isnan(seconds)) {
        text_add(into, "null");
        return;
    }
    log_time_format(seconds, time);
    text_add(into, "\"%s\"", time);
}
