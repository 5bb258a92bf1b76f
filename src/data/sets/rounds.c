/* Prepared rounds, written by `eenet rounds` or another program: a folder of arrays (rounds_arrays.h), used in their
 * order for every seed.
 *
 * Required: rewards.npy, and contexts.npy or the three files of the sparse form. expected.npy is optional if the
 * rewards have no noise. rounds.json is optional for dense arms; sparse arrays do not say how many features an arm has.
 */
#include "base/memory.h"
#include "data/kind/kind.h"
#include "rounds_arrays.h"

typedef struct rounds_dataset {
    dataset head;
    rounds_arrays from;
} rounds_dataset;

typedef struct rounds_environment {
    environment head;
    const rounds_arrays *data;
    size_t next;       /* round */
    float *values;     /* (arms, dim), or (widest) */
    size_t *starts;    /* (arms + 1) */
    uint32_t *indices; /* (widest) */
    double *rewards;   /* (arms) */
    double *expected;  /* (arms) */
} rounds_environment;

/* ---- the data set ---- */

static void rounds_close(dataset *base)
{
    rounds_dataset *data = (rounds_dataset *)base;
    rounds_arrays_release(&data->from);
    memory_release(&data->head.owner);
}

/* A name that is misspelled may be why. */
static ee_status add_remark(ee_status status, const survey *seen, ee_error *error)
{
    if (!error || !seen->remark_count) return status;
    ee_error first = *error;
    return status_fail(error, status, "%s; %s", first.message, seen->remarks[0]);
}

static ee_status rounds_open(const dataset_request *request, dataset **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(rounds_dataset), error);
    if (status) return status;
    rounds_dataset *data = (rounds_dataset *)*out;
    rounds_arrays *from = &data->from;
    status = rounds_arrays_read(request->place, request->survey, from, error);
    if (!status) status = rounds_arrays_check(from, request->survey, error);
    if (status) return add_remark(status, request->survey, error);
    data->head.dim = from->dim;
    data->head.arms = from->arms;
    data->head.rounds = from->rounds;
    data->head.blocks = from->said.blocks;
    data->head.exclusive = from->said.exclusive;
    data->head.fingerprint = from->fingerprint;
    return EE_OK;
}

/* ---- the rounds ---- */

static ee_status rounds_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    (void)seed;
    const rounds_arrays *data = &((const rounds_dataset *)base)->from;
    size_t arms = data->arms, width = data->sparse ? data->widest : arms * data->dim;
    ee_status status = memory_create_owner(NULL, out, sizeof(rounds_environment), error);
    if (status) return status;
    rounds_environment *world = (rounds_environment *)*out;
    memory *owner = &world->head.owner;
    world->data = data;
    status = memory_create(owner, &world->values, width, sizeof *world->values, error);
    if (!status) status = memory_create(owner, &world->starts, arms + 1, sizeof *world->starts, error);
    if (!status) status = memory_create(owner, &world->indices, data->widest, sizeof *world->indices, error);
    if (!status) status = memory_create(owner, &world->rewards, arms, sizeof *world->rewards, error);
    if (!status) status = memory_create(owner, &world->expected, arms, sizeof *world->expected, error);
    return status;
}

static ee_arms gather_dense(rounds_environment *world)
{
    const npy_array *contexts = &world->data->files[ROUNDS_CONTEXTS];
    size_t arms = world->data->arms, dim = world->data->dim, rounds = contexts->shape[1];
    for (size_t arm = 0; arm < arms; arm++) {
        size_t first = (arm * rounds + world->next) * dim;
        for (size_t i = 0; i < dim; i++) world->values[arm * dim + i] = (float)npy_real(contexts, first + i);
    }
    return ee_arms_dense(world->values, arms, dim);
}

static ee_arms gather_sparse(rounds_environment *world)
{
    const npy_array *arrays = world->data->files;
    size_t arms = world->data->arms, row = world->next * arms;
    size_t first = (size_t)npy_whole(&arrays[ROUNDS_STARTS], row);
    for (size_t arm = 0; arm <= arms; arm++)
        world->starts[arm] = (size_t)npy_whole(&arrays[ROUNDS_STARTS], row + arm) - first;
    for (size_t i = 0; i < world->starts[arms]; i++) {
        world->values[i] = (float)npy_real(&arrays[ROUNDS_VALUES], first + i);
        world->indices[i] = (uint32_t)npy_whole(&arrays[ROUNDS_INDICES], first + i);
    }
    return ee_arms_sparse(world->starts, world->indices, world->values, arms, world->data->dim);
}

static ee_status rounds_next(environment *base, environment_round *round, ee_error *error)
{
    rounds_environment *world = (rounds_environment *)base;
    const rounds_arrays *data = world->data;
    size_t rounds = data->rounds;
    if (world->next == rounds) return status_fail(error, EE_BAD_INPUT, "rounds: all %zu rounds have been used", rounds);
    for (size_t arm = 0; arm < data->arms; arm++) {
        world->rewards[arm] = npy_real(&data->files[ROUNDS_REWARDS], arm * rounds + world->next);
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
    .summary = "prepared rounds, written by 'eenet rounds' or another program; the same for every seed",
    .named_by_place = true,
    .open = rounds_open,
    .close = rounds_close,
    .start = rounds_start,
    .next = rounds_next,
};
