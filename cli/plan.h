/* What a command is going to run, in up to three lines: how many runs there are, and, if finished runs of all policies
 * allow an estimate, how long the missing ones take on one core and in parallel. */
#ifndef EENET_PLAN_H
#define EENET_PLAN_H

#include <stdio.h>

#include "lab/grids/study.h"
#include "run_request.h"

/* Where to print, and the command that begins each line; NULL for plain lines. */
typedef struct plan_page {
    FILE *stream;
    const command *self;
} plan_page;

/* The jobs of the request, or, unless NULL, a study. */
ee_status plan_print(plan_page to, const run_request *request, const study_plan *study, ee_error *error);

#endif
