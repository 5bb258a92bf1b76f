/* --save: the policy that did best plays once more, and its bandit becomes a file. */
#ifndef EENET_TRAINED_MODEL_H
#define EENET_TRAINED_MODEL_H

#include <stdio.h>

#include "lab/runs/training.h"
#include "model_files.h"
#include "run_request.h"

typedef struct trained_model {
    const char *path; /* NULL: none */
    const run_request *request;
    model_lock lock;
} trained_model;

/* The flag of the verbs that have it. */
#define TRAINED_MODEL_FLAG                                                                                             \
    {                                                                                                                  \
        '\0', "save", "MODEL", "save the bandit with the lowest regret, for 'eenet decide'"                            \
    }

/* Both return an exit status, after saying on stderr what is wrong where it is not EXIT_DONE. */

/* Before hours of runs: whether the model can be written, which from now on no other program may. path NULL is allowed.
 * *out is to be released, then too. */
int trained_model_open(const command *self, const run_request *request, const char *path, trained_model *out);
void trained_model_release(trained_model *self);

/* Trains the best of the candidates, and says on stream what was saved. */
int trained_model_save(const command *self, trained_model *model, const training_candidate *candidates, size_t count,
                       size_t seeds, FILE *stream);

#endif
