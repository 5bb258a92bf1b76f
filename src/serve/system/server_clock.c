#define _POSIX_C_SOURCE 200809L
#include "server_clock.h"

#include <time.h>

server_clock server_clock_start(int64_t last, int64_t wall, int64_t real)
{
    return (server_clock){wall > last ? wall : last, real};
}

int64_t server_clock_at(server_clock *self, int64_t wall, int64_t real)
{
    int64_t passed = real > self->real ? real - self->real : 0, most = passed / 10;
    int64_t behind = wall - (self->time + passed);
    if (behind > most) behind = most;
    if (behind < -most) behind = -most;
    self->time += passed + behind;
    self->real += passed;
    return self->time;
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
