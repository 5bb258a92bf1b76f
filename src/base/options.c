#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 128 };

static void *field(const option_group *group, const option *entry, const void *target)
{
    return (char *)(uintptr_t)target + group->offset + entry->offset;
}

/* ---- values ---- */

static bool parse_integer(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno) return false;
    *value = number;
    return true;
}

/* Numbers are read and written with a point, whatever the caller's locale has there. */
static void change_point(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at) return;
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static bool parse_real(const char *text, double *value)
{
    char local[WORD_SIZE + 8], *end; /* a decimal point of some locale may be several bytes */
    snprintf(local, WORD_SIZE, "%s", text);
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

static bool parse_value(const option *entry, const char *text, void *into)
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
        if (!parse_real(text, &real) || real < entry->low || real > entry->high) return false;
        memcpy(into, &real, sizeof real);
        return true;
    case OPTION_FLAG:
        if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) return false;
        *(bool *)into = strcmp(text, "on") == 0;
        return true;
    case OPTION_CHOICE:
        return parse_choice(entry, text, into);
    case OPTION_TEXT:
        if (strlen(text) >= OPTION_TEXT_SIZE) return false;
        memset(into, 0, OPTION_TEXT_SIZE);
        memcpy(into, text, strlen(text));
        return true;
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

static void format_value(const option *entry, const void *from, char *text, size_t capacity)
{
    switch (entry->type) {
    case OPTION_INTEGER:
        snprintf(text, capacity, "%lld", (long long)*(const int64_t *)from);
        break;
    case OPTION_REAL:
        format_real(*(const double *)from, text, capacity);
        break;
    case OPTION_FLAG:
        snprintf(text, capacity, "%s", *(const bool *)from ? "on" : "off");
        break;
    case OPTION_CHOICE:
        format_choice(entry, from, text, capacity);
        break;
    case OPTION_TEXT:
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

static void format_range(const option *entry, char *text, size_t capacity)
{
    char low[32], high[32];
    format_bound(entry->low, low, sizeof low);
    format_bound(entry->high, high, sizeof high);
    if (entry->type == OPTION_INTEGER || entry->type == OPTION_REAL)
        snprintf(text, capacity, "%s to %s", low, high);
    else if (entry->type == OPTION_FLAG)
        snprintf(text, capacity, "on|off");
    else if (has_number(entry))
        snprintf(text, capacity, "%s, N %s to %s", entry->choices, low, high);
    else
        snprintf(text, capacity, "%s", entry->choices);
}

/* ---- names ---- */

/* Letters to insert, drop, change, or swap with their neighbour. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_SIZE + 1], length = strlen(b);
    if (length > WORD_SIZE) return WORD_SIZE;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= length; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t best = last[j] + (a[i] != b[j]);
            if (last[j + 1] + 1 < best) best = last[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j] && before[j - 1] + 1 < best) best = before[j - 1] + 1;
            row[j + 1] = best;
        }
    }
    return row[length];
}

const char *options_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1; /* further than half of the word is no misspelling of it */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, names[i]);
        if (distance >= best) continue;
        best = distance;
        nearest = names[i];
    }
    return nearest;
}

static ee_status fail_unknown(const option_schema *schema, const char *word, ee_error *error)
{
    enum { MOST = 128 };
    char full[MOST][32];
    const char *names[MOST];
    size_t count = 0;
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        for (size_t i = 0; i < group->count && count < MOST; i++) {
            snprintf(full[count], sizeof full[count], "%s%s", group->prefix, group->options[i].name);
            names[count] = full[count];
            count++;
        }
    }
    const char *nearest = options_nearest(word, names, count);
    if (!nearest) return status_fail(error, EE_BAD_OPTION, "options: %s has no option '%s'", schema->owner, word);
    return status_fail(error, EE_BAD_OPTION, "options: %s has no option '%s'; did you mean '%s'?", schema->owner, word,
                       nearest);
}

static const option *find(const option_schema *schema, const char *name, const option_group **owner)
{
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        size_t prefix = strlen(group->prefix);
        if (strncmp(name, group->prefix, prefix) != 0) continue;
        for (size_t i = 0; i < group->count; i++) {
            if (strcmp(name + prefix, group->options[i].name) != 0) continue;
            *owner = group;
            return &group->options[i];
        }
    }
    return NULL;
}

/* ---- the text ---- */

static ee_status parse_assignment(const option_schema *schema, char *word, void *target, ee_error *error)
{
    char *equals = strchr(word, '=');
    if (!equals) return status_fail(error, EE_BAD_OPTION, "options: expected name=value, got '%s'", word);
    *equals = '\0';
    const option_group *group;
    const option *entry = find(schema, word, &group);
    if (!entry) return fail_unknown(schema, word, error);
    if (parse_value(entry, equals + 1, field(group, entry, target))) return EE_OK;
    char range[112];
    format_range(entry, range, sizeof range);
    return status_fail(error, EE_BAD_OPTION, "options: %s.%s must be %s, got %s", schema->owner, word, range,
                       equals[1] ? equals + 1 : "nothing");
}

ee_status options_parse(const option_schema *schema, const char *text, void *target, ee_error *error)
{
    static const char separators[] = ", \t\r\n";
    for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        char word[WORD_SIZE];
        if (length >= sizeof word)
            return status_fail(error, EE_BAD_OPTION, "options: '%.40s...' is too long: %zu characters, at most %d",
                               text, length, WORD_SIZE - 1);
        memcpy(word, text, length);
        word[length] = '\0';
        ee_status status = parse_assignment(schema, word, target, error);
        if (status) return status;
        text += length;
    }
    return EE_OK;
}

void options_set_defaults(const option_schema *schema, void *target)
{
    memset(target, 0, schema->size);
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        for (size_t i = 0; i < group->count; i++)
            parse_value(&group->options[i], group->options[i].fallback, field(group, &group->options[i], target));
        if (!group->defaults) continue;
        option_group alone = *group;
        alone.prefix = "";
        option_schema inner = {schema->owner, &alone, 1, schema->size};
        options_parse(&inner, group->defaults, target, NULL);
    }
}

size_t options_format(const option_schema *schema, const void *target, char *text, size_t capacity)
{
    size_t length = 0;
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        for (size_t i = 0; i < group->count; i++) {
            char value[WORD_SIZE];
            format_value(&group->options[i], field(group, &group->options[i], target), value, sizeof value);
            size_t room = length < capacity ? capacity - length : 0;
            length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s%s=%s", length ? " " : "", group->prefix,
                                       group->options[i].name, value);
        }
    }
    return length;
}

ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error)
{
    size_t first = 0;
    for (size_t g = 0; g < schema->count; first += schema->groups[g].count, g++) {
        const option_group *group = &schema->groups[g];
        if (index >= first + group->count) continue;
        const option *entry = &group->options[index - first];
        snprintf(description->name, sizeof description->name, "%s%s", group->prefix, entry->name);
        format_range(entry, description->range, sizeof description->range);
        format_value(entry, field(group, entry, target), description->value, sizeof description->value);
        description->meaning = entry->meaning;
        return EE_OK;
    }
    return status_fail(error, EE_BAD_INPUT, "%s has %zu options, asked for number %zu", schema->owner, first, index);
}
