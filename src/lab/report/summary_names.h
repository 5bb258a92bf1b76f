/* What the cells, the groups and the files of a summary are called, and which line is whose: inside of summary.c. */
#ifndef EENET_SUMMARY_NAMES_H
#define EENET_SUMMARY_NAMES_H

#include "summary_groups.h"

static inline const char *cell_policy(const summary_cell *cell)
{
    return cell->runs[0]->policy;
}

static inline const char *cell_options(const summary_cell *cell)
{
    return cell->runs[0]->options;
}

/* Names those cells of a part that are shown in it; shown is (group->count). */
ee_status summary_name_part(summary_group *group, summary_part part, const bool *shown, ee_error *error);

/* Names the group at place, once all groups are there and those before it are named. */
ee_status summary_name_group(const summary_groups *list, size_t place, ee_error *error);

void summary_number_styles(summary_groups *list);

#endif
