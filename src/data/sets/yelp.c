/* The Yelp rounds of the EE-Net paper (section 5), from its derived files:
 *
 *     yelp_2000users_10000items_entry.npy      (entries, 3): user, item, +1 rated well or -1 rated badly
 *     yelp_2000users_10000items_features.npy   (users, 10)
 *     yelp_10000items_2000users_features.npy   (items, 10)
 *
 * A pool (pool.h) whose wanted entries are the bad ratings; an arm is the features of the entry's user followed by
 * those of its item. Each file may be gzip, with .gz after its name. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "data/files/npy.h"
#include "data/files/source.h"
#include "data/kind/pool.h"

enum { ENTRY_COLUMNS = 3, USERS = 0, ITEMS = 1 };

static const char entry_file[] = "yelp_2000users_10000items_entry.npy";
static const char user_file[] = "yelp_2000users_10000items_features.npy";
static const char item_file[] = "yelp_10000items_2000users_features.npy";

static ee_status read_file(const char *folder, const char *name, uint64_t *fingerprint, npy_array *array,
                           ee_error *error)
{
    *array = (npy_array){0};
    source file;
    ee_status status = source_load(folder, name, fingerprint, &file, error);
    if (!status) status = source_unpack(&file, error);
    if (!status) status = npy_parse(file.bytes, file.size, file.path, array, error);
    source_release(&file);
    return status;
}

static ee_status read_features(const char *folder, const char *name, pool_dataset *pool, int which, ee_error *error)
{
    npy_array array;
    pool_table *into = &pool->tables[which];
    ee_status status = read_file(folder, name, &pool->head.fingerprint, &array, error);
    if (!status) status = npy_expect_table(&array, 0, false, name, error);
    if (!status) status = memory_create(&pool->head.owner, &into->values, array.count, sizeof *into->values, error);
    if (status) goto done;
    into->rows = array.shape[0];
    into->columns = array.shape[1];
    for (size_t i = 0; i < array.count; i++) {
        into->values[i] = (float)npy_real(&array, i);
        if (isfinite(into->values[i])) continue;
        status = status_fail(error, EE_BAD_INPUT, "yelp: %s, row %zu, column %zu: expected a finite number, got %g",
                             name, i / into->columns, i % into->columns, npy_real(&array, i));
        goto done;
    }
done:
    npy_release(&array);
    return status;
}

static ee_status check_place(int64_t place, size_t rows, size_t row, const char *what, ee_error *error)
{
    if (place >= 0 && (uint64_t)place < rows) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "yelp: %s, row %zu: the %s must be 0 to %zu, got %" PRId64, entry_file, row,
                       what, rows - 1, place);
}

static ee_status take_entry(pool_dataset *pool, const npy_array *array, size_t row, ee_error *error)
{
    int64_t user = npy_whole(array, row * ENTRY_COLUMNS);
    int64_t item = npy_whole(array, row * ENTRY_COLUMNS + 1);
    int64_t rating = npy_whole(array, row * ENTRY_COLUMNS + 2);
    ee_status status = check_place(user, pool->tables[USERS].rows, row, "user", error);
    if (!status) status = check_place(item, pool->tables[ITEMS].rows, row, "item", error);
    if (status) return status;
    if (rating != 1 && rating != -1)
        return status_fail(error, EE_BAD_INPUT, "yelp: %s, row %zu: the rating must be 1 or -1, got %" PRId64,
                           entry_file, row, rating);
    pool_add(pool, (pool_entry){{(uint32_t)user, (uint32_t)item}}, rating < 0);
    return EE_OK;
}

static ee_status read_entries(const char *folder, pool_dataset *pool, ee_error *error)
{
    npy_array array;
    ee_status status = read_file(folder, entry_file, &pool->head.fingerprint, &array, error);
    if (!status) status = npy_expect_table(&array, ENTRY_COLUMNS, true, entry_file, error);
    if (status) goto done;
    size_t rows = array.shape[0];
    status = pool_reserve(pool, rows, error);
    for (size_t row = 0; row < rows && !status; row++) status = take_entry(pool, &array, row, error);
    if (!status && (pool->ordinary_count < POOL_ORDINARY || pool->wanted_count < 1))
        status = status_fail(error, EE_BAD_INPUT,
                             "yelp: %s: expected at least %d entries rated 1 and one rated -1, got %zu and %zu",
                             entry_file, POOL_ORDINARY, pool->ordinary_count, pool->wanted_count);
done:
    npy_release(&array);
    return status;
}

static ee_status report(const pool_dataset *pool, survey *seen, ee_error *error)
{
    ee_status status = survey_add_number(seen, "users", (double)pool->tables[USERS].rows, error);
    if (!status) status = survey_add_number(seen, "items", (double)pool->tables[ITEMS].rows, error);
    if (!status) status = survey_add_class(seen, "rated well", pool->ordinary_count, error);
    if (!status) status = survey_add_class(seen, "rated badly, the reward", pool->wanted_count, error);
    return status;
}

static ee_status yelp_open(const dataset_request *request, dataset **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(pool_dataset), error);
    if (status) return status;
    pool_dataset *pool = (pool_dataset *)*out;
    status = read_features(request->place, user_file, pool, USERS, error);
    if (!status) status = read_features(request->place, item_file, pool, ITEMS, error);
    if (!status) status = read_entries(request->place, pool, error);
    if (!status) status = pool_finish(pool, entry_file, error);
    return status ? status : report(pool, request->survey, error);
}

const dataset_kind dataset_yelp = {
    .name = "yelp",
    .form = "yelp:DIR",
    .summary = "the EE-Net paper's Yelp files; a round has nine well rated items and one badly rated one, which has "
               "the reward",
    .open = yelp_open,
    .start = pool_start,
    .next = pool_next,
};
