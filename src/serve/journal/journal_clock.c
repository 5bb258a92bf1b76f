/* The time of events. */
#include "journal_parts.h"

int64_t journal_wall_now(const journal *self)
{
    return self->options.clock ? self->options.clock(self->options.clock_context) : server_clock_wall();
}

int64_t journal_elapsed_now(const journal *self)
{
    return self->options.elapsed ? self->options.elapsed(self->options.clock_context) : server_clock_elapsed();
}

bool journal_has_one_clock(const journal *self)
{
    return self->options.clock && !self->options.elapsed;
}

server_clock journal_clock(journal *self)
{
    pthread_mutex_lock(&self->clock_lock);
    if (journal_has_one_clock(self))
        self->clock = server_clock_start(self->clock.time, 0, journal_wall_now(self), 0);
    else
        server_clock_at(&self->clock, journal_wall_now(self), journal_elapsed_now(self));
    server_clock now = self->clock;
    pthread_mutex_unlock(&self->clock_lock);
    return now;
}

int64_t journal_time(journal *self)
{
    return journal_clock(self).time;
}

int64_t journal_wall_time(journal *self)
{
    server_clock now = journal_clock(self);
    return now.time - now.ahead;
}

bool journal_accept_clock(journal *self, clock_acceptance as)
{
    journal_clock(self);
    pthread_mutex_lock(&self->clock_lock);
    bool accepted = self->clock.in_doubt && server_clock_accept(&self->clock, as);
    pthread_mutex_unlock(&self->clock_lock);
    pthread_mutex_lock(&self->lock);
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    return accepted;
}
