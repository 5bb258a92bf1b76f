/* Taking the bandits of dead servers, and giving bandits away: in the first thread. */
#include <string.h>

#include "balance.h"
#include "fleet_parts.h"
#include "serve/system/server_clock.h"

enum {
    GIVE_TIME = 200000, /* microseconds for which leases are given away between two beats */
    MOST_FAILURES = 10  /* to take a bandit up, before another server tries */
};

/* ---- which servers take bandits: under the lock ---- */

/* Whether a server is alive and stays. */
bool fleet_stays(const fleet *self, const fleet_peer *peer)
{
    bool draining = peer->about.number == self->number ? self->draining : peer->draining;
    return !draining && fleet_is_alive(self, peer);
}

/* The newest version among the servers that stay; "": there is none. Those of an older version may not be able to read
 * what a newer one has written, so they get no bandits. */
static const char *newest_version(const fleet *self)
{
    const char *newest = "";
    for (size_t i = 0; i < self->peer_count; i++)
        if (fleet_stays(self, &self->peers[i]) && balance_compare_versions(self->peers[i].about.version, newest) > 0)
            newest = self->peers[i].about.version;
    return newest;
}

/* Whether a server may get bandits of this one: as newest_version. */
static bool is_not_older(const fleet *self, const fleet_peer *peer)
{
    const fleet_peer *me = fleet_find_peer(self, self->number);
    return me && balance_compare_versions(peer->about.version, me->about.version) >= 0;
}

/* How many servers take the bandits of dead ones; *rank: the place of this server among them, or SIZE_MAX. */
static size_t count_takers(const fleet *self, size_t *rank)
{
    size_t count = 0;
    const char *newest = newest_version(self);
    *rank = SIZE_MAX;
    for (size_t i = 0; i < self->peer_count; i++) {
        const fleet_peer *peer = &self->peers[i];
        if (!fleet_stays(self, peer) || strcmp(peer->about.version, newest) != 0) continue;
        if (peer->about.number == self->number) *rank = count;
        count++;
    }
    return count;
}

/* ---- taking: without the lock around calls of the database ---- */

/* Fills self->wanted with the leases without a living owner that are this server's share. */
static size_t find_orphans(fleet *self)
{
    size_t rank, takers = count_takers(self, &rank), count = 0;
    if (rank == SIZE_MAX || memory_grow(&self->memory, &self->wanted, &self->wanted_capacity, self->bandit_count,
                                        sizeof *self->wanted, NULL))
        return 0;
    for (size_t i = 0; i < self->bandit_count; i++) {
        const fleet_bandit *bandit = &self->bandits[i];
        const fleet_peer *owner = fleet_find_peer(self, bandit->owner);
        bool orphan = !owner || !fleet_is_alive(self, owner);
        if (orphan && bandit->bandit % takers == rank)
            self->wanted[count++] = (lease){bandit->bandit, bandit->owner, bandit->token, bandit->name};
    }
    return count;
}

static void set_owner(fleet *self, const lease *moved)
{
    fleet_bandit *known = fleet_find_bandit(self, moved->bandit);
    if (!known) return; /* it was removed for good meanwhile */
    known->owner = moved->owner;
    known->token = moved->token;
}

ee_status fleet_take_orphans(fleet *self, ee_error *error)
{
    size_t moved = 0, count = find_orphans(self);
    if (!count) return EE_OK;
    pthread_mutex_unlock(&self->lock);
    ee_status status =
        leases_move(self->options.leases, self->wanted, count, self->number, self->wanted, &moved, error);
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < moved; i++) set_owner(self, &self->wanted[i]);
    if (moved) fleet_compare(self);
    return status;
}

/* ---- giving ---- */

/* The lease of a bandit that the second thread has given up goes to its next owner. */
ee_status fleet_give_left(fleet *self, ee_error *error)
{
    ee_status status = EE_OK;
    int64_t until = server_clock_real() + GIVE_TIME;
    for (size_t i = 0; i < self->holding_count && !status && server_clock_real() < until; i++) {
        holding *held = &self->holdings[i];
        if (held->state != HOLDING_LEFT || held->asked) continue;
        lease from = {held->bandit, self->number, held->token, ""}, now;
        size_t moved = 0;
        uint64_t to = held->to;
        pthread_mutex_unlock(&self->lock);
        status = leases_move(self->options.leases, &from, 1, to, &now, &moved, error);
        pthread_mutex_lock(&self->lock);
        held = fleet_find_holding(self, from.bandit);
        if (status) break;
        if (moved) set_owner(self, &now);
        self->status.given += moved;
        fleet_remove_holding(self, held);
        i--;
    }
    return status;
}

static void start_leaving(fleet *self, holding *held, uint64_t to)
{
    held->to = to;
    fleet_ask(self, held, HOLDING_LEAVE);
}

/* Loads of this server's bandits, by the events since the last look, and the largest lag of their models. */
double fleet_measure_load(fleet *self)
{
    int64_t now = server_clock_real();
    double seconds = (double)(now - self->measured) / SECOND, weight = 0, lag = 0;
    bool again = seconds >= 1;
    for (size_t i = 0; i < self->holding_count; i++) {
        holding *held = &self->holdings[i];
        if (again && held->bandit && held->state == HOLDING_HELD) {
            double behind;
            uint64_t events = self->options.events(self->options.context, held->bandit, &behind);
            if (behind > lag) lag = behind;
            double rate = held->events && events >= held->events ? (double)(events - held->events) / seconds : 0;
            held->rate = held->events ? 0.7 * held->rate + 0.3 * rate : 0;
            held->events = events;
            if (!held->asked && !self->options.owns(self->options.context, held->bandit))
                fleet_ask(self, held, HOLDING_LOSE);
        }
        weight += BALANCE_IDLE + held->rate;
    }
    if (again) {
        self->measured = now;
        self->lag = lag;
    }
    return weight;
}

static bool is_needed(const fleet *self, uint32_t bandit)
{
    for (size_t i = 0; i < self->needed_count; i++)
        if (self->needed[i] == bandit) return true;
    return false;
}

/* Bandits that cannot be taken up here go to another server that is not older. */
void fleet_give_failed(fleet *self)
{
    for (size_t i = 0; i < self->holding_count; i++) {
        holding *held = &self->holdings[i];
        if (held->asked || held->state != HOLDING_FAILED || held->failures < MOST_FAILURES) continue;
        for (size_t k = 0; k < self->peer_count; k++) {
            const fleet_peer *peer = &self->peers[k];
            if (peer->about.number == self->number || !fleet_stays(self, peer) || !is_not_older(self, peer)) continue;
            held->to = peer->about.number;
            held->state = HOLDING_LEFT;
            break;
        }
    }
}

void fleet_give_some(fleet *self)
{
    if (self->needed_count) return; /* to deliver its spool it needs the bandits that it has, and more */
    int64_t now = server_clock_real();
    if (now < self->balance_due) return;
    self->balance_due = now + SECOND;
    balance_server servers[BALANCE_SERVERS];
    size_t count = 0;
    const fleet_peer *me = fleet_find_peer(self, self->number);
    for (size_t i = 0; me && i < self->peer_count && count < BALANCE_SERVERS; i++) {
        const fleet_peer *peer = &self->peers[i];
        if (peer == me || (fleet_stays(self, peer) && is_not_older(self, peer)))
            servers[count++] =
                (balance_server){peer->about.number, peer == me ? self->weight : peer->weight, peer == me};
    }
    uint64_t to;
    holding *chosen = balance_choose(servers, count, self->holdings, self->holding_count, now, &to);
    if (chosen) start_leaving(self, chosen, to);
}

/* Bandits that other servers ask for. An older one, whose spool has events of them, waits until it is upgraded. If this
 * server needs a bandit too, the one with the lower number gets it: two that kept bandits that the other one needs
 * would wait forever. */
void fleet_give_wanted(fleet *self)
{
    for (size_t i = 0; i < self->peer_count; i++) {
        const fleet_peer *peer = &self->peers[i];
        if (peer->about.number == self->number || peer->draining || !fleet_is_alive(self, peer)) continue;
        if (!is_not_older(self, peer)) continue;
        for (size_t k = 0; k < peer->wishes.count; k++) {
            uint32_t bandit = peer->wishes.bandits[k];
            if (self->number < peer->about.number && is_needed(self, bandit)) continue;
            holding *held = fleet_find_holding(self, bandit);
            if (held && held->state == HOLDING_HELD && !held->asked) start_leaving(self, held, peer->about.number);
        }
    }
}

/* All bandits that are held go to others, in turn. */
void fleet_give_all(fleet *self)
{
    size_t next = 0;
    const char *newest = newest_version(self);
    for (size_t i = 0; i < self->holding_count; i++) {
        holding *held = &self->holdings[i];
        if (held->asked || held->state != HOLDING_HELD) continue;
        for (size_t tried = 0; tried < self->peer_count; tried++) {
            const fleet_peer *peer = &self->peers[next++ % self->peer_count];
            if (!fleet_stays(self, peer) || strcmp(peer->about.version, newest) != 0) continue;
            start_leaving(self, held, peer->about.number);
            break;
        }
    }
}
