/* Logs of the tests that are all right: what fails is printed. */
#ifndef EENET_TEST_GOOD_LOGS_H
#define EENET_TEST_GOOD_LOGS_H

#include "data/logs/log.h"
#include "support.h"

static inline bool text_is(json_text got, const char *expected)
{
    return got.length == strlen(expected) && (!got.length || memcmp(got.bytes, expected, got.length) == 0);
}

static inline log_reader *open_good(const char *words)
{
    log_options options = log_options_usual();
    log_reader *log;
    if (log_open(words, &options, &log, &last_error)) fail_msg("%s: %s", words, last_error.message);
    return log;
}

static inline bool next_good(log_reader *log, log_event *event)
{
    bool found;
    if (log_next(log, event, &found, &last_error)) fail_msg("%s", last_error.message);
    return found;
}

#endif
