/* What a bandit of the server is, as its users say it in JSON:
 *
 *     {"policy": "eenet", "options": "f1.width=100", "features": "names=20000", "seed": 1, "wait": 600,
 *      "default_reward": 0, "aggregation": "first", "propensity": "floor:0.05", "mode": "online",
 *      "rewards": [0, 1], "outside": "reject", "confidence": 0.95, "promote": "offer",
 *      "challengers": [{"name": "linear", "policy": "linucb", "options": "", "propensity": "floor:0.05"}],
 *      "personalizer": {}}
 *
 * or with "dim": 20 in the place of "features", where it takes vectors. All have defaults but one of the two. */
#ifndef EENET_BANDIT_SETTINGS_H
#define EENET_BANDIT_SETTINGS_H

#include "base/json.h"
#include "data/log.h"
#include "data/text.h"

typedef enum learning_mode {
    MODE_ONLINE,     /* answers by the model, and learns */
    MODE_APPRENTICE, /* answers the baseline, and learns to do as it does */
    MODE_LOGGING     /* answers the baseline, and learns nothing */
} learning_mode;

/* How rewards are joined; may change while the bandit lives. */
typedef struct joining_rules {
    int64_t wait;                /* microseconds after a decision in which its rewards count; above 0 */
    double default_reward;       /* of a decision without one; not a number: none */
    log_aggregation aggregation; /* LOG_REWARD_FIRST settles a decision at once, the others at the end of the wait */
} joining_rules;

enum { BANDIT_NAME_SIZE = 65, BANDIT_TEXT_SIZE = 2048, CHALLENGER_TEXT_SIZE = 512, MOST_CHALLENGERS = 8 };

/* What becomes of a challenger that is shown to be better. */
typedef enum promotion_rule {
    PROMOTE_OFFER, /* somebody is asked */
    PROMOTE_AUTO   /* it takes over */
} promotion_rule;

/* Somebody else who learns from the same log, and is judged by it. Dimension, features and seed are the bandit's. */
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

typedef struct bandit_settings {
    char policy[64];
    char options[BANDIT_TEXT_SIZE]; /* of the policy, as the user gave them */
    char features[512];             /* of named features; only where dim is 0 */
    char propensity[64];            /* "floor:0.05", "softmax:0.1", "igw:100", "own", "argmax" */
    uint64_t dim, seed;
    joining_rules joining;
    learning_mode mode;
    double reward_low, reward_high; /* that live intervals stand on; what lies beyond counts as the nearest end */
    outside_rule outside;           /* what becomes of other rewards otherwise */
    double confidence;              /* of live intervals, and that no promotion ever is a mistake */
    promotion_rule promote;
    uint64_t tests;                                    /* numbers that challengers were given so far */
    challenger_settings challengers[MOST_CHALLENGERS]; /* (challenger_count) */
    size_t challenger_count;
    int64_t retention_days;              /* after which events are removed; -1: never; 0: the server's setting */
    char personalizer[BANDIT_TEXT_SIZE]; /* an object, kept as it came; "": none */
} bandit_settings;

/* Letters, digits, '-', '_' and '.', 1 to 64 of them, the first a letter or digit. */
bool bandit_name_is_valid(json_text name);

bandit_settings bandit_settings_usual(void);

/* Sets what the object names; "name", which stands beside the settings of a new bandit, is passed over. Unknown members
 * are refused with the nearest known name. Durations are seconds, or a text as "10m", "4h", "2d". After a failure *into
 * is as it was. */
typedef enum settings_source {
    SETTINGS_STORED,  /* in the log */
    SETTINGS_NEW,     /* of a bandit that a user creates: a range of rewards that is stated is enforced */
    SETTINGS_CHANGES, /* likewise; only what needs no other model: not policy, options, features, dim, seed, propensity
                       */
} settings_source;
ee_status bandit_settings_read(bandit_settings *into, const char *json, size_t size, settings_source source,
                               ee_error *error);
/* The reward that is learned for one that was settled. */
double bandit_settings_reward(const bandit_settings *of, double reward);
void bandit_settings_write(const bandit_settings *from, text *into);

/* ---- challengers: challenger_settings.c ---- */

/* Behind the { of one: its members. propensity stays "" where it is not named: see challenger_settings_complete. */
ee_status challenger_settings_read(challenger_settings *into, json_reader *reader, ee_error *error);
void challenger_settings_write(const challenger_settings *from, text *into);

/* Checks names, and gives those without a propensity the bandit's, where their policy has a choice. */
ee_status challenger_settings_complete(bandit_settings *of, ee_error *error);

/* Each test that begins gets a number of its own, so that the chance of a mistake can be shared among all of them. What
 * was tested before goes on under its number; anew: all tests begin anew, as after another model or mode. The numbers
 * that next has are not looked at. */
void bandit_settings_number(bandit_settings *next, const bandit_settings *before, bool anew);

/* Whether decisions would be made, or counted, in another way, so that what was measured so far is about another
 * policy. */
bool bandit_settings_decide_alike(const bandit_settings *a, const bandit_settings *b);

/* The bandit as it would be with the challenger in its place. Its own challengers stay. */
bandit_settings challenger_settings_in_place(const bandit_settings *of, const challenger_settings *challenger);

/* NULL where there is none. */
const challenger_settings *bandit_settings_challenger(const bandit_settings *of, json_text name);

/* ---- the library's: settings_bandit.c ---- */

/* Whether the policy has an option of this name; false where there is no such policy. */
bool policy_has_option(const char *policy, const char *name);

/* The options of the library: the user's, and what propensity says. Refuses a policy whose probabilities would not be
 * known. */
ee_status bandit_settings_options(const bandit_settings *from, text *into, ee_error *error);

/* A bandit of the library, as these say. */
ee_status bandit_settings_create(const bandit_settings *from, ee_bandit **out, ee_error *error);

#endif
