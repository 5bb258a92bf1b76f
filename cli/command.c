#define _DEFAULT_SOURCE
#include "command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/kind/survey.h"

static void complain(const command *self, const char *format, va_list arguments_list)
{
    fprintf(stderr, "eenet %s: ", self->name);
    vfprintf(stderr, format, arguments_list);
    fputc('\n', stderr);
}

int command_misused(const command *self, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    complain(self, format, list);
    va_end(list);
    fprintf(stderr, "Try 'eenet help %s'.\n", self->name);
    return EXIT_USAGE;
}

int command_failed(const command *self, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    complain(self, format, list);
    va_end(list);
    return EXIT_FAILED;
}

int command_refused(const command *self, const ee_error *error)
{
    if (error->status == EE_BAD_OPTION) return command_misused(self, "%s", error->message);
    return command_failed(self, "%s", error->message);
}

static const char *value_of(const option *entry)
{
    if (entry->type == OPTION_INTEGER || entry->type == OPTION_REAL) return "N";
    return entry->type == OPTION_FLAG ? "on|off" : entry->choices;
}

bool command_flag(const command *self, size_t index, flag *out)
{
    if (index < self->flag_count) {
        *out = self->flags[index];
        return true;
    }
    index -= self->flag_count;
    for (size_t g = 0; self->settings && g < self->settings->count; g++) {
        const option_table *table = self->settings->groups[g].table;
        if (index < table->count) {
            const option *entry = &table->rows[index];
            *out = (flag){'\0', entry->name, value_of(entry), entry->meaning};
            return true;
        }
        index -= table->count;
    }
    return false;
}

/* ---- arguments ---- */

arguments arguments_of(const command *owner, int argc, char **argv)
{
    return (arguments){owner, argc, argv, 0, false};
}

static int fail_unknown(const arguments *from, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t count = 0;
    flag entry;
    for (; count < MOST && command_flag(from->owner, count, &entry); count++) names[count] = entry.name;
    const char *nearest = options_nearest(name, names, count);
    if (nearest)
        command_misused(from->owner, "unknown flag '--%s'; did you mean '--%s'?", name, nearest);
    else
        command_misused(from->owner, "unknown flag '--%s'", name);
    return ARGUMENT_BAD;
}

/* ---- lists with blanks ---- */

/* Lists that were written in several words. They live as long as the program, as all arguments do. */
static struct {
    char **texts; /* (count) */
    size_t count, capacity;
} joined_lists;

void arguments_release(void)
{
    for (size_t i = 0; i < joined_lists.count; i++) memory_free(joined_lists.texts[i]);
    memory_free(joined_lists.texts);
    memset(&joined_lists, 0, sizeof joined_lists);
}

static bool takes_list(const flag *entry)
{
    static const char *const lists[] = {"SEEDS", "DELAY", "POLICY.OPTION=VALUE"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(entry->value, lists[i]) == 0) return true;
    return strstr(entry->value, "[,") != NULL;
}

/* A list that ends in a comma goes on in the next word, unless that is a flag. */
static bool goes_on(const arguments *from, const char *list)
{
    size_t length = strlen(list);
    if (!length || list[length - 1] != ',' || from->next >= from->count) return false;
    return from->argv[from->next][0] != '-';
}

/* Puts the word behind the list, without the blanks that follow its commas. */
static ee_status append_list(char **list, size_t *capacity, const char *word, ee_error *error)
{
    size_t used = *list ? strlen(*list) : 0;
    ee_status status = memory_grow(NULL, list, capacity, used + strlen(word) + 1, 1, error);
    if (status) return status;
    char *end = *list + used;
    for (; *word; word++)
        if (*word != ' ' || end == *list || end[-1] != ',') *end++ = *word;
    *end = '\0';
    return EE_OK;
}

/* The list that begins with the word, in one word without blanks after its commas; NULL after saying so on stderr. */
static const char *join_list(arguments *from, const char *word)
{
    if (!strstr(word, ", ") && !goes_on(from, word)) return word;
    char *list = NULL;
    size_t capacity = 0;
    ee_error error;
    ee_status status = memory_grow(NULL, &joined_lists.texts, &joined_lists.capacity, joined_lists.count + 1,
                                   sizeof *joined_lists.texts, &error);
    if (!status) status = append_list(&list, &capacity, word, &error);
    while (!status && goes_on(from, list)) status = append_list(&list, &capacity, from->argv[from->next++], &error);
    if (status) {
        memory_free(list);
        command_refused(from->owner, &error);
        return NULL;
    }
    return joined_lists.texts[joined_lists.count++] = list;
}

/* ---- flags and words ---- */

/* Gives flag number place its value: attached, where there is one, or the next word. */
static int take_value(arguments *from, size_t place, const char *attached, const char **value)
{
    flag found;
    command_flag(from->owner, place, &found);
    *value = attached;
    if (found.value && !attached && from->next < from->count) *value = from->argv[from->next++];
    if (found.value && *value && takes_list(&found) && !(*value = join_list(from, *value))) return ARGUMENT_BAD;
    if (found.value && !*value) {
        command_misused(from->owner, "--%s needs a value: --%s %s", found.name, found.name, found.value);
        return ARGUMENT_BAD;
    }
    if (!found.value && attached) {
        command_misused(from->owner, "--%s takes no value, got '%s'", found.name, attached);
        return ARGUMENT_BAD;
    }
    return (int)place;
}

static int next_long(arguments *from, const char *word, const char **value)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    flag entry;
    for (size_t i = 0; command_flag(from->owner, i, &entry); i++)
        if (strlen(entry.name) == length && memcmp(entry.name, word, length) == 0)
            return take_value(from, i, equals ? equals + 1 : NULL, value);
    char name[64] = "";
    memcpy(name, word, length < sizeof name ? length : sizeof name - 1);
    return fail_unknown(from, name);
}

static int next_short(arguments *from, const char *word, const char **value)
{
    for (size_t i = 0; i < from->owner->flag_count; i++)
        if (from->owner->flags[i].letter == *word) return take_value(from, i, word[1] ? word + 1 : NULL, value);
    command_misused(from->owner, "unknown flag '-%s'", word);
    return ARGUMENT_BAD;
}

int arguments_next(arguments *from, const char **value)
{
    if (from->next >= from->count) return ARGUMENT_END;
    const char *word = from->argv[from->next++];
    *value = word;
    if (from->only_words || word[0] != '-' || !word[1]) return ARGUMENT_WORD;
    if (word[1] != '-') return next_short(from, word + 1, value);
    if (word[2]) return next_long(from, word + 2, value);
    from->only_words = true;
    return arguments_next(from, value);
}

int arguments_each(const command *owner, int argc, char **argv, take_flag *take, void *context)
{
    arguments from = arguments_of(owner, argc, argv);
    const char *value;
    int got, code = EXIT_DONE;
    while (!code && (got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == ARGUMENT_WORD) return command_misused(owner, "unexpected argument '%s'", value);
        code = take(owner, got, value, context);
    }
    return code;
}

int arguments_none(const command *owner, int argc, char **argv)
{
    arguments from = arguments_of(owner, argc, argv);
    const char *value;
    int got = arguments_next(&from, &value);
    if (got == ARGUMENT_END) return EXIT_DONE;
    return got == ARGUMENT_WORD ? command_misused(owner, "expected no arguments, got '%s'", value) : EXIT_USAGE;
}

int arguments_number(const command *owner, int got, const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
    if (!text) return EXIT_DONE;
    uint64_t value;
    const char *end = decimal_whole(text, &value);
    if (!end || *end || value < low || value > high)
        return command_misused(owner, "--%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", got '%s'",
                               owner->flags[got].name, low, high, text);
    *number = value;
    return EXIT_DONE;
}

int arguments_real(const command *owner, int got, const char *text, double low, double high, double *number)
{
    if (!text) return EXIT_DONE;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        return command_misused(owner, "--%s: expected a number from %g to %g, got '%s'", owner->flags[got].name, low,
                               high, text);
    *number = value;
    return EXIT_DONE;
}

/* ---- policies ---- */

void command_print_remarks(const command *self, const char *name, const dataset *data)
{
    const survey *seen = dataset_survey(data);
    for (size_t i = 0; i < seen->remark_count; i++)
        fprintf(stderr, "eenet %s: %s: %s\n", self->name, name, seen->remarks[i]);
}

const char *command_policy_name(size_t index)
{
    ee_policy policy;
    return ee_policy_describe(index, &policy, NULL) ? NULL : policy.name;
}

bool command_find_policy(const command *self, const char *name, ee_policy *policy)
{
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count = 0;
    for (; count < MOST && (names[count] = command_policy_name(count)); count++)
        if (strcmp(names[count], name) == 0) return !ee_policy_describe(count, policy, NULL);
    const char *nearest = options_nearest(name, names, count);
    if (nearest)
        command_misused(self, "unknown policy '%s'; did you mean '%s'?", name, nearest);
    else
        command_misused(self, "unknown policy '%s'; 'eenet policies' lists them", name);
    return false;
}

const char *command_dataset_label(dataset *const *all, size_t count, const dataset *one)
{
    for (size_t i = 0; i < count; i++)
        if (all[i] && all[i] != one && strcmp(dataset_name(all[i]), dataset_name(one)) == 0) return dataset_text(one);
    return dataset_name(one);
}

uint64_t command_usual_rounds(const dataset *data)
{
    uint64_t rounds = 10000, limit = dataset_rounds(data), rows = dataset_rows(data);
    if (limit && limit < rounds) rounds = limit;
    return rows && rows < rounds ? rows : rounds;
}

/* ---- printing ---- */

size_t command_wider(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

size_t command_line_width(void)
{
    enum { LEAST = 60, USUAL = 100, MOST = 120 };
    const char *asked = getenv("COLUMNS");
    struct winsize window = {0};
    unsigned long columns = asked ? strtoul(asked, NULL, 10) : 0;
    if (!columns && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window)) columns = window.ws_col;
    if (!columns) return USUAL;
    return columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
}

void command_print_wrapped(const char *text, size_t indent, size_t width)
{
    size_t column = indent;
    for (bool begins = true; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (!begins && column + 1 + length > width) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            begins = true;
        }
        printf("%s%.*s", begins ? "" : " ", (int)length, text);
        column += length + (begins ? 0 : 1);
        begins = false;
        text += length;
    }
    printf("\n");
}
