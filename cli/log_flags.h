/* How a log is read: the flags that verbs about logs share, into log_options. They stand first in a verb's list, as
 * LOG_FLAG_LIST has them. */
#ifndef EENET_LOG_FLAGS_H
#define EENET_LOG_FLAGS_H

#include "command.h"
#include "data/log.h"

enum { LOG_FLAG_REWARD, LOG_FLAG_DEFAULT_REWARD, LOG_FLAG_FROM, LOG_FLAG_UNTIL, LOG_FLAG_STRICT, LOG_FLAGS };

/* clang-format off */
#define LOG_FLAG_LIST                                                                                                  \
    [LOG_FLAG_REWARD] = {'\0', "reward", "label|first|last|sum|mean|max", "of several observations; label unless given, as the log says"}, \
    [LOG_FLAG_DEFAULT_REWARD] = {'\0', "default-reward", "REWARD", "of an event without observations, with --reward; 0 unless given"}, \
    [LOG_FLAG_FROM] = {'\0', "from", "TIME", "only events at this time or later, as 2026-05-18 or 2026-05-18T13:00"},  \
    [LOG_FLAG_UNTIL] = {'\0', "until", "TIME", "only events before this time"},                                        \
    [LOG_FLAG_STRICT] = {'\0', "strict", NULL, "a line that is broken or no event is an error, and not passed over"}
/* clang-format on */

/* Takes flag number got, one of those above, with its value: an exit status, after saying on stderr what is wrong where
 * it is not EXIT_DONE. */
int log_flags_take(const command *self, int got, const char *value, log_options *options);

#endif
