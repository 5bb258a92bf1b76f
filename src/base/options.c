#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"

enum { WORD_SIZE = 128 };

static void *field(const option_group *group, const option *entry, const void *target)
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

static bool parse_text(const char *text, void *into, size_t capacity)
{
    size_t length = strlen(text);
    if (length >= capacity) return false;
    memset(into, 0, capacity);
    memcpy(into, text, length);
    return true;
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
        if (entry->choices && strcmp(text, entry->choices) == 0)
            real = NAN;
        else if (!parse_real(text, &real) || real < entry->low || real > entry->high)
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

static void format_value(const option *entry, const void *from, char *text, size_t capacity)
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

static void format_range(const option *entry, char *text, size_t capacity)
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

/* ---- names ---- */

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

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
            size_t best = last[j] + (small(a[i]) != small(b[j]));
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
        for (size_t i = 0; i < group->table->count && count < MOST; i++) {
            snprintf(full[count], sizeof full[count], "%s%s", group->prefix, group->table->rows[i].name);
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
        for (size_t i = 0; i < group->table->count; i++) {
            if (strcmp(name + prefix, group->table->rows[i].name) != 0) continue;
            *owner = group;
            return &group->table->rows[i];
        }
    }
    return NULL;
}

/* ---- the text ---- */

static const char separators[] = ", \t\r\n";

/* Up to the next separator that is not in quotes. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    for (bool quoted = false; text[length] && (quoted || !strchr(separators, text[length])); length++)
        if (text[length] == '"') quoted = !quoted;
    return length;
}

/* Steps over separators to the next word; returns its length, 0 at the end. */
static size_t next_word(const char **text)
{
    *text += strspn(*text, separators);
    return word_length(*text);
}

/* The option that the word assigns to; NULL if it is no assignment to one. */
static const option *find_assigned(const option_schema *schema, const char *word, size_t length)
{
    char name[WORD_SIZE];
    const option_group *group;
    size_t equals = strcspn(word, "=");
    if (equals >= length || equals >= sizeof name) return NULL;
    memcpy(name, word, equals);
    name[equals] = '\0';
    return find(schema, name, &group);
}

/* Whether the value is a list: its form is COLUMN+... or the like. */
static bool takes_list(const option *entry)
{
    return (entry->type == OPTION_TEXT || entry->type == OPTION_PATH) && strstr(entry->choices, "+...");
}

/* Behind an assignment to a text, what follows after blanks and is no assignment belongs to it: label=Best Offer. */
static size_t words_of_text(const option_schema *schema, const char *text, size_t length)
{
    const option *entry = find_assigned(schema, text, length);
    if (!entry || (entry->type != OPTION_TEXT && entry->type != OPTION_PATH)) return length;
    for (;;) {
        size_t blanks = strspn(text + length, " \t"), more = word_length(text + length + blanks);
        if (!more || memchr(text + length + blanks, '=', more)) return length;
        length += blanks + more;
    }
}

/* Takes the quotes away; "" within them is one of the text. False where one is not closed. */
static bool unquote(char *word)
{
    bool quoted = false;
    char *to = word;
    for (const char *from = word; *from; from++) {
        if (*from != '"')
            *to++ = *from;
        else if (quoted && from[1] == '"')
            *to++ = *from++;
        else
            quoted = !quoted;
    }
    *to = '\0';
    return !quoted;
}

ee_status options_set(const option_schema *schema, const char *name, const char *value, void *target, ee_error *error)
{
    const option_group *group;
    const option *entry = find(schema, name, &group);
    if (!entry) return fail_unknown(schema, name, error);
    if (parse_value(entry, value, field(group, entry, target))) return EE_OK;
    char range[112];
    format_range(entry, range, sizeof range);
    return status_fail(error, EE_BAD_OPTION, "options: %s.%s must be %s, got %s", schema->owner, name, range,
                       value[0] ? value : "nothing");
}

static ee_status parse_assignment(const option_schema *schema, char *word, void *target, ee_error *error)
{
    char *equals = strchr(word, '=');
    if (!equals) return status_fail(error, EE_BAD_OPTION, "options: expected name=value, got '%s'", word);
    *equals = '\0';
    if (!unquote(equals + 1))
        return status_fail(error, EE_BAD_OPTION, "options: missing closing quote: %s=\"%s", word, equals + 1);
    return options_set(schema, word, equals + 1, target, error);
}

/* A word without "=" after a list, as in ignore=a,b: the comma was meant as a plus. list starts at ignore=. */
static ee_status fail_comma_in_list(const char *list, const char *word, ee_error *error)
{
    char meant[WORD_SIZE] = "";
    size_t used = 0, length = word_length(word), whole = length;
    const char *end = word + length;
    for (const char *next = end; (length = next_word(&next)) && !memchr(next, '=', length); end = next)
        next += length; /* the words of the list that follow */
    bool quoted = false, after_comma = false;
    for (const char *from = list; from < end && used + 1 < sizeof meant; from++) {
        if (*from == '"') quoted = !quoted;
        bool comma = *from == ',' && !quoted;
        if (after_comma && (comma || *from == ' ')) continue;
        meant[used++] = comma ? '+' : *from;
        after_comma = comma;
    }
    if (used + 1 == sizeof meant) used = 0; /* too long for an option */
    return status_fail(error, EE_BAD_OPTION, "options: expected name=value, got '%.*s'%s%.*s%s",
                       (int)(whole < 40 ? whole : 40), word, used ? "; did you mean " : "", (int)used, meant,
                       used ? "?" : "");
}

ee_status options_parse(const option_schema *schema, const char *text, void *target, ee_error *error)
{
    size_t length;
    const char *list = NULL; /* the assignment before, if it is a list */
    for (; (length = next_word(&text)); text += length) {
        char word[WORD_SIZE];
        if (list && !memchr(text, '=', length)) return fail_comma_in_list(list, text, error);
        const option *entry = find_assigned(schema, text, length);
        list = entry && takes_list(entry) ? text : NULL;
        length = words_of_text(schema, text, length);
        if (length >= sizeof word)
            return status_fail(error, EE_BAD_OPTION, "options: '%.40s...' is too long: %zu characters, at most %d",
                               text, length, WORD_SIZE - 1);
        memcpy(word, text, length);
        word[length] = '\0';
        ee_status status = parse_assignment(schema, word, target, error);
        if (status) return status;
    }
    return EE_OK;
}

/* "columns" of "none|COLUMN+...". */
static const char *items_of_list(const option *entry)
{
    if (strstr(entry->choices, "COLUMN+...")) return "columns";
    return strstr(entry->choices, "NAME+...") ? "names" : "texts";
}

static ee_status refuse_twice(const option_schema *schema, const char *text, ee_error *error)
{
    size_t length, other;
    for (; (length = next_word(&text)); text += length) {
        length = words_of_text(schema, text, length);
        const option *entry = find_assigned(schema, text, length);
        size_t name = strcspn(text, "=") + 1;
        for (const char *later = text + length; entry && (other = next_word(&later)); later += other) {
            other = words_of_text(schema, later, other);
            if (other < name || memcmp(text, later, name) != 0) continue;
            return status_fail(error, EE_BAD_OPTION, "options: %s.%.*s is given twice%s%s%s", schema->owner,
                               (int)name - 1, text, takes_list(entry) ? "; join " : "",
                               takes_list(entry) ? items_of_list(entry) : "", takes_list(entry) ? " with +" : "");
        }
    }
    return EE_OK;
}

ee_status options_parse_once(const option_schema *schema, const char *text, void *target, ee_error *error)
{
    ee_status status = refuse_twice(schema, text, error);
    return status ? status : options_parse(schema, text, target, error);
}

double options_remove(char *text, const char *name)
{
    size_t length, named = strlen(name);
    double value = 0;
    for (const char *at = text; (length = next_word(&at)); at += length) {
        char word[WORD_SIZE];
        if (length >= sizeof word || length <= named || strncmp(at, name, named) != 0 || at[named] != '=') continue;
        snprintf(word, sizeof word, "%.*s", (int)(length - named - 1), at + named + 1);
        if (!parse_real(word, &value)) value = 0;
        char *hole = text + (at - text);
        memmove(hole, hole + length, strlen(hole + length) + 1);
        length = 0;
    }
    return value;
}

/* The group's default where it has one, else the table's. */
static void set_default(const option_group *group, const option *entry, void *target)
{
    const char *text = group->defaults ? group->defaults : "";
    size_t length, name = strlen(entry->name);
    void *into = field(group, entry, target);
    parse_value(entry, entry->fallback, into);
    for (; (length = next_word(&text)); text += length) {
        char value[WORD_SIZE];
        if (length <= name || strncmp(text, entry->name, name) != 0 || text[name] != '=') continue;
        snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), text + name + 1);
        parse_value(entry, value, into);
    }
}

void options_set_defaults(const option_schema *schema, void *target)
{
    memset(target, 0, schema->size);
    for (size_t g = 0; g < schema->count; g++)
        for (size_t i = 0; i < schema->groups[g].table->count; i++)
            set_default(&schema->groups[g], &schema->groups[g].table->rows[i], target);
}

/* ---- what an option needs ---- */

enum { NEEDS_SIZE = sizeof((ee_option *)0)->needs };

/* A comparison, as "decision=neural|hybrid": the option, how it is compared, and with what. */
typedef struct comparison {
    const option_group *group;
    const option *entry; /* NULL where there is none of this name */
    bool is_near;        /* of the same group as the one that needs it */
    const char *sign, *values;
    size_t length; /* of the values */
} comparison;

static comparison read_comparison(const option_schema *schema, const option_group *near, const char *text)
{
    comparison read = {.sign = text + strcspn(text, "=!<>")};
    char name[WORD_SIZE];
    int length = (int)(read.sign - text);
    read.values = read.sign + strspn(read.sign, "=!<>");
    read.length = strcspn(read.values, " ");
    snprintf(name, sizeof name, "%s%.*s", near->prefix, length, text);
    read.entry = find(schema, name, &read.group);
    read.is_near = read.entry && near->prefix[0];
    if (read.entry) return read;
    snprintf(name, sizeof name, "%.*s", length, text);
    read.entry = find(schema, name, &read.group);
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
    char value[WORD_SIZE], limit_text[WORD_SIZE];
    double number, limit;
    if (!read->entry) return false;
    format_value(read->entry, field(read->group, read->entry, target), value, sizeof value);
    if (read->sign[0] == '=') return is_among(value, read->values, read->length);
    if (read->sign[0] == '!') return !is_among(value, read->values, read->length);
    snprintf(limit_text, sizeof limit_text, "%.*s", (int)read->length, read->values);
    if (!parse_real(value, &number) || !parse_real(limit_text, &limit)) return false;
    return read->sign[0] == '<' ? number < limit : number > limit;
}

/* The words of needs up to the next " and ", and where those after it begin. */
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

/* The first part of needs that does not hold, and its length; NULL where all do. */
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

static const char *unmet_need(const option_schema *schema, const option_group *group, const option *entry,
                              const void *target, size_t *length)
{
    const char *part = unmet_part(schema, group, group->needs, target, length);
    return part ? part : unmet_part(schema, group, entry->needs, target, length);
}

static bool acts(const option_schema *schema, const option_group *group, const option *entry, const void *target)
{
    size_t length;
    return !unmet_need(schema, group, entry, target, &length);
}

/* Writes needs behind what text has, every name in full: "f1.training=sgd" for what f1 calls "training=sgd". */
static void append_needs(const option_schema *schema, const option_group *group, const char *needs, size_t length,
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

static ee_status fail_unmet(const option_schema *schema, const option_group *group, const option *entry,
                            const char *part, size_t length, const void *target, ee_error *error)
{
    char needs[NEEDS_SIZE] = "", value[WORD_SIZE];
    append_needs(schema, group, part, length, needs, sizeof needs);
    comparison read = read_comparison(schema, group, part);
    if (!read.entry || read.values + read.length < part + length)
        return status_fail(error, EE_BAD_OPTION, "options: %s.%s%s needs %s", schema->owner, group->prefix, entry->name,
                           needs);
    format_value(read.entry, field(read.group, read.entry, target), value, sizeof value);
    return status_fail(error, EE_BAD_OPTION, "options: %s.%s%s needs %s, but it is %s", schema->owner, group->prefix,
                       entry->name, needs, value);
}

static ee_status check_asked(const option_schema *schema, const char *asked, const void *target, ee_error *error)
{
    size_t length, unmet;
    for (; (length = next_word(&asked)); asked += length) {
        char name[WORD_SIZE];
        const option_group *group;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(asked, "="), asked);
        const option *entry = find(schema, name, &group);
        const char *part = entry ? unmet_need(schema, group, entry, target, &unmet) : NULL;
        if (part) return fail_unmet(schema, group, entry, part, unmet, target, error);
    }
    return EE_OK;
}

/* Gives its default to every option that cannot act; whether that changed any. */
static bool quiet_rest(const option_schema *schema, void *target)
{
    bool changed = false;
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        for (size_t i = 0; i < group->table->count; i++) {
            const option *entry = &group->table->rows[i];
            char before[WORD_SIZE], after[WORD_SIZE];
            if (acts(schema, group, entry, target)) continue;
            format_value(entry, field(group, entry, target), before, sizeof before);
            set_default(group, entry, target);
            format_value(entry, field(group, entry, target), after, sizeof after);
            changed = changed || strcmp(before, after) != 0;
        }
    }
    return changed;
}

/* An option that gets its default may be what another needs, so this repeats until nothing changes. */
ee_status options_settle(const option_schema *schema, const char *asked, void *target, ee_error *error)
{
    ee_status status;
    do status = check_asked(schema, asked, target, error);
    while (!status && quiet_rest(schema, target));
    return status;
}

/* ---- describing ---- */

char *options_find(char *place)
{
    for (char *comma = strchr(place, ','); comma; comma = strchr(comma + 1, ',')) {
        size_t word = strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (word && comma[1 + word] == '=') return comma;
    }
    return NULL;
}

/* Puts a value with separators or quotes in it into quotes, as unquote takes it. value has room for twice as many. */
static void quote(char *value)
{
    char copy[WORD_SIZE];
    if (!value[strcspn(value, "\", \t\r\n")]) return;
    memcpy(copy, value, strlen(value) + 1);
    *value++ = '"';
    for (const char *from = copy; *from; from++) {
        if (*from == '"') *value++ = '"';
        *value++ = *from;
    }
    memcpy(value, "\"", 2);
}

size_t options_format(const option_schema *schema, const void *target, char *text, size_t capacity)
{
    size_t length = 0;
    for (size_t g = 0; g < schema->count; g++) {
        const option_group *group = &schema->groups[g];
        for (size_t i = 0; i < group->table->count; i++) {
            const option *entry = &group->table->rows[i];
            char value[2 * WORD_SIZE + 2];
            if (!acts(schema, group, entry, target)) continue;
            format_value(entry, field(group, entry, target), value, WORD_SIZE);
            quote(value);
            size_t room = length < capacity ? capacity - length : 0;
            length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s%s=%s", length ? " " : "", group->prefix,
                                       entry->name, value);
        }
    }
    return length;
}

static bool is_listed(const char *names, const char *name)
{
    size_t length;
    for (; names && (length = next_word(&names)); names += length)
        if (length == strlen(name) && strncmp(names, name, length) == 0) return true;
    return false;
}

static void describe(const option_schema *schema, const void *target, const option_group *group, const option *entry,
                     ee_option *into)
{
    const char *group_needs = group->needs ? group->needs : "", *own = entry->needs ? entry->needs : "";
    *into = (ee_option){.meaning = entry->meaning, .part = group->title ? group->title : ""};
    snprintf(into->name, sizeof into->name, "%s%s", group->prefix, entry->name);
    format_range(entry, into->range, sizeof into->range);
    format_value(entry, field(group, entry, target), into->value, sizeof into->value);
    append_needs(schema, group, group_needs, strlen(group_needs), into->needs, sizeof into->needs);
    if (group_needs[0] && own[0]) append_needs(schema, group, "and ", 3, into->needs, sizeof into->needs);
    append_needs(schema, group, own, strlen(own), into->needs, sizeof into->needs);
    into->acts = acts(schema, group, entry, target);
    into->first = is_listed(schema->first, into->name);
}

ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error)
{
    size_t first = 0;
    for (size_t g = 0; g < schema->count; first += schema->groups[g].table->count, g++) {
        const option_group *group = &schema->groups[g];
        if (index >= first + group->table->count) continue;
        describe(schema, target, group, &group->table->rows[index - first], description);
        return EE_OK;
    }
    return status_fail(error, EE_BAD_INPUT, "%s has %zu options, asked for number %zu", schema->owner, first, index);
}
