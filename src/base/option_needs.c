#include "option_needs.h"

#include <stdio.h>
#include <string.h>

/* A comparison such as "decision=neural|hybrid". */
typedef struct comparison {
    const option_group *group;
    const option *entry; /* NULL: unknown name */
    bool is_near;        /* in the group of the option that needs it */
    const char *sign, *values;
    size_t length; /* of the values */
} comparison;

static comparison read_comparison(const option_schema *schema, const option_group *near, const char *text)
{
    comparison read = {.sign = text + strcspn(text, "=!<>")};
    char name[OPTION_WORD_SIZE];
    int length = (int)(read.sign - text);
    read.values = read.sign + strspn(read.sign, "=!<>");
    read.length = strcspn(read.values, " ");
    snprintf(name, sizeof name, "%s%.*s", near->prefix, length, text);
    read.entry = option_find(schema, name, &read.group);
    read.is_near = read.entry && near->prefix[0];
    if (read.entry) return read;
    snprintf(name, sizeof name, "%.*s", length, text);
    read.entry = option_find(schema, name, &read.group);
    return read;
}

static bool is_among(const char *value, const char *words, size_t length)
{
    size_t own = strcspn(value, ":");
    for (const char *end = words + length; words < end; words++) {
        size_t word = strcspn(words, "| ");
        if (word == own && strncmp(words, value, own) == 0) return true;
        words += word;
    }
    return false;
}

static bool holds(const comparison *read, const void *target)
{
    char value[OPTION_WORD_SIZE], limit_text[OPTION_WORD_SIZE];
    double number, limit;
    if (!read->entry) return false;
    option_format(read->entry, option_field(read->group, read->entry, target), value, sizeof value);
    if (read->sign[0] == '=') return is_among(value, read->values, read->length);
    if (read->sign[0] == '!') return !is_among(value, read->values, read->length);
    snprintf(limit_text, sizeof limit_text, "%.*s", (int)read->length, read->values);
    if (!option_parse_real(value, &number) || !option_parse_real(limit_text, &limit)) return false;
    return read->sign[0] == '<' ? number < limit : number > limit;
}

/* The length of needs up to the next " and ", and where the next part begins. */
static size_t part_length(const char *needs, const char **next)
{
    const char *joint = strstr(needs, " and ");
    *next = joint ? joint + strlen(" and ") : needs + strlen(needs);
    return joint ? (size_t)(joint - needs) : strlen(needs);
}

static bool part_holds(const option_schema *schema, const option_group *group, const char *part, size_t length,
                       const void *target)
{
    const char *end = part + length;
    while (part < end) {
        comparison read = read_comparison(schema, group, part);
        if (holds(&read, target)) return true;
        part = read.values + read.length;
        if (part < end) part += strlen(" or ");
    }
    return false;
}

/* The first part of needs that does not hold, and its length; NULL if all do. */
static const char *unmet_part(const option_schema *schema, const option_group *group, const char *needs,
                              const void *target, size_t *length)
{
    const char *next;
    for (; needs && *needs; needs = next) {
        *length = part_length(needs, &next);
        if (!part_holds(schema, group, needs, *length, target)) return needs;
    }
    return NULL;
}

const char *option_unmet_need(const option_schema *schema, const option_group *group, const option *entry,
                              const void *target, size_t *length)
{
    const char *part = unmet_part(schema, group, group->needs, target, length);
    return part ? part : unmet_part(schema, group, entry->needs, target, length);
}

bool option_acts(const option_schema *schema, const option_group *group, const option *entry, const void *target)
{
    size_t length;
    return !option_unmet_need(schema, group, entry, target, &length);
}

void option_append_needs(const option_schema *schema, const option_group *group, const char *needs, size_t length,
                         char *text, size_t capacity)
{
    for (const char *end = needs + length; needs < end; needs += strspn(needs, " ")) {
        size_t word = strcspn(needs, " "), used = strlen(text);
        bool joins = strncmp(needs, "and ", 4) == 0 || strncmp(needs, "or ", 3) == 0;
        const char *prefix = !joins && read_comparison(schema, group, needs).is_near ? group->prefix : "";
        snprintf(text + used, capacity - used, "%s%s%.*s", used ? " " : "", prefix, (int)word, needs);
        needs += word;
    }
}

ee_status option_fail_unmet(const option_schema *schema, const option_group *group, const option *entry,
                            const char *part, size_t length, const void *target, ee_error *error)
{
    char needs[sizeof((ee_option *)0)->needs] = "", value[OPTION_WORD_SIZE];
    option_append_needs(schema, group, part, length, needs, sizeof needs);
    comparison read = read_comparison(schema, group, part);
    if (!read.entry || read.values + read.length < part + length)
        return status_fail(error, EE_BAD_OPTION, "options: %s.%s%s needs %s", schema->owner, group->prefix, entry->name,
                           needs);
    option_format(read.entry, option_field(read.group, read.entry, target), value, sizeof value);
    return status_fail(error, EE_BAD_OPTION, "options: %s.%s%s needs %s, but it is %s", schema->owner, group->prefix,
                       entry->name, needs, value);
}
