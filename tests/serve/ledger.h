/* What a client was told, against what the server's log has: nothing that was acknowledged is missing, nothing is there
 * twice, and each decision is worth what its rewards say. The sums are made here by themselves, not by the code that
 * joins. */
#ifndef EENET_LEDGER_H
#define EENET_LEDGER_H

#include "serve/settings/bandit_settings.h"
#include "serve/store/event.h"

enum { LEDGER_ID = 40 };

typedef struct told_decision {
    size_t bandit; /* its place among the names */
    uint64_t seed; /* of the request: makes the same bytes again */
    char id[LEDGER_ID];
    char *answer;   /* NULL: none came */
    bool activated; /* it was deferred, and the activation was answered */
} told_decision;

/* A reward is known by its value: no two of one decision have the same. */
typedef struct told_reward {
    size_t bandit;
    char id[LEDGER_ID]; /* of its decision */
    double value;
    bool named;            /* it has a reward id, made of its value */
    unsigned sent;         /* so many times */
    event_outcome outcome; /* that was answered first; OUTCOME_NONE: no answer came */
} told_reward;

/* One thread's. */
typedef struct ledger {
    told_decision *decisions;
    told_reward *rewards;
    size_t decision_count, decision_capacity, reward_count, reward_capacity;
} ledger;

told_decision *ledger_add_decision(ledger *self);
told_reward *ledger_add_reward(ledger *self);
void ledger_end(ledger *self);

const char *ledger_outcome_name(event_outcome outcome);
event_outcome ledger_outcome(const char *name);

typedef struct ledger_bandit {
    const char *name;
    log_aggregation aggregation; /* first or sum */
    double default_reward;       /* not a number: none */
} ledger_bandit;

typedef struct ledger_sums {
    uint64_t decisions, rewards;      /* acknowledged */
    uint64_t events, logged, settled; /* in the log: all, decisions, SETTLED */
    uint64_t faults;
} ledger_sums;

/* Decisions of a bandit that are not settled, by the store in the folder. */
uint64_t ledger_open_decisions(const char *folder, const char *name);

/* Reads the store in the folder, which no server uses now, and prints each fault (the first few). */
ledger_sums ledger_check(const char *folder, const ledger_bandit *bandits, size_t bandit_count, const ledger *ledgers,
                         size_t ledger_count);

#endif
