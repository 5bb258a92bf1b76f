/* The audit log: FOLDER/audit.jsonl, one JSON object per line, only appended to. An entry is durable when
 * audit_log_append returns. A line that a crash cut off is ended at the next start, and readers skip it. */
#ifndef EENET_AUDIT_LOG_H
#define EENET_AUDIT_LOG_H

#include "data/values/text.h"

typedef struct audit_log audit_log;

ee_status audit_log_open(const char *folder, audit_log **out, ee_error *error);
/* NULL is allowed. */
void audit_log_close(audit_log *self);

/* entry: an object, without an end of line. Any thread; it waits for the disk. */
ee_status audit_log_append(audit_log *self, json_text entry, ee_error *error);

/* Reads on from *place, 0 for the beginning: fills *lines with the next whole lines, some KB, and moves *place behind
 * them. Empty: there are no more now. Any thread. */
ee_status audit_log_read(audit_log *self, uint64_t *place, text *lines, ee_error *error);

/* Copies the log of one folder to another, if it is there. For backups. */
ee_status audit_log_copy(const char *from, const char *to, ee_error *error);

#endif
