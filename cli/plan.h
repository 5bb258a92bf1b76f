/* What runs are going to take, in two or three lines: how many there are, how long one core takes for what is missing,
 * and what more cores make of it. */
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

/* The jobs of `eenet run`, and a study. */
ee_status plan_print_jobs(plan_page to, const run_request *request, ee_error *error);
ee_status plan_print_study(plan_page to, const run_request *request, const study_plan *plan, ee_error *error);

#endif
