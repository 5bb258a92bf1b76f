/* Which cells of a group are compared with which: inside of summary.c. */
#ifndef EENET_SUMMARY_PARTS_H
#define EENET_SUMMARY_PARTS_H

#include "summary_groups.h"

/* Finds the reference of each part, splits the cells into parts and names them. reference as in summary_create; where
 * the group has no such cell, its main part has no reference. */
ee_status summary_split(summary_group *group, const char *reference, ee_error *error);

/* That no group has the reference, with what there is. */
ee_status summary_fail_reference(const summary_groups *list, const char *reference, ee_error *error);

#endif
