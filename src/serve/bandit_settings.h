/* What a bandit of the server is, as its users say it in JSON:
 *
 *     {"policy": "eenet", "options": "f1.width=100", "features": "names=20000", "seed": 1, "wait": 600,
 *      "default_reward": 0, "aggregation": "first", "propensity": "floor:0.05", "mode": "online"}
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

enum { BANDIT_NAME_SIZE = 65, BANDIT_TEXT_SIZE = 2048 };

typedef struct bandit_settings {
    char policy[64];
    char options[BANDIT_TEXT_SIZE]; /* of the policy, as the user gave them */
    char features[512];             /* of named features; only where dim is 0 */
    char propensity[64];            /* "floor:0.05", "softmax:0.1", "igw:100", "own", "argmax" */
    uint64_t dim, seed;
    joining_rules joining;
    learning_mode mode;
} bandit_settings;

/* Letters, digits, '-', '_' and '.', 1 to 64 of them, the first a letter or digit. */
bool bandit_name_is_valid(json_text name);

bandit_settings bandit_settings_usual(void);

/* Sets what the object names; "name", which stands beside the settings of a new bandit, is passed over. Unknown members
 * are refused with the nearest known name. Durations are seconds, or a text as "10m", "4h", "2d". changing: only what
 * may change without another model: wait, default_reward, aggregation, mode. After a failure *into is as it was. */
ee_status bandit_settings_read(bandit_settings *into, const char *json, size_t size, bool changing, ee_error *error);
void bandit_settings_write(const bandit_settings *from, text *into);

/* A bandit of the library, as these say. Refuses a policy whose probabilities would not be known. */
ee_status bandit_settings_create(const bandit_settings *from, ee_bandit **out, ee_error *error);

#endif
