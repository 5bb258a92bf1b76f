/* Logs that a test makes, of which the truth is known. */
#ifndef EENET_TEST_SUPPORT_LOGS_H
#define EENET_TEST_SUPPORT_LOGS_H

#include "data/logs/log.h"
#include "data/sets/environment.h"
#include "support.h"

/* What a made log is. */
typedef struct made_log {
    const char *path;    /* the end of the name tells the form, as log_create has it */
    const char *dataset; /* as dataset_open takes it */
    uint64_t seed;
    size_t rounds;
    double floor;    /* the log takes arm 0 with probability 1 - floor, and any arm alike with floor */
    double scale;    /* what logged probabilities are multiplied with; 1: they are right */
    bool taken_only; /* the log tells the probability of the taken action alone */
} made_log;

/* Plays the rounds and writes them. watch, unless NULL, is given each round before its event is written. */
typedef void made_round(void *context, const environment_round *round, const log_event *event);
void make_log(const made_log *how, made_round *watch, void *context);

#endif
