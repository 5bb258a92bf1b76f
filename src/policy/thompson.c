/* Thompson sampling without context: each round draws a mean for each arm from its posterior, and plays the best.
 * Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two samples",
 * Biometrika 1933; Agrawal and Goyal, "Further optimal regret bounds for Thompson sampling", AISTATS 2013.
 *
 * While all rewards are 0 or 1, an arm with s ones and f zeros has Beta(1 + s, 1 + f). From the first other reward on,
 * rewards are normal with a mean and a variance per arm. The prior of both is the mean m and the variance v of all
 * rewards so far, and is worth one reward. For an arm with n rewards, mean y and sum S of squared deviations:
 *
 *   1 / variance ~ Gamma(1 + n / 2) / (v + S / 2 + n (y - m)^2 / (2 (n + 1)))
 *   mean ~ N((m + n y) / (n + 1), variance / (n + 1))
 *
 * Both use the same tally, so nothing is lost when the first other reward comes. */
#include <math.h>

#include "parts/tallies.h"

/* The expected reward of an arm before its own rewards, and how many rewards that is worth. */
typedef struct prior {
    double mean, worth, variance;
} prior;

static prior prior_of(const parameters *learned)
{
    const tallies_total *total = tallies_all(learned);
    if (total->graded == 0) return (prior){.mean = 0.5, .worth = 2};
    double variance = total->rewards.squares / total->rewards.count, range = tallies_range(learned);
    return (prior){total->rewards.mean, 1, variance > 0 ? variance : range * range};
}

static double draw_share(const tally *arm, random_stream *random)
{
    double share = fmin(fmax(arm->mean, 0), 1); /* it may be rounded, or read from a model */
    double ones = random_gamma(random, 1 + arm->count * share);
    double zeros = random_gamma(random, 1 + arm->count * (1 - share));
    return ones / (ones + zeros);
}

static double draw_mean(const tally *arm, const prior *before, double mean, random_stream *random)
{
    double n = arm->count, apart = arm->mean - before->mean;
    double scale = before->variance + (arm->squares + n * apart * apart / (n + 1)) / 2;
    double variance = scale / random_gamma(random, 1 + n / 2);
    return mean + sqrt(variance / (n + 1)) * random_normal(random);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    prior before = prior_of(learned);
    bool graded = tallies_all(learned)->graded != 0;
    for (size_t i = 0; i < arms->count; i++) {
        const tally *arm = tallies_of(learned, arms, i, room);
        double mean = tallies_expect(arm, before.mean, before.worth);
        double drawn = graded ? draw_mean(arm, &before, mean, &room->random) : draw_share(arm, &room->random);
        scores[i] = (ee_score){(float)mean, (float)(drawn - mean), (float)drawn};
    }
}

static float await(policy *self, const observation *o)
{
    prior before = prior_of(&self->parameters);
    return tallies_await(self, o, before.mean, before.worth);
}

static const option_group groups[] = {
    OPTION_GROUP_OWN(tallies_option_table, "arms"),
    OPTION_GROUP(tallies_options, common, common_options, estimate_option_table, "", "choosing an arm"),
    REWARD_AND_ROOM_GROUPS(tallies_options, common),
};
static const option_schema schema =
    OPTION_SCHEMA("thompson", groups, tallies_options, "blocks positions probability_draws");

const policy_class thompson_class = {
    .summary = "no context: Thompson sampling; Beta posterior for rewards of 0 and 1, otherwise normal",
    .paper = "Agrawal, Goyal: Further Optimal Regret Bounds for Thompson Sampling, AISTATS 2013",
    .schema = &schema,
    .score = score,
    .draws = true,
    .await = await,
    TALLIES_CLASS,
};
