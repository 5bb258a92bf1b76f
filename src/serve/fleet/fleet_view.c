/* What the fleet looks like: servers, owners, and what this server does with each bandit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "balance.h"
#include "data/values/id_set.h"
#include "data/values/json_members.h"
#include "fleet_parts.h"
#include "serve/system/server_clock.h"

enum { LEASE_TIME = 2 * SECOND }; /* of silence, after which a server is dead */

/* ---- the view: under the lock ---- */

/* As of the last view: while the database is away, everybody is as they were. */
bool fleet_is_alive(const fleet *self, const fleet_peer *peer)
{
    return peer->about.number == self->number || self->beaten - peer->about.changed < LEASE_TIME;
}

const fleet_peer *fleet_find_peer(const fleet *self, uint64_t number)
{
    for (size_t i = 0; i < self->peer_count; i++)
        if (self->peers[i].about.number == number) return &self->peers[i];
    return NULL;
}

/* The place of the first holding that is not below the bandit. */
static size_t holding_place(const fleet *self, uint32_t bandit)
{
    size_t low = 0, high = self->holding_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->holdings[middle].bandit < bandit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

holding *fleet_find_holding(const fleet *self, uint32_t bandit)
{
    size_t place = holding_place(self, bandit);
    return place < self->holding_count && self->holdings[place].bandit == bandit ? &self->holdings[place] : NULL;
}

fleet_bandit *fleet_find_bandit(const fleet *self, uint32_t bandit)
{
    size_t low = 0, high = self->bandit_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->bandits[middle].bandit < bandit)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->bandit_count && self->bandits[low].bandit == bandit ? &self->bandits[low] : NULL;
}

static uint64_t hash_name(const char *name)
{
    return id_hash(name, strlen(name));
}

/* The place of a name in the directory, or the free place for it. */
static uint32_t *slot_of(const fleet *self, const char *name)
{
    for (uint64_t i = hash_name(name);; i++) {
        uint32_t *slot = &self->slots[i & (self->slot_count - 1)];
        if (!*slot || strcmp(self->bandits[*slot - 1].name, name) == 0) return slot;
    }
}

static ee_status copy_leases(fleet *self, const lease_view *view, ee_error *error)
{
    size_t slots = 64;
    while (slots < 2 * view->lease_count) slots *= 2;
    ee_status status = memory_grow(&self->memory, &self->bandits, &self->bandit_capacity, view->lease_count,
                                   sizeof *self->bandits, error);
    if (!status)
        status = memory_grow(&self->memory, &self->slots, &self->slot_capacity, slots, sizeof *self->slots, error);
    if (status) return status;
    self->slot_count = slots;
    memset(self->slots, 0, slots * sizeof *self->slots);
    self->bandit_count = view->lease_count;
    for (size_t i = 0; i < view->lease_count; i++) {
        fleet_bandit *to = &self->bandits[i];
        const lease *from = &view->leases[i];
        *to = (fleet_bandit){from->bandit, from->owner, from->token, ""};
        snprintf(to->name, sizeof to->name, "%s", from->name);
        if (to->name[0]) *slot_of(self, to->name) = (uint32_t)i + 1;
    }
    self->changes = view->changes;
    return EE_OK;
}

ee_status fleet_copy_view(fleet *self, const lease_view *view, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->peers, &self->peer_capacity, view->server_count, sizeof *self->peers, error);
    if (status) return status;
    self->peer_count = view->server_count;
    for (size_t i = 0; i < view->server_count; i++) {
        fleet_peer *peer = &self->peers[i];
        peer->about = view->servers[i];
        peer->weight = balance_read_state(peer->about.state, &peer->lag, &peer->draining, &peer->wishes);
    }
    /* After a failover the number may be the same, and the leases others. */
    bool same = view->changes == self->changes && self->viewed && !self->failing;
    return same ? EE_OK : copy_leases(self, view, error);
}

/* ---- what follows from it, for the second thread: under the lock ---- */

void fleet_ask(fleet *self, holding *of, holding_state state)
{
    of->state = state;
    of->asked = true;
    pthread_cond_signal(&self->work);
}

static void add_holding(fleet *self, uint32_t bandit, uint64_t token, holding_state state)
{
    if (memory_grow(&self->memory, &self->holdings, &self->holding_capacity, self->holding_count + 1,
                    sizeof *self->holdings, NULL))
        return; /* the next view shows it again */
    size_t place = holding_place(self, bandit);
    holding *made = &self->holdings[place];
    memmove(made + 1, made, (self->holding_count++ - place) * sizeof *made);
    *made = (holding){.bandit = bandit, .token = token, .since = server_clock_real()};
    fleet_ask(self, made, state);
}

void fleet_remove_holding(fleet *self, holding *which)
{
    size_t after = (size_t)(self->holdings + self->holding_count - which) - 1;
    memmove(which, which + 1, after * sizeof *which);
    self->holding_count--;
}

/* What the view says of a bandit, and what this server does, become the same. */
static void compare(fleet *self, const fleet_bandit *seen)
{
    holding *held = fleet_find_holding(self, seen->bandit);
    bool mine = seen->owner == self->number;
    if (mine && !held) {
        add_holding(self, seen->bandit, seen->token, HOLDING_TAKE);
        self->status.taken++;
    } else if (held && !held->asked && held->state != HOLDING_LEFT && (!mine || seen->token != held->token)) {
        if (!mine) self->status.lost++;
        held->token = seen->token;
        fleet_ask(self, held, HOLDING_LOSE); /* if it is mine with another token, it is taken again after that */
    } else if (held && held->state == HOLDING_LEFT && !held->asked && !mine) {
        fleet_remove_holding(self, held);
    } else if (held && held->state == HOLDING_FAILED && !held->asked && mine && server_clock_real() >= held->ask_due) {
        fleet_ask(self, held, HOLDING_TAKE);
    }
}

/* Bandits that this server created, and lost before a view showed that it owns them. Those that are missing in the view
 * were removed for good, except after its last bandit: there they may be newer than the view. */
static void give_up_unseen(fleet *self)
{
    uint32_t last = self->bandit_count ? self->bandits[self->bandit_count - 1].bandit : 0;
    for (uint32_t number = 1; number <= last; number++) {
        if (!self->options.owns(self->options.context, number) || fleet_find_holding(self, number)) continue;
        const fleet_bandit *seen = fleet_find_bandit(self, number);
        if (seen && seen->owner == self->number) continue;
        add_holding(self, number, 0, HOLDING_LOSE);
        self->status.lost++;
    }
}

void fleet_compare(fleet *self)
{
    for (size_t i = 0; i < self->bandit_count; i++) compare(self, &self->bandits[i]);
    give_up_unseen(self);
    /* Bandits that were removed for good: perhaps by another server, which took them while this one was stopped. */
    for (size_t i = self->holding_count; i-- > 0;) {
        holding *held = &self->holdings[i];
        if (held->asked || fleet_find_bandit(self, held->bandit)) continue;
        if (held->state == HOLDING_HELD)
            fleet_ask(self, held, HOLDING_LOSE);
        else
            fleet_remove_holding(self, held);
    }
}

/* ---- questions ---- */

/* With the lock. */
static fleet_whose whose(const fleet *self, const fleet_bandit *bandit, char address[SERVER_ADDRESS_SIZE])
{
    const holding *held = fleet_find_holding(self, bandit->bandit);
    if (held && held->state == HOLDING_HELD && !held->asked) return FLEET_MINE;
    if (held || bandit->owner == self->number) return FLEET_NOBODY;
    const fleet_peer *owner = fleet_find_peer(self, bandit->owner);
    if (!owner || !fleet_is_alive(self, owner)) return FLEET_NOBODY;
    memcpy(address, owner->about.address, SERVER_ADDRESS_SIZE);
    return FLEET_OTHER;
}

fleet_whose fleet_find(fleet *self, const char *name, char address[SERVER_ADDRESS_SIZE])
{
    fleet_whose found = FLEET_UNKNOWN;
    pthread_mutex_lock(&self->lock);
    uint32_t slot = name && self->slot_count ? *slot_of(self, name) : 0;
    if (!name) found = self->bandit_count ? whose(self, &self->bandits[0], address) : FLEET_NOBODY;
    if (slot) found = whose(self, &self->bandits[slot - 1], address);
    pthread_mutex_unlock(&self->lock);
    return found;
}

bool fleet_leads(fleet *self)
{
    char address[SERVER_ADDRESS_SIZE];
    return fleet_find(self, NULL, address) == FLEET_MINE;
}

size_t fleet_others(fleet *self, char (*addresses)[SERVER_ADDRESS_SIZE], size_t most)
{
    size_t count = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->peer_count && count < most; i++)
        if (self->peers[i].about.number != self->number && fleet_is_alive(self, &self->peers[i]))
            memcpy(addresses[count++], self->peers[i].about.address, SERVER_ADDRESS_SIZE);
    pthread_mutex_unlock(&self->lock);
    return count;
}

/* A renewed certificate changes an address: one that is unknown is not dead. */
bool fleet_is_dead(fleet *self, const char *address)
{
    bool dies = false, lives = false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->peer_count; i++) {
        if (strcmp(self->peers[i].about.address, address) != 0) continue;
        *(fleet_is_alive(self, &self->peers[i]) ? &lives : &dies) = true;
    }
    pthread_mutex_unlock(&self->lock);
    return dies && !lives;
}

fleet_status fleet_read_status(fleet *self)
{
    int64_t now = server_clock_real();
    pthread_mutex_lock(&self->lock);
    fleet_status status = self->status;
    status.servers = self->peer_count;
    for (size_t i = 0; i < self->peer_count; i++) status.alive += fleet_is_alive(self, &self->peers[i]);
    status.bandits = self->bandit_count ? self->bandit_count - 1 : 0;
    for (size_t i = 0; i < self->holding_count; i++) {
        status.mine += self->holdings[i].bandit != 0;
        status.taking += self->holdings[i].asked || self->holdings[i].state == HOLDING_FAILED;
        status.leads |= !self->holdings[i].bandit && self->holdings[i].state == HOLDING_HELD;
    }
    status.ready = self->viewed && !status.taking;
    status.silent = self->viewed ? (double)(now - self->beaten) / SECOND : INFINITY;
    pthread_mutex_unlock(&self->lock);
    return status;
}

static void describe_server(const fleet *self, const fleet_peer *peer, text *into)
{
    int64_t now = server_clock_real();
    bool is_me = peer->about.number == self->number;
    size_t owned = 0;
    for (size_t i = 0; i < self->bandit_count; i++)
        owned += self->bandits[i].bandit && self->bandits[i].owner == peer->about.number;
    text_add(into, "{");
    text_member_count(into, "server", peer->about.number);
    text_member(into, "address", peer->about.address);
    text_member(into, "version", peer->about.version);
    text_member_flag(into, "alive", fleet_is_alive(self, peer));
    text_member_flag(into, "draining", peer->draining);
    text_member_number(into, "silent_seconds", is_me ? 0 : (double)(now - peer->about.changed) / SECOND);
    text_member_count(into, "bandits", owned);
    text_member_number(into, "load", is_me ? self->weight : peer->weight);
    text_member_number(into, "lag_seconds", is_me ? self->lag : peer->lag);
    text_add(into, "}");
}

void fleet_describe(fleet *self, text *into)
{
    pthread_mutex_lock(&self->lock);
    text_add(into, "{");
    text_member_count(into, "server", self->number);
    text_member_count(into, "leader", self->bandit_count ? self->bandits[0].owner : 0);
    text_key(into, "servers");
    text_add(into, "[");
    for (size_t i = 0; i < self->peer_count; i++) {
        if (i) text_add(into, ",");
        describe_server(self, &self->peers[i], into);
    }
    text_add(into, "]");
    text_key(into, "bandits");
    text_add(into, "[");
    for (size_t i = 1; i < self->bandit_count; i++) {
        const fleet_bandit *bandit = &self->bandits[i];
        text_add(into, i > 1 ? ",{" : "{");
        text_member(into, "name", bandit->name);
        text_member_count(into, "owner", bandit->owner);
        text_member_count(into, "token", bandit->token);
        text_add(into, "}");
    }
    text_add(into, "]}");
    pthread_mutex_unlock(&self->lock);
}
