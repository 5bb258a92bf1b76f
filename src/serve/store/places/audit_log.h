/* The audit log, only appended to: FOLDER/audit.jsonl with one JSON object per line, or the table audit of a database,
 * which a fleet shares. An entry is durable when audit_log_append returns. A line that a crash cut off is ended at the
 * next start, and readers skip it. */
#ifndef EENET_AUDIT_LOG_H
#define EENET_AUDIT_LOG_H

#include "data/values/text.h"

typedef struct audit_log audit_log;

/* where: of the store, a folder or a database ("postgresql://..."), which exists. */
ee_status audit_log_open(const char *where, audit_log **out, ee_error *error);
/* NULL is allowed. */
void audit_log_close(audit_log *self);

/* entry: an object, without an end of line. Any thread; it waits until the entry is durable. */
ee_status audit_log_append(audit_log *self, json_text entry, ee_error *error);

/* Gets the next line, without its end, which is valid during the call. false: stop behind it. */
typedef bool audit_visit(void *context, json_text line);

/* Reads on from *place, 0 for the beginning: visits the next lines, some KB, and moves *place behind the last one
 * visited. *more false: there were none. Any thread. */
ee_status audit_log_read(audit_log *self, uint64_t *place, audit_visit *visit, void *context, bool *more,
                         ee_error *error);

/* Copies the audit log of one folder to another, if it is there. For backups. */
ee_status audit_log_copy(const char *from, const char *to, ee_error *error);

#endif
