#include "classes.h"

#include <stdio.h>

#include "base/memory.h"
#include "data/kind/block_arms.h"
#include "row_encoding.h"

typedef struct classes_environment {
    environment head;
    const classes_dataset *data;
    random_stream rounds;
    uint32_t *order;   /* (rows) a permutation: rows shown in this pass, then the others */
    size_t shown;      /* rows shown in this pass */
    size_t label;      /* of the row shown last: the only reward that is not 0 */
    size_t *starts;    /* (classes + 1) */
    uint32_t *indices; /* (classes, the most entries of a row) */
    float *values;     /* (classes, the most entries of a row) */
    double *rewards;   /* (classes) */
} classes_environment;

ee_status classes_create(size_t rows, size_t entries, classes_dataset **out, ee_error *error)
{
    classes_dataset *data;
    ee_status status = memory_create_owner(NULL, &data, sizeof *data, error);
    if (status) return status;
    memory *owner = &data->head.owner;
    data->rows = rows;
    status = memory_create(owner, &data->starts, rows + 1, sizeof *data->starts, error);
    if (!status) status = memory_create(owner, &data->indices, entries, sizeof *data->indices, error);
    if (!status) status = memory_create(owner, &data->values, entries, sizeof *data->values, error);
    if (!status) status = memory_create(owner, &data->labels, rows, sizeof *data->labels, error);
    if (status)
        memory_release(owner);
    else
        *out = data;
    return status;
}

void classes_scale_rows(classes_dataset *data)
{
    for (size_t row = 0; row < data->rows; row++)
        row_scale_to_unit(data->values + data->starts[row], data->starts[row + 1] - data->starts[row]);
}

ee_status classes_finish(classes_dataset *data, const char *name, ee_error *error)
{
    if (data->rows == 0) return status_fail(error, EE_BAD_INPUT, "%s: expected rows, got none", name);
    if (data->rows > UINT32_MAX) return status_fail(error, EE_BAD_INPUT, "%s: too many rows: %zu", name, data->rows);
    if (data->features == 0)
        return status_fail(error, EE_BAD_INPUT,
                           "%s: every column except the label is constant (%zu row%s): there are no features", name,
                           data->rows, data->rows == 1 ? "" : "s");
    if (data->classes < 2)
        return status_fail(error, EE_BAD_INPUT, "%s: expected at least two classes, got the same label in every row",
                           name);
    if (data->features > UINT32_MAX / data->classes)
        return status_fail(error, EE_BAD_INPUT, "%s: too many features: %zu for each of %zu classes", name,
                           data->features, data->classes);
    data->head.dim = data->classes * data->features;
    data->head.arms = data->classes;
    data->head.blocks = data->classes;
    data->head.exclusive = true;
    data->head.rows = data->rows;
    return EE_OK;
}

ee_status classes_report(const classes_dataset *data, const category_list *names, survey *into, ee_error *error)
{
    uint64_t *counts;
    ee_status status = memory_create(NULL, &counts, data->classes, sizeof *counts, error);
    if (status) return status;
    for (size_t row = 0; row < data->rows; row++) counts[data->labels[row]]++;
    for (size_t i = 0; i < data->classes && !status; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        status = survey_add_class(into, names ? names->sorted[i].text : number, counts[i], error);
    }
    memory_free(counts);
    return status;
}

void classes_close(dataset *data)
{
    row_encoding_free(data->encoding);
    memory_release(&data->owner);
}

ee_status classes_start(const dataset *base, uint64_t seed, environment **out, ee_error *error)
{
    const classes_dataset *data = (const classes_dataset *)base;
    size_t most = 0;
    for (size_t row = 0; row < data->rows; row++) {
        size_t entries = data->starts[row + 1] - data->starts[row];
        if (entries > most) most = entries;
    }
    ee_status status = memory_create_owner(NULL, out, sizeof(classes_environment), error);
    if (status) return status;
    classes_environment *world = (classes_environment *)*out;
    memory *owner = &world->head.owner;
    world->data = data;
    world->rounds = random_named(seed, "rounds");
    status = memory_create(owner, &world->order, data->rows, sizeof *world->order, error);
    if (!status) status = memory_create(owner, &world->starts, data->classes + 1, sizeof *world->starts, error);
    if (!status) status = memory_create(owner, &world->indices, data->classes * most, sizeof *world->indices, error);
    if (!status) status = memory_create(owner, &world->values, data->classes * most, sizeof *world->values, error);
    if (!status) status = memory_create(owner, &world->rewards, data->classes, sizeof *world->rewards, error);
    for (size_t row = 0; row < data->rows && !status; row++) world->order[row] = (uint32_t)row;
    return status;
}

/* One step of the Fisher-Yates shuffle. A new pass starts from the order that the last one left, which is as good as
 * any.
 */
static size_t draw_row(classes_environment *world)
{
    if (world->shown == world->data->rows) world->shown = 0;
    if (world->data->in_order) return world->shown++;
    uint32_t *next = world->order + world->shown;
    uint32_t *drawn = next + random_below(&world->rounds, world->data->rows - world->shown);
    uint32_t row = *drawn;
    *drawn = *next;
    *next = row;
    world->shown++;
    return row;
}

ee_status classes_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    classes_environment *world = (classes_environment *)base;
    const classes_dataset *data = world->data;
    size_t row = draw_row(world), first = data->starts[row], count = data->starts[row + 1] - first;
    block_context context = {data->indices + first, data->values + first, count, data->features};
    block_room room = {world->starts, world->indices, world->values};
    world->rewards[world->label] = 0.0;
    world->label = data->labels[row];
    world->rewards[world->label] = 1.0;
    *round = (environment_round){block_arms_make(&context, data->classes, NULL, &room), world->rewards, world->rewards};
    return EE_OK;
}
