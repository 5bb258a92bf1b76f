/* Names of cells, groups and files of a summary, and the styles of lines; used by summary.c. */
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

/* Names the cells of a part: those with shown, which is (group->count). */
ee_status summary_name_part(summary_group *group, summary_part part, const bool *shown, ee_error *error);

/* Names the group at place. All groups exist, and those before it have names. */
ee_status summary_name_group(const summary_groups *list, size_t place, ee_error *error);

/* Gives the cells their styles. */
void summary_number_styles(summary_groups *list);

#endif
