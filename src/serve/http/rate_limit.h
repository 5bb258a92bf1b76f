/* Rate limits: a token bucket that fills at a rate and holds one second's worth, at least one token. */
#ifndef EENET_RATE_LIMIT_H
#define EENET_RATE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rate_limit rate_limit; /* of many callers, by a 64-bit key; the least used is forgotten first */

/* Room for about this many callers; NULL: out of memory. */
rate_limit *rate_limit_create(size_t places);
void rate_limit_free(rate_limit *self);

/* Whether `amount` more may pass now (seconds, above 0); else *wait becomes the seconds to wait. rate: per second; 0:
 * no limit. */
bool rate_limit_pass(rate_limit *self, uint64_t who, double rate, double amount, double now, double *wait);

#endif
