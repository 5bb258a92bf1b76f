/* Off-policy evaluation of rounds that fill several slots, each with its own action and reward: conditional
 * contextual bandits, and slates of items. The sums of each slot are those of an ordinary log whose weights are what a
 * slot weighting makes of the slots' ratios pi(a) / p, each given what the slots before it took:
 *
 *     WHOLE    the product of all         rewards depend on the whole slate                     SIPS
 *     CASCADE  the product up to the slot rewards depend on the slots before, as in reading     RIPS, PDIS
 *     OWN      the slot's alone           rewards depend on the slot's own action (give ratios
 *                                         of the marginal probabilities at the slot)            IIPS
 *
 * (McInerney, Brost, Chandar, Mehrotra, Carterette, "Counterfactual evaluation of slate recommendations with sequential
 * reward interactions", 2020.) Fewer slots in a weight mean less variance and a stronger assumption. For a slate with
 * one reward for all slots, the pseudo-inverse needs no product if rewards add up over slots and the log drew each slot
 * independently (Swaminathan et al., "Off-policy evaluation for slate recommendation", 2017): see slot_pseudo_inverse.
 */
#ifndef EENET_SLOT_SUMS_H
#define EENET_SLOT_SUMS_H

#include "base/memory.h"
#include "interval.h"

typedef enum slot_weighting { SLOT_CASCADE, SLOT_WHOLE, SLOT_OWN } slot_weighting;

/* {.owner = ...} has no rounds. */
typedef struct slot_sums {
    memory *owner;
    rounds_sums *slots; /* (count) slot by slot, over the rounds that showed it */
    size_t count, capacity;
    rounds_sums rounds; /* of whole rounds: weight 1, and the sum of w r as reward */
} slot_sums;

/* Adds a round that showed the first `shown` slots; ratios and rewards are (shown). */
ee_status slot_sums_add(slot_sums *self, slot_weighting by, const double *ratios, const double *rewards, size_t shown,
                        double copies, ee_error *error);

/* The share of rounds that showed a slot, and its Clopper-Pearson interval. */
double slot_sums_shown(const slot_sums *self, size_t slot);
interval slot_sums_shown_interval(const slot_sums *self, size_t slot, double alpha);

/* What a round earns, all slots together: the sum of shown times value, each slot by a kind that streams. With IPS it
 * is SIPS, IIPS or RIPS, with SNIPS the self-normalised ones, with CRESSIE_READ and CASCADE Vowpal Wabbit's PDIS. */
double slot_sums_value(const slot_sums *self, estimator_kind kind);

/* Interval of what a round earns in a slot: Cressie and Read's for the reward if shown, times the interval of being
 * shown, with alpha halved between the two. Vowpal Wabbit gives each the whole alpha. */
interval slot_sums_interval(const slot_sums *self, size_t slot, value_range range, double alpha);

/* The sums of all slots as if each were a round: the mean reward of a slot. The slots of a round are not independent,
 * so its intervals are too narrow; NORMAL of IPS on self->rounds is not. */
rounds_sums slot_sums_together(const slot_sums *self);

/* The weight for the one reward of a slate, for rounds_sums_add: 1 - count + the sum of the ratios. It can be negative.
 */
double slot_pseudo_inverse(const double *ratios, size_t count);

#endif
