/* UCB1: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47,
 * 2002. It ignores features: mean_j + alpha R sqrt(2 ln n / n_j), for n_j of n plays. R, the range of the rewards, is 1
 * in the paper; here it is the range so far. An arm that was never played ranks above all others. */
#include <math.h>

#include "parts/tallies.h"

/* For an arm that was never played, twice the range plus the width of a single play exceeds every other score: no mean
 * is above the lowest reward by more than the range. */
static double width_of(double alpha, double range, double plays, double count)
{
    double single = alpha * sqrt(2 * log(fmax(plays, 1)));
    return count > 0 ? range * single / sqrt(count) : range * (2 + single);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const tallies_total *total = tallies_all(learned);
    double alpha = ((const tallies *)learned->policy)->alpha, range = tallies_range(learned);
    for (size_t i = 0; i < arms->count; i++) {
        const tally *arm = tallies_of(learned, arms, i, room);
        double mean = tallies_expect(arm, total->rewards.mean, 0);
        double width = width_of(alpha, range, total->plays, arm->count);
        scores[i] = (ee_score){(float)mean, (float)width, (float)(mean + width)};
    }
}

static float await(policy *self, const observation *o)
{
    return tallies_await(self, o, tallies_all(&self->parameters)->rewards.mean, 0);
}

static const option rows[] = {
    OPTION_ROW_REAL(tallies_options, alpha, "alpha", "1", 0, 1e6, "weight of the confidence width; 1 is the paper's"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration"),
    OPTION_GROUP_OWN(tallies_option_table, "arms"),
    OPTION_GROUP(tallies_options, common, common_options, propensity_option_table, "", "choosing an arm"),
    REWARD_AND_ROOM_GROUPS(tallies_options, common),
};
static const option_schema schema = OPTION_SCHEMA("ucb1", groups, tallies_options, "alpha blocks propensity");

const policy_class ucb1_class = {
    .summary = "no context: each arm's mean reward plus a confidence width",
    .paper =
        "Auer, Cesa-Bianchi, Fischer: Finite-time Analysis of the Multiarmed Bandit Problem, Machine Learning 2002",
    .schema = &schema,
    .score = score,
    .await = await,
    TALLIES_CLASS,
};
