/* Finished runs as JSON, one line a run. */
#ifndef EENET_RESULTS_H
#define EENET_RESULTS_H

#include "runner.h"

/* The run as one line, newline included: dataset, policy, options, seed, rounds, regret, reward, optimal, seconds,
 * version. Numbers read back to the same double. Like snprintf, writes at most capacity bytes and returns the length
 * that the whole line has. */
size_t results_format(const run_report *report, char *line, size_t capacity);

#endif
