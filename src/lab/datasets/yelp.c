/* The Yelp rounds of the EE-Net paper (section 5), from its derived files:
 *
 *     yelp_2000users_10000items_entry.npy      (entries, 3): user, item, +1 rated well or -1 rated badly
 *     yelp_2000users_10000items_features.npy   (users, 10)
 *     yelp_10000items_2000users_features.npy   (items, 10)
 *
 * A round has ten arms: nine entries rated well and one rated badly, at a random position. The one rated badly has
 * reward 1, the others 0. An arm is the features of the entry's user followed by those of its item. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "kind.h"
#include "npy.h"

enum { ARMS = 10, GOOD_ARMS = ARMS - 1, ENTRY_COLUMNS = 3 };

static const char entry_file[] = "yelp_2000users_10000items_entry.npy";
static const char user_file[] = "yelp_2000users_10000items_features.npy";
static const char item_file[] = "yelp_10000items_2000users_features.npy";

typedef struct entry {
    uint32_t user, item;
} entry;

typedef struct features {
    float *values; /* (rows, columns) */
    size_t rows, columns;
} features;

typedef struct yelp_dataset {
    dataset head;
    features users, items;
    entry *good; /* (good_count) */
    entry *bad;  /* (bad_count) */
    size_t good_count, bad_count;
} yelp_dataset;

typedef struct yelp_environment {
    environment head;
    const yelp_dataset *data;
    random_stream rounds;
    float *arms; /* (ARMS, dim) */
    double rewards[ARMS];
} yelp_environment;

/* ---- the files ---- */

static ee_status read_file(const char *folder, const char *name, npy_array *array, ee_error *error)
{
    char *path;
    size_t size = strlen(folder) + strlen(name) + 2;
    ee_status status = memory_create(&path, size, 1, error);
    if (status) return status;
    snprintf(path, size, "%s/%s", folder, name);
    status = npy_read(path, array, error);
    memory_free(path);
    return status;
}

static ee_status read_features(const char *folder, const char *name, features *into, ee_error *error)
{
    npy_array array;
    ee_status status = read_file(folder, name, &array, error);
    if (!status) status = npy_expect_table(&array, 0, false, name, error);
    if (!status) status = memory_create(&into->values, array.count, sizeof *into->values, error);
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

static ee_status take_entry(yelp_dataset *data, const npy_array *array, size_t row, ee_error *error)
{
    int64_t user = npy_whole(array, row * ENTRY_COLUMNS);
    int64_t item = npy_whole(array, row * ENTRY_COLUMNS + 1);
    int64_t rating = npy_whole(array, row * ENTRY_COLUMNS + 2);
    ee_status status = check_place(user, data->users.rows, row, "user", error);
    if (!status) status = check_place(item, data->items.rows, row, "item", error);
    if (status) return status;
    if (rating != 1 && rating != -1)
        return status_fail(error, EE_BAD_INPUT, "yelp: %s, row %zu: the rating must be 1 or -1, got %" PRId64,
                           entry_file, row, rating);
    entry taken = {(uint32_t)user, (uint32_t)item};
    if (rating > 0)
        data->good[data->good_count++] = taken;
    else
        data->bad[data->bad_count++] = taken;
    return EE_OK;
}

static ee_status read_entries(const char *folder, yelp_dataset *data, ee_error *error)
{
    npy_array array;
    ee_status status = read_file(folder, entry_file, &array, error);
    if (!status) status = npy_expect_table(&array, ENTRY_COLUMNS, true, entry_file, error);
    if (status) goto done;
    size_t rows = array.shape[0];
    status = memory_create(&data->good, rows, sizeof *data->good, error);
    if (!status) status = memory_create(&data->bad, rows, sizeof *data->bad, error);
    for (size_t row = 0; row < rows && !status; row++) status = take_entry(data, &array, row, error);
    if (!status && (data->good_count < GOOD_ARMS || data->bad_count < 1))
        status = status_fail(error, EE_BAD_INPUT,
                             "yelp: %s: expected at least %d entries rated 1 and one rated -1, got %zu and %zu",
                             entry_file, GOOD_ARMS, data->good_count, data->bad_count);
done:
    npy_release(&array);
    return status;
}

static void yelp_close(dataset *base)
{
    yelp_dataset *data = (yelp_dataset *)base;
    memory_free(data->users.values);
    memory_free(data->items.values);
    memory_free(data->good);
    memory_free(data->bad);
    memory_free(data);
}

static ee_status yelp_open(const char *folder, dataset **out, ee_error *error)
{
    yelp_dataset *data;
    ee_status status = memory_create(&data, 1, sizeof *data, error);
    if (status) return status;
    status = read_features(folder, user_file, &data->users, error);
    if (!status) status = read_features(folder, item_file, &data->items, error);
    if (!status) status = read_entries(folder, data, error);
    if (status) {
        yelp_close(&data->head);
        return status;
    }
    data->head.dim = data->users.columns + data->items.columns;
    *out = &data->head;
    return EE_OK;
}

/* ---- the rounds ---- */

static void yelp_stop(environment *base)
{
    yelp_environment *world = (yelp_environment *)base;
    memory_free(world->arms);
    memory_free(world);
}

static ee_status yelp_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    yelp_environment *world;
    ee_status status = memory_create(&world, 1, sizeof *world, error);
    if (status) return status;
    world->data = (const yelp_dataset *)base;
    world->rounds = random_named(seed, "rounds");
    status = memory_create(&world->arms, ARMS * base->dim, sizeof *world->arms, error);
    if (status) {
        yelp_stop(&world->head);
        return status;
    }
    *out = &world->head;
    return EE_OK;
}

/* Draws again what was drawn already: nine of tens of thousands seldom meet. picks is (GOOD_ARMS). */
static void draw_distinct(random_stream *stream, size_t below, size_t *picks)
{
    for (size_t count = 0; count < GOOD_ARMS;) {
        picks[count] = (size_t)random_below(stream, below);
        bool fresh = true;
        for (size_t i = 0; i < count; i++) fresh = fresh && picks[i] != picks[count];
        if (fresh) count++;
    }
}

static void fill_arm(const yelp_dataset *data, const entry *from, float *arm)
{
    size_t users = data->users.columns, items = data->items.columns;
    memcpy(arm, data->users.values + from->user * users, users * sizeof *arm);
    memcpy(arm + users, data->items.values + from->item * items, items * sizeof *arm);
}

static ee_status yelp_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    yelp_environment *world = (yelp_environment *)base;
    const yelp_dataset *data = world->data;
    size_t dim = data->head.dim, picks[GOOD_ARMS];
    size_t position = (size_t)random_below(&world->rounds, ARMS);
    const entry *bad = &data->bad[random_below(&world->rounds, data->bad_count)];
    draw_distinct(&world->rounds, data->good_count, picks);
    for (size_t arm = 0, pick = 0; arm < ARMS; arm++) {
        const entry *from = arm == position ? bad : &data->good[picks[pick++]];
        fill_arm(data, from, world->arms + arm * dim);
        world->rewards[arm] = arm == position ? 1.0 : 0.0;
    }
    *round = (environment_round){ee_arms_dense(world->arms, ARMS, dim), world->rewards, world->rewards};
    return EE_OK;
}

const dataset_kind dataset_yelp = {
    .name = "yelp",
    .form = "yelp:DIR",
    .summary = "the EE-Net paper's Yelp files: nine well rated entries and a badly rated one to be found",
    .open = yelp_open,
    .close = yelp_close,
    .start = yelp_start,
    .next = yelp_next,
    .stop = yelp_stop,
};
