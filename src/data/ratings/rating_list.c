#include "rating_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/files/column_names.h"
#include "data/tables/categories.h"

/* The options that name columns. */
static const char *const roles[RATING_COLUMNS] = {"user", "item", "rating"};

static const double largest = 1e9; /* of a rating, as of a reward */

enum { USUAL_WIDTH = 6 }; /* a row of more fields has hardly one rating */

#define MATRIX_ADVICE "a matrix of users and items must become one row per rating"

enum { MOST_VALUES = 100 }; /* different ratings that are counted: no scale has more steps */

typedef struct rating_reader {
    row_reader rows;
    const char *owner;
    const char *const *wanted; /* (RATING_COLUMNS) the values of the options */
    size_t columns[RATING_COLUMNS];
    bool header;       /* the first row is one */
    size_t width;      /* of the first row */
    field *first_row;  /* (width) */
    vocabulary values; /* the different ratings: MOST_VALUES, and one more */
    bool whole;        /* all of them are whole numbers */
    rating_list *list; /* the result */
} rating_reader;

void rating_list_release(rating_list *list)
{
    vocabulary_release(&list->users);
    vocabulary_release(&list->items);
    memory_free(list->ratings);
    *list = (rating_list){0};
}

/* ---- which columns ---- */

static bool is_auto(const rating_reader *reader, int role)
{
    return strcmp(reader->wanted[role], "auto") == 0;
}

/* Of the row that was read last. */
static column_names names_of(const rating_reader *reader)
{
    const row_reader *rows = &reader->rows;
    return (column_names){reader->owner, rows->file->path, rows->fields, rows->count, reader->header};
}

/* A column named by an option implies a header; else there is one if the rating in the first row is not a number. */
static bool has_header(const rating_reader *reader)
{
    const column_names names = names_of(reader);
    size_t place = RATING_VALUE;
    double number;
    for (int role = 0; role < RATING_COLUMNS; role++)
        if (!is_auto(reader, role) && !column_is_number(reader->wanted[role])) return true;
    if (!is_auto(reader, RATING_VALUE) && column_find(&names, "rating", reader->wanted[RATING_VALUE], &place, NULL))
        return false;
    return place < names.count && !field_number(&names.names[place], &number);
}

static ee_status fail_usual_name(const rating_reader *reader, int role, ee_error *error)
{
    const row_reader *rows = &reader->rows;
    const field *value = rows->count > RATING_VALUE ? &rows->fields[RATING_VALUE] : &rows->fields[rows->count - 1];
    if (!isnan(cell_with_comma(&(cell){value->text, NAN})))
        return rows_fail(rows, error,
                         "expected a number for the rating, got '%.20s': write decimals with a point, such as 4.5",
                         value->text);
    for (int other = 0; other < RATING_COLUMNS; other++)
        if (!is_auto(reader, other))
            return rows_fail(rows, error, "found no column for the %s; name it with %s=COLUMN", roles[role],
                             roles[role]);
    if (rows->count > USUAL_WIDTH)
        return rows_fail(rows, error,
                         "found no column for the %s; name columns with user=, item= and rating=; " MATRIX_ADVICE,
                         roles[role]);
    return rows_fail(rows, error,
                     "expected a number for the rating, got '%.20s'; or a header with userId, movieId and rating (or "
                     "user, item and rating); name other columns with user=, item= and rating=",
                     value->text);
}

/* The column with a usual name; without a header the first, second or third. */
static ee_status find_usual(rating_reader *reader, int role, ee_error *error)
{
    static const char *const names[RATING_COLUMNS][6] = {
        {"userId", "user", "user_id"}, {"movieId", "item", "itemId", "item_id", "movie"}, {"rating", "score"}};
    const column_names in = names_of(reader);
    size_t *column = &reader->columns[role];
    *column = reader->header ? SIZE_MAX : (size_t)role;
    for (size_t i = 0; names[role][i] && *column == SIZE_MAX; i++) *column = column_by_name(&in, names[role][i]);
    return *column == SIZE_MAX ? fail_usual_name(reader, role, error) : EE_OK;
}

/* In the first row. */
static ee_status settle_columns(rating_reader *reader, ee_error *error)
{
    const row_reader *rows = &reader->rows;
    reader->header = has_header(reader);
    reader->width = rows->count;
    const column_names names = names_of(reader);
    ee_status status = memory_create(NULL, &reader->first_row, rows->count, sizeof *reader->first_row, error);
    if (status) return status;
    memcpy(reader->first_row, rows->fields, rows->count * sizeof *rows->fields);
    for (int role = 0; role < RATING_COLUMNS && !status; role++) {
        if (is_auto(reader, role))
            status = find_usual(reader, role, error);
        else
            status = column_find(&names, roles[role], reader->wanted[role], &reader->columns[role], error);
        for (int other = 0; other < role && !status; other++)
            if (reader->columns[other] == reader->columns[role])
                status = status_fail(error, EE_BAD_OPTION,
                                     "%s: %s and %s are both column %zu; name another with %s= or %s=", reader->owner,
                                     roles[other], roles[role], reader->columns[role] + 1, roles[other], roles[role]);
    }
    return status;
}

/* ---- the rows ---- */

static ee_status number_name(vocabulary *names, field name, uint32_t *number, ee_error *error)
{
    size_t place = 0;
    name = field_trim(name);
    ee_status status = vocabulary_add(names, name.text, name.length, &place, error);
    *number = (uint32_t)place;
    return status;
}

static ee_status read_value(rating_reader *reader, double *value, ee_error *error)
{
    const row_reader *rows = &reader->rows;
    const field *from = &rows->fields[reader->columns[RATING_VALUE]];
    size_t place;
    if (!field_number(from, value))
        return rows_fail(
            rows, error, "expected a number for the rating, got '%.50s'%s", from->text,
            !isnan(cell_with_comma(&(cell){from->text, NAN})) ? ": write decimals with a point, such as 4.5" : "");
    if (fabs(*value) > largest)
        return rows_fail(rows, error, "expected a rating from -1e9 to 1e9, got '%.50s'", from->text);
    reader->whole = reader->whole && *value == floor(*value);
    if (reader->values.count > MOST_VALUES) return EE_OK;
    *value += 0.0; /* -0 is 0 */
    return vocabulary_add(&reader->values, (const char *)value, sizeof *value, &place, error);
}

static ee_status take_row(rating_reader *reader, ee_error *error)
{
    const row_reader *rows = &reader->rows;
    const size_t *columns = reader->columns;
    rating_list *list = reader->list;
    rating taken;
    for (size_t c = 0; c < RATING_COLUMNS; c++)
        if (rows->count <= columns[c])
            return rows_fail(rows, error, "expected user, item and rating, at least %zu fields, got %zu",
                             columns[c] < RATING_COLUMNS ? RATING_COLUMNS : columns[c] + 1, rows->count);
    ee_status status = read_value(reader, &taken.value, error);
    if (!status) status = memory_grow(NULL, &list->ratings, &list->capacity, list->count + 1, sizeof taken, error);
    if (!status) status = number_name(&list->users, rows->fields[columns[RATING_USER]], &taken.user, error);
    if (!status) status = number_name(&list->items, rows->fields[columns[RATING_ITEM]], &taken.item, error);
    if (status) return status;
    if (list->count == 0) list->lowest = list->highest = taken.value;
    list->lowest = fmin(list->lowest, taken.value);
    list->highest = fmax(list->highest, taken.value);
    list->ratings[list->count++] = taken;
    return EE_OK;
}

static ee_status read_rows(rating_reader *reader, ee_error *error)
{
    bool found;
    const char *name = file_tail(reader->rows.file->path);
    ee_status status = rows_next(&reader->rows, &found, error);
    if (!status && !found)
        status =
            status_fail(error, EE_BAD_INPUT, "%s: expected rows of user, item and rating, got an empty file", name);
    if (!status) status = settle_columns(reader, error);
    if (!status && reader->header) status = rows_next(&reader->rows, &found, error);
    if (!status && !found)
        status = status_fail(error, EE_BAD_INPUT, "%s: expected ratings below the header, got none", name);
    while (!status && found) {
        status = take_row(reader, error);
        if (!status) status = rows_next(&reader->rows, &found, error);
    }
    return status;
}

/* ---- the survey ---- */

static ee_status report_columns(const rating_reader *reader, survey *seen, ee_error *error)
{
    const rating_list *list = reader->list;
    const size_t distinct[RATING_COLUMNS] = {list->users.count, list->items.count,
                                             reader->values.count > MOST_VALUES ? 0 : reader->values.count};
    ee_status status = EE_OK;
    for (size_t i = 0; i < reader->width && !status; i++) {
        char name[100];
        survey_column column = {.name = name, .kind = SURVEY_IGNORED, .low = 1};
        field title = field_trim(reader->first_row[i]);
        if (reader->header)
            snprintf(name, sizeof name, "%.*s", (int)title.length, title.text);
        else
            snprintf(name, sizeof name, "%zu", i + 1);
        for (int role = 0; role < RATING_COLUMNS; role++) {
            if (reader->columns[role] != i) continue;
            column.kind = role == RATING_VALUE ? SURVEY_LABEL : SURVEY_CATEGORICAL;
            column.distinct = distinct[role];
            if (role == RATING_VALUE) column.low = list->lowest, column.high = list->highest;
        }
        status = survey_add_column(seen, &column, error);
    }
    return status;
}

/* Perhaps a matrix with a row per user, or another wide file without a header. */
static ee_status remark_matrix(const rating_reader *reader, survey *seen, ee_error *error)
{
    for (int role = 0; role < RATING_COLUMNS; role++)
        if (!is_auto(reader, role)) return EE_OK;
    if (reader->header || reader->width <= USUAL_WIDTH) return EE_OK;
    return survey_remark(seen, error,
                         "a row has %zu fields, and the first three were read as user, item and rating; " MATRIX_ADVICE,
                         reader->width);
}

/* A column that never repeats a value holds neither users nor items. */
static ee_status remark_single(const rating_reader *reader, int role, size_t distinct, survey *seen, ee_error *error)
{
    enum { FEW = 20 };
    if (distinct < reader->list->count || distinct < FEW) return EE_OK;
    return survey_remark(seen, error,
                         "column %zu, read as the %s, has a different value in every row; name another with %s=COLUMN",
                         reader->columns[role] + 1, roles[role], roles[role]);
}

/* Perhaps times or item numbers. Only for whole numbers, because some rating scales are continuous. */
static ee_status remark_values(const rating_reader *reader, survey *seen, ee_error *error)
{
    if (!reader->whole || reader->values.count <= MOST_VALUES) return EE_OK;
    return survey_remark(seen, error,
                         "column %zu, read as the rating, has more than %d different whole numbers, %.10g to %.10g; "
                         "name another with rating=COLUMN",
                         reader->columns[RATING_VALUE] + 1, MOST_VALUES, reader->list->lowest, reader->list->highest);
}

static ee_status report(const rating_reader *reader, survey *seen, ee_error *error)
{
    const rating_list *list = reader->list;
    ee_status status = report_columns(reader, seen, error);
    if (!status) status = survey_add_number(seen, "ratings", (double)list->count, error);
    if (!status) status = survey_add_number(seen, "users", (double)list->users.count, error);
    if (!status) status = survey_add_number(seen, "items", (double)list->items.count, error);
    if (!status) status = remark_matrix(reader, seen, error);
    if (!status) status = remark_single(reader, RATING_USER, list->users.count, seen, error);
    if (!status) status = remark_single(reader, RATING_ITEM, list->items.count, seen, error);
    if (!status) status = remark_values(reader, seen, error);
    return status;
}

ee_status rating_list_read(source *file, const char *owner, const char *const columns[RATING_COLUMNS], survey *seen,
                           rating_list *out, ee_error *error)
{
    rows_fix_line_ends(file);
    rating_reader reader = {
        .rows = rows_start(file, NULL), .owner = owner, .wanted = columns, .whole = true, .list = out};
    ee_status status = read_rows(&reader, error);
    if (!status) status = report(&reader, seen, error);
    rows_release(&reader.rows);
    vocabulary_release(&reader.values);
    memory_free(reader.first_row);
    return status;
}
