/* The settings of a bandit as Personalizer says them: its ServiceConfiguration and its PolicyContract. What both know
 * is the bandit's own setting; what only Personalizer knows is kept beside it, in the setting "personalizer". */
#ifndef EENET_PERSONALIZER_SETTINGS_H
#define EENET_PERSONALIZER_SETTINGS_H

#include "data/values/log_time.h"
#include "iso_duration.h"
#include "serve/settings/bandit_settings.h"

enum { POLICY_NAME_MOST = 256, POLICY_ARGUMENTS_MOST = 1024 };

/* What only Personalizer knows. */
typedef struct personalizer_kept {
    char export_frequency[ISO_DURATION_SIZE];       /* kept and given back; models are published sooner */
    char optimization_frequency[ISO_DURATION_SIZE]; /* kept and given back: live evaluation never rests */
    char optimization_start[LOG_TIME_SIZE];
    char edited[LOG_TIME_SIZE]; /* when it was changed last */
    int64_t retrain_days;       /* of the log, that a new model begins with */
    char policy_name[POLICY_NAME_MOST + 1], policy_arguments[POLICY_ARGUMENTS_MOST + 1]; /* "": never said */
} personalizer_kept;

/* The defaults, and what the setting has of them. */
personalizer_kept personalizer_kept_of(const bandit_settings *settings);
/* EE_BAD_INPUT where it does not fit. */
ee_status personalizer_keep(const personalizer_kept *kept, bandit_settings *into, ee_error *error);

/* ---- the service's configuration ---- */

/* with_retrain: as the last generation has it, with modelRetrainDays. */
void service_configuration_write(const bandit_settings *from, bool with_retrain, text *into);

/* Reads the whole object into *into. *code becomes Personalizer's name of what is wrong. After a failure *into is as it
 * was. */
ee_status service_configuration_read(bandit_settings *into, json_text body, const char **code, ee_error *error);

/* The exploration that the configuration shows. */
double service_exploration(const bandit_settings *settings);

/* ---- the policy ---- */

void policy_contract_write(const bandit_settings *from, text *into);

/* Reads {"name", "arguments"} into *into. Arguments of ours are "eenet:POLICY OPTIONS", with propensity=RULE among the
 * options; any others are Vowpal Wabbit's: they are kept, and of them --epsilon is followed. */
ee_status policy_contract_read(bandit_settings *into, json_text body, ee_error *error);
ee_status policy_contract_apply(bandit_settings *into, json_text name, json_text arguments, ee_error *error);

/* As a bandit has it that was never told. */
ee_status policy_contract_reset(bandit_settings *into, ee_error *error);

#endif
