/* Summarises stored runs: means, intervals and paired comparisons. */
#ifndef EENET_SUMMARY_H
#define EENET_SUMMARY_H

#include "summary_groups.h"

typedef struct summary {
    summary_groups results;
    summary_groups grids; /* tuning runs; a group has cells of all numbers of rounds, and no comparisons */
} summary;

/* Reads the curves from the folder. reference: what the others are compared with, a cell as it is named without one
 * ("eenet label=abs"), or the first of a policy, or else of a preset of it, with the options that follow;
 * EE_BAD_INPUT, with what there is, where no group has one. NULL: `eenet`, if there is one. runs must outlive the
 * summary. out starts as zeros, and is to be released, on failure too. */
ee_status summary_create(const stored_runs *runs, const char *folder, const char *reference, summary *out,
                         ee_error *error);
void summary_release(summary *out);

#endif
