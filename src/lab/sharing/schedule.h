/* Assigns jobs to workers, and computes the total time. A worker does one job at a time; the longest jobs go first,
 * each to the least loaded worker. That takes at most a third longer than the optimum (Graham, "Bounds on
 * multiprocessing timing anomalies", 1969). */
#ifndef EENET_SCHEDULE_H
#define EENET_SCHEDULE_H

#include "base/status.h"

/* Whose each job is. seconds is (count), none of them NaN; owner is (count), from 0 to hands - 1. Of equal jobs the one
 * that is listed first goes first, of equal hands the first takes it: what is the same gives the same. */
ee_status schedule_assign(const double *seconds, size_t count, size_t hands, size_t *owner, ee_error *error);

/* Seconds that this number of workers needs for all jobs. */
ee_status schedule_seconds(const double *seconds, size_t count, size_t hands, double *out, ee_error *error);

/* The places of the jobs, (count), the longest first; of equals the first. */
ee_status schedule_sort(const double *seconds, size_t count, size_t *places, ee_error *error);

#endif
