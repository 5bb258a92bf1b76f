#define _POSIX_C_SOURCE 200809L
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/kind/kind.h"
#include "kind_guess.h"

static const dataset_kind *const kinds[] = {
    &dataset_synthetic, &dataset_clicks,  &dataset_mnist, &dataset_fashion_mnist, &dataset_yelp,
    &dataset_movielens, &dataset_ratings, &dataset_disin, &dataset_table,         &dataset_prepared};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Whether text is of this kind, by its first word. A kind that is a form of another, as "synthetic:clicks", has its
 * place in its name. */
static bool is_of_kind(const char *text, const char *name)
{
    size_t length = strcspn(text, strchr(name, ':') ? "," : ":,");
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* A word with a colon is meant as a kind, and one without as a place. */
static void fail_no_kind(const char *text, const char *word, const char *nearest, ee_error *error)
{
    char meant[160];
    size_t length = strcspn(text, ":,");
    bool colon = text[length] == ':';
    if (colon && nearest)
        status_fail(error, EE_BAD_OPTION, "data set: unknown kind '%s'; did you mean '%s'?", word, nearest);
    else if (kind_guess(text, meant, sizeof meant))
        status_fail(error, EE_BAD_OPTION, "data set: expected KIND:PLACE; did you mean '%s'?", meant);
    else if (nearest)
        status_fail(error, EE_BAD_OPTION, "data set: unknown kind '%s'; did you mean '%s'?", word, nearest);
    else
        status_fail(error, EE_BAD_OPTION, "data set: unknown kind '%.*s'; 'eenet datasets' lists the kinds",
                    (int)(length < 100 ? length : 100), text);
}

/* NULL, with an error, if text names none. */
static const dataset_kind *find_kind(const char *text, ee_error *error)
{
    const char *names[KINDS];
    char word[32] = "";
    size_t length = strcspn(text, ":,"), found = KINDS;
    if (length < sizeof word) memcpy(word, text, length);
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i]->name;
        if (is_of_kind(text, names[i]) && (found == KINDS || strchr(names[i], ':'))) found = i;
    }
    if (found < KINDS) return kinds[found];
    fail_no_kind(text, word, options_nearest(word, names, KINDS), error);
    return NULL;
}

/* The parsed text. */
typedef struct parts {
    char *copy; /* of the text, cut into the parts below */
    const char *place;
    const char *options;
} parts;

static ee_status take_apart(const char *text, const dataset_kind *kind, parts *out, ee_error *error)
{
    ee_status status = memory_create(NULL, &out->copy, strlen(text) + 1, 1, error);
    if (status) return status;
    strcpy(out->copy, text);
    char *rest = out->copy + strlen(kind->name); /* at the colon, the comma or the end */
    char *options = options_find(rest);
    if (options) *options++ = '\0';
    out->place = *rest == ':' ? rest + 1 : "";
    out->options = options ? options : "";
    if (!out->place[0] && kind->default_place) out->place = kind->default_place;
    if (!out->place[0]) return status_fail(error, EE_BAD_OPTION, "data set: expected %s", kind->form);
    if (out->options[0] && !kind->options)
        return status_fail(error, EE_BAD_OPTION, "data set: %s has no options, got '%.100s'", kind->name, out->options);
    return EE_OK;
}

/* A folder given to a kind that takes a file, or the reverse, probably belongs to another kind. */
static ee_status check_place(const dataset_kind *kind, const char *place, ee_error *error)
{
    bool takes_file = strstr(kind->form, "FILE") != NULL, takes_folder = strstr(kind->form, "DIR") != NULL;
    struct stat about;
    char meant[120], advice[160] = "";
    if (takes_file == takes_folder || stat(place, &about) != 0) return EE_OK;
    bool folder = S_ISDIR(about.st_mode);
    if (folder ? takes_folder : takes_file || !S_ISREG(about.st_mode)) return EE_OK;
    if (kind_guess(place, meant, sizeof meant)) snprintf(advice, sizeof advice, "; did you mean '%s'?", meant);
    return status_fail(error, EE_FILE_ERROR, "%s: %s is a %s, expected a %s%s", kind->name, file_tail(place),
                       folder ? "folder" : "file", folder ? "file" : "folder", advice);
}

static bool is_utf8(const char *text)
{
    return json_is_utf8((json_text){text, strlen(text)});
}

/* Results are JSON, which is UTF-8. */
static ee_status check_name(const char *name, ee_error *error)
{
    if (is_utf8(name)) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "data set: the file name and the options must be UTF-8, because results contain them");
}

/* "table:shuttle,label=target" of "table:DIR/shuttle.tsv.gz,label=target". */
static ee_status make_name(const dataset_kind *kind, const parts *from, char **out, ee_error *error)
{
    size_t capacity = strlen(kind->name) + strlen(from->place) + strlen(from->options) + 3;
    ee_status status = memory_create(NULL, out, capacity, 1, error);
    if (status) return status;
    const char *end = from->place + strlen(from->place);
    while (end > from->place + 1 && end[-1] == '/') end--;
    const char *start = end;
    while (start > from->place && start[-1] != '/') start--;
    size_t length = (size_t)(end - start), stem = 0;
    while (stem < length && (stem == 0 || start[stem] != '.')) stem++;
    if (!kind->named_by_place) stem = 0;
    snprintf(*out, capacity, "%s%s%.*s%s%s", kind->name, stem ? ":" : "", (int)stem, start, from->options[0] ? "," : "",
             from->options);
    return check_name(*out, error);
}

/* The parts of a request that are not in the text. */
typedef struct surroundings {
    const char *cache, *keep_in;
    const table_cells *cells;
} surroundings;

static void close_data(const dataset_kind *kind, dataset *data)
{
    if (kind->close)
        kind->close(data);
    else
        memory_release(&data->owner);
}

static ee_status open_kind(const dataset_kind *kind, const char *text, const surroundings *beside, dataset **out,
                           ee_error *error)
{
    parts from = {0};
    char *copy = NULL, *name = NULL;
    survey *seen = NULL;
    ee_status status = take_apart(text, kind, &from, error);
    if (!status) status = make_name(kind, &from, &name, error);
    if (!status) status = memory_create(NULL, &copy, strlen(text) + 1, 1, error);
    if (!status) status = survey_create(&seen, error);
    if (!status && !beside->cells) status = check_place(kind, from.place, error);
    dataset_request request = {from.place, from.options, beside->cache, beside->keep_in, beside->cells, seen};
    if (!status) status = kind->open(&request, out, error);
    memory_free(from.copy);
    if (status) {
        if (*out) close_data(kind, *out);
        *out = NULL;
        memory_free(name);
        memory_free(copy);
        survey_free(seen);
        return status;
    }
    strcpy(copy, text);
    (*out)->kind = kind;
    (*out)->text = copy;
    (*out)->name = name;
    (*out)->reopens = (*out)->fingerprint && !beside->cells && is_utf8(text);
    (*out)->survey = seen;
    return EE_OK;
}

static ee_status open_files(const char *text, const surroundings *beside, dataset **out, ee_error *error)
{
    *out = NULL;
    const dataset_kind *kind = find_kind(text, error);
    return kind ? open_kind(kind, text, beside, out, error) : EE_BAD_OPTION;
}

ee_status dataset_open(const char *text, const char *cache, dataset **out, ee_error *error)
{
    return open_files(text, &(surroundings){.cache = cache, .keep_in = cache}, out, error);
}

ee_status dataset_open_reading(const char *text, const char *cache, dataset **out, ee_error *error)
{
    return open_files(text, &(surroundings){.cache = cache}, out, error);
}

ee_status dataset_open_cells(const char *text, const table_cells *cells, dataset **out, ee_error *error)
{
    *out = NULL;
    return open_kind(&dataset_table, text, &(surroundings){.cells = cells}, out, error);
}

void dataset_free(dataset *data)
{
    if (!data) return;
    memory_free(data->text);
    memory_free(data->name);
    survey_free(data->survey);
    close_data(data->kind, data);
}

const char *dataset_text(const dataset *data)
{
    return data->text;
}

const char *dataset_source(const dataset *data)
{
    return data->reopens ? data->text : NULL;
}

const char *dataset_name(const dataset *data)
{
    return data->name;
}

uint64_t dataset_fingerprint(const dataset *data)
{
    return data->fingerprint;
}

size_t dataset_dim(const dataset *data)
{
    return data->dim;
}

size_t dataset_arms(const dataset *data)
{
    return data->arms;
}

size_t dataset_blocks(const dataset *data)
{
    return data->blocks ? data->blocks : 1;
}

bool dataset_exclusive(const dataset *data)
{
    return data->exclusive;
}

uint64_t dataset_rounds(const dataset *data)
{
    return data->rounds;
}

uint64_t dataset_rows(const dataset *data)
{
    return data->rows;
}

const survey *dataset_survey(const dataset *data)
{
    return data->survey;
}

const row_encoding *dataset_row_encoding(const dataset *data)
{
    return data->encoding;
}

ee_status environment_create(const dataset *data, uint64_t seed, environment **out, ee_error *error)
{
    *out = NULL;
    ee_status status = data->kind->start(data, seed, out, error);
    if (!status) {
        (*out)->kind = data->kind;
        return EE_OK;
    }
    environment_free(*out);
    *out = NULL;
    return status;
}

void environment_free(environment *world)
{
    if (world) memory_release(&world->owner);
}

ee_status environment_next(environment *world, environment_round *round, ee_error *error)
{
    return world->kind->next(world, round, error);
}

static ee_status fail_past_last(size_t index, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "data set: expected a kind below %d, got %zu", KINDS, index);
}

ee_status dataset_describe(size_t index, dataset_info *info, ee_error *error)
{
    if (index >= KINDS) return fail_past_last(index, error);
    *info = (dataset_info){kinds[index]->name, kinds[index]->form, kinds[index]->summary};
    return EE_OK;
}

ee_status dataset_option_describe(size_t index, size_t option_index, ee_option *description, ee_error *error)
{
    if (index >= KINDS) return fail_past_last(index, error);
    const option_schema *schema = kinds[index]->options;
    if (!schema) return status_fail(error, EE_BAD_INPUT, "data set: %s has no options", kinds[index]->name);
    void *defaults;
    ee_status status = memory_create(NULL, &defaults, 1, schema->size, error);
    if (status) return status;
    options_set_defaults(schema, defaults);
    status = options_describe(schema, defaults, option_index, description, error);
    memory_free(defaults);
    return status;
}
