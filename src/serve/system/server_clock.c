#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#include "server_clock.h"

#include <stdlib.h>
#include <time.h>

server_clock server_clock_start(int64_t last, int64_t ahead, int64_t wall, int64_t real)
{
    int64_t now = wall + ahead;
    return (server_clock){.time = now > last ? now : last, .real = real, .ahead = ahead};
}

server_clock server_clock_start_in_doubt(int64_t last, int64_t ahead, int64_t wall, int64_t real)
{
    int64_t difference = wall + ahead - last;
    return (server_clock){
        .time = last, .real = real, .ahead = ahead, .in_doubt = true, .difference = difference, .doubted = difference};
}

/* The wall clock differs by more than the tolerance. */
static void doubt(server_clock *self, int64_t passed)
{
    bool jumped = !self->in_doubt || llabs(self->difference - self->doubted) > CLOCK_TOLERANCE;
    if (jumped) self->doubted = self->difference;
    self->steady = jumped ? 0 : self->steady + passed;
    self->in_doubt = true;
    if (self->steady >= CLOCK_STEADY) server_clock_accept(self, CLOCK_CORRECTED);
}

int64_t server_clock_at(server_clock *self, int64_t wall, int64_t real)
{
    int64_t passed = real > self->real ? real - self->real : 0, most = passed / 10;
    self->real += passed;
    self->time += passed;
    self->difference = wall + self->ahead - self->time;
    if (llabs(self->difference) > CLOCK_TOLERANCE) {
        doubt(self, passed);
        return self->time;
    }
    int64_t slew = self->difference > most ? most : self->difference < -most ? -most : self->difference;
    self->time += slew;
    self->difference -= slew;
    self->in_doubt = false;
    return self->time;
}

bool server_clock_accept(server_clock *self, clock_acceptance as)
{
    if (as == CLOCK_REFUSED || (as == CLOCK_ELAPSED && self->difference < 0)) return false;
    if (as == CLOCK_ELAPSED) {
        self->time += self->difference;
    } else {
        self->time++; /* no event before has this time: from it on, `ahead` is another */
        self->ahead -= self->difference - 1;
    }
    self->difference = 0;
    self->in_doubt = false;
    self->steady = 0;
    return true;
}

static int64_t microseconds(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t server_clock_wall(void)
{
    return microseconds(CLOCK_REALTIME);
}

int64_t server_clock_real(void)
{
    return microseconds(CLOCK_MONOTONIC);
}

int64_t server_clock_elapsed(void)
{
#ifdef CLOCK_BOOTTIME
    return microseconds(CLOCK_BOOTTIME);
#else
    return microseconds(CLOCK_MONOTONIC);
#endif
}
