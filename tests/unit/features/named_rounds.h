/* Rounds of named features for tests. */
#ifndef EENET_NAMED_ROUNDS_H
#define EENET_NAMED_ROUNDS_H

#include "features/features.h"
#include "support.h"

static inline ee_round *round_make(void)
{
    ee_round *round;
    ok(ee_round_create(NULL, &round, NULL));
    return round;
}

/* The round that the text says, in place of what it held. */
static inline void round_set(ee_round *round, const char *json)
{
    ee_error error = {EE_OK, ""};
    ee_round_clear(round);
    ee_status status = ee_round_read(round, json, strlen(json), &error);
    if (status) fail_msg("%s: %s", json, error.message);
}

static inline void features_start(features *self, memory *owner, const char *text)
{
    features_options options;
    ee_error error = {EE_OK, ""};
    if (features_read_options(&options, text, &error) || features_create(self, owner, &options, &error))
        fail_msg("%s: %s", text, error.message);
}

/* Learns a round and gives its arms. */
static inline ee_arms features_meet(features *self, ee_round *round, const char *json)
{
    ee_error error = {EE_OK, ""};
    ee_arms arms;
    round_set(round, json);
    if (features_learn(self, round, &error) || features_encode(self, round, &arms, &error))
        fail_msg("%s: %s", json, error.message);
    return arms;
}

/* An arm as "name:value name:value ...", in the order of the places; a shared place is "#". */
static inline const char *arm_text(const features *self, const ee_arms *arms, size_t arm)
{
    static char text[4096];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = arms->starts[arm]; i < arms->starts[arm + 1]; i++) {
        ee_feature feature;
        char name[256];
        features_describe(self, arms->indices[i], &feature, name, sizeof name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%g", used ? " " : "", name[0] ? name : "#",
                                 (double)arms->values[i]);
    }
    return text;
}

#endif
