#include "options.h"

#include <stdio.h>
#include <string.h>

#include "option_needs.h"

/* ---- names ---- */

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Counts letters to insert, drop, change, or swap with their neighbour. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][OPTION_WORD_SIZE + 1], length = strlen(b);
    if (length > OPTION_WORD_SIZE) return OPTION_WORD_SIZE;
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
    size_t best = strlen(word) / 2 + 1; /* a larger distance is not a misspelling */
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
    const option_group *group;
    const option *entry;
    size_t count = 0;
    for (; count < MOST && (entry = option_at(schema, count, &group)); count++) {
        snprintf(full[count], sizeof full[count], "%s%s", group->prefix, entry->name);
        names[count] = full[count];
    }
    const char *nearest = options_nearest(word, names, count);
    if (!nearest) return status_fail(error, EE_BAD_OPTION, "options: %s has no option '%s'", schema->owner, word);
    return status_fail(error, EE_BAD_OPTION, "options: %s has no option '%s'; did you mean '%s'?", schema->owner, word,
                       nearest);
}

/* ---- the text ---- */

static const char separators[] = ", \t\r\n";

/* The length up to the next separator outside quotes. */
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

/* The option that the word assigns to; NULL if there is none. */
static const option *find_assigned(const option_schema *schema, const char *word, size_t length)
{
    char name[OPTION_WORD_SIZE];
    const option_group *group;
    size_t equals = strcspn(word, "=");
    if (equals >= length || equals >= sizeof name) return NULL;
    memcpy(name, word, equals);
    name[equals] = '\0';
    return option_find(schema, name, &group);
}

/* Whether the value is a list: its form is COLUMN+... or the like. */
static bool takes_list(const option *entry)
{
    return (entry->type == OPTION_TEXT || entry->type == OPTION_PATH) && strstr(entry->choices, "+...");
}

/* After an assignment to a text, further words that are not assignments belong to it: label=Best Offer. */
static size_t assignment_length(const option_schema *schema, const char *text, size_t length)
{
    const option *entry = find_assigned(schema, text, length);
    if (!entry || (entry->type != OPTION_TEXT && entry->type != OPTION_PATH)) return length;
    for (;;) {
        size_t blanks = strspn(text + length, " \t"), more = word_length(text + length + blanks);
        if (!more || memchr(text + length + blanks, '=', more)) return length;
        length += blanks + more;
    }
}

/* Removes quotes; "" within quotes becomes one. Returns false if a quote is not closed. */
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
    const option *entry = option_find(schema, name, &group);
    if (!entry) return fail_unknown(schema, name, error);
    if (option_parse(entry, value, option_field(group, entry, target))) return EE_OK;
    char range[112];
    option_format_range(entry, range, sizeof range);
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

/* Fails for a word without "=" after a list, as in ignore=a,b: suggests + instead of the comma. list starts at
 * ignore=. */
static ee_status fail_comma_in_list(const char *list, const char *word, ee_error *error)
{
    char meant[OPTION_WORD_SIZE] = "";
    size_t used = 0, length = word_length(word), whole = length;
    const char *end = word + length;
    for (const char *next = end; (length = next_word(&next)) && !memchr(next, '=', length); end = next)
        next += length; /* further items of the list */
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
    const char *list = NULL; /* the previous assignment, if it is a list */
    for (; (length = next_word(&text)); text += length) {
        char word[OPTION_WORD_SIZE];
        if (list && !memchr(text, '=', length)) return fail_comma_in_list(list, text, error);
        const option *entry = find_assigned(schema, text, length);
        list = entry && takes_list(entry) ? text : NULL;
        length = assignment_length(schema, text, length);
        if (length >= sizeof word)
            return status_fail(error, EE_BAD_OPTION, "options: '%.40s...' is too long: %zu characters, at most %d",
                               text, length, OPTION_WORD_SIZE - 1);
        memcpy(word, text, length);
        word[length] = '\0';
        ee_status status = parse_assignment(schema, word, target, error);
        if (status) return status;
    }
    return EE_OK;
}

/* Returns "columns" for "none|COLUMN+...". */
static const char *items_of_list(const option *entry)
{
    if (strstr(entry->choices, "COLUMN+...")) return "columns";
    return strstr(entry->choices, "NAME+...") ? "names" : "texts";
}

static ee_status refuse_twice(const option_schema *schema, const char *text, ee_error *error)
{
    size_t length, other;
    for (; (length = next_word(&text)); text += length) {
        length = assignment_length(schema, text, length);
        const option *entry = find_assigned(schema, text, length);
        size_t name = strcspn(text, "=") + 1;
        for (const char *later = text + length; entry && (other = next_word(&later)); later += other) {
            other = assignment_length(schema, later, other);
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
        char word[OPTION_WORD_SIZE];
        if (length >= sizeof word || length <= named || strncmp(at, name, named) != 0 || at[named] != '=') continue;
        snprintf(word, sizeof word, "%.*s", (int)(length - named - 1), at + named + 1);
        if (!option_parse_real(word, &value)) value = 0;
        char *hole = text + (at - text);
        memmove(hole, hole + length, strlen(hole + length) + 1);
        length = 0;
    }
    return value;
}

/* Sets the default of the group, if it has one, otherwise that of the table. */
static void set_default(const option_group *group, const option *entry, void *target)
{
    const char *text = group->defaults ? group->defaults : "";
    size_t length, name = strlen(entry->name);
    void *into = option_field(group, entry, target);
    option_parse(entry, entry->fallback, into);
    for (; (length = next_word(&text)); text += length) {
        char value[OPTION_WORD_SIZE];
        if (length <= name || strncmp(text, entry->name, name) != 0 || text[name] != '=') continue;
        snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), text + name + 1);
        option_parse(entry, value, into);
    }
}

void options_set_defaults(const option_schema *schema, void *target)
{
    memset(target, 0, schema->size);
    const option_group *group;
    const option *entry;
    for (size_t i = 0; (entry = option_at(schema, i, &group)); i++) set_default(group, entry, target);
}

/* ---- options without effect ---- */

static ee_status check_asked(const option_schema *schema, const char *asked, const void *target, ee_error *error)
{
    size_t length, unmet;
    for (; (length = next_word(&asked)); asked += length) {
        char name[OPTION_WORD_SIZE];
        const option_group *group;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(asked, "="), asked);
        const option *entry = option_find(schema, name, &group);
        const char *part = entry ? option_unmet_need(schema, group, entry, target, &unmet) : NULL;
        if (part) return option_fail_unmet(schema, group, entry, part, unmet, target, error);
    }
    return EE_OK;
}

/* Sets every option without effect to its default. Returns whether that changed any. */
static bool reset_without_effect(const option_schema *schema, void *target)
{
    bool changed = false;
    const option_group *group;
    const option *entry;
    for (size_t i = 0; (entry = option_at(schema, i, &group)); i++) {
        char before[OPTION_WORD_SIZE], after[OPTION_WORD_SIZE];
        if (option_acts(schema, group, entry, target)) continue;
        option_format(entry, option_field(group, entry, target), before, sizeof before);
        set_default(group, entry, target);
        option_format(entry, option_field(group, entry, target), after, sizeof after);
        changed = changed || strcmp(before, after) != 0;
    }
    return changed;
}

/* A default may change what another option needs, so this repeats until nothing changes. */
ee_status options_settle(const option_schema *schema, const char *asked, void *target, ee_error *error)
{
    ee_status status;
    do status = check_asked(schema, asked, target, error);
    while (!status && reset_without_effect(schema, target));
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

/* Quotes a value that contains separators or quotes, for unquote. value has room for twice its length. */
static void quote(char *value)
{
    char copy[OPTION_WORD_SIZE];
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
    const option_group *group;
    const option *entry;
    for (size_t i = 0; (entry = option_at(schema, i, &group)); i++) {
        char value[2 * OPTION_WORD_SIZE + 2];
        if (!option_acts(schema, group, entry, target)) continue;
        option_format(entry, option_field(group, entry, target), value, OPTION_WORD_SIZE);
        quote(value);
        size_t room = length < capacity ? capacity - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s%s=%s", length ? " " : "", group->prefix,
                                   entry->name, value);
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
    option_format_range(entry, into->range, sizeof into->range);
    option_format(entry, option_field(group, entry, target), into->value, sizeof into->value);
    option_append_needs(schema, group, group_needs, strlen(group_needs), into->needs, sizeof into->needs);
    if (group_needs[0] && own[0]) option_append_needs(schema, group, "and ", 3, into->needs, sizeof into->needs);
    option_append_needs(schema, group, own, strlen(own), into->needs, sizeof into->needs);
    into->acts = option_acts(schema, group, entry, target);
    into->first = is_listed(schema->first, into->name);
}

ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error)
{
    const option_group *group;
    const option *entry = option_at(schema, index, &group);
    if (entry) {
        describe(schema, target, group, entry, description);
        return EE_OK;
    }
    size_t count = 0;
    while (option_at(schema, count, &group)) count++;
    return status_fail(error, EE_BAD_INPUT, "%s has %zu options, asked for number %zu", schema->owner, count, index);
}
