/* Evaluations that tests ask for in words. */
#ifndef EENET_TEST_EVALUATION_TRIAL_H
#define EENET_TEST_EVALUATION_TRIAL_H

#include "evaluate/evaluations/evaluation.h"
#include "support.h"

enum { TRIAL_CANDIDATES = 8 };

/* Starts zeroed; ends with trial_end. */
typedef struct trial {
    evaluation_request request;
    candidate_request candidates[TRIAL_CANDIDATES];
    evaluation_result results[TRIAL_CANDIDATES];
    char words[512];
} trial;

static inline void trial_end(trial *self)
{
    evaluation_release(self->results, self->request.candidate_count);
    *self = (trial){0};
}

/* A new question about a log, with names separated by commas. The model is ridge, which is quicker than f1. */
static inline void trial_ask(trial *self, const char *log, const char *candidates, const char *estimators)
{
    char copy[256];
    trial_end(self);
    evaluation_request *request = &self->request;
    *request = evaluation_usual();
    request->log = log;
    request->model = REWARD_MODEL_RIDGE;
    request->candidates = self->candidates;
    request->estimator_count = 0;
    snprintf(self->words, sizeof self->words, "%s", candidates);
    for (char *word = strtok(self->words, ","); word; word = strtok(NULL, ","))
        self->candidates[request->candidate_count++].text = word;
    snprintf(copy, sizeof copy, "%s", estimators);
    for (char *word = strtok(copy, ","); word; word = strtok(NULL, ","))
        assert_true(estimator_request_parse(word, &request->estimators[request->estimator_count++]));
}

static inline void trial_run(trial *self)
{
    ok(evaluation_run(&self->request, NULL, self->results, NULL));
    for (size_t i = 0; i < self->request.candidate_count; i++)
        if (self->results[i].failure.status) fail_msg("%s", self->results[i].failure.message);
}

#endif
