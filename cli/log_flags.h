/* Flags for reading a log, shared by several commands. They come first in a command's list: LOG_FLAG_LIST. */
#ifndef EENET_LOG_FLAGS_H
#define EENET_LOG_FLAGS_H

#include "command.h"
#include "data/logs/log.h"

enum { LOG_FLAG_FROM, LOG_FLAG_UNTIL, LOG_FLAG_REWARD, LOG_FLAG_DEFAULT_REWARD, LOG_FLAG_STRICT, LOG_FLAGS };

/* clang-format off */
#define LOG_FLAG_LIST                                                                                                  \
    [LOG_FLAG_FROM] = {'\0', "from", "TIME", "only events from this time on, such as 2021-05-18 or 2021-05-18T13:28:29Z"}, \
    [LOG_FLAG_UNTIL] = {'\0', "until", "TIME", "only events before this time"},                                        \
    [LOG_FLAG_REWARD] = {'\0', "reward", "WAY", "reward of an event: label (as logged), or first, last, sum, mean or max"}, \
    [LOG_FLAG_DEFAULT_REWARD] = {'\0', "default-reward", "REWARD", "reward of an event without observations (default: 0)"}, \
    [LOG_FLAG_STRICT] = {'\0', "strict", NULL, "fail on the first line that is not a usable event"}
/* clang-format on */

/* Collects the arguments of a command about one log: *log, and given (self->flag_count) for flags that may occur once,
 * "" for flags without a value. more (may be NULL) takes repeatable flags and returns false for others. Returns an exit
 * status; if it is not EXIT_DONE, the error was printed to stderr. */
typedef bool take_again(const command *self, int got, const char *value, void *context, int *code);
int log_flags_collect(const command *self, int argc, char **argv, const char **log, const char **given,
                      take_again *more, void *context);

/* Converts given[LOG_FLAG_FROM] and the others to options. Returns an exit status as above. */
int log_flags_read(const command *self, const char *const *given, log_options *options);

/* Parses the time of another flag, in seconds since 1970; *seconds is unchanged if value is NULL. */
int log_flags_time(const command *self, int got, const char *value, double *seconds);

#endif
