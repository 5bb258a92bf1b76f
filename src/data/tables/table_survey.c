/* Reports how a table was read, and likely mistakes in it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/values/date_text.h"
#include "table_inside.h"

/* Fewer values say nothing about whether they repeat. */
enum { MANY_VALUES = 20 };

/* ---- columns and classes ---- */

static ee_status report_column(const table *t, size_t index, survey *into, ee_error *error)
{
    const row_column *from = &t->encoding->columns[index];
    const table_column *c = &t->columns[index];
    size_t end = index + 1 < t->width ? t->encoding->columns[index + 1].first : t->encoding->features;
    const category_list *values = index == t->label ? &t->encoding->classes : &from->categories;
    survey_column column = {from->name, from->kind, c->missing, values->count, end - from->first, c->low, c->high};
    return survey_add_column(into, &column, error);
}

/* ---- remarks ---- */

/* How to name a column in an option: in quotes if the name has a comma or a space, by its number if quotes do not
 * help. */
static const char *option_name(const table *t, size_t index, char name[64])
{
    const char *given = t->encoding->columns[index].name;
    if (given[strcspn(given, "+\"\r\n")] || strlen(given) > 60)
        snprintf(name, 64, "%zu", index + 1);
    else
        snprintf(name, 64, given[strcspn(given, ",= \t")] ? "\"%s\"" : "%s", given);
    return name;
}

/* Whether the text of the first row comes no more in the column. */
static bool is_first_only(const table *t, size_t index)
{
    const char *first = t->cells[index].text;
    if (!first || !isnan(t->cells[index].number)) return false;
    for (size_t row = 1; row < t->height; row++) {
        const char *other = t->cells[row * t->width + index].text;
        if (other && strcmp(other, first) == 0) return false;
    }
    return true;
}

/* Column names occur only in the first row. If every class occurs once anyway, that proves nothing. */
static ee_status remark_header(const table *t, survey *into, ee_error *error)
{
    char list[80] = "";
    size_t length = 0;
    if (t->header || t->options->header.pick != HEADER_AUTO || t->width < 2 || t->height < 4) return EE_OK;
    if (2 * (t->encoding->classes.count - 1) > t->height - 1) return EE_OK;
    for (size_t i = 0; i < t->width; i++) {
        if (!is_first_only(t, i)) return EE_OK;
        if (length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%.24s", i ? ", " : "", t->cells[i].text);
    }
    return survey_remark(into, error,
                         "the first row (%s%s) was read as values; if it holds the column names, add header=yes", list,
                         length < sizeof list ? "" : "...");
}

ee_status table_remark_label(const category_list *classes, size_t rows, const char *label, const char *advice,
                             survey *into, ee_error *error)
{
    bool fractions = false;
    for (size_t i = 0; i < classes->count && classes->by_number; i++)
        fractions = fractions || classes->sorted[i].number != floor(classes->sorted[i].number);
    if (classes->count <= MANY_VALUES || (!fractions && 2 * classes->count <= rows)) return EE_OK;
    return survey_remark(into, error, "%s has %zu different values in %zu rows; each becomes a class%s%s", label,
                         classes->count, rows, fractions ? ", though it looks like a quantity" : "", advice);
}

static ee_status remark_label(const table *t, survey *into, ee_error *error)
{
    char title[64], label[80];
    snprintf(label, sizeof label, "the label (%s)", table_column_title(t, t->label, title));
    const char *advice =
        t->codes ? "" : "; name another with label=COLUMN"; /* in memory, the first column is the label */
    return table_remark_label(&t->encoding->classes, table_rows(t), label, advice, into, error);
}

/* Two values that differ only in case and spaces: "New York" and "new  york". */
typedef struct twins {
    const char *one, *other; /* NULL: there are none */
} twins;

static const char *skip_spaces(const char *text)
{
    for (;; text++) {
        if (strncmp(text, "\xc2\xa0", 2) == 0)
            text++; /* one that does not break the line */
        else if (!isspace((unsigned char)*text))
            return text;
    }
}

/* The order of two texts without their capitals and spaces. */
static int compare_folded(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = skip_spaces(a);
        b = skip_spaces(b);
        int order = tolower((unsigned char)*a) - tolower((unsigned char)*b);
        if (order || !*a) return order;
    }
}

static int compare_twins(const void *a, const void *b)
{
    const char *one = *(const char *const *)a, *other = *(const char *const *)b;
    int order = compare_folded(one, other);
    return order ? order : strcmp(one, other);
}

static ee_status find_twins(const category_list *list, twins *out, ee_error *error)
{
    const char **texts;
    *out = (twins){NULL, NULL};
    if (list->by_number || list->count < 2) return EE_OK;
    ee_status status = memory_create(NULL, &texts, list->count, sizeof *texts, error);
    if (status) return status;
    for (size_t i = 0; i < list->count; i++) texts[i] = list->sorted[i].text;
    qsort(texts, list->count, sizeof *texts, compare_twins);
    for (size_t i = 1; i < list->count && !out->one; i++)
        if (compare_folded(texts[i - 1], texts[i]) == 0) *out = (twins){texts[i - 1], texts[i]};
    memory_free(texts);
    return EE_OK;
}

static const char *twins_difference(const twins *of)
{
    return strcasecmp(of->one, of->other) == 0 ? "case" : "case and spaces";
}

/* "Yes" and "yes" are two classes, probably by mistake. */
static ee_status remark_twin_classes(const table *t, survey *into, ee_error *error)
{
    twins found;
    ee_status status = find_twins(&t->encoding->classes, &found, error);
    if (status || !found.one) return status;
    return survey_remark(into, error, "the classes '%.40s' and '%.40s' differ only in %s; spell them alike", found.one,
                         found.other, twins_difference(&found));
}

/* Columns with the same problem, reported once with the name of the first. */
typedef struct column_group {
    size_t count, first;
    char list[64]; /* in the syntax of an option; ends in "..." if not all fit */
    bool full;
    char title[120];
} column_group;

static void group_add(const table *t, column_group *group, size_t index)
{
    char name[64];
    size_t used = strlen(group->list), room = sizeof group->list - sizeof "+..." - used;
    if (group->count++ == 0) group->first = index;
    option_name(t, index, name);
    group->full = group->full || strlen(name) + 1 > room;
    if (!group->full)
        snprintf(group->list + used, sizeof group->list - used, "%s%s", used ? "+" : "", name);
    else if (!strstr(group->list, "..."))
        snprintf(group->list + used, sizeof group->list - used, "%s...", used ? "+" : "");
}

static void set_title(const table *t, column_group *group, const char *one, const char *several)
{
    char first[64];
    table_column_title(t, group->first, first);
    if (group->count == 1)
        snprintf(group->title, sizeof group->title, "%s %s", first, one);
    else
        snprintf(group->title, sizeof group->title, "%s and %zu other%s %s", first, group->count - 1,
                 group->count == 2 ? "" : "s", several);
}

/* The columns for which `belongs` is true. The title is "column 'a' has" or "column 'a' and 3 others have", with the
 * verb for one or for several. */
static column_group find_group(const table *t, bool (*belongs)(const table *, size_t), const char *one,
                               const char *several)
{
    column_group group = {0};
    for (size_t i = 0; i < t->width; i++)
        if (belongs(t, i)) group_add(t, &group, i);
    if (group.count) set_title(t, &group, one, several);
    return group;
}

static const char *first_text(const table *t, size_t index)
{
    const category_list *values = &t->encoding->columns[index].categories;
    return values->count ? values->sorted[0].text : "";
}

static bool has_commas(const table *t, size_t index)
{
    return t->columns[index].commas && t->encoding->columns[index].kind == SURVEY_CATEGORICAL;
}

static ee_status remark_commas(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, has_commas, "has", "have");
    if (!found.count) return EE_OK;
    return survey_remark(into, error,
                         "%s numbers with a decimal comma, such as '%.20s', read as %zu categories; add decimal=comma",
                         found.title, first_text(t, found.first), t->encoding->columns[found.first].categories.count);
}

/* index:value, as libsvm has it. */
static bool has_sparse_entries(const table *t, size_t index)
{
    if (t->encoding->columns[index].kind != SURVEY_CATEGORICAL) return false;
    const char *text = first_text(t, index);
    size_t digits = strspn(text, "0123456789");
    return digits && text[digits] == ':' &&
           (isdigit((unsigned char)text[digits + 1]) || strchr("-+.", text[digits + 1]));
}

static ee_status remark_sparse(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, has_sparse_entries, "has", "have");
    if (!found.count) return EE_OK;
    return survey_remark(into, error,
                         "%s fields such as '%.20s', which look like libsvm's format but were read as a table; libsvm "
                         "separates fields by spaces and starts each line with the label",
                         found.title, first_text(t, found.first));
}

static ee_status remark_twin_categories(const table *t, survey *into, ee_error *error)
{
    column_group group = {0};
    twins first = {NULL, NULL};
    for (size_t i = 0; i < t->width; i++) {
        twins found = {NULL, NULL};
        if (t->encoding->columns[i].kind != SURVEY_CATEGORICAL) continue;
        ee_status status = find_twins(&t->encoding->columns[i].categories, &found, error);
        if (status) return status;
        if (!found.one) continue;
        if (!group.count) first = found;
        group_add(t, &group, i);
    }
    if (!group.count) return EE_OK;
    set_title(t, &group, "has", "have");
    return survey_remark(
        into, error,
        "%s categories that differ only in %s, such as '%.40s' and '%.40s'; each is a feature; spell them alike",
        group.title, twins_difference(&first), first.one, first.other);
}

static bool has_dates(const table *t, size_t index)
{
    const row_column *column = &t->encoding->columns[index];
    if (column->kind != SURVEY_CATEGORICAL || !column->categories.count) return false;
    for (size_t i = 0; i < column->categories.count; i++)
        if (!date_text_is(column->categories.sorted[i].text)) return false;
    return true;
}

static ee_status remark_dates(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, has_dates, "has", "have");
    if (!found.count) return EE_OK;
    return survey_remark(into, error,
                         "%s dates, such as '%.30s', read as %zu categories; leave out with ignore=%s, or replace by "
                         "numbers such as the weekday or the age in days",
                         found.title, first_text(t, found.first), t->encoding->columns[found.first].categories.count,
                         found.list);
}

/* Seconds since 1970 of the years 2000 to 2036, or thousandths of them, or dates in their digits. */
static bool has_times(const table *t, size_t index)
{
    static const double first = 946684800, last = 2114380800;
    const table_column *c = &t->columns[index];
    if (t->encoding->columns[index].kind != SURVEY_NUMERIC || t->encoding->columns[index].scale == 0.0) return false;
    bool seconds = (c->low >= first && c->high <= last) || (c->low >= 1000 * first && c->high <= 1000 * last);
    bool digits = date_number_is(c->low) && date_number_is(c->high);
    for (size_t row = 0; row < table_rows(t) && (seconds || digits); row++) {
        double number = table_cell(t, row, index)->number;
        if (isnan(number)) continue;
        seconds = seconds && number == floor(number);
        digits = digits && date_number_is(number);
    }
    return seconds || digits;
}

static ee_status remark_times(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, has_times, "has", "have");
    if (!found.count) return EE_OK;
    return survey_remark(into, error,
                         "%s numbers that look like timestamps, such as %.15g, read as plain numbers; leave out with "
                         "ignore=%s, or replace by numbers such as the hour or the weekday",
                         found.title, t->columns[found.first].low, found.list);
}

/* Names and free text: a value that occurs once says nothing about other rows. */
static bool seldom_comes_again(const table *t, size_t index)
{
    const row_column *column = &t->encoding->columns[index];
    size_t values = column->categories.count, given = table_rows(t) - t->columns[index].missing;
    return column->kind == SURVEY_CATEGORICAL && !t->columns[index].commas && values > MANY_VALUES &&
           2 * values > given && !has_dates(t, index);
}

static ee_status remark_names(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, seldom_comes_again, "is", "are");
    if (!found.count) return EE_OK;
    return survey_remark(
        into, error, "%s almost unique (%zu values in %zu rows), and each value is a feature; leave out with ignore=%s",
        found.title, t->encoding->columns[found.first].categories.count,
        table_rows(t) - t->columns[found.first].missing, found.list);
}

/* Whether each value is the one before plus 1. */
static bool counts_rows(const table *t, size_t index)
{
    if (t->encoding->columns[index].kind != SURVEY_NUMERIC || t->columns[index].missing) return false;
    for (size_t row = 1; row < table_rows(t); row++)
        if (table_cell(t, row, index)->number != table_cell(t, row - 1, index)->number + 1.0) return false;
    return table_rows(t) > MANY_VALUES;
}

/* Whether all values are whole numbers, each larger than the one before: customer numbers in the order of the file. */
static bool is_ascending(const table *t, size_t index)
{
    if (t->encoding->columns[index].kind != SURVEY_NUMERIC || t->columns[index].missing) return false;
    for (size_t row = 0; row < table_rows(t); row++) {
        double number = table_cell(t, row, index)->number;
        if (number != floor(number) || (row && number <= table_cell(t, row - 1, index)->number)) return false;
    }
    return table_rows(t) > MANY_VALUES && !counts_rows(t, index) && !has_times(t, index);
}

static ee_status remark_counters(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, counts_rows, "numbers", "number");
    if (!found.count) return EE_OK;
    return survey_remark(into, error, "%s the rows, which says nothing about the class; leave out with ignore=%s",
                         found.title, found.list);
}

static ee_status remark_ids(const table *t, survey *into, ee_error *error)
{
    column_group found = find_group(t, is_ascending, "has", "have");
    if (!found.count) return EE_OK;
    return survey_remark(into, error,
                         "%s a different number in each row, ascending: probably an id; leave out with ignore=%s",
                         found.title, found.list);
}

/* Whether a remark says to leave the column out. */
static bool is_useless(const table *t, size_t index)
{
    return has_dates(t, index) || has_times(t, index) || seldom_comes_again(t, index) || counts_rows(t, index) ||
           is_ascending(t, index);
}

/* Writes the columns to ignore, by name or by number, as one value of the option. False if it would be too long. */
static bool list_ignored(const table *t, bool by_number, char list[OPTION_TEXT_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < t->width; i++) {
        char name[64];
        bool already = t->columns[i].type == TYPE_IGNORED && i != t->label;
        if (!already && !is_useless(t, i)) continue;
        if (by_number)
            snprintf(name, sizeof name, "%zu", i + 1);
        else
            option_name(t, i, name);
        used += (size_t)snprintf(list + used, OPTION_TEXT_SIZE - used, "%s%s", used ? "+" : "", name);
        if (used >= OPTION_TEXT_SIZE) return false;
    }
    return true;
}

/* An option is given once, so the columns of all remarks must be joined with those that are ignored now. */
static ee_status suggest_ignore(const table *t, survey *into, ee_error *error)
{
    char list[OPTION_TEXT_SIZE] = "";
    bool any = false;
    for (size_t i = 0; i < t->width; i++) any = any || is_useless(t, i);
    if (!any || (!list_ignored(t, false, list) && !list_ignored(t, true, list))) return EE_OK;
    return survey_suggest_ignore(into, list, error);
}

/* Only duplicate names differ from the names in the file. */
static ee_status remark_twins(const table *t, survey *into, ee_error *error)
{
    for (size_t i = 0; i < t->width; i++) {
        const char *given = table_column_name(t, i), *name = t->encoding->columns[i].name;
        if (given[0] && strcmp(given, name) != 0)
            return survey_remark(into, error, "two columns are named '%.40s'; column %zu becomes '%.60s'", given, i + 1,
                                 name);
    }
    return EE_OK;
}

ee_status table_report(const table *t, survey *into, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < t->width && !status; i++) status = report_column(t, i, into, error);
    if (!status) status = remark_header(t, into, error);
    if (!status) status = remark_label(t, into, error);
    if (!status) status = remark_twin_classes(t, into, error);
    if (!status) status = remark_twin_categories(t, into, error);
    if (!status) status = remark_commas(t, into, error);
    if (!status) status = remark_sparse(t, into, error);
    if (!status) status = remark_dates(t, into, error);
    if (!status) status = remark_times(t, into, error);
    if (!status) status = remark_names(t, into, error);
    if (!status) status = remark_counters(t, into, error);
    if (!status) status = remark_ids(t, into, error);
    if (!status) status = suggest_ignore(t, into, error);
    return status ? status : remark_twins(t, into, error);
}
