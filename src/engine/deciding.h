/* How a decision is made, by a bandit or on a snapshot of it: the arms are scaled and scored, the scores become
 * probabilities, and an arm is drawn. */
#ifndef EENET_DECIDING_H
#define EENET_DECIDING_H

#include "kept_decision.h"

/* What decisions depend on besides the parameters; it never changes. */
typedef struct decision_rules {
    size_t dim;
    size_t arms, nonzeros; /* of a round that room is reserved for */
    bool scales;           /* the option `scale` */
    propensity_rule rule;  /* PROPENSITY_OWN: the policy's */
    uint64_t probability_draws;
} decision_rules;

/* One stream for each use, so that one does not change what another draws. */
typedef struct decision_streams {
    random_stream posterior;   /* what a policy draws its scores with */
    random_stream exploration; /* draws among arms */
    random_stream estimation;  /* draws to estimate a probability by */
} decision_streams;

decision_streams decision_streams_of(uint64_t seed);

/* What is kept of a decision. */
typedef struct made_decision {
    kept_decision kept;
    size_t first_word, word_count; /* its words, among those of all */
    double divisor;                /* of its arms */
} made_decision;

typedef struct made_decisions {
    made_decision *rows; /* (count) */
    uint32_t *words;     /* (word_count) */
    size_t count, word_count, capacity, word_capacity;
    arm_length length; /* what arms are divided by after them */
} made_decisions;

/* Where a round is decided among what is left of its arms. */
typedef struct left_room {
    size_t *arms;     /* the numbers of those that are left */
    uint8_t *taken;   /* of each arm, whether a slot before took it */
    ee_score *scores; /* of each arm, if they hold for several slots */
    size_t *starts;   /* those that are left, as a round of their own */
    uint32_t *indices;
    float *values;
    uint64_t *ids;
    size_t arm_capacity, taken_capacity, score_capacity, start_capacity, index_capacity, value_capacity, id_capacity;
} left_room;

/* Where decisions are made. One for each thread. */
typedef struct deciding_room {
    memory *memory; /* whose blocks these are */
    decision_streams streams;
    scratch scratch;
    ee_score *scores;      /* (arms) */
    double *probabilities; /* (arms) */
    ee_score *redrawn;     /* (arms) scores to estimate probabilities by */
    double *wins;          /* (arms) of those */
    float *scaled;         /* the values of arms as the policy sees them, where they are not the caller's */
    uint64_t *ids;         /* of the arms of several rounds */
    size_t score_capacity, probability_capacity, redrawn_capacity, win_capacity, scaled_capacity, id_capacity;
    left_room left;
    made_decisions made; /* of the last call that decided */
} deciding_room;

void decision_rules_read(decision_rules *self, const common_options *options, size_t dim);

/* Room for rounds of the size that the rules name. seed: of the streams. */
ee_status deciding_room_create(deciding_room *self, memory *owner, const decision_rules *rules, const policy *decider,
                               uint64_t seed, ee_error *error);

/* Arms that were scored: those of one round, or of several, one after the other. room->scores has their scores. */
typedef struct scored_arms {
    ee_arms arms;      /* as the policy saw them, valid as long as the caller's and the room's next use */
    double divisor;    /* of the last round */
    arm_length length; /* what arms are divided by after these */
} scored_arms;

/* Scores the arms of some rounds, which were checked. Several rounds must be dense, and the policy's class must say
 * that arms are scored as if `alone`; all of them have ids, or none. length: what arms are divided by so far. Changes
 * nothing but room. */
ee_status deciding_score(const decision_rules *rules, const parameters *learned, const ee_arms *rounds, size_t count,
                         arm_length length, deciding_room *room, scored_arms *out, ee_error *error);

/* As deciding_score for one round, but that nothing is scored: for whoever asks for gradients alone. */
ee_status deciding_see(const decision_rules *rules, const ee_arms *arms, arm_length length, deciding_room *room,
                       scored_arms *out, ee_error *error);

/* After either: gradient = the derivative of an arm's exploitation by each of its entries, as the policy sees them;
 * (dim) of a dense arm, one for each entry of a sparse one. Overwrites the scratch. */
ee_status deciding_gradient(const parameters *learned, const scored_arms *scored, size_t arm, deciding_room *room,
                            float *gradient, ee_error *error);

/* What the policy sees of a feature, by what the caller gave. */
float deciding_scale(const decision_rules *rules, double divisor);

/* After deciding_score: draws one of `count` arms, those of a round, from number first of the scored ones on, and
 * returns its number among all. Their probabilities then lie in room->probabilities, from first on. */
size_t deciding_draw(const decision_rules *rules, const parameters *learned, const scored_arms *scored, size_t first,
                     size_t count, deciding_room *room);

/* For a policy that draws its scores; it overwrites the scratch, so first keep what is needed of the decision. Sets the
 * probability of each arm to the share of fresh draws in which it wins, or to not a number without such draws. */
void deciding_estimate(const decision_rules *rules, const parameters *learned, const scored_arms *scored, size_t arm,
                       deciding_room *room);

/* What a decision among these arms, which were checked, would see: room->scores and, if asked for, room->probabilities.
 * Draws nothing from the streams. */
ee_status deciding_look(const decision_rules *rules, const parameters *learned, const ee_arms *arms, bool probabilities,
                        deciding_room *room, scored_arms *out, ee_error *error);

#endif
