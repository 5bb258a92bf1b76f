/* The whole server: store, journal, bandits, HTTP. */
#ifndef EENET_SERVICE_H
#define EENET_SERVICE_H

#include "serve/settings/server_settings.h"

typedef struct service service;

/* Opens the store, starts everything and listens. While it waits for a database, it calls pause, in any thread: that
 * waits, and returns false if the start is to be given up. */
ee_status service_start(const server_settings *settings, bool (*pause)(double seconds), service **out, ee_error *error);
uint16_t service_port(const service *self);

/* Applies settings that can change while it runs: keys, certificate (for new connections), rates, limits, retention,
 * log level. EE_BAD_OPTION if another setting differs. */
ee_status service_reload(service *self, const server_settings *settings, ee_error *error);

/* A line of the server's log, at the level error. */
__attribute__((format(printf, 2, 3))) void service_log_error(const service *self, const char *format, ...);

/* Seconds that service_stop should take at most: drain, finish-seconds and two more to save models. A call on a huge
 * model cannot be interrupted, so it may take longer. The process may exit then: all that was acknowledged is durable.
 */
double service_stop_seconds(service *self);

/* Readiness becomes 503; after `drain` seconds the server accepts no connections, answers open requests (within
 * finish-seconds), and saves models as time permits. If *hurry (may be NULL) becomes true, it stops at once. Frees. */
void service_stop(service *self, const volatile bool *hurry);

/* Whether all threads make progress; for a watchdog. */
bool service_is_alive(const service *self);

#endif
