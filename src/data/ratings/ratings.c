/* Ratings of items by users (rating_list.h) as a pool (pool.h) of good and bad ratings; either can be the wanted ones.
 * The protocol follows the EE-Net paper for MovieLens (section 5), in which bad ratings are wanted.
 *
 * The users and items with the most ratings are kept; ties go to the first in the file. Of several ratings of a pair
 * the last counts. The ratings become a matrix: +1 above `good`, -1 below `bad`; the others are left out. The features
 * of a user are its row of the left singular vectors for the largest singular values, scaled to length 1, with a 1
 * appended, all divided by sqrt 2; the features of an item are its row of the right ones. A row of zeros stays zero. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/files/cache.h"
#include "data/files/rows.h"
#include "data/kind/pool.h"
#include "rating_matrix.h"
#include "truncated_svd.h"

/* Version of the cached pools: raise it when the same file and options give a different pool. */
enum { CACHE_VERSION = 3 };

enum { WANT_GOOD, WANT_BAD };

/* ---- options ---- */

typedef struct ratings_options {
    int64_t users, items;
    char good[OPTION_TEXT_SIZE], bad[OPTION_TEXT_SIZE];
    int64_t features;
    option_choice want;
    char columns[RATING_COLUMNS][OPTION_TEXT_SIZE];
} ratings_options;

/* The paper's numbers. `auto` is a quarter of the file's scale from either end: 4 and 2 of one to five stars. */
static const option entries[] = {
    OPTION_ROW_INTEGER(ratings_options, users, "users", "2000", 1, 1e6,
                       "how many users to keep: the ones with the most ratings"),
    OPTION_ROW_INTEGER(ratings_options, items, "items", "10000", 1, 1e6,
                       "how many items to keep: the ones with the most ratings"),
    OPTION_ROW_TEXT(ratings_options, good, "good", "auto", "auto|NUMBER",
                    "ratings above it are good; auto: 3/4 of the file's scale"),
    OPTION_ROW_TEXT(ratings_options, bad, "bad", "auto", "auto|NUMBER",
                    "ratings below it are bad; auto: 1/4 of the file's scale"),
    OPTION_ROW_INTEGER(ratings_options, features, "features", "10", 2, 1000,
                       "features per user and per item: N-1 singular vectors and a constant"),
    OPTION_ROW_CHOICE(ratings_options, want, "want", "bad", "good|bad",
                      "which ratings have the reward; a round has one of them and nine of the others"),
    OPTION_ROW_TEXT(ratings_options, columns[RATING_USER], "user", "auto", "auto|COLUMN",
                    "user column; auto: userId, user or user_id; without a header, the first"),
    OPTION_ROW_TEXT(ratings_options, columns[RATING_ITEM], "item", "auto", "auto|COLUMN",
                    "item column; auto: movieId, item, itemId, item_id or movie; without a header, the second"),
    OPTION_ROW_TEXT(ratings_options, columns[RATING_VALUE], "rating", "auto", "auto|COLUMN",
                    "rating column; auto: rating or score; without a header, the third"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group ratings_groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema ratings_schema = OPTION_SCHEMA("ratings", ratings_groups, ratings_options, NULL);
static const option_group movielens_groups[] = {OPTION_GROUP_OWN(entry_table, NULL, .defaults = "good=4 bad=2")};
static const option_schema movielens_schema = OPTION_SCHEMA("movielens", movielens_groups, ratings_options, NULL);

/* ---- the pool ---- */

static ee_status make_entries(const rating_matrix *matrix, bool want_bad, pool_dataset *pool, ee_error *error)
{
    ee_status status = pool_reserve(pool, matrix->starts[matrix->users], error);
    for (size_t user = 0; user < matrix->users && !status; user++)
        for (size_t i = matrix->starts[user]; i < matrix->starts[user + 1]; i++)
            pool_add(pool, (pool_entry){{(uint32_t)user, matrix->indices[i]}}, (matrix->values[i] < 0) == want_bad);
    return status;
}

/* vectors is (rows, columns - 1). */
static ee_status make_features(const double *vectors, size_t rows, size_t columns, pool_dataset *pool, int which,
                               ee_error *error)
{
    pool_table *out = &pool->tables[which];
    /* A user or item that has nothing to do with these vectors has only what rounding and the end of the iteration left
     * there. */
    const double nothing = 1e-9;
    *out = (pool_table){NULL, rows, columns};
    ee_status status = memory_create(&pool->head.owner, &out->values, rows * columns, sizeof *out->values, error);
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

static ee_status decompose(const rating_matrix *from, size_t features, pool_dataset *pool, ee_error *error)
{
    sparse_matrix matrix = {from->users, from->items, from->starts, from->indices, from->values};
    size_t rank = features - 1, users = from->users, items = from->items;
    double *left = NULL, *right = NULL;
    ee_status status = memory_create(NULL, &left, users * rank, sizeof *left, error);
    if (!status) status = memory_create(NULL, &right, items * rank, sizeof *right, error);
    if (!status) status = truncated_svd(&matrix, rank, left, NULL, right, error);
    if (!status) status = make_features(left, users, features, pool, RATING_USER, error);
    if (!status) status = make_features(right, items, features, pool, RATING_ITEM, error);
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

/* Above good a rating is good, below bad it is bad. */
typedef struct limits {
    double good, bad;
} limits;

static ee_status parse_limits(const option_schema *schema, const ratings_options *options, const rating_list *list,
                              limits *out, ee_error *error)
{
    double quarter = (list->highest - list->lowest) / 4;
    ee_status status = parse_limit(schema, "good", options->good, list->highest - quarter, &out->good, error);
    if (!status) status = parse_limit(schema, "bad", options->bad, list->lowest + quarter, &out->bad, error);
    if (!status && out->good < out->bad)
        status = status_fail(error, EE_BAD_OPTION, "%s: good must be at least bad, got %g and %g", schema->owner,
                             out->good, out->bad);
    return status;
}

/* Whether a round and the vectors can be had. Where the columns look like others, that is why they cannot. */
static ee_status check_size(const source *file, const ratings_options *options, const limits *by,
                            const rating_matrix *matrix, const pool_dataset *pool, const survey *seen, ee_error *error)
{
    const char *name = file_tail(file->path);
    size_t ordinary = pool->ordinary_count, wanted = pool->wanted_count;
    bool want_bad = options->want.pick == WANT_BAD, enough = ordinary >= POOL_ORDINARY && wanted > 0;
    size_t least = (size_t)options->features - 1;
    if (enough && matrix->users >= least && matrix->items >= least) return EE_OK;
    if (seen->remark_count) return status_fail(error, EE_BAD_INPUT, "%s: %s", name, seen->remarks[0]);
    if (!enough)
        return status_fail(
            error, EE_BAD_INPUT,
            "%s: expected at least %d ratings above %g and %d below %g by the %zu users kept, got %zu and %zu", name,
            want_bad ? POOL_ORDINARY : 1, by->good, want_bad ? 1 : POOL_ORDINARY, by->bad, matrix->users,
            want_bad ? ordinary : wanted, want_bad ? wanted : ordinary);
    return status_fail(error, EE_BAD_INPUT, "%s: features=%lld needs at least %zu users and items, got %zu and %zu",
                       name, (long long)options->features, least, matrix->users, matrix->items);
}

static ee_status report_class(survey *seen, const char *side, double limit, size_t count, bool wanted, ee_error *error)
{
    char name[80];
    snprintf(name, sizeof name, "rated %s %g%s", side, limit, wanted ? ", the reward" : "");
    return survey_add_class(seen, name, count, error);
}

static ee_status report_pool(survey *seen, const rating_matrix *matrix, const limits *by, bool want_bad,
                             const pool_dataset *pool, ee_error *error)
{
    size_t ordinary = pool->ordinary_count, wanted = pool->wanted_count;
    for (size_t i = 0; i < seen->column_count; i++)
        if (seen->columns[i].kind == SURVEY_CATEGORICAL) seen->columns[i].features = pool->tables[0].columns;
    ee_status status = survey_add_number(seen, "users taken", (double)matrix->users, error);
    if (!status) status = survey_add_number(seen, "items taken", (double)matrix->items, error);
    if (!status) status = report_class(seen, "above", by->good, want_bad ? ordinary : wanted, !want_bad, error);
    if (!status) status = report_class(seen, "below", by->bad, want_bad ? wanted : ordinary, want_bad, error);
    return status;
}

static ee_status read_list(source *file, const option_schema *schema, const ratings_options *options, survey *seen,
                           rating_list *list, ee_error *error)
{
    const char *columns[RATING_COLUMNS];
    for (int i = 0; i < RATING_COLUMNS; i++) columns[i] = options->columns[i];
    return rating_list_read(file, schema->owner, columns, seen, list, error);
}

static ee_status prepare(source *file, const option_schema *schema, const ratings_options *options, survey *seen,
                         pool_dataset *pool, ee_error *error)
{
    rating_list list = {0};
    rating_matrix matrix = {0};
    limits by = {0};
    bool want_bad = options->want.pick == WANT_BAD;
    ee_status status = read_list(file, schema, options, seen, &list, error);
    if (!status) status = parse_limits(schema, options, &list, &by, error);
    if (!status)
        status =
            rating_matrix_make(&list, (size_t)options->users, (size_t)options->items, by.good, by.bad, &matrix, error);
    if (!status) status = make_entries(&matrix, want_bad, pool, error);
    if (!status) status = check_size(file, options, &by, &matrix, pool, seen, error);
    if (!status) status = decompose(&matrix, (size_t)options->features, pool, error);
    if (!status) status = pool_finish(pool, file_tail(file->path), error);
    if (!status) status = report_pool(seen, &matrix, &by, want_bad, pool, error);
    rating_matrix_release(&matrix);
    rating_list_release(&list);
    return status;
}

/* folder may be NULL */
static ee_status open_file(const dataset_request *request, const option_schema *schema, const char *folder,
                           const char *name, dataset **out, ee_error *error)
{
    ratings_options options;
    options_set_defaults(schema, &options);
    ee_status status = options_parse_once(schema, request->options, &options, error);
    if (status) return status;
    char text[8 * OPTION_TEXT_SIZE]; /* large enough for all options: a truncated text would give a wrong key */
    options_format(schema, &options, text, sizeof text);
    source file;
    uint64_t fingerprint = 0;
    status = source_load(folder, name, &fingerprint, &file, error);
    if (status) return status;
    uint64_t key = cache_key(fingerprint, CACHE_VERSION, text);
    pool_dataset *pool = pool_read_cache(request->cache, schema->owner, key, request->survey);
    if (!pool) {
        status = source_unpack(&file, error);
        if (!status) status = memory_create_owner(NULL, &pool, sizeof *pool, error);
        if (!status) status = prepare(&file, schema, &options, request->survey, pool, error);
        if (!status) pool_write_cache(pool, request->survey, request->keep_in, schema->owner, key);
    }
    source_release(&file);
    if (pool) pool->head.fingerprint = fingerprint;
    *out = (dataset *)pool;
    return status;
}

static ee_status ratings_open(const dataset_request *request, dataset **out, ee_error *error)
{
    return open_file(request, &ratings_schema, NULL, request->place, out, error);
}

static ee_status movielens_open(const dataset_request *request, dataset **out, ee_error *error)
{
    static const char *const names[] = {"ratings.csv", "ratings.dat", "u.data"};
    struct stat about;
    if (stat(request->place, &about) != 0 || !S_ISDIR(about.st_mode))
        return open_file(request, &movielens_schema, NULL, request->place, out, error);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool found;
        ee_status status = source_find(request->place, names[i], &found, error);
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
    .summary = "GroupLens ratings, any release; a round has nine well rated items and one badly rated one, which has "
               "the reward",
    .options = &movielens_schema,
    .open = movielens_open,
    .start = pool_start,
    .next = pool_next,
};

const dataset_kind dataset_ratings = {
    .name = "ratings",
    .form = "ratings:FILE[,OPTION=VALUE...]",
    .summary = "rows of user, item and rating; a round has nine well rated items and one badly rated one, which has "
               "the reward",
    .options = &ratings_schema,
    .named_by_place = true,
    .open = ratings_open,
    .start = pool_start,
    .next = pool_next,
};
