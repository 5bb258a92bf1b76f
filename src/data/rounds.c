/* Prepared rounds, as `eenet rounds` or another program writes them: a folder of arrays (rounds_file.h). Dealt in their
 * order, whatever the seed.
 *
 * Required: rewards.npy, and contexts.npy or the three files of the sparse form. expected.npy may be left out where the
 * rewards are certain. rounds.json may be left out too, unless the form is sparse: the arrays cannot tell how many
 * features an arm has. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "kind.h"
#include "npy.h"
#include "rounds_file.h"

static const double largest = 1e9; /* of a feature or reward, as the library has it */

typedef struct rounds_dataset {
    dataset head;
    bool sparse;
    npy_array arrays[ROUNDS_ARRAYS]; /* those that there are not are empty */
    const npy_array *expected;       /* of arrays: the rewards where there are no other */
    size_t widest;                   /* sparse: values of the round that has most */
} rounds_dataset;

typedef struct rounds_environment {
    environment head;
    const rounds_dataset *data;
    size_t next;       /* round */
    float *values;     /* (arms, dim), or (widest) */
    size_t *starts;    /* (arms + 1) */
    uint32_t *indices; /* (widest) */
    double *rewards;   /* (arms) */
    double *expected;  /* (arms) */
} rounds_environment;

/* ---- the files ---- */

static ee_status find(const char *folder, const char *name, bool *found, ee_error *error)
{
    char *path;
    ee_status status = file_join(folder, name, &path, error);
    if (status) return status;
    *found = access(path, F_OK) == 0;
    memory_free(path);
    return EE_OK;
}

/* Says nothing where there is no such file. */
static ee_status read_description(const char *folder, rounds_file *out, ee_error *error)
{
    memset(out, 0, sizeof *out);
    char *path;
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = file_join(folder, "rounds.json", &path, error);
    if (status) return status;
    if (access(path, F_OK) != 0) goto done;
    status = file_read(path, &bytes, &size, error);
    if (!status) status = rounds_file_parse(bytes, size, path, out, error);
    memory_free(bytes);
done:
    memory_free(path);
    return status;
}

static ee_status find_form(const char *folder, rounds_form *form, ee_error *error)
{
    bool dense = *form == ROUNDS_DENSE, sparse = *form == ROUNDS_SPARSE;
    if (dense || sparse) return EE_OK;
    ee_status status = find(folder, rounds_array_names[ROUNDS_CONTEXTS], &dense, error);
    if (!status && !dense) status = find(folder, rounds_array_names[ROUNDS_VALUES], &sparse, error);
    if (status) return status;
    if (!dense && !sparse)
        return status_fail(error, EE_FILE_ERROR, "rounds: %s: %s", file_tail(folder),
                           access(folder, F_OK) ? strerror(errno) : "found neither contexts.npy nor values.npy");
    *form = dense ? ROUNDS_DENSE : ROUNDS_SPARSE;
    return EE_OK;
}

/* Reads an array, and sets *checksum to that of its file. */
static ee_status read_array(const char *folder, rounds_array which, const rounds_file *said, npy_array *into,
                            uint64_t *checksum, ee_error *error)
{
    char *path;
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = file_join(folder, rounds_array_names[which], &path, error);
    if (status) return status;
    status = file_read(path, &bytes, &size, error);
    if (status) goto done;
    *checksum = archive_checksum(bytes, size);
    if (said->listed[which] && *checksum != said->checksums[which])
        status = status_fail(error, EE_BAD_INPUT,
                             "rounds: %s is not the file that rounds.json speaks of: its checksum is %016" PRIx64
                             ", expected %016" PRIx64,
                             file_tail(path), *checksum, said->checksums[which]);
    else
        status = npy_parse(bytes, size, path, into, error);
done:
    memory_free(bytes);
    memory_free(path);
    return status;
}

/* ---- what is in them ---- */

/* "3, 17, 2": a shape, or the place of an entry. */
typedef struct place_text {
    char text[NPY_MOST_DIMENSIONS * 22];
} place_text;

static place_text format_place(const size_t *place, size_t rank)
{
    place_text out = {""};
    size_t used = 0;
    for (size_t i = 0; i < rank; i++)
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%zu", i ? ", " : "", place[i]);
    return out;
}

static place_text format_entry(const npy_array *array, size_t entry)
{
    size_t place[NPY_MOST_DIMENSIONS];
    for (size_t i = array->rank; i-- > 0; entry /= array->shape[i]) place[i] = entry % array->shape[i];
    return format_place(place, array->rank);
}

static ee_status expect_shape(const npy_array *array, const size_t *shape, size_t rank, const char *name,
                              ee_error *error)
{
    if (array->rank == rank && memcmp(array->shape, shape, rank * sizeof *shape) == 0) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "rounds: %s: expected the shape (%s), got (%s)", name,
                       format_place(shape, rank).text, format_place(array->shape, array->rank).text);
}

static ee_status expect_numbers(const npy_array *array, const char *name, ee_error *error)
{
    for (size_t i = 0; i < array->count; i++) {
        double number = npy_real(array, i);
        if (fabs(number) <= largest) continue; /* no NaN is */
        return status_fail(error, EE_BAD_INPUT, "rounds: %s, entry (%s): expected a number from -1e9 to 1e9, got %g",
                           name, format_entry(array, i).text, number);
    }
    return EE_OK;
}

static ee_status expect_wholes(const npy_array *array, const char *name, ee_error *error)
{
    if (array->rank == 1 && npy_is_whole(array->type)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "rounds: %s: expected one row of whole numbers, as int64, got (%s) of %s",
                       name, format_place(array->shape, array->rank).text, npy_type_name(array->type));
}

/* What rounds.json says against what the arrays are. */
static ee_status expect_said(const char *what, uint64_t said, uint64_t got, ee_error *error)
{
    if (!said || said == got) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "rounds: rounds.json says %" PRIu64 " %s, the arrays have %" PRIu64, said,
                       what, got);
}

static double least_reward(const npy_array *rewards)
{
    double least = 0;
    for (size_t i = 0; i < rewards->shape[0] * rewards->shape[1]; i++)
        if (!i || npy_real(rewards, i) < least) least = npy_real(rewards, i);
    return least;
}

static ee_status expect_exclusive(const npy_array *rewards, ee_error *error)
{
    size_t arms = rewards->shape[0], rounds = rewards->shape[1];
    double least = least_reward(rewards);
    for (size_t round = 0; round < rounds; round++) {
        size_t rewarded = 0;
        for (size_t arm = 0; arm < arms; arm++) rewarded += npy_real(rewards, arm * rounds + round) > least;
        if (rewarded > 1)
            return status_fail(error, EE_BAD_INPUT,
                               "rounds: rounds.json says exclusive, but %zu arms of round %zu have more than the least",
                               rewarded, round);
    }
    return EE_OK;
}

static ee_status check_rewards(rounds_dataset *data, const rounds_file *said, ee_error *error)
{
    const npy_array *rewards = &data->arrays[ROUNDS_REWARDS], *expected = &data->arrays[ROUNDS_EXPECTED];
    if (rewards->rank != 2 || rewards->count == 0)
        return status_fail(error, EE_BAD_INPUT, "rounds: rewards.npy: expected the shape (arms, rounds), got (%s)",
                           format_place(rewards->shape, rewards->rank).text);
    data->head.arms = rewards->shape[0];
    data->head.rounds = rewards->shape[1];
    data->expected = expected->data ? expected : rewards;
    ee_status status = expect_said("arms", said->arms, data->head.arms, error);
    if (!status) status = expect_said("rounds", said->rounds, data->head.rounds, error);
    if (!status) status = expect_shape(data->expected, rewards->shape, 2, "expected.npy", error);
    if (!status) status = expect_numbers(rewards, "rewards.npy", error);
    if (!status) status = expect_numbers(data->expected, "expected.npy", error);
    data->head.exclusive = said->exclusive;
    if (!status && said->exclusive) status = expect_exclusive(rewards, error);
    return status;
}

static ee_status check_dense(rounds_dataset *data, const rounds_file *said, ee_error *error)
{
    const npy_array *contexts = &data->arrays[ROUNDS_CONTEXTS];
    if (contexts->rank != 3 || contexts->count == 0 || contexts->shape[2] > UINT32_MAX)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: contexts.npy: expected the shape (arms, rounds, features), got (%s)",
                           format_place(contexts->shape, contexts->rank).text);
    data->head.dim = contexts->shape[2];
    size_t shape[3] = {data->head.arms, (size_t)data->head.rounds, data->head.dim};
    ee_status status = expect_said("features (dim)", said->dim, data->head.dim, error);
    if (!status) status = expect_shape(contexts, shape, 3, "contexts.npy", error);
    if (!status) status = expect_numbers(contexts, "contexts.npy", error);
    return status;
}

static ee_status check_row(const rounds_dataset *data, size_t row, ee_error *error)
{
    const npy_array *starts = &data->arrays[ROUNDS_STARTS], *indices = &data->arrays[ROUNDS_INDICES];
    int64_t start = npy_whole(starts, row), end = npy_whole(starts, row + 1), before = -1;
    if (start > end || end > (int64_t)indices->count)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: starts.npy, entry %zu: expected %" PRId64 " to %zu, got %" PRId64, row + 1, start,
                           indices->count, end);
    for (int64_t i = start; i < end; i++) {
        int64_t index = npy_whole(indices, (size_t)i);
        if (index <= before || index >= (int64_t)data->head.dim)
            return status_fail(error, EE_BAD_INPUT,
                               "rounds: indices.npy, entry %" PRId64 ": expected %" PRId64 " to %zu, got %" PRId64
                               ": they ascend within an arm and are below dim",
                               i, before + 1, data->head.dim - 1, index);
        before = index;
    }
    return EE_OK;
}

static ee_status check_sparse(rounds_dataset *data, const rounds_file *said, ee_error *error)
{
    const npy_array *values = &data->arrays[ROUNDS_VALUES], *indices = &data->arrays[ROUNDS_INDICES];
    const npy_array *starts = &data->arrays[ROUNDS_STARTS];
    size_t arms = data->head.arms, rows = arms * (size_t)data->head.rounds, boundaries = rows + 1;
    data->head.dim = said->dim;
    if (!said->dim)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: arms of the sparse form need a rounds.json with \"dim\", the features of an arm");
    ee_status status = expect_wholes(indices, "indices.npy", error);
    if (!status) status = expect_wholes(starts, "starts.npy", error);
    if (!status) status = expect_shape(values, indices->shape, 1, "values.npy", error);
    if (!status) status = expect_shape(starts, &boundaries, 1, "starts.npy", error);
    if (!status) status = expect_numbers(values, "values.npy", error);
    if (status) return status;
    if (npy_whole(starts, 0) != 0 || npy_whole(starts, rows) != (int64_t)values->count)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: starts.npy: expected 0 first and %zu, the values, last, got %" PRId64
                           " and %" PRId64,
                           values->count, npy_whole(starts, 0), npy_whole(starts, rows));
    for (size_t row = 0; row < rows && !status; row++) status = check_row(data, row, error);
    for (size_t row = 0; row < rows && !status; row += arms) {
        size_t width = (size_t)(npy_whole(starts, row + arms) - npy_whole(starts, row));
        if (width > data->widest) data->widest = width;
    }
    return status;
}

static ee_status check_blocks(rounds_dataset *data, const rounds_file *said, ee_error *error)
{
    data->head.blocks = said->blocks;
    if (!said->blocks || data->head.dim % said->blocks == 0) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "rounds: rounds.json says %zu blocks, but %zu features cannot be cut so",
                       said->blocks, data->head.dim);
}

/* ---- the data set ---- */

static void rounds_close(dataset *base)
{
    rounds_dataset *data = (rounds_dataset *)base;
    for (size_t i = 0; i < ROUNDS_ARRAYS; i++) npy_release(&data->arrays[i]);
    memory_free(data);
}

static ee_status read_arrays(const char *folder, rounds_dataset *data, rounds_file *said, ee_error *error)
{
    bool wanted[ROUNDS_ARRAYS] = {[ROUNDS_REWARDS] = true, [ROUNDS_EXPECTED] = said->listed[ROUNDS_EXPECTED]};
    uint64_t checksums[ROUNDS_ARRAYS] = {0};
    ee_status status = find_form(folder, &said->form, error);
    if (!status && !wanted[ROUNDS_EXPECTED])
        status = find(folder, rounds_array_names[ROUNDS_EXPECTED], &wanted[ROUNDS_EXPECTED], error);
    data->sparse = said->form == ROUNDS_SPARSE;
    wanted[ROUNDS_CONTEXTS] = !data->sparse;
    wanted[ROUNDS_VALUES] = wanted[ROUNDS_INDICES] = wanted[ROUNDS_STARTS] = data->sparse;
    for (rounds_array i = 0; i < ROUNDS_ARRAYS && !status; i++)
        if (wanted[i]) status = read_array(folder, i, said, &data->arrays[i], &checksums[i], error);
    data->head.fingerprint = archive_checksum((const uint8_t *)checksums, sizeof checksums);
    return status;
}

static ee_status rounds_open(const dataset_request *request, dataset **out, ee_error *error)
{
    rounds_dataset *data;
    rounds_file said;
    ee_status status = memory_create(NULL, &data, 1, sizeof *data, error);
    if (status) return status;
    status = read_description(request->place, &said, error);
    if (!status) status = read_arrays(request->place, data, &said, error);
    if (!status) status = check_rewards(data, &said, error);
    if (!status) status = data->sparse ? check_sparse(data, &said, error) : check_dense(data, &said, error);
    if (!status) status = check_blocks(data, &said, error);
    if (status) {
        rounds_close(&data->head);
        return status;
    }
    *out = &data->head;
    return EE_OK;
}

/* ---- the rounds ---- */

static void rounds_stop(environment *base)
{
    rounds_environment *world = (rounds_environment *)base;
    memory_free(world->values);
    memory_free(world->starts);
    memory_free(world->indices);
    memory_free(world->rewards);
    memory_free(world->expected);
    memory_free(world);
}

static ee_status rounds_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    (void)seed;
    const rounds_dataset *data = (const rounds_dataset *)base;
    size_t arms = base->arms, width = data->sparse ? data->widest : arms * base->dim;
    rounds_environment *world;
    ee_status status = memory_create(NULL, &world, 1, sizeof *world, error);
    if (status) return status;
    world->data = data;
    status = memory_create(NULL, &world->values, width, sizeof *world->values, error);
    if (!status) status = memory_create(NULL, &world->starts, arms + 1, sizeof *world->starts, error);
    if (!status) status = memory_create(NULL, &world->indices, data->widest, sizeof *world->indices, error);
    if (!status) status = memory_create(NULL, &world->rewards, arms, sizeof *world->rewards, error);
    if (!status) status = memory_create(NULL, &world->expected, arms, sizeof *world->expected, error);
    if (status) {
        rounds_stop(&world->head);
        return status;
    }
    *out = &world->head;
    return EE_OK;
}

static ee_arms gather_dense(rounds_environment *world)
{
    const npy_array *contexts = &world->data->arrays[ROUNDS_CONTEXTS];
    size_t arms = world->data->head.arms, dim = world->data->head.dim, rounds = contexts->shape[1];
    for (size_t arm = 0; arm < arms; arm++) {
        size_t first = (arm * rounds + world->next) * dim;
        for (size_t i = 0; i < dim; i++) world->values[arm * dim + i] = (float)npy_real(contexts, first + i);
    }
    return ee_arms_dense(world->values, arms, dim);
}

static ee_arms gather_sparse(rounds_environment *world)
{
    const npy_array *arrays = world->data->arrays;
    size_t arms = world->data->head.arms, row = world->next * arms;
    size_t first = (size_t)npy_whole(&arrays[ROUNDS_STARTS], row);
    for (size_t arm = 0; arm <= arms; arm++)
        world->starts[arm] = (size_t)npy_whole(&arrays[ROUNDS_STARTS], row + arm) - first;
    for (size_t i = 0; i < world->starts[arms]; i++) {
        world->values[i] = (float)npy_real(&arrays[ROUNDS_VALUES], first + i);
        world->indices[i] = (uint32_t)npy_whole(&arrays[ROUNDS_INDICES], first + i);
    }
    return ee_arms_sparse(world->starts, world->indices, world->values, arms, world->data->head.dim);
}

static ee_status rounds_next(environment *base, environment_round *round, ee_error *error)
{
    rounds_environment *world = (rounds_environment *)base;
    const rounds_dataset *data = world->data;
    size_t rounds = (size_t)data->head.rounds;
    if (world->next == rounds)
        return status_fail(error, EE_BAD_INPUT, "rounds: there are %zu rounds, and all have been dealt", rounds);
    for (size_t arm = 0; arm < data->head.arms; arm++) {
        world->rewards[arm] = npy_real(&data->arrays[ROUNDS_REWARDS], arm * rounds + world->next);
        world->expected[arm] = npy_real(data->expected, arm * rounds + world->next);
    }
    ee_arms arms = data->sparse ? gather_sparse(world) : gather_dense(world);
    world->next++;
    *round = (environment_round){arms, world->rewards, world->expected};
    return EE_OK;
}

const dataset_kind dataset_prepared = {
    .name = "rounds",
    .form = "rounds:DIR",
    .summary = "prepared rounds, as 'eenet rounds' or another program writes them; the same for every seed",
    .named_by_place = true,
    .open = rounds_open,
    .close = rounds_close,
    .start = rounds_start,
    .next = rounds_next,
    .stop = rounds_stop,
};
