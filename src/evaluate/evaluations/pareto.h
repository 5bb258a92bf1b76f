/* The Pareto front: the candidates that no other candidate beats on the reward and all metrics together. */
#ifndef EENET_PARETO_H
#define EENET_PARETO_H

#include "evaluation_result.h"

/* What the values of a candidate say about it. */
typedef struct pareto_place {
    bool compared; /* finished, with a value of every outcome */
    bool front;
    size_t dominator; /* not on the front: a candidate of the front that is at least as good in every outcome */
    bool separated;   /* from it: by intervals that do not overlap, in at least one outcome */
} pareto_place;

/* Compares the values by estimator number index; results and out are (count). Equal candidates do not beat each other.
 */
void pareto_find(const evaluation_result *const *results, size_t count, size_t index, pareto_place *out);

/* The same for the candidates of a request, by the estimator that decides. out is (candidate_count); free with
 * memory_free. NULL if the log has no metrics. */
ee_status pareto_create(const evaluation_request *request, const evaluation_result *results, pareto_place **out,
                        ee_error *error);

/* Whether another candidate beats it. */
bool pareto_is_beaten(const pareto_place *place);

/* "yes", "-" (not compared), or what follows the name of the dominator: " is better (intervals overlap)". */
const char *pareto_words(const pareto_place *place);

#endif
