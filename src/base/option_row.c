#define _POSIX_C_SOURCE 200809L
#include "option_row.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"

/* ---- finding ---- */

const option *option_at(const option_schema *schema, size_t index, const option_group **owner)
{
    for (size_t g = 0; g < schema->count; index -= schema->groups[g].table->count, g++) {
        if (index >= schema->groups[g].table->count) continue;
        *owner = &schema->groups[g];
        return &schema->groups[g].table->rows[index];
    }
    return NULL;
}

const option *option_find(const option_schema *schema, const char *name, const option_group **owner)
{
    const option *entry;
    for (size_t i = 0; (entry = option_at(schema, i, owner)); i++) {
        size_t prefix = strlen((*owner)->prefix);
        if (strncmp(name, (*owner)->prefix, prefix) == 0 && strcmp(name + prefix, entry->name) == 0) return entry;
    }
    return NULL;
}

void *option_field(const option_group *group, const option *entry, const void *target)
{
    return (char *)(uintptr_t)target + group->offset + entry->offset;
}

/* ---- values ---- */

static bool parse_integer(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t size;
    const char *end = decimal_whole(text + (*text == '-' || *text == '+'), &size);
    if (!end || *end || size > (uint64_t)INT64_MAX + negative) return false;
    *value = (int64_t)(negative ? 0 - size : size);
    return true;
}

static void change_point(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at) return;
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

bool option_parse_real(const char *text, double *value)
{
    char local[OPTION_WORD_SIZE + 8], *end; /* the decimal point of a locale may take several bytes */
    snprintf(local, OPTION_WORD_SIZE, "%s", text);
    change_point(local, ".", nl_langinfo(RADIXCHAR));
    *value = strtod(local, &end);
    return end != local && !*end && isfinite(*value);
}

/* Steps through "all|ring:N": the next word's length without ":N", and whether it takes a number. */
static const char *next_choice(const char *list, size_t *length, bool *takes_number)
{
    size_t whole = strcspn(list, "|");
    *takes_number = whole > 2 && memcmp(list + whole - 2, ":N", 2) == 0;
    *length = *takes_number ? whole - 2 : whole;
    return list + whole + (list[whole] == '|');
}

static bool parse_choice(const option *entry, const char *text, option_choice *value)
{
    size_t word = strcspn(text, ":");
    const char *list = entry->choices;
    for (int pick = 0; *list; pick++) {
        size_t length;
        bool takes_number;
        const char *name = list;
        list = next_choice(list, &length, &takes_number);
        if (length != word || memcmp(name, text, word) != 0) continue;
        option_choice choice = {pick, 0};
        if (takes_number != (text[word] == ':')) return false;
        if (takes_number && !parse_integer(text + word + 1, &choice.number)) return false;
        if (takes_number && ((double)choice.number < entry->low || (double)choice.number > entry->high)) return false;
        *value = choice;
        return true;
    }
    return false;
}

static bool parse_text(const char *text, void *into, size_t capacity)
{
    size_t length = strlen(text);
    if (length >= capacity) return false;
    memset(into, 0, capacity);
    memcpy(into, text, length);
    return true;
}

bool option_parse(const option *entry, const char *text, void *into)
{
    int64_t integer;
    double real;
    switch (entry->type) {
    case OPTION_INTEGER:
        if (!parse_integer(text, &integer)) return false;
        if ((double)integer < entry->low || (double)integer > entry->high) return false;
        memcpy(into, &integer, sizeof integer);
        return true;
    case OPTION_REAL:
        if (entry->choices && strcmp(text, entry->choices) == 0)
            real = NAN;
        else if (!option_parse_real(text, &real) || real < entry->low || real > entry->high)
            return false;
        memcpy(into, &real, sizeof real);
        return true;
    case OPTION_FLAG:
        if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) return false;
        *(bool *)into = strcmp(text, "on") == 0;
        return true;
    case OPTION_CHOICE:
        return parse_choice(entry, text, into);
    case OPTION_TEXT:
        return parse_text(text, into, OPTION_TEXT_SIZE);
    case OPTION_PATH:
        return parse_text(text, into, OPTION_PATH_SIZE);
    }
    return false;
}

/* The shortest decimal that reads back as the same double. */
static void format_real(double value, char *text, size_t capacity)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, capacity, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    change_point(text, nl_langinfo(RADIXCHAR), ".");
}

static void format_choice(const option *entry, const option_choice *value, char *text, size_t capacity)
{
    const char *list = entry->choices;
    size_t length = 0;
    bool takes_number = false;
    const char *name = list;
    for (int pick = 0; pick <= value->pick; pick++) {
        name = list;
        list = next_choice(list, &length, &takes_number);
    }
    if (takes_number)
        snprintf(text, capacity, "%.*s:%lld", (int)length, name, (long long)value->number);
    else
        snprintf(text, capacity, "%.*s", (int)length, name);
}

void option_format(const option *entry, const void *from, char *text, size_t capacity)
{
    switch (entry->type) {
    case OPTION_INTEGER:
        snprintf(text, capacity, "%lld", (long long)*(const int64_t *)from);
        break;
    case OPTION_REAL:
        if (isnan(*(const double *)from))
            snprintf(text, capacity, "%s", entry->choices);
        else
            format_real(*(const double *)from, text, capacity);
        break;
    case OPTION_FLAG:
        snprintf(text, capacity, "%s", *(const bool *)from ? "on" : "off");
        break;
    case OPTION_CHOICE:
        format_choice(entry, from, text, capacity);
        break;
    case OPTION_TEXT:
    case OPTION_PATH:
        snprintf(text, capacity, "%s", (const char *)from);
        break;
    }
}

static bool has_number(const option *entry)
{
    return entry->type == OPTION_CHOICE && strstr(entry->choices, ":N");
}

static void format_bound(double bound, char *text, size_t capacity)
{
    snprintf(text, capacity, "%.12g", bound); /* 1000000000 rather than 1e+09 */
    change_point(text, nl_langinfo(RADIXCHAR), ".");
}

void option_format_range(const option *entry, char *text, size_t capacity)
{
    char low[32], high[32];
    format_bound(entry->low, low, sizeof low);
    format_bound(entry->high, high, sizeof high);
    if (entry->type == OPTION_REAL && entry->choices)
        snprintf(text, capacity, "%s or %s to %s", entry->choices, low, high);
    else if (entry->type == OPTION_INTEGER || entry->type == OPTION_REAL)
        snprintf(text, capacity, "%s to %s", low, high);
    else if (entry->type == OPTION_FLAG)
        snprintf(text, capacity, "on|off");
    else if (has_number(entry))
        snprintf(text, capacity, "%s, N %s to %s", entry->choices, low, high);
    else
        snprintf(text, capacity, "%s", entry->choices);
}
