/* Neural-LinUCB: Xu, Wen, Zhao, Gu, "Neural Contextual Bandits with Deep Representation and Shallow Exploration",
 * ICLR 2022.
 *
 * Plays the arm with the largest theta . h + alpha sqrt(h^T A^-1 h), h from f1's last hidden layer; last_layer.h says
 * what A, theta and h are. The paper trains the network under the regression's theta; here f1 trains as EE-Net's does,
 * under its own last layer. */
#include "parts/last_layer.h"

extern const policy_class neural_linucb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return last_layer_create(&neural_linucb_class, setup, out, error);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const last_layer *self = (const last_layer *)learned->policy;
    const double *theta = last_layer_theta(learned);
    for (size_t i = 0; i < arms->count; i++) {
        const double *features = last_layer_features(learned, vector_of_arm(arms, i), room);
        double mean = last_layer_dot(self, theta, features);
        double gain = self->scale * last_layer_width(learned, features, room);
        scores[i] = (ee_score){(float)mean, (float)gain, (float)(mean + gain)};
    }
}

static const option rows[] = {
    OPTION_ROW_REAL(last_layer_options, scale, "alpha", "0.3", 0, 1e6, "weight of the width"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(table, "exploration, the regression on f1's last hidden layer"),
    OPTION_GROUP_OWN(last_layer_option_table, "exploration, the regression on f1's last hidden layer"),
    EXPLOITATION_GROUPS,
    COMMON_GROUPS(exploitation_options, common),
};
static const option_schema schema =
    OPTION_SCHEMA("neural-linucb", groups, last_layer_options, "alpha lambda " EXPLOITATION_FIRST);

const policy_class neural_linucb_class = {
    .summary = "Neural-LinUCB: a confidence width on f1's last hidden layer",
    .paper = "Xu, Wen, Zhao, Gu: Neural Contextual Bandits with Deep Representation and Shallow Exploration, ICLR 2022",
    .schema = &schema,
    .create = create,
    .free = last_layer_free,
    .scratch_count = last_layer_scratch_count,
    .score = score,
    .reserve = exploitation_reserve,
    .observe = last_layer_observe,
    .train = last_layer_train,
    .memory = last_layer_memory,
    .archive = last_layer_archive,
};
