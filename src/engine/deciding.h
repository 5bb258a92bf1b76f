/* Makes a decision, for a bandit or on a snapshot: scales and scores the arms, turns scores into probabilities, and
 * draws an arm. */
#ifndef EENET_DECIDING_H
#define EENET_DECIDING_H

#include "kept_decision.h"
#include "shares.h"

/* What decisions depend on besides the parameters. It never changes. */
typedef struct decision_rules {
    size_t dim;
    size_t arms, nonzeros; /* arms of a round to reserve memory for */
    bool scales;           /* the option `scale` */
    propensity_rule rule;  /* PROPENSITY_OWN: that of the policy */
    uint64_t probability_draws;
} decision_rules;

/* One stream per use, so that they do not affect each other. */
typedef struct decision_streams {
    random_stream posterior;   /* for scores that a policy draws */
    random_stream exploration; /* for choosing an arm */
    random_stream estimation;  /* for estimating a probability */
} decision_streams;

decision_streams decision_streams_of(uint64_t seed);

/* What is stored of a decision. */
typedef struct made_decision {
    kept_decision kept;
    size_t first_word, word_count; /* its words among those of all decisions */
    double divisor;                /* divisor of its arms */
} made_decision;

typedef struct made_decisions {
    made_decision *rows; /* (count) */
    uint32_t *words;     /* (word_count) */
    size_t count, word_count, capacity, word_capacity;
    arm_length length; /* divisor of arms after these decisions */
} made_decisions;

/* Memory for a round that is decided among some of its arms. */
typedef struct left_room {
    size_t *arms;     /* the remaining arms */
    uint8_t *taken;   /* for each arm, whether an earlier slot took it */
    ee_score *scores; /* for each arm, if they are valid for several slots */
    size_t *starts;   /* the remaining arms as a round */
    uint32_t *indices;
    float *values;
    uint64_t *ids;
    size_t arm_capacity, taken_capacity, score_capacity, start_capacity, index_capacity, value_capacity, id_capacity;
} left_room;

/* Memory for limits. It grows in the first rounds that have any. */
typedef struct limit_room {
    group_share *shares; /* (groups + 1) */
    float *unboosted;    /* (arms) scores without their boosts */
    size_t share_capacity, unboosted_capacity;
} limit_room;

/* Memory for decisions; one per thread. */
typedef struct deciding_room {
    memory *memory; /* owner of these blocks */
    decision_streams streams;
    scratch scratch;
    ee_score *scores;      /* (arms) */
    double *probabilities; /* (arms) */
    ee_score *redrawn;     /* (arms) scores for estimating probabilities */
    double *wins;          /* (arms) wins of each */
    float *scaled;         /* the values of arms as the policy sees them, if they differ from the caller's */
    uint64_t *ids;         /* of the arms of several rounds */
    size_t score_capacity, probability_capacity, redrawn_capacity, win_capacity, scaled_capacity, id_capacity;
    left_room left;
    limit_room limits;
    made_decisions made; /* of the last deciding call */
} deciding_room;

void decision_rules_read(decision_rules *self, const common_options *options, size_t dim);

/* Reserves memory for rounds of the size in the rules. seed is that of the streams. */
ee_status deciding_room_create(deciding_room *self, memory *owner, const decision_rules *rules, const policy *decider,
                               uint64_t seed, ee_error *error);

/* Scored arms of one round or of several, one after the other. room->scores has their scores. */
typedef struct scored_arms {
    ee_arms arms;      /* as the policy saw them; valid while the caller's arms are, until the next use of the room */
    double divisor;    /* divisor of the last round */
    arm_length length; /* divisor of arms after these */
} scored_arms;

/* Scores the arms of some rounds, which must have been checked. Several rounds must be dense, the class must have
 * arms_independent, and all rounds or none must have ids. length is the divisor of arms so far. Writes only to room. */
ee_status deciding_score(const decision_rules *rules, const parameters *learned, const ee_arms *rounds, size_t count,
                         arm_length length, deciding_room *room, scored_arms *out, ee_error *error);

/* Like deciding_score for one round, without scoring: for gradients. */
ee_status deciding_scale_arms(const decision_rules *rules, const ee_arms *arms, arm_length length, deciding_room *room,
                              scored_arms *out, ee_error *error);

/* After either: gradient = the derivative of the exploitation of an arm with respect to each of its entries, as the
 * policy sees them; (dim) for a dense arm, one per entry of a sparse one. Overwrites the scratch. */
ee_status deciding_gradient(const parameters *learned, const scored_arms *scored, size_t arm, deciding_room *room,
                            float *gradient, ee_error *error);

/* The factor from the features of the caller to those that the policy sees. */
float deciding_scale(const decision_rules *rules, double divisor);

/* A scored round, and its arms that may be chosen. */
typedef struct drawable_arms {
    size_t round; /* its number in a call */
    size_t count;
    const size_t *left;      /* (count) their numbers in the round; NULL: all arms */
    size_t first;            /* their start in room->scores and room->probabilities */
    bool whole;              /* all arms of the round were scored, not only these */
    const ee_limits *limits; /* of the round; NULL: none */
} drawable_arms;

/* After deciding_score, for a round with limits: reserves memory for them and boosts the scores. */
ee_status deciding_limit(const decision_rules *rules, const parameters *learned, const drawable_arms *from,
                         deciding_room *room, ee_error *error);

/* Then: draws one of the candidates, and returns its number among all scored arms. Their probabilities are then in
 * room->probabilities. */
size_t deciding_draw(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                     const drawable_arms *from, deciding_room *room);

/* For a round with limits: the score of a drawn arm as the policy computed it, without its boost. */
ee_score deciding_own_score(const drawable_arms *from, size_t drawn, const deciding_room *room);

/* For a policy that draws its scores: sets the probability of each arm to the share of fresh draws in which it wins, or
 * to NaN without such draws. Overwrites the scratch, so store what is needed of the decision first. With shares,
 * deciding_draw has done it. */
void deciding_estimate(const decision_rules *rules, const parameters *learned, const scored_arms *scored,
                       const drawable_arms *from, size_t arm, deciding_room *room);

/* The scores and, if requested, the probabilities of a decision among these arms, which must have been checked: in
 * room->scores and room->probabilities. Draws nothing from the streams. */
ee_status deciding_preview(const decision_rules *rules, const parameters *learned, const ee_arms *arms,
                           bool probabilities, deciding_room *room, scored_arms *out, ee_error *error);

#endif
