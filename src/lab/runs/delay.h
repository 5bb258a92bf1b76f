/* Delayed rewards: how long they take, and the queue of those that are pending.
 *
 * After the decision of round t, all rewards that are due by round t (round of the decision plus delay) are learned, by
 * due round, then by decision. A delay of 0 is learned right after its decision. As text:
 *
 *     N                    N rounds after the decision; 0: at once
 *     geometric:MEAN       after K rounds, P(K = k) = p (1 - p)^k for k = 0, 1, 2, ..., p = 1 / (1 + MEAN); K is
 *                          capped at the quantile 1 - 10^-9
 *     clicks:MEAN,TIMEOUT  a reward above 0 after such a K, given that K < TIMEOUT; all others as 0 after TIMEOUT
 */
#ifndef EENET_DELAY_H
#define EENET_DELAY_H

#include <stdbool.h>

#include "base/random.h"
#include "base/status.h"

typedef enum delay_kind { DELAY_ROUNDS, DELAY_GEOMETRIC, DELAY_CLICKS } delay_kind;

/* Zeros: at once. */
typedef struct delay {
    delay_kind kind;
    uint64_t rounds; /* N, or the timeout; 0 where it is geometric */
    double mean;     /* 0 where it is N rounds */
} delay;

enum { DELAY_MOST = 10000000, DELAY_TEXT = 64 }; /* rounds that a reward may take; bytes of a delay as text */

/* EE_BAD_OPTION, with a sentence that starts at "expected", where text is no delay. */
ee_status delay_parse(const char *text, delay *out, ee_error *error);

/* The one way in which a delay is written: what is equal has equal text. */
void delay_format(const delay *self, char text[DELAY_TEXT]);

bool delay_is_none(const delay *self);
bool delay_same(const delay *left, const delay *right);

/* The longest delay in rounds. At most this many decisions plus one are pending at a time. */
uint64_t delay_longest(const delay *self);

/* ---- what waits ---- */

typedef struct late_reward {
    uint64_t due, round; /* the round at whose end it is learned, and the round of the decision */
    uint64_t decision;
    double reward; /* as it will be told */
} late_reward;

typedef struct delay_queue {
    delay rule;
    random_stream stream;
    late_reward *waiting; /* (count) a heap, the next on top */
    size_t count, capacity;
} delay_queue;

/* The delays are those of the seed: the same for all policies, and apart from what else is drawn. To be released. */
delay_queue delay_start(const delay *rule, uint64_t seed);
void delay_release(delay_queue *self);

/* Takes the reward of a decision; in the order of the decisions, and draws its delay whatever the reward. */
ee_status delay_add(delay_queue *self, uint64_t round, uint64_t decision, double reward, ee_error *error);

/* The next reward that is due by the round; false where there is none. */
bool delay_next(delay_queue *self, uint64_t round, late_reward *out);

#endif
