#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rounds_arrays.h"

static const double largest = 1e9; /* of a feature or reward, as the library has it */

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
    bool turned = rank > 1 && array->rank == rank && array->shape[0] == shape[1] && array->shape[1] == shape[0];
    return status_fail(error, EE_BAD_INPUT, "rounds: %s: expected the shape (%s), got (%s)%s", name,
                       format_place(shape, rank).text, format_place(array->shape, array->rank).text,
                       turned ? ": in every array the first axis is the arms, the second the rounds" : "");
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
    return status_fail(error, EE_BAD_INPUT,
                       "rounds: %s: expected one row of whole numbers such as int64, got (%s) of %s", name,
                       format_place(array->shape, array->rank).text, npy_type_name(array->type));
}

/* Compares a number in rounds.json with the arrays. */
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
            return status_fail(
                error, EE_BAD_INPUT,
                "rounds: rounds.json says exclusive, but %zu arms of round %zu have more than the smallest reward",
                rewarded, round);
    }
    return EE_OK;
}

static ee_status check_rewards(rounds_arrays *data, ee_error *error)
{
    const rounds_file *said = &data->said;
    const npy_array *rewards = &data->files[ROUNDS_REWARDS], *expected = &data->files[ROUNDS_EXPECTED];
    if (rewards->rank != 2 || rewards->count == 0)
        return status_fail(error, EE_BAD_INPUT, "rounds: rewards.npy: expected the shape (arms, rounds), got (%s)",
                           format_place(rewards->shape, rewards->rank).text);
    data->arms = rewards->shape[0];
    data->rounds = rewards->shape[1];
    data->expected = expected->data ? expected : rewards;
    ee_status status = expect_said("arms", said->arms, data->arms, error);
    if (!status) status = expect_said("rounds", said->rounds, data->rounds, error);
    if (!status) status = expect_shape(data->expected, rewards->shape, 2, "expected.npy", error);
    if (!status) status = expect_numbers(rewards, "rewards.npy", error);
    if (!status) status = expect_numbers(data->expected, "expected.npy", error);
    if (!status && said->exclusive) status = expect_exclusive(rewards, error);
    return status;
}

static ee_status check_dense(rounds_arrays *data, ee_error *error)
{
    const rounds_file *said = &data->said;
    const npy_array *contexts = &data->files[ROUNDS_CONTEXTS];
    if (contexts->rank != 3 || contexts->count == 0 || contexts->shape[2] > UINT32_MAX)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: contexts.npy: expected the shape (arms, rounds, features), got (%s)",
                           format_place(contexts->shape, contexts->rank).text);
    data->dim = contexts->shape[2];
    size_t shape[3] = {data->arms, data->rounds, data->dim};
    ee_status status = expect_said("features (dim)", said->dim, data->dim, error);
    if (!status) status = expect_shape(contexts, shape, 3, "contexts.npy", error);
    if (!status) status = expect_numbers(contexts, "contexts.npy", error);
    return status;
}

static ee_status check_row(const rounds_arrays *data, size_t row, ee_error *error)
{
    const npy_array *starts = &data->files[ROUNDS_STARTS], *indices = &data->files[ROUNDS_INDICES];
    int64_t start = npy_whole(starts, row), end = npy_whole(starts, row + 1), before = -1;
    if (start > end || end > (int64_t)indices->count)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: starts.npy, entry %zu: expected %" PRId64 " to %zu, got %" PRId64, row + 1, start,
                           indices->count, end);
    for (int64_t i = start; i < end; i++) {
        int64_t index = npy_whole(indices, (size_t)i);
        if (index <= before || index >= (int64_t)data->dim)
            return status_fail(error, EE_BAD_INPUT,
                               "rounds: indices.npy, entry %" PRId64 ": expected %" PRId64 " to %zu, got %" PRId64
                               ": indices ascend within an arm and are below dim",
                               i, before + 1, data->dim - 1, index);
        before = index;
    }
    return EE_OK;
}

static ee_status check_sparse(rounds_arrays *data, ee_error *error)
{
    const rounds_file *said = &data->said;
    const npy_array *values = &data->files[ROUNDS_VALUES], *indices = &data->files[ROUNDS_INDICES];
    const npy_array *starts = &data->files[ROUNDS_STARTS];
    size_t arms = data->arms, rows = arms * data->rounds, boundaries = rows + 1;
    data->dim = said->dim;
    if (!said->dim)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: sparse arms need a rounds.json with \"dim\", the number of features of an arm");
    ee_status status = expect_wholes(indices, "indices.npy", error);
    if (!status) status = expect_wholes(starts, "starts.npy", error);
    if (!status) status = expect_shape(values, indices->shape, 1, "values.npy", error);
    if (!status) status = expect_shape(starts, &boundaries, 1, "starts.npy", error);
    if (!status) status = expect_numbers(values, "values.npy", error);
    if (status) return status;
    if (npy_whole(starts, 0) != 0 || npy_whole(starts, rows) != (int64_t)values->count)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: starts.npy: expected 0 first and %zu (the number of values) last, got %" PRId64
                           " and %" PRId64,
                           values->count, npy_whole(starts, 0), npy_whole(starts, rows));
    for (size_t row = 0; row < rows && !status; row++) status = check_row(data, row, error);
    for (size_t row = 0; row < rows && !status; row += arms) {
        size_t width = (size_t)(npy_whole(starts, row + arms) - npy_whole(starts, row));
        if (width > data->widest) data->widest = width;
    }
    return status;
}

/* ---- blocks ---- */

/* Whether all nonzero features are in one of this many blocks. */
typedef struct block_search {
    size_t width, found;
    bool several;
} block_search;

static void search_feature(block_search *search, size_t index, double value)
{
    if (value == 0) return;
    size_t block = index / search->width;
    search->several = search->several || (search->found != SIZE_MAX && search->found != block);
    search->found = block;
}

static bool is_in_one_block(const rounds_arrays *data, size_t arm, size_t round)
{
    block_search search = {data->dim / data->said.blocks, SIZE_MAX, false};
    const npy_array *files = data->files;
    if (data->sparse) {
        size_t row = round * data->arms + arm;
        size_t end = (size_t)npy_whole(&files[ROUNDS_STARTS], row + 1);
        for (size_t i = (size_t)npy_whole(&files[ROUNDS_STARTS], row); i < end; i++)
            search_feature(&search, (size_t)npy_whole(&files[ROUNDS_INDICES], i), npy_real(&files[ROUNDS_VALUES], i));
    } else {
        size_t first = (arm * data->rounds + round) * data->dim;
        for (size_t i = 0; i < data->dim; i++) search_feature(&search, i, npy_real(&files[ROUNDS_CONTEXTS], first + i));
    }
    return !search.several;
}

static ee_status check_blocks(const rounds_arrays *data, ee_error *error)
{
    size_t blocks = data->said.blocks;
    if (blocks < 2) return EE_OK;
    if (data->dim % blocks)
        return status_fail(error, EE_BAD_INPUT,
                           "rounds: rounds.json says %zu blocks, but %zu features cannot be divided by that", blocks,
                           data->dim);
    for (size_t round = 0; round < data->rounds; round++)
        for (size_t arm = 0; arm < data->arms; arm++)
            if (!is_in_one_block(data, arm, round))
                return status_fail(error, EE_BAD_INPUT,
                                   "rounds: rounds.json says %zu blocks, but arm %zu of round %zu has features in "
                                   "several: an arm must be the context in one block and zero elsewhere",
                                   blocks, arm, round);
    return EE_OK;
}

/* ---- the survey ---- */

static ee_status report_rewards(const rounds_arrays *data, survey *seen, ee_error *error)
{
    const npy_array *rewards = &data->files[ROUNDS_REWARDS];
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (size_t i = 0; i < rewards->count; i++) {
        double reward = npy_real(rewards, i);
        least = fmin(least, reward);
        most = fmax(most, reward);
        sum += reward;
    }
    ee_status status = survey_add_number(seen, "least reward", least, error);
    if (!status) status = survey_add_number(seen, "mean reward", sum / (double)rewards->count, error);
    if (!status) status = survey_add_number(seen, "largest reward", most, error);
    if (!status && least == most && data->expected == rewards)
        status = survey_remark(seen, error, "every reward is %g, so all policies get the same result", least);
    return status;
}

/* Each feature with its range, if arms are dense and have few features; else the mean number of nonzero features. */
static ee_status report_features(const rounds_arrays *data, survey *seen, ee_error *error)
{
    enum { MOST = 1000 };
    const npy_array *contexts = &data->files[ROUNDS_CONTEXTS];
    size_t before = seen->column_count, filled = 0;
    bool each = !data->sparse && data->dim <= MOST;
    ee_status status = EE_OK;
    for (size_t i = 0; each && i < data->dim && !status; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        survey_column column = {.name = name, .features = 1, .low = INFINITY, .high = -INFINITY};
        status = survey_add_column(seen, &column, error);
    }
    for (size_t i = 0; i < contexts->count && !status; i++) {
        double value = npy_real(contexts, i);
        filled += value != 0;
        if (!each) continue;
        survey_column *column = &seen->columns[before + i % data->dim];
        column->low = fmin(column->low, value);
        column->high = fmax(column->high, value);
    }
    if (data->sparse) filled = data->files[ROUNDS_VALUES].count;
    if (!status)
        status = survey_add_number(seen, "features of an arm that are not zero, on average",
                                   (double)filled / (double)(data->arms * data->rounds), error);
    return status;
}

/* Arrays with swapped axes are valid, but mean something else. */
static ee_status remark_shape(const rounds_arrays *data, survey *seen, ee_error *error)
{
    if (data->arms <= data->rounds || data->said.arms || data->said.rounds) return EE_OK;
    return survey_remark(seen, error,
                         "there are %zu arms and only %zu round%s; are the axes swapped? In every array the first is "
                         "the arms, the second the rounds",
                         data->arms, data->rounds, data->rounds == 1 ? "" : "s");
}

ee_status rounds_arrays_check(rounds_arrays *arrays, survey *seen, ee_error *error)
{
    ee_status status = check_rewards(arrays, error);
    if (!status) status = arrays->sparse ? check_sparse(arrays, error) : check_dense(arrays, error);
    if (!status) status = check_blocks(arrays, error);
    if (!status) status = remark_shape(arrays, seen, error);
    if (!status) status = report_rewards(arrays, seen, error);
    if (!status) status = report_features(arrays, seen, error);
    return status;
}
