/* Time of events. It never goes back or jumps when the system's clock is set: it follows that clock by running at most
 * 10% faster or slower than real time, so that waits are correct within 10%. */
#ifndef EENET_SERVER_CLOCK_H
#define EENET_SERVER_CLOCK_H

#include <stdint.h>

typedef struct server_clock {
    int64_t time; /* microseconds since 1970: what it says */
    int64_t real; /* microseconds of a clock that never jumps, when it said so */
} server_clock;

/* last: the latest time that was ever given; it starts at it, or at wall where that is later. */
server_clock server_clock_start(int64_t last, int64_t wall, int64_t real);
int64_t server_clock_at(server_clock *self, int64_t wall, int64_t real);

/* The system's two clocks, in microseconds. */
int64_t server_clock_wall(void);
int64_t server_clock_real(void);

#endif
