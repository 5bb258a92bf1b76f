/* News articles, of which one of ten is fake (the Disin rounds of the EE-Net paper, section 5), from a CSV of labels
 * and texts. A round has ten arms: nine real articles and a fake one, at a random position. The fake one has reward 1,
 * the others 0. An article is a vector of length 1:
 *
 *     by default     its TF-IDF weights (text_features.h), projected onto the first singular vectors of all articles'
 *                    weights: latent semantic analysis (Deerwester et al., 1990)
 *     vectors=FILE   the mean of its words' vectors, weighted by TF-IDF
 *
 * An article without any known word is a vector of zeros. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/files/cache.h"
#include "data/files/column_names.h"
#include "data/kind/pool.h"
#include "data/ratings/truncated_svd.h"
#include "text_features.h"
#include "word_vectors.h"

/* Version of the cached pools: raise it when the same files and options give different vectors. */
enum { CACHE_VERSION = 3 };

typedef struct disin_options {
    char label[OPTION_TEXT_SIZE];
    char text[OPTION_TEXT_SIZE];
    char vectors[OPTION_TEXT_SIZE];
    int64_t dim;
    int64_t min_df;
    int64_t max_words;
} disin_options;

/* 300 dimensions as in the paper. A word in only one article says nothing about the others. */
static const option entries[] = {
    OPTION_ROW_TEXT(disin_options, label, "label", "auto", "auto|COLUMN",
                    "label column (values 1 or fake, 0 or real); auto: named fake or label"),
    OPTION_ROW_TEXT(disin_options, text, "text", "text", "COLUMN", "text column"),
    OPTION_ROW_TEXT(disin_options, vectors, "vectors", "none", "none|PATH, at most 95 characters",
                    "word vectors (.vec or word2vec binary); none: TF-IDF with SVD"),
    OPTION_ROW_INTEGER(disin_options, dim, "dim", "300", 1, 65536,
                       "number of singular vectors, at most the number of articles or words"),
    OPTION_ROW_INTEGER(disin_options, min_df, "min_df", "2", 1, 1e9,
                       "smallest number of articles a word must occur in"),
    OPTION_ROW_INTEGER(disin_options, max_words, "max_words", "30000", 1, 1e7,
                       "size of the vocabulary: the words in the most articles"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("disin", groups, disin_options, NULL);

/* ---- the articles ---- */

typedef struct articles {
    field *texts; /* (count) in the file's bytes */
    bool *fake;   /* (count) */
    size_t count, texts_capacity, fake_capacity;
} articles;

typedef struct columns {
    size_t label, text;
    size_t count;         /* of a row */
    bool label_says_fake; /* its name is "fake": there "true" is a fake article, elsewhere a true one */
} columns;

static ee_status find_label(const row_reader *rows, const column_names *names, const char *wanted, size_t *column,
                            ee_error *error)
{
    if (strcmp(wanted, "auto") != 0) return column_find(names, "label", wanted, column, error);
    *column = column_by_name(names, "fake");
    if (*column == SIZE_MAX) *column = column_by_name(names, "label");
    if (*column != SIZE_MAX) return EE_OK;
    return rows_fail(rows, error, "expected a header with a column 'fake' or 'label'; use label=COLUMN for another");
}

static ee_status report_columns(const row_reader *rows, const columns *where, survey *seen, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < rows->count && !status; i++) {
        survey_kind kind = i == where->label ? SURVEY_LABEL : i == where->text ? SURVEY_TEXT : SURVEY_IGNORED;
        survey_column column = {.name = rows->fields[i].text, .kind = kind, .low = 1};
        status = survey_add_column(seen, &column, error);
    }
    return status;
}

static ee_status read_header(row_reader *rows, const disin_options *options, columns *out, survey *seen,
                             ee_error *error)
{
    bool found;
    ee_status status = rows_next(rows, &found, error);
    if (!status && !found)
        status = status_fail(error, EE_BAD_INPUT, "%s: expected a header and rows, got an empty file",
                             file_tail(rows->file->path));
    column_names names = {schema.owner, rows->file->path, rows->fields, rows->count, true};
    if (!status) status = find_label(rows, &names, options->label, &out->label, error);
    if (!status) status = column_find(&names, "text", options->text, &out->text, error);
    if (status) return status;
    if (out->label == out->text)
        return status_fail(error, EE_BAD_OPTION, "disin: label and text are both column %zu", out->text + 1);
    field label = field_trim(rows->fields[out->label]);
    out->count = rows->count;
    out->label_says_fake = label.length == strlen("fake") && strncasecmp(label.text, "fake", label.length) == 0;
    return report_columns(rows, out, seen, error);
}

static ee_status read_label(const row_reader *rows, const columns *where, bool *fake, ee_error *error)
{
    const char *label = rows->fields[where->label].text;
    label += strspn(label, " ");
    bool is_true = strcasecmp(label, "true") == 0, is_false = strcasecmp(label, "false") == 0;
    *fake = strcmp(label, "1") == 0 || strcasecmp(label, "fake") == 0 || (where->label_says_fake ? is_true : is_false);
    if (*fake || is_true || is_false || strcmp(label, "0") == 0 || strcasecmp(label, "real") == 0) return EE_OK;
    return rows_fail(rows, error, "expected the label 0 or real, 1 or fake, true or false, got '%.40s'", label);
}

static ee_status read_article(const row_reader *rows, const columns *where, articles *into, ee_error *error)
{
    if (rows->count != where->count)
        return rows_fail(rows, error, "expected %zu fields as in the header, got %zu", where->count, rows->count);
    size_t count = into->count + 1;
    ee_status status = memory_grow(NULL, &into->texts, &into->texts_capacity, count, sizeof *into->texts, error);
    if (!status) status = memory_grow(NULL, &into->fake, &into->fake_capacity, count, sizeof *into->fake, error);
    if (!status) status = read_label(rows, where, &into->fake[into->count], error);
    if (status) return status;
    into->texts[into->count++] = rows->fields[where->text];
    return EE_OK;
}

/* The texts point into the file, which must outlive them. */
static ee_status read_articles(source *file, const disin_options *options, articles *out, survey *seen, ee_error *error)
{
    columns where = {0};
    bool found = true;
    rows_fix_line_ends(file);
    row_reader rows = rows_start(file, NULL);
    ee_status status = read_header(&rows, options, &where, seen, error);
    while (!status && found) {
        status = rows_next(&rows, &found, error);
        if (!status && found) status = read_article(&rows, &where, out, error);
    }
    if (!status && out->count == 0)
        status =
            status_fail(error, EE_BAD_INPUT, "%s: expected articles below the header, got none", file_tail(file->path));
    rows_release(&rows);
    return status;
}

/* ---- their vectors ---- */

/* to = from, scaled to length 1; zeros if from is only rounding error. Both are (count). */
static void scale_to_one(const double *from, size_t count, float *to)
{
    const double shortest = 1e-9; /* rows of weights have length 1, and their projections seldom less than 0.1 */
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += from[i] * from[i];
    double length = sqrt(squares);
    for (size_t i = 0; i < count; i++) to[i] = length < shortest ? 0 : (float)(from[i] / length);
}

static ee_status project(const text_features *features, size_t dim, pool_dataset *pool, ee_error *error)
{
    pool_table *out = &pool->tables[0];
    sparse_matrix matrix = {features->texts, features->words.count, features->starts, features->indices,
                            features->values};
    if (dim > matrix.rows) dim = matrix.rows;
    if (dim > matrix.columns) dim = matrix.columns;
    double *left = NULL, *values = NULL;
    ee_status status = memory_create(NULL, &left, matrix.rows * dim, sizeof *left, error);
    if (!status) status = memory_create(NULL, &values, dim, sizeof *values, error);
    if (!status) status = memory_create(&pool->head.owner, &out->values, matrix.rows * dim, sizeof *out->values, error);
    if (!status) status = truncated_svd(&matrix, dim, left, values, NULL, error);
    if (status) goto done;
    out->rows = matrix.rows;
    out->columns = dim;
    for (size_t row = 0; row < matrix.rows; row++) {
        for (size_t i = 0; i < dim; i++) left[row * dim + i] *= values[i];
        scale_to_one(left + row * dim, dim, out->values + row * dim);
    }
done:
    memory_free(left);
    memory_free(values);
    return status;
}

static ee_status average(const text_features *features, const source *file, pool_dataset *pool, ee_error *error)
{
    pool_table *out = &pool->tables[0];
    word_vectors vectors;
    double *sum = NULL;
    ee_status status = word_vectors_read(file, &features->words, &vectors, error);
    size_t dim = vectors.dim;
    if (!status) status = memory_create(NULL, &sum, dim, sizeof *sum, error);
    if (!status)
        status = memory_create(&pool->head.owner, &out->values, features->texts * dim, sizeof *out->values, error);
    if (status) goto done;
    out->rows = features->texts;
    out->columns = dim;
    for (size_t row = 0; row < features->texts; row++) {
        memset(sum, 0, dim * sizeof *sum);
        for (size_t e = features->starts[row]; e < features->starts[row + 1]; e++) {
            const float *vector = vectors.values + features->indices[e] * dim;
            for (size_t i = 0; i < dim; i++) sum[i] += (double)features->values[e] * (double)vector[i];
        }
        scale_to_one(sum, dim, out->values + row * dim);
    }
done:
    memory_free(sum);
    word_vectors_release(&vectors);
    return status;
}

/* ---- the pool ---- */

static ee_status fill_entries(const articles *from, pool_dataset *pool, ee_error *error)
{
    ee_status status = pool_reserve(pool, from->count, error);
    for (size_t i = 0; i < from->count && !status; i++) pool_add(pool, (pool_entry){{(uint32_t)i}}, from->fake[i]);
    return status;
}

static ee_status report_pool(survey *seen, const pool_dataset *pool, size_t words, ee_error *error)
{
    for (size_t i = 0; i < seen->column_count; i++)
        if (seen->columns[i].kind == SURVEY_TEXT) seen->columns[i].features = pool->tables[0].columns;
    ee_status status = survey_add_number(seen, "articles", (double)pool->tables[0].rows, error);
    if (!status) status = survey_add_number(seen, "words", (double)words, error);
    if (!status) status = survey_add_class(seen, "real", pool->ordinary_count, error);
    if (!status) status = survey_add_class(seen, "fake, the reward", pool->wanted_count, error);
    return status;
}

/* vectors has no bytes without such a file. */
static ee_status prepare(source *file, source *vectors, const disin_options *options, survey *seen, pool_dataset *pool,
                         ee_error *error)
{
    articles all = {0};
    text_features features = {0};
    ee_status status = source_unpack(file, error);
    if (!status) status = read_articles(file, options, &all, seen, error);
    if (!status)
        status = text_features_create(all.texts, all.count, (size_t)options->min_df, (size_t)options->max_words,
                                      &features, error);
    if (!status && features.words.count == 0)
        status = status_fail(error, EE_BAD_INPUT, "disin: %s: no word occurs in %lld articles or more; lower min_df=N",
                             file_tail(file->path), (long long)options->min_df);
    if (!status && vectors->bytes) {
        status = source_unpack(vectors, error);
        if (!status) status = average(&features, vectors, pool, error);
    } else if (!status) {
        status = project(&features, (size_t)options->dim, pool, error);
    }
    if (!status) status = fill_entries(&all, pool, error);
    if (!status) status = pool_finish(pool, file_tail(file->path), error);
    if (!status) status = report_pool(seen, pool, features.words.count, error);
    text_features_release(&features);
    memory_free(all.texts);
    memory_free(all.fake);
    return status;
}

/* Reads it from the cache, or prepares it and stores it there. On failure *out may be set. */
static ee_status find_or_prepare(const dataset_request *request, uint64_t fingerprint, source *file, source *vectors,
                                 const disin_options *options, pool_dataset **out, ee_error *error)
{
    char text[1024];
    options_format(&schema, options, text, sizeof text);
    uint64_t key = cache_key(fingerprint, CACHE_VERSION, text);
    *out = pool_read_cache(request->cache, schema.owner, key, request->survey);
    if (*out) return EE_OK;
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (!status) status = prepare(file, vectors, options, request->survey, *out, error);
    if (!status) pool_write_cache(*out, request->survey, request->keep_in, schema.owner, key);
    return status;
}

static ee_status disin_open(const dataset_request *request, dataset **out, ee_error *error)
{
    disin_options options;
    options_set_defaults(&schema, &options);
    ee_status status = options_parse_once(&schema, request->options, &options, error);
    if (status) return status;
    uint64_t fingerprint = 0;
    source file = {0}, vectors = {0};
    pool_dataset *pool = NULL;
    status = source_load(NULL, request->place, &fingerprint, &file, error);
    if (!status && strcmp(options.vectors, "none") != 0)
        status = source_load(NULL, options.vectors, &fingerprint, &vectors, error);
    if (!status) status = find_or_prepare(request, fingerprint, &file, &vectors, &options, &pool, error);
    source_release(&file);
    source_release(&vectors);
    if (pool) pool->head.fingerprint = fingerprint;
    *out = (dataset *)pool;
    return status;
}

const dataset_kind dataset_disin = {
    .name = "disin",
    .form = "disin:FILE[,OPTION=VALUE...]",
    .summary = "labelled news articles; a round has nine real ones and one fake one, which has the reward",
    .options = &schema,
    .open = disin_open,
    .start = pool_start,
    .next = pool_next,
};
