/* The bandits of which models are stored, and what they play. It uses the public header alone, so that it also builds
 * with an older library: make_models writes with it, test_stored_models reads. */
#ifndef EENET_PLAY_MODELS_H
#define EENET_PLAY_MODELS_H

#include <eenet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MODEL_DIM = 8, MODEL_ARMS = 4, MODEL_ROUNDS = 80, MODEL_PENDING = 5 };

typedef struct model_case {
    const char *name, *policy, *options, *features;
} model_case;

/* Small, so that the files are: only eenet has a committee. Versions 10 and 11 have no such option. */
static const model_case model_cases[] = {
    {"uniform", "uniform", "", NULL},
    {"ucb1", "ucb1", "", NULL},
    {"ucb1-blocks", "ucb1", "blocks=4", NULL},
    {"thompson", "thompson", "", NULL},
    {"linucb", "linucb", "", NULL},
    {"lints", "lints", "", NULL},
    {"kernelucb", "kernelucb", "", NULL},
    {"kernelts", "kernelts", "", NULL},
    {"greedy", "greedy", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-epsilon", "neural-epsilon", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-ucb", "neural-ucb", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-ts", "neural-ts", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-linear", "neural-linear", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-linucb", "neural-linucb", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"neural-ensemble", "neural-ensemble", "f1.width=6 members=3 recall=16 f1.committee=1", NULL},
    {"neural-fastcb", "neural-fastcb", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"squarecb", "squarecb", "f1.width=6 recall=16 f1.committee=1", NULL},
    {"eenet", "eenet", "f1.width=6 units=4 recent_units=4 recall=16", NULL},
    {"eenet-blocks", "eenet", "f1.width=6 units=4 recent_units=4 recall=16 f1.committee=1 blocks=4", NULL},
    {"eenet-paper", "eenet:paper", "f1.width=6 f2.width=6", NULL},
    {"eenet-named", "eenet", "f1.width=6 units=4 recent_units=4 recall=16 f1.committee=1", "names=30 hashes=4"},
    {"linucb-named", "linucb", "", "names=30 hashes=4"},
    {"linucb-hashed", "linucb", "", "hashing=vw bits=5"},
};

/* Deterministic numbers of -0.5 to 0.5. */
static inline float model_number(unsigned i)
{
    return (float)((i * 2654435761u) >> 8 & 0xffff) / 65536.0f - 0.5f;
}

/* The arms of a round; with named features, through the bandit or, for a look that learns nothing, the round before. */
static inline ee_status model_arms(ee_bandit *bandit, const model_case *c, unsigned t, ee_round *round, float *values,
                                   ee_arms *arms, ee_error *error)
{
    if (!c->features) {
        bool blocks = strstr(c->options, "blocks=4") != NULL;
        memset(values, 0, MODEL_ARMS * MODEL_DIM * sizeof *values);
        for (unsigned i = 0; i < MODEL_ARMS; i++)
            for (unsigned j = 0; j < (blocks ? 2 : MODEL_DIM); j++)
                values[i * MODEL_DIM + (blocks ? 2 * i + j : j)] =
                    model_number(blocks ? t * 97 + j : t * 97 + i * 13 + j);
        *arms = ee_arms_dense(values, MODEL_ARMS, MODEL_DIM);
        return EE_OK;
    }
    char text[96];
    ee_round_clear(round);
    int size = snprintf(text, sizeof text, "{\"age\": %u, \"plan\": \"p%u\"}", 20 + t * 7 % 50, t % 3);
    ee_status status = ee_round_context(round, text, (size_t)size, error);
    for (unsigned i = 0; i < MODEL_ARMS && !status; i++) {
        size = snprintf(text, sizeof text, "{\"item\": \"i%u\", \"price\": %u}", i, 3 + t * 5 % 11 + i);
        status = ee_round_action(round, text, (size_t)size, error);
    }
    return status ? status : ee_bandit_arms(bandit, round, arms, error);
}

/* Plays rounds first to last - 1, rewards of 3 to 17; of the last few of all the reward does not come. */
static inline ee_status model_play(ee_bandit *bandit, const model_case *c, unsigned first, unsigned last,
                                   ee_error *error)
{
    float values[MODEL_ARMS * MODEL_DIM];
    ee_round *round;
    ee_status status = ee_round_create(NULL, &round, error);
    for (unsigned t = first; t < last && !status; t++) {
        ee_arms arms;
        ee_decision decision;
        status = model_arms(bandit, c, t, round, values, &arms, error);
        if (!status) status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
        if (!status && t < MODEL_ROUNDS - MODEL_PENDING)
            status = ee_bandit_learn(bandit, decision.id, 3 + (double)((t * 31 + decision.arm * 17) % 15), error);
    }
    ee_round_free(round);
    return status;
}

/* What it expects of the arms of the round that comes next. */
static inline ee_status model_expect(ee_bandit *bandit, const model_case *c, float *expected, ee_error *error)
{
    float values[MODEL_ARMS * MODEL_DIM];
    ee_score scores[MODEL_ARMS];
    ee_arms arms;
    ee_round *round;
    ee_status status = ee_round_create(NULL, &round, error);
    if (!status) status = model_arms(bandit, c, MODEL_ROUNDS, round, values, &arms, error);
    if (!status) status = ee_bandit_score(bandit, &arms, scores, error);
    for (size_t i = 0; i < MODEL_ARMS && !status; i++) expected[i] = scores[i].exploitation;
    if (round) ee_round_free(round);
    return status;
}

#endif
