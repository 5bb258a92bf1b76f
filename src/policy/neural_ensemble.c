/* An ensemble: members that share f1's hidden layers, each with its own prior network. Osband, Aslanides,
 * Cassirer, "Randomized Prior Functions for Deep Reinforcement Learning", NeurIPS 2018; Osband, Blundell, Pritzel, Van
 * Roy, "Deep Exploration via Bootstrapped DQN", NeurIPS 2016 (the shared layers).
 *
 * net/members.h says what the members are and how they learn. With q_k the reward that member k expects of an arm,
 *
 *     decision=ucb       ranks arms by mean q + alpha (deviation of q)
 *     decision=thompson  ranks them by the q of one member, drawn for each round. The probability of an arm is the
 *                        share of members that rank it first; ties share.
 *
 * Exploitation is the mean of q, in which the priors cancel; if f1 outputs logits, the reward of the mean logit. If f1
 * is a committee, each of its networks has as many members, and q_k is the weighted mean of their k-th members. */
#include <math.h>

#include "base/memory.h"
#include "parts/exploitation.h"

typedef enum ensemble_decision { DECISION_UCB, DECISION_THOMPSON } ensemble_decision;

typedef struct ensemble_options {
    exploitation_options shared;
    option_choice decision;
    double alpha;
} ensemble_options;

typedef struct ensemble {
    exploitation shared;
    size_t members; /* outputs of each network of f1 */
    bool votes;     /* decision=thompson */
    double alpha;
} ensemble;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const ensemble_options *options = setup->options;
    ensemble *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = exploitation_create(&self->shared, setup, error);
    if (!status) status = exploitation_start(&self->shared, setup, 0, error);
    if (status) return status;
    self->members = self->shared.f1.networks[0].members;
    self->votes = options->decision.pick == DECISION_THOMPSON;
    self->alpha = options->alpha;
    *out = &self->shared.base;
    return EE_OK;
}

/* ---- scoring ---- */

/* In the scratch: the expectations of the members, (arms, members); the priors of an arm, (members); the activations of
 * f1; those of the priors of each network. */
static size_t room_of_prior(const ensemble *self, size_t arms)
{
    return arms * self->members;
}

static size_t room_of_f1(const ensemble *self, size_t arms)
{
    return room_of_prior(self, arms) + self->members;
}

static size_t room_of_priors(const ensemble *self, size_t arms)
{
    return room_of_f1(self, arms) + exploitation_pass_count(&self->shared, arms);
}

static size_t priors_count(const ensemble *self, size_t k, size_t arms)
{
    return (arms < PASSED_TOGETHER ? arms : PASSED_TOGETHER) * self->shared.f1.members[k]->network.activation_count;
}

static size_t scratch_count(const policy *base, size_t arms)
{
    const ensemble *self = (const ensemble *)base;
    size_t count = room_of_priors(self, arms);
    for (size_t k = 0; k < self->shared.f1.network_count; k++) count += priors_count(self, k, arms);
    return count;
}

/* Adds the outputs of the members of network k, times its weight, to their expectations. */
static void add_network(const parameters *learned, size_t k, const passed_arms *passed, const float *of_priors,
                        scratch *room)
{
    const ensemble *self = (const ensemble *)learned->policy;
    const learner *f1 = &self->shared.f1;
    const network *net = &f1->networks[k], *priors = &f1->members[k]->network;
    float weight = exploitation_weights(learned)[k], *prior = room->values + room_of_prior(self, passed->arms->count);
    for (size_t i = 0; i < passed->count; i++) {
        vector x = vector_of_arm(passed->arms, passed->first + i);
        float *expected = room->values + (passed->first + i) * self->members;
        const float *outputs = network_members(net, x, passed->activations[k] + i * net->activation_count);
        members_priors(f1->members[k], network_members(priors, x, of_priors + i * priors->activation_count), prior);
        for (size_t j = 0; j < self->members; j++) {
            float sum = k ? expected[j] : 0;
            expected[j] = sum + weight * (outputs[j] + prior[j]);
        }
    }
}

/* Converts the outputs of the members, expected (count), to rewards. Returns their deviation. */
static double deviation_of(const parameters *learned, float *expected, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t j = 0; j < count; j++) {
        expected[j] = exploitation_reward(learned, expected[j]);
        sum += (double)expected[j];
    }
    for (size_t j = 0; j < count; j++) {
        double off = (double)expected[j] - sum / (double)count;
        squares += off * off;
    }
    return sqrt(squares / (double)(count - 1));
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const ensemble *self = (const ensemble *)learned->policy;
    const learner *f1 = &self->shared.f1;
    passed_arms passed = {.arms = arms};
    while (exploitation_pass(learned, room->values + room_of_f1(self, arms->count), &passed, scores)) {
        float *of_priors = room->values + room_of_priors(self, arms->count);
        for (size_t k = 0; k < f1->network_count; k++) {
            exploitation_pass_through(&f1->members[k]->network, f1->members[k]->theta, &passed, of_priors);
            add_network(learned, k, &passed, of_priors, room);
            of_priors += priors_count(self, k, arms->count);
        }
        for (size_t arm = passed.first; arm < passed.first + passed.count; arm++) {
            double deviation = deviation_of(learned, room->values + arm * self->members, self->members);
            float gain = self->votes ? 0 : (float)(self->alpha * deviation);
            scores[arm] = (ee_score){scores[arm].exploitation, gain, scores[arm].exploitation + gain};
        }
    }
}

static void vote(const parameters *learned, size_t voter, const scratch *room, ee_score *scores, size_t count)
{
    size_t voters = ((const ensemble *)learned->policy)->members;
    for (size_t i = 0; i < count; i++) scores[i].score = room->values[i * voters + voter];
}

static propensity_rule rule(const parameters *learned)
{
    const ensemble *self = (const ensemble *)learned->policy;
    if (!self->votes) return (propensity_rule){.kind = PROPENSITY_ARGMAX};
    return (propensity_rule){.kind = PROPENSITY_VOTES, .amount = (double)self->members};
}

/* ---- the class ---- */

static const option rows[] = {
    OPTION_ROW_CHOICE(
        ensemble_options, decision, "decision", "ucb", "ucb|thompson",
        "ucb: the members' mean plus alpha times their standard deviation; thompson: one member, drawn for each round",
        .needs = "propensity=own"),
    OPTION_ROW_REAL(ensemble_options, alpha, "alpha", "1", 0, 1e6, "weight of the members' standard deviation",
                    .needs = "decision=ucb"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration, ensemble"),
    OPTION_GROUP(exploitation_options, f1, learner_options, member_option_table, "", "exploration, ensemble"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common, "scale=on", .defaults = NULL),
};
static const option_schema schema = OPTION_SCHEMA("neural-ensemble", groups, ensemble_options,
                                                  "decision alpha members prior noise " EXPLOITATION_FIRST);

const policy_class neural_ensemble_class = {
    .summary = "ensemble on f1's hidden layers with random priors: explores where members disagree",
    .paper = "Osband, Aslanides, Cassirer: Randomized Prior Functions for Deep Reinforcement Learning, NeurIPS 2018",
    .schema = &schema,
    .presets = PLAIN_F1_PRESET("neural-ensemble", ""),
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .rule = rule,
    .vote = vote,
    .learn = exploitation_learn,
    F1_ARCHIVE_CLASS,
};
