/* An evaluation for the eye: a table of values, what to think of them, and the sentence that it comes to. */
#ifndef EENET_EVALUATION_TABLE_H
#define EENET_EVALUATION_TABLE_H

#include "evaluate/evaluations/evaluation.h"

/* On stdout. Candidates that are not finished are left out; where none is, nothing is printed. */
ee_status evaluation_table_print(const evaluation_request *request, const evaluation_result *results, ee_error *error);

#endif
