/* A first look through a log that can be read again: how many events, which rewards, how many names. */
#ifndef EENET_LOG_SURVEY_H
#define EENET_LOG_SURVEY_H

#include "evaluation.h"

typedef struct log_survey {
    uint64_t events; /* shown */
    double reward_low, reward_high;
    evaluation_metric metrics[LOG_METRICS]; /* (metric_count) with the values that occur, in the order of the log */
    size_t metric_count;
    size_t names; /* places for all names and products, at most LOG_SURVEY_NAMES; 0: not counted */
} log_survey;

/* A linear policy takes memory and time quadratic in the names; beyond this number they share places. */
enum { LOG_SURVEY_NAMES = 20000 };

/* asked: options of the named features whose names are to be counted; NULL: do not count. *finished false: stopped by
 * the watch. */
ee_status log_survey_take(const evaluation_request *request, const char *asked, const evaluation_watch *watch,
                          log_survey *out, bool *finished, ee_error *error);

/* Whether the options leave the room for names open, so that a survey may set it. */
bool log_survey_can_size(const char *asked);

/* The options with room for this many names; free with memory_free. spare: with room for as many more and further
 * shared places, for a model that will meet other events. */
ee_status log_survey_features(const char *asked, size_t names, bool spare, char **out, ee_error *error);

#endif
