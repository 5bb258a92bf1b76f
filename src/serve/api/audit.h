/* The audit log's entries: who changed what, from which value to which.
 *
 *     {"time":"2026-11-18T02:30:00.000000Z","what":"settings changed","bandit":"shop","key":"operator",
 *      "peer":"10.0.0.7","request_id":"01a1...","before":{"wait":600},"after":{"wait":60}}
 *
 * An entry is durable before its change is acknowledged. If it cannot be written, it goes into the server's log, as an
 * error. Members without a value are left out: a change by the server itself has no key, peer and request id. */
#ifndef EENET_AUDIT_H
#define EENET_AUDIT_H

#include "call.h"

/* by NULL: the server itself; bandit NULL: of no bandit. before and after are objects as text, or NULL; members that
 * are equal in both are left out. */
void audit_write(service *of, const call *by, const char *bandit, const char *what, const char *before,
                 const char *after);

/* The same for settings of a bandit; before NULL: there were none. */
void audit_settings(service *of, const call *by, const char *bandit, const char *what, const bandit_settings *before,
                    const bandit_settings *after);

/* An evaluation was started or deleted. */
void audit_evaluation(const call *by, const char *what, const char *id);

/* After a reload. */
void audit_reload(service *of, const service_config *before, const service_config *after);

#endif
