/* The columns of a table: from the options and the cells to the row encoding. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "table_inside.h"

/* ---- columns and their names ---- */

static const char *const label_words[] = {"target", "label", "class"};

enum { LABEL_WORDS = sizeof label_words / sizeof label_words[0] };

static ee_status take_names(table *t, ee_error *error)
{
    ee_status status = memory_create(NULL, &t->names, t->width, sizeof *t->names, error);
    for (size_t i = 0; i < t->width && !status; i++)
        if (t->cells[i].text) t->names[i] = (field){t->cells[i].text, strlen(t->cells[i].text)};
    return status;
}

static column_names names_of(const table *t)
{
    return (column_names){"table", t->file->path, t->names, t->width, t->header};
}

/* A header has a word above a number of the next row, or a field that names the label. */
static bool has_header(const table *t)
{
    const column_names names = names_of(t);
    if (t->options->header.pick != HEADER_AUTO) return t->options->header.pick == HEADER_YES;
    for (size_t i = 0; i < t->width; i++) {
        const cell *first = &t->cells[i];
        if (!isnan(first->number) || missing_words_have(t->options->missing, first, true)) continue;
        if (strcasecmp(first->text, t->options->label) == 0) return true;
        if (t->height > 1 && !isnan(t->cells[t->width + i].number)) return true;
    }
    for (size_t i = 0; i < LABEL_WORDS; i++)
        if (column_by_name(&names, label_words[i]) != SIZE_MAX) return true;
    return false;
}

const char *table_column_name(const table *t, size_t index)
{
    return t->header && t->cells[index].text ? t->cells[index].text : "";
}

const char *table_column_title(const table *t, size_t index, char title[64])
{
    if (t->header && t->cells[index].text)
        snprintf(title, 64, "column '%.24s'", t->cells[index].text);
    else
        snprintf(title, 64, "column %zu", index + 1);
    return title;
}

/* Gives the columns of a list, as "age+sex" or "1-4+7", their type. */
static ee_status mark_columns(table *t, const char *name, const char *list, column_type type, ee_error *error)
{
    if (strcmp(list, "auto") == 0 || strcmp(list, "none") == 0) return EE_OK;
    const column_names names = names_of(t);
    char copy[OPTION_TEXT_SIZE];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *part = copy, *plus; part; part = plus) {
        plus = strchr(part, '+');
        if (plus) *plus++ = '\0';
        size_t first, last;
        ee_status status = column_find_range(&names, name, part, &first, &last, error);
        if (status) return status;
        for (size_t i = first; i <= last; i++) t->columns[i].type = type;
    }
    return EE_OK;
}

static ee_status find_label(table *t, ee_error *error)
{
    const column_names names = names_of(t);
    const char *wanted = t->options->label;
    if (strcmp(wanted, "auto") != 0) return column_find(&names, "label", wanted, &t->label, error);
    t->label = SIZE_MAX;
    for (size_t i = 0; t->header && i < LABEL_WORDS && t->label == SIZE_MAX; i++)
        t->label = column_by_name(&names, label_words[i]);
    if (t->label == SIZE_MAX) t->label = t->width - 1;
    return EE_OK;
}

/* Whether the only line has only texts, so that it is probably a header. */
static bool has_only_names(const table *t)
{
    for (size_t i = 0; i < t->width; i++)
        if (!t->cells[i].text || !isnan(t->cells[i].number)) return false;
    return t->options->header.pick == HEADER_AUTO;
}

static ee_status check_size(const table *t, ee_error *error)
{
    char list[COLUMN_LIST_SIZE];
    const column_names names = names_of(t);
    if (t->height == 0)
        return status_fail(error, EE_BAD_INPUT, "%s: expected rows, got none", file_tail(t->file->path));
    if (t->height == 1 && (t->header || has_only_names(t)))
        return status_fail(error, EE_BAD_INPUT, "%s: expected rows after the column names, got none; columns%s",
                           file_tail(t->file->path), column_list(&names, list));
    if (t->width == 1)
        return status_fail(
            error, EE_BAD_INPUT,
            "%s: expected two or more columns separated by commas, semicolons, tabs or spaces, got one%s",
            file_tail(t->file->path), column_list(&names, list));
    return EE_OK;
}

/* Those that must be numbers come later than "all", from which they are exceptions. */
ee_status table_settle_columns(table *t, ee_error *error)
{
    ee_status status = t->height ? take_names(t, error) : EE_OK;
    if (status) return status;
    t->header = t->height && has_header(t);
    status = check_size(t, error);
    if (status) return status;
    status = memory_create(NULL, &t->columns, t->width, sizeof *t->columns, error);
    if (!status) status = find_label(t, error);
    if (status) return status;
    for (size_t i = 0; t->codes && i < t->width; i++)
        if (t->codes[i]) t->columns[i].type = TYPE_CATEGORICAL;
    if (strcmp(t->options->categorical, "all") == 0)
        for (size_t i = 0; i < t->width; i++) t->columns[i].type = TYPE_CATEGORICAL;
    else
        status = mark_columns(t, "categorical", t->options->categorical, TYPE_CATEGORICAL, error);
    if (!status) status = mark_columns(t, "numeric", t->options->numeric, TYPE_NUMERIC, error);
    if (!status) status = mark_columns(t, "ignore", t->options->ignore, TYPE_IGNORED, error);
    t->columns[t->label].type = TYPE_IGNORED; /* as a feature */
    return status;
}

/* ---- what the columns hold ---- */

/* Advice about a text among numbers. */
static const char *text_advice(const cell *value)
{
    return isnan(cell_with_comma(value))
               ? "categorical=COLUMN reads the column as text, missing=TEXT counts it as missing"
               : "decimal=comma reads decimal commas";
}

static ee_status fail_text(const table *t, size_t index, size_t row, size_t numbers, ee_error *error)
{
    const cell *value = table_cell(t, row, index);
    char title[64], others[48] = "";
    if (numbers) snprintf(others, sizeof others, ", as in %zu other rows", numbers);
    table_column_title(t, index, title);
    if (cell_is_beyond(value))
        return status_fail(error, EE_BAD_INPUT, "%s, line %zu, %s: expected a number of at most %.3g, got '%.20s'",
                           file_tail(t->file->path), t->lines[t->header + row], title, (double)FLT_MAX, value->text);
    return status_fail(error, EE_BAD_INPUT, "%s, line %zu, %s: expected a number%s, got '%.20s'; %s",
                       file_tail(t->file->path), t->lines[t->header + row], title, others, value->text,
                       text_advice(value));
}

/* Counts of the cells of a column by what they are. */
typedef struct cell_counts {
    size_t missing, numbers, texts;
    size_t words;          /* that are missing values in a numeric column */
    size_t beyond, commas; /* texts that would be numbers except for their size or a decimal comma */
    size_t first_text;     /* its row */
} cell_counts;

static cell_counts count_cells(const table *t, size_t index)
{
    cell_counts counts = {0};
    for (size_t row = 0; row < table_rows(t); row++) {
        const cell *value = table_cell(t, row, index);
        if (!value->text) {
            counts.missing++;
        } else if (!isnan(value->number)) {
            counts.numbers++;
        } else if (missing_words_have(t->options->missing, value, true)) {
            counts.words++;
        } else {
            if (counts.texts++ == 0) counts.first_text = row;
            if (cell_is_beyond(value)) counts.beyond++;
            if (!isnan(cell_with_comma(value))) counts.commas++;
        }
    }
    return counts;
}

/* Makes the words of a numeric column missing values. */
static void apply_missing_words(table *t, size_t index)
{
    for (size_t row = 0; row < table_rows(t); row++)
        missing_words_apply(t->options->missing, &t->cells[(t->header + row) * t->width + index], true);
    t->columns[index].missing = count_cells(t, index).missing;
}

/* A column is numeric if all values are numbers. If only most are, the others are probably mistakes. Without any
 * number, words for missing values are ordinary texts. */
static ee_status settle_type(table *t, size_t index, ee_error *error)
{
    table_column *c = &t->columns[index];
    cell_counts counts = count_cells(t, index);
    c->missing = counts.missing;
    if (c->type == TYPE_CATEGORICAL) return EE_OK;
    if (c->type == TYPE_AUTO && !counts.numbers) counts.texts += counts.words;
    if (counts.texts && (counts.numbers + 2 * counts.beyond > counts.texts || c->type == TYPE_NUMERIC))
        return fail_text(t, index, counts.first_text, counts.numbers, error);
    c->commas = 2 * counts.commas > counts.texts;
    c->type = counts.texts ? TYPE_CATEGORICAL : TYPE_NUMERIC;
    if (c->type == TYPE_NUMERIC && counts.words) apply_missing_words(t, index);
    return EE_OK;
}

/* Mean and deviation by Welford's sums. */
static void measure_numeric(const table *t, size_t index, row_column *into)
{
    table_column *c = &t->columns[index];
    double mean = 0.0, squares = 0.0;
    size_t count = 0;
    for (size_t row = 0; row < table_rows(t); row++) {
        double number = table_cell(t, row, index)->number;
        if (isnan(number)) continue;
        double before = number - mean;
        mean += before / (double)++count;
        squares += before * (number - mean);
        c->low = fmin(c->low, number);
        c->high = fmax(c->high, number);
    }
    bool plain = t->options->normalize.pick == NORMALIZE_NONE;
    into->mean = mean;
    if (squares > 0.0) into->scale = plain ? 1.0 : sqrt(squares) / sqrt((double)count);
    into->missing = c->missing > 0 && count > 0;
    into->kind = squares > 0.0 || into->missing ? SURVEY_NUMERIC : SURVEY_CONSTANT;
}

static ee_status collect(const table *t, size_t index, category_list *list, ee_error *error)
{
    char title[64], where[180];
    const char *advice = t->columns[index].commas ? "; decimal=comma reads decimal commas"
                         : index == t->label      ? "; name another label with label=COLUMN"
                                                  : "; leave it out with ignore=COLUMN";
    snprintf(where, sizeof where, "%s, %s", file_tail(t->file->path), table_column_title(t, index, title));
    return categories_collect(table_cell(t, 0, index), table_rows(t), t->width, where, advice, list, error);
}

static ee_status measure_column(table *t, size_t index, ee_error *error)
{
    table_column *c = &t->columns[index];
    row_column *into = &t->encoding->columns[index];
    into->name = table_column_name(t, index);
    into->kind = index == t->label ? SURVEY_LABEL : SURVEY_IGNORED;
    if (c->type == TYPE_IGNORED) return EE_OK;
    ee_status status = settle_type(t, index, error);
    if (status) return status;
    if (c->type == TYPE_NUMERIC) {
        measure_numeric(t, index, into);
        return EE_OK;
    }
    into->missing = c->missing > 0;
    status = collect(t, index, &into->categories, error);
    into->kind = into->categories.count + into->missing > 1 ? SURVEY_CATEGORICAL : SURVEY_CONSTANT;
    return status;
}

static ee_status check_labels(const table *t, ee_error *error)
{
    char title[64];
    for (size_t row = 0; row < table_rows(t); row++)
        if (!table_cell(t, row, t->label)->text)
            return status_fail(
                error, EE_BAD_INPUT, "%s, line %zu, %s: the label is missing; delete the row or give it a class",
                file_tail(t->file->path), t->lines[t->header + row], table_column_title(t, t->label, title));
    return EE_OK;
}

ee_status table_measure_columns(table *t, ee_error *error)
{
    ee_status status = row_encoding_create(t->width, &t->encoding, error);
    if (status) return status;
    t->encoding->constant = t->options->constant;
    t->encoding->normalize = (row_normalize)t->options->normalize.pick;
    memcpy(t->encoding->words, t->options->missing, sizeof t->encoding->words);
    for (size_t i = 0; i < t->width && !status; i++) {
        t->columns[i].low = INFINITY;
        t->columns[i].high = -INFINITY;
        status = measure_column(t, i, error);
    }
    if (!status) status = check_labels(t, error);
    if (!status) status = collect(t, t->label, &t->encoding->classes, error);
    return status ? status : row_encoding_finish(t->encoding, error);
}
