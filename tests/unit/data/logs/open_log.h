/* The log that a test reads, until the next is opened, and its last event. */
#ifndef EENET_TEST_OPEN_LOG_H
#define EENET_TEST_OPEN_LOG_H

#include "good_logs.h"

static log_reader *reader;
static log_event event;

static bool next(void)
{
    return next_good(reader, &event);
}

static void open_log(const char *words)
{
    log_close(reader);
    reader = open_good(words);
}

#endif
