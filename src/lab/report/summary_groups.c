#include "summary_groups.h"

#include <string.h>

#include "base/memory.h"

static ee_status find_group(summary_groups *list, const stored_run *run, summary_group **out, ee_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const stored_run *first = list->groups[i].first;
        *out = &list->groups[i];
        if (strcmp(first->dataset, run->dataset) == 0 && first->fingerprint == run->fingerprint &&
            delay_same(&first->late, &run->late) && first->slots == run->slots &&
            (run->tuning || first->rounds == run->rounds))
            return EE_OK;
    }
    ee_status status = memory_grow(NULL, &list->groups, &list->capacity, list->count + 1, sizeof *list->groups, error);
    if (status) return status;
    *out = &list->groups[list->count++];
    (*out)->first = run;
    return EE_OK;
}

static ee_status find_cell(summary_group *group, const stored_run *run, summary_cell **out, ee_error *error)
{
    for (size_t i = 0; i < group->count; i++) {
        const stored_run *first = group->cells[i].runs[0];
        *out = &group->cells[i];
        if (strcmp(first->policy, run->policy) == 0 && strcmp(first->options, run->options) == 0 &&
            first->rounds == run->rounds)
            return EE_OK;
    }
    ee_status status =
        memory_grow(NULL, &group->cells, &group->capacity, group->count + 1, sizeof *group->cells, error);
    if (!status) *out = &group->cells[group->count];
    return status;
}

ee_status summary_groups_add(summary_groups *list, const stored_run *run, ee_error *error)
{
    summary_group *group;
    ee_status status = find_group(list, run, &group, error);
    if (status) return status;
    summary_cell *cell;
    status = find_cell(group, run, &cell, error);
    if (status) return status;
    for (size_t i = 0; i < cell->count; i++)
        if (cell->runs[i]->seed == run->seed) return EE_OK; /* the same run twice, as in concatenated files */
    status = memory_grow(NULL, &cell->runs, &cell->capacity, cell->count + 1, sizeof *cell->runs, error);
    if (status) return status;
    if (!cell->count) group->count++;
    cell->runs[cell->count++] = run;
    return EE_OK;
}

void summary_groups_release(summary_groups *list)
{
    for (size_t g = 0; g < list->count; g++) {
        summary_group *group = &list->groups[g];
        for (size_t i = 0; i < group->count; i++) {
            summary_cell *cell = &group->cells[i];
            for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS; part++) memory_free(cell->labels[part]);
            memory_free(cell->runs);
            memory_free(cell->curve);
        }
        memory_free(group->cells);
        memory_free(group->label);
        memory_free(group->title);
        memory_free(group->file);
    }
    memory_free(list->groups);
}

size_t summary_order(const summary_group *group, summary_part part, size_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!group->cells[i].labels[part]) continue;
        size_t place = count++;
        for (; place && group->cells[order[place - 1]].mean > group->cells[i].mean; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    return count;
}

const char *summary_name(const summary_cell *cell)
{
    summary_part part = SUMMARY_MAIN;
    while (!cell->labels[part]) part++;
    return cell->labels[part];
}
