/* Ratings of items by users: a pool (pool.h) of what was rated well and what was rated badly, which is wanted. The
 * protocol is that of the EE-Net paper for MovieLens (section 5).
 *
 * A file has a row for each rating: user, item, rating and perhaps more, as CSV with or without a header (ratings.csv),
 * with "::" between the fields (ratings.dat) or with tabs (u.data). Of the users and of the items, those with most
 * ratings are taken; where two have as many, the one that the file names first. A pair that was rated twice has its
 * last rating. Ratings of those users for those items are the entries of a matrix: +1 above `good`, -1 below `bad`; the
 * others are left out. The features of a user are its row of the left singular vectors for the largest singular values,
 * made to have length 1, with a 1 appended, all divided by sqrt 2; those of an item are its row of the right ones. A
 * row of zeros stays one. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache.h"
#include "pool.h"
#include "rows.h"
#include "truncated_svd.h"
#include "vocabulary.h"

/* The version of what the cache has: raise it when the same file and options come to give another pool. */
enum { CACHE_VERSION = 2 };

enum { USER, ITEM, RATING, COLUMNS };

/* ---- options ---- */

typedef struct ratings_options {
    int64_t users, items;
    char good[OPTION_TEXT_SIZE], bad[OPTION_TEXT_SIZE];
    int64_t features;
} ratings_options;

/* The paper's numbers. `auto` is a quarter of the file's scale from either end: 4 and 2 of one to five stars. */
static const option entries[] = {
    OPTION_ROW_INTEGER(ratings_options, users, "users", "2000", 1, 1e6, "users with most ratings that are taken"),
    OPTION_ROW_INTEGER(ratings_options, items, "items", "10000", 1, 1e6, "items with most ratings that are taken"),
    OPTION_ROW_TEXT(ratings_options, good, "good", "auto", "a number or auto",
                    "ratings above it are good; auto: three quarters up the file's scale"),
    OPTION_ROW_TEXT(ratings_options, bad, "bad", "auto", "a number or auto",
                    "ratings below it are bad; auto: a quarter up the file's scale"),
    OPTION_ROW_INTEGER(ratings_options, features, "features", "10", 2, 1000,
                       "features of a user and of an item: one less singular vectors, and a constant"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group ratings_groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema ratings_schema = OPTION_SCHEMA("ratings", ratings_groups, ratings_options, NULL);
static const option_group movielens_groups[] = {OPTION_GROUP_OWN(entry_table, NULL, .defaults = "good=4 bad=2")};
static const option_schema movielens_schema = OPTION_SCHEMA("movielens", movielens_groups, ratings_options, NULL);

/* ---- the file ---- */

typedef struct rating {
    uint32_t user, item;
    double value;
} rating;

typedef struct rating_list {
    vocabulary users, items;
    rating *ratings; /* (count) as the file has them, then by user */
    size_t count, capacity;
    double lowest, highest;
} rating_list;

static void release_list(rating_list *list)
{
    vocabulary_release(&list->users);
    vocabulary_release(&list->items);
    memory_free(list->ratings);
}

static ee_status number_name(vocabulary *names, field name, uint32_t *number, ee_error *error)
{
    size_t place = 0;
    while (name.length && *name.text == ' ') name.text++, name.length--;
    while (name.length && name.text[name.length - 1] == ' ') name.length--;
    ee_status status = vocabulary_add(names, name.text, name.length, &place, error);
    *number = (uint32_t)place;
    return status;
}

/* Where the first row is a header, columns become those that it names. */
static ee_status read_header(const row_reader *rows, size_t columns[COLUMNS], bool *header, ee_error *error)
{
    static const char *const names[COLUMNS][5] = {
        {"userId", "user", "user_id"}, {"movieId", "item", "itemId", "item_id", "movie"}, {"rating", "score"}};
    double number;
    size_t found[COLUMNS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, known = 0;
    *header = rows->count >= COLUMNS && !field_number(&rows->fields[RATING], &number);
    if (!*header) return EE_OK;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t n = 0; n < 5 && names[c][n] && found[c] == SIZE_MAX; n++)
                if (strcasecmp(rows->fields[i].text, names[c][n]) == 0) found[c] = i, known++;
    if (known < COLUMNS)
        return rows_fail(rows, error,
                         "expected a number for the rating, or a header with userId, movieId and rating (or user, "
                         "item and rating), got '%.20s'",
                         rows->fields[RATING].text);
    memcpy(columns, found, sizeof found);
    return EE_OK;
}

static ee_status take_row(rating_list *list, const row_reader *rows, const size_t columns[COLUMNS], ee_error *error)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (rows->count <= columns[c])
            return rows_fail(rows, error, "expected user, item and rating, at least %zu fields, got %zu",
                             columns[c] < COLUMNS ? COLUMNS : columns[c] + 1, rows->count);
    const field *value = &rows->fields[columns[RATING]];
    rating taken;
    if (!field_number(value, &taken.value))
        return rows_fail(rows, error, "expected a number for the rating, got '%.50s'", value->text);
    ee_status status = memory_grow(NULL, &list->ratings, &list->capacity, list->count + 1, sizeof taken, error);
    if (!status) status = number_name(&list->users, rows->fields[columns[USER]], &taken.user, error);
    if (!status) status = number_name(&list->items, rows->fields[columns[ITEM]], &taken.item, error);
    if (status) return status;
    if (list->count == 0) list->lowest = list->highest = taken.value;
    list->lowest = fmin(list->lowest, taken.value);
    list->highest = fmax(list->highest, taken.value);
    list->ratings[list->count++] = taken;
    return EE_OK;
}

static ee_status read_ratings(source *file, rating_list *list, ee_error *error)
{
    row_reader rows = rows_start(file, NULL);
    size_t columns[COLUMNS] = {USER, ITEM, RATING};
    bool found, header = false;
    ee_status status = rows_next(&rows, &found, error);
    if (!status && found) status = read_header(&rows, columns, &header, error);
    if (!status && header) status = rows_next(&rows, &found, error);
    while (!status && found) {
        status = take_row(list, &rows, columns, error);
        if (!status) status = rows_next(&rows, &found, error);
    }
    if (!status && list->count == 0)
        status = status_fail(error, EE_BAD_INPUT, "%s: expected rows of user, item and rating, got none",
                             file_tail(file->path));
    rows_release(&rows);
    return status;
}

/* ---- who is taken ---- */

/* Those with most ratings. */
typedef struct selection {
    uint32_t *numbers; /* (count) by falling count of ratings */
    uint32_t *places;  /* (all) where a number stands in numbers; count where it does not */
    size_t count;
} selection;

static void release_selection(selection *taken)
{
    memory_free(taken->numbers);
    memory_free(taken->places);
}

/* Sorts by user, in the file's order of a user's ratings, and takes out all but the last of each pair. starts (users +
 * 1) becomes where each user's begin. */
static ee_status sort_ratings(rating_list *list, size_t *starts, ee_error *error)
{
    rating *sorted = NULL;
    uint32_t *rated_by = NULL; /* (items) 1 + the last user whose rating of the item was seen */
    size_t kept = 0, users = list->users.count;
    ee_status status = memory_create(NULL, &sorted, list->count, sizeof *sorted, error);
    if (!status) status = memory_create(NULL, &rated_by, list->items.count, sizeof *rated_by, error);
    if (status) goto done;
    for (size_t i = 0; i < list->count; i++) starts[list->ratings[i].user + 1]++;
    for (size_t u = 0; u < users; u++) starts[u + 1] += starts[u];
    /* From the last to the first; each moves its user's end down, so that in the end starts are starts again. */
    for (size_t i = list->count; i-- > 0;) sorted[--starts[list->ratings[i].user + 1]] = list->ratings[i];
    for (size_t u = 0; u < users; u++) starts[u] = starts[u + 1];
    starts[users] = list->count;
    for (size_t u = 0; u < users; u++) {
        size_t start = starts[u], end = starts[u + 1];
        starts[u] = kept;
        for (size_t i = end; i-- > start;) {
            if (rated_by[sorted[i].item] == u + 1) continue;
            rated_by[sorted[i].item] = (uint32_t)(u + 1);
            list->ratings[kept++] = sorted[i];
        }
    }
    starts[users] = list->count = kept;
done:
    memory_free(sorted);
    memory_free(rated_by);
    return status;
}

typedef struct tally {
    size_t ratings;
    uint32_t number;
} tally;

static int compare_tallies(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->ratings != y->ratings) return x->ratings > y->ratings ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* which is USER or ITEM */
static ee_status select_most_rated(const rating_list *list, int which, size_t most, selection *out, ee_error *error)
{
    size_t all = which == USER ? list->users.count : list->items.count;
    tally *tallies = NULL;
    out->count = all < most ? all : most;
    ee_status status = memory_create(NULL, &tallies, all, sizeof *tallies, error);
    if (!status) status = memory_create(NULL, &out->numbers, out->count, sizeof *out->numbers, error);
    if (!status) status = memory_create(NULL, &out->places, all, sizeof *out->places, error);
    if (status) goto done;
    for (size_t i = 0; i < all; i++) tallies[i].number = (uint32_t)i;
    for (size_t i = 0; i < list->count; i++)
        tallies[which == USER ? list->ratings[i].user : list->ratings[i].item].ratings++;
    qsort(tallies, all, sizeof *tallies, compare_tallies);
    for (size_t i = 0; i < all; i++) out->places[tallies[i].number] = (uint32_t)(i < out->count ? i : out->count);
    for (size_t i = 0; i < out->count; i++) out->numbers[i] = tallies[i].number;
done:
    memory_free(tallies);
    return status;
}

/* ---- the matrix ---- */

typedef struct sign_matrix {
    size_t *starts;    /* (users + 1) */
    uint32_t *indices; /* (starts[users]) */
    float *values;     /* (starts[users]) 1 or -1 */
} sign_matrix;

static void release_matrix(sign_matrix *matrix)
{
    memory_free(matrix->starts);
    memory_free(matrix->indices);
    memory_free(matrix->values);
}

static int compare_items(const void *a, const void *b)
{
    const rating *x = a, *y = b;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* list is by user, starts are where each begins; its items' numbers become their places. */
static ee_status make_matrix(rating_list *list, const size_t *starts, const selection *users, const selection *items,
                             double good, double bad, sign_matrix *out, ee_error *error)
{
    size_t count = 0;
    ee_status status = memory_create(NULL, &out->starts, users->count + 1, sizeof *out->starts, error);
    if (!status) status = memory_create(NULL, &out->indices, list->count, sizeof *out->indices, error);
    if (!status) status = memory_create(NULL, &out->values, list->count, sizeof *out->values, error);
    if (status) return status;
    for (size_t i = 0; i < list->count; i++) list->ratings[i].item = items->places[list->ratings[i].item];
    for (size_t place = 0; place < users->count; place++) {
        size_t user = users->numbers[place];
        rating *own = list->ratings + starts[user];
        size_t own_count = starts[user + 1] - starts[user];
        qsort(own, own_count, sizeof *own, compare_items);
        for (size_t i = 0; i < own_count && own[i].item < items->count; i++) {
            if (own[i].value <= good && own[i].value >= bad) continue;
            out->indices[count] = own[i].item;
            out->values[count++] = own[i].value > good ? 1.0f : -1.0f;
        }
        out->starts[place + 1] = count;
    }
    return EE_OK;
}

static ee_status make_entries(const sign_matrix *matrix, size_t users, pool_dataset *pool, ee_error *error)
{
    ee_status status = pool_reserve(pool, matrix->starts[users], error);
    for (size_t user = 0; user < users && !status; user++)
        for (size_t i = matrix->starts[user]; i < matrix->starts[user + 1]; i++)
            pool_add(pool, (pool_entry){{(uint32_t)user, matrix->indices[i]}}, matrix->values[i] < 0);
    return status;
}

/* vectors is (rows, columns - 1). */
static ee_status make_features(const double *vectors, size_t rows, size_t columns, pool_table *out, ee_error *error)
{
    /* A user or item that has nothing to do with these vectors has only what rounding and the end of the iteration left
     * there. */
    const double nothing = 1e-9;
    *out = (pool_table){NULL, rows, columns};
    ee_status status = memory_create(NULL, &out->values, rows * columns, sizeof *out->values, error);
    for (size_t row = 0; row < rows && !status; row++) {
        const double *from = vectors + row * (columns - 1);
        float *to = out->values + row * columns;
        double squares = 0;
        for (size_t i = 0; i + 1 < columns; i++) squares += from[i] * from[i];
        for (size_t i = 0; i + 1 < columns && squares > nothing * nothing; i++)
            to[i] = (float)(from[i] / sqrt(2 * squares));
        to[columns - 1] = (float)sqrt(0.5);
    }
    return status;
}

static ee_status decompose(const sign_matrix *from, size_t users, size_t items, size_t features, pool_dataset *pool,
                           ee_error *error)
{
    sparse_matrix matrix = {users, items, from->starts, from->indices, from->values};
    size_t rank = features - 1;
    double *left = NULL, *right = NULL;
    ee_status status = memory_create(NULL, &left, users * rank, sizeof *left, error);
    if (!status) status = memory_create(NULL, &right, items * rank, sizeof *right, error);
    if (!status) status = truncated_svd(&matrix, rank, left, NULL, right, error);
    if (!status) status = make_features(left, users, features, &pool->tables[USER], error);
    if (!status) status = make_features(right, items, features, &pool->tables[ITEM], error);
    memory_free(left);
    memory_free(right);
    return status;
}

/* ---- opening ---- */

static ee_status parse_limit(const option_schema *schema, const char *name, const char *text, double fallback,
                             double *limit, ee_error *error)
{
    field whole = {text, strlen(text)};
    *limit = fallback;
    if (strcmp(text, "auto") == 0 || field_number(&whole, limit)) return EE_OK;
    return status_fail(error, EE_BAD_OPTION, "%s: %s must be a number or auto, got '%s'", schema->owner, name, text);
}

static ee_status parse_limits(const option_schema *schema, const ratings_options *options, const rating_list *list,
                              double *good, double *bad, ee_error *error)
{
    double quarter = (list->highest - list->lowest) / 4;
    ee_status status = parse_limit(schema, "good", options->good, list->highest - quarter, good, error);
    if (!status) status = parse_limit(schema, "bad", options->bad, list->lowest + quarter, bad, error);
    if (!status && *good < *bad)
        status = status_fail(error, EE_BAD_OPTION, "%s: good must be at least bad, got %g and %g", schema->owner, *good,
                             *bad);
    return status;
}

/* What the data set is, in the words of its options, where a round or the vectors cannot be had from it. */
static ee_status check_size(const source *file, const ratings_options *options, size_t users, size_t items, double good,
                            double bad, const pool_dataset *pool, ee_error *error)
{
    if (pool->ordinary_count < POOL_ORDINARY || pool->wanted_count < 1)
        return status_fail(error, EE_BAD_INPUT,
                           "%s: expected at least %d ratings above %g and one below %g by the %zu users taken, got %zu "
                           "and %zu",
                           file_tail(file->path), POOL_ORDINARY, good, bad, users, pool->ordinary_count,
                           pool->wanted_count);
    if (users + 1 < (size_t)options->features || items + 1 < (size_t)options->features)
        return status_fail(
            error, EE_BAD_INPUT, "%s: features=%lld takes at least %lld users and items, got %zu and %zu",
            file_tail(file->path), (long long)options->features, (long long)options->features - 1, users, items);
    return EE_OK;
}

static ee_status prepare(source *file, const option_schema *schema, const ratings_options *options, pool_dataset *pool,
                         ee_error *error)
{
    rating_list list = {0};
    selection users = {0}, items = {0};
    sign_matrix matrix = {0};
    size_t *starts = NULL;
    double good, bad;
    ee_status status = read_ratings(file, &list, error);
    if (!status) status = parse_limits(schema, options, &list, &good, &bad, error);
    if (!status) status = memory_create(NULL, &starts, list.users.count + 1, sizeof *starts, error);
    if (!status) status = sort_ratings(&list, starts, error);
    if (!status) status = select_most_rated(&list, USER, (size_t)options->users, &users, error);
    if (!status) status = select_most_rated(&list, ITEM, (size_t)options->items, &items, error);
    if (!status) status = make_matrix(&list, starts, &users, &items, good, bad, &matrix, error);
    if (!status) status = make_entries(&matrix, users.count, pool, error);
    if (!status) status = check_size(file, options, users.count, items.count, good, bad, pool, error);
    if (!status) status = decompose(&matrix, users.count, items.count, (size_t)options->features, pool, error);
    if (!status) status = pool_finish(pool, file_tail(file->path), error);
    memory_free(starts);
    release_matrix(&matrix);
    release_selection(&users);
    release_selection(&items);
    release_list(&list);
    return status;
}

/* folder may be NULL */
static ee_status open_file(const dataset_request *request, const option_schema *schema, const char *folder,
                           const char *name, dataset **out, ee_error *error)
{
    ratings_options options;
    options_set_defaults(schema, &options);
    ee_status status = options_parse(schema, request->options, &options, error);
    if (status) return status;
    char text[512];
    options_format(schema, &options, text, sizeof text);
    source file;
    uint64_t fingerprint = 0;
    status = source_load(folder, name, &fingerprint, &file, error);
    if (status) return status;
    uint64_t key = cache_key(fingerprint, CACHE_VERSION, text);
    pool_dataset *pool = pool_find_kept(request->cache, schema->owner, key);
    if (!pool) {
        status = source_unpack(&file, error);
        if (!status) status = memory_create(NULL, &pool, 1, sizeof *pool, error);
        if (!status) status = prepare(&file, schema, &options, pool, error);
        if (!status) pool_keep(pool, request->cache, schema->owner, key);
    }
    source_release(&file);
    if (status) {
        if (pool) pool_close(&pool->head);
        return status;
    }
    pool->head.fingerprint = fingerprint;
    *out = &pool->head;
    return EE_OK;
}

static ee_status ratings_open(const dataset_request *request, dataset **out, ee_error *error)
{
    return open_file(request, &ratings_schema, NULL, request->place, out, error);
}

/* Whether the folder has the file, packed or plain. */
static ee_status has_file(const char *folder, const char *name, bool *found, ee_error *error)
{
    char packed[32], *path = NULL;
    snprintf(packed, sizeof packed, "%s.gz", name);
    ee_status status = file_join(folder, packed, &path, error);
    if (status) return status;
    *found = access(path, F_OK) == 0;
    path[strlen(path) - strlen(".gz")] = '\0';
    *found = *found || access(path, F_OK) == 0;
    memory_free(path);
    return EE_OK;
}

static ee_status movielens_open(const dataset_request *request, dataset **out, ee_error *error)
{
    static const char *const names[] = {"ratings.csv", "ratings.dat", "u.data"};
    struct stat about;
    if (stat(request->place, &about) != 0 || !S_ISDIR(about.st_mode))
        return open_file(request, &movielens_schema, NULL, request->place, out, error);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool found;
        ee_status status = has_file(request->place, names[i], &found, error);
        if (status) return status;
        if (found) return open_file(request, &movielens_schema, request->place, names[i], out, error);
    }
    return status_fail(error, EE_FILE_ERROR,
                       "movielens: %s has no ratings.csv, ratings.dat or u.data, with or without .gz",
                       file_tail(request->place));
}

const dataset_kind dataset_movielens = {
    .name = "movielens",
    .form = "movielens:FILE|DIR[,OPTION=VALUE...]",
    .summary = "GroupLens' ratings, any release: nine well rated entries and a badly rated one to be found",
    .options = &movielens_schema,
    .open = movielens_open,
    .close = pool_close,
    .start = pool_start,
    .next = pool_next,
    .stop = pool_stop,
};

const dataset_kind dataset_ratings = {
    .name = "ratings",
    .form = "ratings:FILE[,OPTION=VALUE...]",
    .summary = "rows of user, item and rating: nine well rated entries and a badly rated one to be found",
    .options = &ratings_schema,
    .named_by_place = true,
    .open = ratings_open,
    .close = pool_close,
    .start = pool_start,
    .next = pool_next,
    .stop = pool_stop,
};
