/* Ids for decisions without one: 32 hexadecimal digits, 48 bits of milliseconds and 80 random bits. They increase with
 * time and cannot be guessed. */
#ifndef EENET_DECISION_IDS_H
#define EENET_DECISION_IDS_H

#include <pthread.h>

#include "base/status.h"

enum { DECISION_ID_SIZE = 32 };

/* Random bytes are fetched in bulk. Any thread may make an id. */
typedef struct decision_ids {
    pthread_mutex_t lock;
    uint8_t bytes[4000]; /* of which `left` are unused */
    size_t left;
} decision_ids;

void decision_ids_start(decision_ids *self);
void decision_ids_stop(decision_ids *self);

/* microseconds: since 1970. The digits are not followed by a zero. */
ee_status decision_ids_make(decision_ids *self, int64_t microseconds, char id[DECISION_ID_SIZE], ee_error *error);

/* Another id for each place, made of one: the same whenever it is asked for. */
void decision_ids_derive(const char from[DECISION_ID_SIZE], size_t place, char id[DECISION_ID_SIZE]);

#endif
