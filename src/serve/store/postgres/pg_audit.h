/* The audit log in a database: table audit. As audit_log.h. */
#ifndef EENET_PG_AUDIT_H
#define EENET_PG_AUDIT_H

#include "serve/store/places/audit_log.h"

typedef struct pg_audit pg_audit;

/* Connects, so that a wrong place is found at the start. */
ee_status pg_audit_open(const char *where, pg_audit **out, ee_error *error);
/* NULL is allowed. */
void pg_audit_close(pg_audit *self);

ee_status pg_audit_append(pg_audit *self, json_text entry, ee_error *error);
ee_status pg_audit_read(pg_audit *self, uint64_t *place, audit_visit *visit, void *context, bool *more,
                        ee_error *error);

#endif
