/* A first look through a log that can be read again: how many events, which rewards, how many names. */
#ifndef EENET_LOG_SURVEY_H
#define EENET_LOG_SURVEY_H

#include "evaluation.h"

typedef struct log_survey {
    uint64_t events; /* that somebody saw */
    double reward_low, reward_high;
    size_t names; /* places that all names and products take, at most LOG_SURVEY_NAMES; 0: were not counted */
} log_survey;

/* A linear policy takes room and time by the square of the names: more than these share places. */
enum { LOG_SURVEY_NAMES = 20000 };

/* asked: options of the named features, whose names are to be counted; NULL: they are not. *finished false: the
 * watch did not want it to go on. */
ee_status log_survey_take(const evaluation_request *request, const char *asked, const evaluation_watch *watch,
                          log_survey *out, bool *finished, ee_error *error);

/* Whether a text of options leaves the room for names open, so that a survey may set it. */
bool log_survey_can_size(const char *asked);

/* The options with room for so many names, to be freed with memory_free. spare: and as many again, and more, that
 * share places: for a model that will meet other events. */
ee_status log_survey_features(const char *asked, size_t names, bool spare, char **out, ee_error *error);

#endif
