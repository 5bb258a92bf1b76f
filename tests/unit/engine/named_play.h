/* Rounds of named features that a bandit plays: the number of a round decides all of it. */
#ifndef EENET_NAMED_PLAY_H
#define EENET_NAMED_PLAY_H

#include "rounds.h"

enum { NAMED_ARMS = 4, NAMED_SIZE = 2048 };

static inline size_t named_plan(uint64_t number)
{
    random_stream stream = random_named(number, "plan");
    return (size_t)random_below(&stream, NAMED_ARMS);
}

/* Names and numbers of all kinds; every seventh round brings a new name. */
static inline void named_draw(ee_round *round, uint64_t number)
{
    char json[NAMED_SIZE];
    random_stream stream = random_named(number, "named");
    int used = snprintf(
        json, sizeof json,
        "{\"user\":{\"plan\":\"p%zu\",\"income\":%.0f,\"v\":[%.3f,%.3f],\"new\":%s},\"visit%d\":%s,\"rare\":%s,"
        "\"_multi\":[",
        named_plan(number), 1e6 * (1 + random_unit(&stream)), random_unit(&stream), random_unit(&stream),
        number % 2 ? "true" : "false", (int)(number / 7), number % 7 ? "null" : "true", number % 5 ? "null" : "17");
    for (size_t arm = 0; arm < NAMED_ARMS; arm++)
        used += snprintf(json + used, sizeof json - (size_t)used, "%s{\"item\":{\"id\":\"i%zu\",\"price\":%.2f}}",
                         arm ? "," : "", arm, 0.01 * random_unit(&stream));
    used += snprintf(json + used, sizeof json - (size_t)used, "]}");
    ee_error error = {EE_OK, ""};
    ee_round_clear(round);
    if (ee_round_read(round, json, (size_t)used, &error)) fail_msg("%s: %s", json, error.message);
}

/* The item of the plan's number is the good one: a matter of products alone. */
static inline double named_reward(uint64_t number, size_t arm)
{
    return arm == named_plan(number) ? 1 : 0;
}

static inline ee_bandit *named_make(const char *name, const char *options, const char *features_text)
{
    ee_settings settings = {.policy = name, .seed = 5, .options = options, .features = features_text};
    ee_bandit *bandit = NULL;
    ee_error error = {EE_OK, ""};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("create %s: %s", name, error.message);
    return bandit;
}

/* Without a snapshot. */
static inline reader named_reader(const char *name, const char *options, const char *features_text)
{
    return (reader){.bandit = named_make(name, options, features_text), .round = round_make()};
}

/* Rounds first to last, each rewarded at once; returns the sum of the rewards. */
static inline double named_play(ee_bandit *bandit, ee_round *round, uint64_t first, uint64_t last)
{
    double sum = 0;
    for (uint64_t t = first; t <= last; t++) {
        ee_arms arms;
        named_draw(round, t);
        ok(ee_bandit_arms(bandit, round, &arms, &last_error));
        ee_decision decision = bandit_choose(bandit, &arms, NULL);
        double reward = named_reward(t, decision.arm);
        bandit_reward(bandit, decision.id, reward);
        sum += reward;
    }
    return sum;
}

#endif
