/* Settings of a bandit, as users write them in JSON:
 *
 *     {"policy": "eenet", "options": "f1.width=100", "features": "names=20000", "seed": 1, "wait": 600,
 *      "default_reward": 0, "aggregation": "first", "propensity": "floor:0.05", "mode": "online",
 *      "rewards": [0, 1], "outside": "reject", "confidence": 0.95, "promote": "offer",
 *      "challengers": [{"name": "linear", "policy": "linucb", "options": "", "propensity": "floor:0.05"}],
 *      "metrics": [{"name": "refund", "aggregation": "sum", "missing": 0, "weight": -2}], "guardrails": {},
 *      "held": "no", "held_because": "", "personalizer": {}}
 *
 * or with "dim": 20 instead of "features", if it takes vectors. All have defaults. */
#ifndef EENET_BANDIT_SETTINGS_H
#define EENET_BANDIT_SETTINGS_H

#include "base/json.h"
#include "data/logs/log.h"
#include "data/values/text.h"
#include "guard_settings.h"

typedef enum learning_mode {
    MODE_ONLINE,     /* the model answers, and learns */
    MODE_APPRENTICE, /* answers with the baseline; the model learns to imitate it */
    MODE_LOGGING     /* answers with the baseline; nothing is learned */
} learning_mode;

enum { MOST_METRICS = 8, METRIC_NAME_SIZE = 33 };

/* A number that a decision can receive besides its reward. */
typedef struct metric_settings {
    char name[METRIC_NAME_SIZE];
    log_aggregation aggregation; /* of several values for one decision */
    double missing;              /* the value of a decision without one; NaN: none, it is not counted */
    double weight;               /* the objective is the reward plus weight * value of each metric */
} metric_settings;

/* How rewards are joined; can be changed later. */
typedef struct joining_rules {
    int64_t wait;                /* microseconds after a decision in which its rewards count; above 0 */
    double default_reward;       /* of a decision without a reward; NaN: none */
    log_aggregation aggregation; /* LOG_REWARD_FIRST settles a decision at once, the others at the end of the wait */
    metric_settings metrics[MOST_METRICS]; /* (metric_count); with any, decisions are settled at the end of the wait */
    size_t metric_count;
} joining_rules;

/* What a decision is worth after one more reward, its count-th, with `before` its worth until then. */
double joining_worth(log_aggregation aggregation, double before, double reward, uint32_t count);

enum { BANDIT_NAME_SIZE = 65, BANDIT_TEXT_SIZE = 2048, CHALLENGER_TEXT_SIZE = 512, MOST_CHALLENGERS = 8 };

/* What to do when a challenger is significantly better. */
typedef enum promotion_rule {
    PROMOTE_OFFER, /* wait for an operator to promote it */
    PROMOTE_AUTO   /* promote it */
} promotion_rule;

/* A policy that learns from the same log and is evaluated on it. Dimension, features and seed are the bandit's. */
typedef struct challenger_settings {
    char name[BANDIT_NAME_SIZE];
    char policy[64];
    char options[CHALLENGER_TEXT_SIZE];
    char propensity[64];
    uint64_t number; /* of its test, among all tests in the life of the bandit: see bandit_settings_number */
} challenger_settings;

/* What happens to a reward outside the range that `rewards` states. */
typedef enum outside_rule {
    OUTSIDE_ACCEPT, /* it is learned as it is; the policy limits outliers */
    OUTSIDE_REJECT, /* the request is refused; a sum of rewards counts as the nearest end */
    OUTSIDE_CLIP    /* it is learned as the nearest end */
} outside_rule;

/* Whether a violated guardrail, or an operator, holds the bandit back. */
typedef enum held_state {
    HELD_NOT,
    HELD_FROZEN,  /* it decides, but learns nothing */
    HELD_FALLBACK /* every decision follows the baseline; nothing is learned */
} held_state;

typedef struct bandit_settings {
    char policy[64];
    char options[BANDIT_TEXT_SIZE]; /* of the policy, as the user gave them */
    char features[512];             /* of named features; only if dim is 0 */
    char propensity[64];            /* "floor:0.05", "softmax:0.1", "igw:100", "own", "argmax" */
    uint64_t dim, seed;
    joining_rules joining;
    learning_mode mode;
    double reward_low, reward_high; /* range for live intervals; rewards outside count as the nearest end */
    outside_rule outside;           /* what the model does with rewards outside the range */
    double confidence;              /* of live intervals, and that no promotion is ever a mistake */
    promotion_rule promote;
    uint64_t tests;                                    /* number of the last test of a challenger */
    challenger_settings challengers[MOST_CHALLENGERS]; /* (challenger_count) */
    size_t challenger_count;
    int64_t retention_days;           /* after which events are removed; -1: never; 0: the server's setting */
    char guardrails[GUARD_TEXT_SIZE]; /* an object, kept as it came; "": none. See guard_settings.h */
    held_state held;
    char held_because[256];
    char personalizer[BANDIT_TEXT_SIZE]; /* an object, kept as it came; "": none */
} bandit_settings;

/* Writes the first setting that differs, such as "wait 600, not 1800", and whether PATCH can change it. false: the
 * settings are the same. */
bool bandit_settings_difference(const bandit_settings *there, const bandit_settings *asked, char *into, size_t size,
                                bool *may_change);

/* Letters, digits, '-', '_' and '.', 1 to 64 of them, the first a letter or digit. */
bool bandit_name_is_valid(json_text name);

bandit_settings bandit_settings_usual(void);

/* Sets the members of the object. "name" is ignored. Unknown members are refused with the nearest known name.
 * Durations are seconds, or strings such as "10m", "4h" and "2d". On failure *into is unchanged. */
typedef enum settings_source {
    SETTINGS_STORED,  /* in the log */
    SETTINGS_NEW,     /* from a user who creates a bandit: a given range of rewards is enforced */
    SETTINGS_CHANGES, /* from a user who changes one: not policy, options, features, dim, seed, propensity */
} settings_source;
ee_status bandit_settings_read(bandit_settings *into, const char *json, size_t size, settings_source source,
                               ee_error *error);
/* The reward that is learned for one that was settled. */
double bandit_settings_reward(const bandit_settings *of, double reward);
void bandit_settings_write(const bandit_settings *from, text *into);

/* ---- metrics: metric_settings.c ---- */

/* Reads the array after its [. */
ee_status metric_settings_read(joining_rules *into, json_reader *reader, ee_error *error);
void metric_settings_write(const joining_rules *from, text *into);

/* The place of a metric; metric_count: there is none of this name. */
size_t metric_find(const joining_rules *of, json_text name);

/* What a decision is worth: its reward plus weight * value of each metric. values is (metric_count); NaN: none. */
double metric_objective(const joining_rules *of, double reward, const double *values);

/* A checksum of what metric_objective depends on besides values; 0: the objective is the reward. */
uint64_t metric_objective_checksum(const joining_rules *of);

/* ---- challengers: challenger_settings.c ---- */

/* Reads the members after {. propensity stays "" if it is not given: see challenger_settings_complete. */
ee_status challenger_settings_read(challenger_settings *into, json_reader *reader, ee_error *error);
void challenger_settings_write(const challenger_settings *from, text *into);

/* Checks the names. Challengers without a propensity get the bandit's, if their policy supports it. */
ee_status challenger_settings_complete(bandit_settings *of, ee_error *error);

/* Numbers the tests of next's challengers, so that the probability of a mistake can be divided among all tests. A test
 * that continues keeps its number; anew: all tests restart, as after another model or mode. Numbers in next are
 * overwritten. */
void bandit_settings_number(bandit_settings *next, const bandit_settings *before, bool anew);

/* Whether both make and count decisions in the same way. If not, earlier measurements are about another policy. */
bool bandit_settings_decide_alike(const bandit_settings *a, const bandit_settings *b);

/* The settings of the bandit after a promotion of the challenger. The bandit's challengers stay. */
bandit_settings challenger_settings_in_place(const bandit_settings *of, const challenger_settings *challenger);

/* NULL: there is none. */
const challenger_settings *bandit_settings_challenger(const bandit_settings *of, json_text name);

/* ---- the library's: settings_bandit.c ---- */

/* Whether the policy has an option of this name; false if there is no such policy. */
bool policy_has_option(const char *policy, const char *name);

/* Options for the library: the user's and those of the propensity rule. Refuses policies with unknown
 * probabilities. */
ee_status bandit_settings_options(const bandit_settings *from, text *into, ee_error *error);

/* Creates the library's bandit with these settings. */
ee_status bandit_settings_create(const bandit_settings *from, ee_bandit **out, ee_error *error);

#endif
