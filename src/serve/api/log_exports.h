/* Threads that export logs. Each export has its own thread, which reads the store, formats, compresses and waits for
 * its client. Only some of them compute at a time, and with pauses, so that decisions stay fast. */
#ifndef EENET_LOG_EXPORTS_H
#define EENET_LOG_EXPORTS_H

#include "call.h"
#include "serve/http/content_coding.h"
#include "serve/log/settled_reader.h"

typedef struct log_exports log_exports;

enum { MOST_EXPORTS = 8 };

ee_status log_exports_create(log_exports **out, ee_error *error);
/* After HTTP has stopped, so that no export waits for its client. NULL is allowed. */
void log_exports_stop(log_exports *self);

/* Answers the call with the log of its bandit. false: MOST_EXPORTS are running, and it is not answered. */
bool log_exports_start(log_exports *self, call *asked, const log_range *range, content_coding coding);

#endif
