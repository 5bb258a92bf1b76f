/* Summarises stored runs: means, intervals and paired comparisons. */
#ifndef EENET_SUMMARY_H
#define EENET_SUMMARY_H

#include "summary_groups.h"

typedef struct summary {
    summary_groups results;
    summary_groups grids; /* tuning runs: cells of any number of rounds, without comparisons */
} summary;

/* Reads the curves from the folder. reference: the cell that the others are compared with, by its name on the page, or
 * a policy with options ("eenet label=abs"), which means the first cell of that policy or of a preset of it; default
 * (NULL): `eenet`, if it ran. EE_BAD_INPUT, with the names of the cells, if no group has it. runs must outlive the
 * summary. out starts as zeros; release it, also after a failure. */
ee_status summary_create(const stored_runs *runs, const char *folder, const char *reference, summary *out,
                         ee_error *error);
void summary_release(summary *out);

#endif
