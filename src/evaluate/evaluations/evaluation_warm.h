/* Trains the winner of an evaluation on the whole log. */
#ifndef EENET_EVALUATION_WARM_H
#define EENET_EVALUATION_WARM_H

#include "evaluation.h"

/* Whether evaluation_warm could read the log again and write the file; call it before the evaluation, which may take
 * long. */
ee_status evaluation_check_warm(const evaluation_request *request, const char *path, ee_error *error);

/* Trains a candidate (a policy, or a model that keeps learning) on the whole log and saves it. *finished false: stopped
 * by the watch, nothing was saved. */
ee_status evaluation_warm(const evaluation_request *request, size_t place, const evaluation_watch *watch,
                          const char *path, bool *finished, ee_error *error);

#endif
