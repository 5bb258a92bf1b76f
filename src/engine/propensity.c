#include "propensity.h"

#include <math.h>
#include <stdbool.h>

/* A score that is not a number, from a network that diverged, is below all others. */
static bool is_best(float score, float best)
{
    return score == best || isnan(best);
}

size_t propensity_argmax(const ee_score *scores, size_t count, random_stream *stream, double *probability)
{
    float best = NAN;
    for (size_t i = 0; i < count; i++)
        if (isnan(best) || scores[i].score > best) best = scores[i].score;
    size_t ties = 0, arm = 0;
    for (size_t i = 0; i < count; i++) ties += is_best(scores[i].score, best);
    uint64_t turn = ties > 1 ? random_below(stream, ties) : 0;
    for (; !is_best(scores[arm].score, best) || turn > 0; arm++) turn -= is_best(scores[arm].score, best);
    *probability = 1 / (double)ties;
    return arm;
}
