/* Which cells of a group are compared with each other; used by summary.c. */
#ifndef EENET_SUMMARY_PARTS_H
#define EENET_SUMMARY_PARTS_H

#include "summary_groups.h"

/* Finds the reference of each part, splits the cells into parts and names them. reference: see summary_create; if the
 * group has no such cell, its main part has no reference. */
ee_status summary_split(summary_group *group, const char *reference, ee_error *error);

/* The error for a reference that no group has, with the names of the cells. */
ee_status summary_fail_reference(const summary_groups *list, const char *reference, ee_error *error);

#endif
