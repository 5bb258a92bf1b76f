/* The log's clock. It gives events a time that never goes back, and says which time of day that is.
 *
 * Log time measures waits and retention. It advances with a clock that nobody can set (CLOCK_BOOTTIME, which also
 * counts while the machine is suspended) and follows the wall clock by running at most 10% faster or slower, so a wait
 * is correct within 10%. The wall time of an event is its log time minus `ahead`. `ahead` is 0 until a wrong clock is
 * corrected: then it changes, and log time does not.
 *
 * If the wall clock jumps by more than CLOCK_TOLERANCE, the clock is in doubt: log time no longer follows the wall
 * clock until that comes back, somebody accepts the new time, or the new time was steady for CLOCK_STEADY. */
#ifndef EENET_SERVER_CLOCK_H
#define EENET_SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Microseconds. NTP steps of seconds are usual and pass without an alarm; a wrong time zone (1 h) does not. */
#define CLOCK_TOLERANCE (INT64_C(300) * 1000000)
/* Long enough for NTP to correct a wrong clock, or for a person to notice the alert. */
#define CLOCK_STEADY (INT64_C(3600) * 1000000)

/* What a difference between the two clocks means. */
typedef enum clock_acceptance {
    CLOCK_REFUSED,
    CLOCK_ELAPSED,  /* this time has passed: waits and retention count it */
    CLOCK_CORRECTED /* the wall clock was wrong and is right now: only the times of later events change */
} clock_acceptance;

typedef struct server_clock {
    int64_t time;  /* log time, microseconds */
    int64_t real;  /* microseconds of the clock that nobody can set, at this time */
    int64_t ahead; /* log time minus wall time */
    bool in_doubt;
    int64_t difference; /* by which the wall clock is later than this one */
    int64_t doubted;    /* in doubt: the difference when the wall clock was last seen to jump */
    int64_t steady;     /* in doubt: for how long it has been the same */
} server_clock;

/* last: the latest log time that was given. The wall clock has moved from there to `wall`: the server was off. */
server_clock server_clock_start(int64_t last, int64_t ahead, int64_t wall, int64_t real);

/* The same for a wall clock that is in doubt: log time goes on at `last`. */
server_clock server_clock_start_in_doubt(int64_t last, int64_t ahead, int64_t wall, int64_t real);

/* The log time now. */
int64_t server_clock_at(server_clock *self, int64_t wall, int64_t real);

/* Ends the doubt, now. A wall clock that is behind can only be CLOCK_CORRECTED: false. */
bool server_clock_accept(server_clock *self, clock_acceptance as);

/* The system's clocks, in microseconds: the one that can be set, the one that cannot, and the latter with the time that
 * the machine was suspended. */
int64_t server_clock_wall(void);
int64_t server_clock_real(void);
int64_t server_clock_elapsed(void);

#endif
