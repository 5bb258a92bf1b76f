#include "pareto.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "evaluation_headline.h"

/* Outcome 0 is the reward. */
static const estimate *estimate_of(const evaluation_result *of, size_t outcome, size_t index)
{
    return outcome ? &of->metrics[outcome - 1].estimates[index] : &of->estimates[index];
}

static bool is_smaller_better(const evaluation_result *of, size_t outcome)
{
    return outcome && of->metrics[outcome - 1].smaller_better;
}

static bool is_compared(const evaluation_result *of, size_t index)
{
    bool known = of->finished;
    for (size_t k = 0; k <= of->metric_count && known; k++) known = !isnan(estimate_of(of, k, index)->value);
    return known;
}

/* Whether a is at least as good as b in every outcome, and better in one. */
static bool beats(const evaluation_result *a, const evaluation_result *b, size_t index)
{
    bool better = false;
    for (size_t k = 0; k <= a->metric_count; k++) {
        double sign = is_smaller_better(a, k) ? -1.0 : 1.0;
        double ours = sign * estimate_of(a, k, index)->value, theirs = sign * estimate_of(b, k, index)->value;
        if (ours < theirs) return false;
        better = better || ours > theirs;
    }
    return better;
}

static bool are_separated(const evaluation_result *a, const evaluation_result *b, size_t index)
{
    for (size_t k = 0; k <= a->metric_count; k++) {
        const estimate *one = estimate_of(a, k, index), *other = estimate_of(b, k, index);
        if (one->low > other->high || other->low > one->high) return true;
    }
    return false;
}

void pareto_find(const evaluation_result *const *results, size_t count, size_t index, pareto_place *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (pareto_place){.compared = is_compared(results[i], index), .dominator = count};
        out[i].front = out[i].compared;
        for (size_t k = 0; k < count && out[i].front; k++)
            if (is_compared(results[k], index) && beats(results[k], results[i], index)) out[i].front = false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!out[i].compared || out[i].front) continue;
        /* There is one: beating is transitive, and there are finitely many. */
        for (size_t k = 0; k < count && out[i].dominator == count; k++)
            if (out[k].front && beats(results[k], results[i], index)) out[i].dominator = k;
        out[i].separated = are_separated(results[out[i].dominator], results[i], index);
    }
}

ee_status pareto_create(const evaluation_request *request, const evaluation_result *results, pareto_place **out,
                        ee_error *error)
{
    size_t count = request->candidate_count, metrics = 0;
    const evaluation_result **list = NULL;
    *out = NULL;
    for (size_t i = 0; i < count; i++) metrics += results[i].finished ? results[i].metric_count : 0;
    if (!metrics) return EE_OK;
    ee_status status = memory_create(NULL, &list, count, sizeof *list, error);
    if (!status) status = memory_create(NULL, out, count, sizeof **out, error);
    for (size_t i = 0; i < count && !status; i++) list[i] = &results[i];
    if (!status) pareto_find(list, count, evaluation_headline_estimator(request) % request->estimator_count, *out);
    memory_free(list);
    return status;
}

bool pareto_is_beaten(const pareto_place *place)
{
    return place->compared && !place->front;
}

const char *pareto_words(const pareto_place *place)
{
    if (!pareto_is_beaten(place)) return place->front ? "yes" : "-";
    return place->separated ? " is better" : " is better (intervals overlap)";
}
