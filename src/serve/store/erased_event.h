/* The body of an ERASED event. It is written before the content of the events that it lists is removed, so that a crash
 * in between can be completed.
 *
 * An erased event keeps number, kind, time, decision and outcome; id, value, reward id and body are gone. A model that
 * learned from an erased decision cannot be computed from the log again, so models that follow such decisions are kept
 * as files: replay continues with them. */
#ifndef EENET_ERASED_EVENT_H
#define EENET_ERASED_EVENT_H

#include "event.h"

typedef struct erased_body {
    const uint64_t *decisions; /* (decision_count) numbers of the DECISION events, ascending */
    size_t decision_count;
    const uint64_t *others; /* (other_count) numbers of their REWARD, SETTLED and ACTIVATED events, ascending */
    size_t other_count;
    uint64_t settled_to;           /* the last SETTLED event of the decisions; 0: there are no decisions */
    const checkpoint_body *models; /* (model_count) ascending by version; the files are models of these versions */
    size_t model_count;
} erased_body;

/* *bytes is to be freed with memory_free. */
ee_status erased_body_write(const erased_body *body, uint8_t **bytes, size_t *size, ee_error *error);
/* What is read lies in *owner, and the models' states in bytes. EE_BAD_INPUT if it is damaged. */
ee_status erased_body_read(const void *bytes, size_t size, memory *owner, erased_body *out, ee_error *error);

#endif
