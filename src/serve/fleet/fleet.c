/* The two threads of a fleet's server, and what others ask of them. */
#define _POSIX_C_SOURCE 200809L
#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "balance.h"
#include "base/checksum.h"
#include "fleet_parts.h"
#include "serve/system/server_clock.h"

enum {
    BEAT_PAUSE = 400000,       /* microseconds between two beats */
    CUT_OFF_TIME = 3 * SECOND, /* without a beat that succeeded, after which a server does not drain any longer */
    FORGET_TIME = 60 * SECOND, /* of silence, after which a dead server is removed from the list */
    HURRY_PAUSE = 20000,       /* between two beats in a hurry */
    NEED_TIME = SECOND         /* for which bandits are asked for: others see it with their next beat */
};

/* ---- the second thread ---- */

static void report(fleet *self, bool is_trouble, const char *sentence)
{
    self->options.report(self->options.context, is_trouble, sentence);
}

/* Without the lock. The holding may move in memory, so it works on a copy. */
static holding_state do_work(fleet *self, const holding *what, const char *name)
{
    lease of = {what->bandit, self->number, what->token, name};
    ee_error error = {0};
    bool owned = false;
    if (what->state == HOLDING_LOSE || what->state == HOLDING_LEAVE) {
        self->options.disown(self->options.context, what->bandit, what->state == HOLDING_LEAVE);
        return what->state == HOLDING_LEAVE ? HOLDING_LEFT : HOLDING_GONE;
    }
    if (self->options.own(self->options.context, &of, &owned, &error)) {
        char sentence[400];
        snprintf(sentence, sizeof sentence, "bandit '%s' could not be taken over: %s", name, error.message);
        report(self, true, sentence);
        return HOLDING_FAILED;
    }
    return owned ? HOLDING_HELD : HOLDING_GONE;
}

/* With the lock. */
static holding *next_work(const fleet *self)
{
    holding *next = NULL; /* those that have failed come last */
    for (size_t i = 0; i < self->holding_count; i++) {
        holding *held = &self->holdings[i];
        if (held->asked && (!next || held->failures < next->failures)) next = held;
    }
    return next;
}

static void *change(void *context)
{
    fleet *self = context;
    char name[BANDIT_NAME_ROOM];
    pthread_mutex_lock(&self->lock);
    for (;;) {
        holding *next = next_work(self);
        if (self->stopping) break; /* the leases that are left become free when the server leaves the fleet */
        if (!next) {
            pthread_cond_wait(&self->work, &self->lock);
            continue;
        }
        holding copy = *next;
        const fleet_bandit *known = fleet_find_bandit(self, copy.bandit);
        snprintf(name, sizeof name, "%s", known ? known->name : "");
        pthread_mutex_unlock(&self->lock);
        holding_state result = do_work(self, &copy, name);
        pthread_mutex_lock(&self->lock);
        next = fleet_find_holding(self, copy.bandit);
        next->asked = false;
        next->state = result;
        next->failures = result == HOLDING_FAILED ? next->failures + 1 : 0;
        next->ask_due = server_clock_real() + SECOND;
        if (result == HOLDING_GONE) fleet_remove_holding(self, next);
        if (result == HOLDING_LEFT) self->hurried = true;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- the first thread ---- */

static void describe_self(fleet *self, char state[SERVER_STATE_SIZE])
{
    self->weight = fleet_measure_load(self);
    if (server_clock_real() >= self->needed_until) self->wishes.count = self->needed_count = 0;
    balance_write_state(state, self->weight, self->lag, self->holding_count, self->draining, &self->wishes);
}

static bool owns_any(const fleet *self, uint64_t server)
{
    for (size_t i = 0; i < self->bandit_count; i++)
        if (self->bandits[i].owner == server) return true;
    return false;
}

/* Servers that have been silent for long, and own nothing. */
static void forget_dead(fleet *self)
{
    int64_t now = server_clock_real();
    for (size_t i = 0; i < self->peer_count; i++) {
        lease_server dead = self->peers[i].about;
        if (dead.number == self->number || now - dead.changed < FORGET_TIME || owns_any(self, dead.number)) continue;
        pthread_mutex_unlock(&self->lock);
        leases_forget(self->options.leases, &dead, NULL);
        pthread_mutex_lock(&self->lock);
        return; /* one at a time: the view has changed */
    }
}

static void follow(fleet *self, const lease_view *view, bool *news)
{
    *news = view->changes != self->changes || !self->viewed || self->failing;
    self->beaten = server_clock_real();
    atomic_store(&self->clock_offset, view->time - view->measured);
    if (fleet_copy_view(self, view, NULL)) return;
    fleet_compare(self);
    self->viewed = true;
}

/* With the lock. A server that was killed and started again has the address of its predecessor, whose beat stands
 * still.
 */
static void look_for_twin(fleet *self)
{
    for (size_t i = 0; i < self->peer_count; i++) {
        const lease_server *about = &self->peers[i].about;
        bool is_other = about->number != self->number && fleet_is_alive(self, &self->peers[i]);
        if (!is_other || strcmp(about->address, self->address) != 0) continue;
        if (self->twin == about->number && self->twin_beat != about->beat) self->has_twin = true;
        self->twin = about->number;
        self->twin_beat = about->beat;
    }
}

/* With the lock. */
static void describe_twin(const fleet *self, char *sentence, size_t size)
{
    snprintf(sentence, size,
             "server %" PRIu64
             " has the same address as this one, %s, so requests for the bandits of one of them fail: "
             "start each with its own --advertise",
             self->twin, self->address);
}

static void note_risk(fleet *self, bool at_risk)
{
    if (at_risk == self->at_risk) return;
    self->at_risk = at_risk;
    report(self, at_risk,
           at_risk ? "the database no longer replicates synchronously: if its machine is lost, so are the last "
                     "acknowledged decisions and rewards. Set synchronous_standby_names"
                   : "the database replicates synchronously again");
}

static void note_beat(fleet *self, const ee_error *error)
{
    char sentence[400];
    if (error->status && !self->failing) {
        snprintf(sentence, sizeof sentence, "leases cannot be renewed: %s", error->message);
        report(self, true, sentence);
    }
    if (!error->status && self->failing) report(self, false, "leases are renewed again");
    pthread_mutex_lock(&self->lock);
    self->failing = error->status != EE_OK;
    pthread_mutex_unlock(&self->lock);
}

static void turn(fleet *self)
{
    char state[SERVER_STATE_SIZE], twin[400] = "";
    const lease_view *view;
    ee_error error = {0};
    bool news = false, had_twin = self->has_twin;
    pthread_mutex_lock(&self->lock);
    self->hurried = false;
    describe_self(self, state);
    leases_set_address(self->options.leases, self->address);
    pthread_mutex_unlock(&self->lock);
    ee_status status = leases_beat(self->options.leases, state, &view, &error);
    pthread_mutex_lock(&self->lock);
    if (!status) follow(self, view, &news);
    if (!status && !self->draining) status = fleet_take_orphans(self, &error);
    if (!status && self->draining) fleet_give_all(self);
    if (!status) status = fleet_give_left(self, &error);
    if (!status) fleet_give_failed(self);
    if (!status && !self->draining) fleet_give_wanted(self);
    if (!status && !self->draining) fleet_give_some(self);
    if (!status) forget_dead(self);
    if (!status) look_for_twin(self);
    if (self->has_twin && !had_twin) describe_twin(self, twin, sizeof twin);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (twin[0]) report(self, true, twin);
    if (view) note_risk(self, view->at_risk);
    if (!status && (news || self->unread))
        self->unread = !self->options.changed(self->options.context, self->options.leases);
    note_beat(self, &error);
}

static void wait_microseconds(fleet *self, pthread_cond_t *on, int64_t microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + microseconds % SECOND * 1000;
    until.tv_sec += (time_t)(microseconds / SECOND + nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    pthread_cond_timedwait(on, &self->lock, &until);
}

static void *beat(void *context)
{
    fleet *self = context;
    for (;;) {
        int64_t begun = server_clock_real();
        turn(self);
        pthread_mutex_lock(&self->lock);
        for (int64_t left; !self->leaving;) {
            left = begun + (self->hurried ? HURRY_PAUSE : BEAT_PAUSE) - server_clock_real();
            if (left <= 0) break;
            wait_microseconds(self, &self->hurry, left);
        }
        bool over = self->leaving;
        pthread_mutex_unlock(&self->lock);
        if (over) return NULL;
    }
}

/* ---- calls of others ---- */

void fleet_hurry(fleet *self)
{
    pthread_mutex_lock(&self->lock);
    self->hurried = true;
    pthread_cond_signal(&self->hurry);
    pthread_mutex_unlock(&self->lock);
}

void fleet_await_change(fleet *self, int64_t microseconds)
{
    pthread_mutex_lock(&self->lock);
    wait_microseconds(self, &self->changed, microseconds);
    pthread_mutex_unlock(&self->lock);
}

int64_t fleet_clock(fleet *self)
{
    return atomic_load(&self->clock_offset) + server_clock_elapsed();
}

void fleet_doubt(fleet *self, uint32_t bandit)
{
    pthread_mutex_lock(&self->lock);
    holding *held = fleet_find_holding(self, bandit);
    if (held && held->state == HOLDING_HELD && !held->asked) fleet_ask(self, held, HOLDING_LOSE);
    pthread_mutex_unlock(&self->lock);
    fleet_hurry(self);
}

void fleet_need(fleet *self, const uint32_t *bandits, size_t count)
{
    pthread_mutex_lock(&self->lock);
    self->wishes.count = self->needed_count = 0;
    if (memory_grow(&self->memory, &self->needed, &self->needed_capacity, count, sizeof *bandits, NULL))
        count = 0; /* it is called again */
    for (size_t i = 0; i < count; i++) {
        holding *held = fleet_find_holding(self, bandits[i]);
        bool is_held = held && held->state == HOLDING_HELD && !held->asked;
        self->needed[self->needed_count++] = bandits[i];
        if (is_held && self->options.owns(self->options.context, bandits[i])) continue;
        if (is_held) fleet_ask(self, held, HOLDING_LOSE); /* the store does not know that it is this server's */
        if (self->wishes.count < MOST_WANTED) self->wishes.bandits[self->wishes.count++] = bandits[i];
    }
    self->needed_until = server_clock_real() + NEED_TIME;
    self->hurried = true;
    pthread_cond_signal(&self->hurry);
    pthread_mutex_unlock(&self->lock);
}

uint64_t fleet_server(const fleet *self)
{
    return self->number;
}

void fleet_secret(const fleet *self, char hex[2 * FLEET_SECRET_SIZE + 1])
{
    const uint8_t *secret = leases_secret(self->options.leases);
    for (size_t i = 0; i < FLEET_SECRET_SIZE; i++) snprintf(hex + 2 * i, 3, "%02x", secret[i]);
}

void fleet_mark(const fleet *self, char hex[FLEET_MARK_SIZE])
{
    uint64_t sum = checksum_64(leases_secret(self->options.leases), FLEET_SECRET_SIZE);
    snprintf(hex, FLEET_MARK_SIZE, "%08" PRIx32, (uint32_t)(sum >> 32));
}

/* Takes the same time wherever they differ. */
bool fleet_knows(const fleet *self, const char *secret_hex)
{
    char expected[2 * FLEET_SECRET_SIZE + 1];
    unsigned difference = 0;
    fleet_secret(self, expected);
    if (strlen(secret_hex) != sizeof expected - 1) return false;
    for (size_t i = 0; i < sizeof expected - 1; i++) difference |= (unsigned)(secret_hex[i] ^ expected[i]);
    return !difference;
}

/* ---- beginning and end ---- */

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

ee_status fleet_create(const fleet_options *options, fleet **out, ee_error *error)
{
    fleet *self;
    int64_t time, measured;
    *out = NULL;
    ee_status status = leases_read_clock(options->leases, &time, &measured, error);
    if (!status) status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->options = *options;
    self->number = leases_server(options->leases);
    atomic_store(&self->clock_offset, time - measured);
    pthread_mutex_init(&self->lock, NULL);
    init_condition(&self->hurry);
    init_condition(&self->changed);
    init_condition(&self->work);
    *out = self;
    return EE_OK;
}

void fleet_set_address(fleet *self, const char *address)
{
    pthread_mutex_lock(&self->lock);
    snprintf(self->address, sizeof self->address, "%s", address);
    self->hurried = true;
    pthread_cond_signal(&self->hurry);
    pthread_mutex_unlock(&self->lock);
}

ee_status fleet_start(fleet *self, const char *address, ee_error *error)
{
    fleet_set_address(self, address);
    if (pthread_create(&self->changer, NULL, change, self))
        return status_fail(error, EE_NO_MEMORY, "could not start a thread");
    self->started = 1;
    if (pthread_create(&self->beater, NULL, beat, self))
        return status_fail(error, EE_NO_MEMORY, "could not start a thread");
    self->started = 2;
    return EE_OK;
}

/* Whether all bandits are given away, or no other server can take them. */
static bool has_drained(const fleet *self)
{
    for (size_t i = 0; i < self->peer_count; i++)
        if (fleet_stays(self, &self->peers[i])) return !self->holding_count;
    return true;
}

/* Whether no beat has succeeded for so long that the others take the bandits. Shorter failures end: a lock that another
 * server has, or a connection that is made again. */
static bool is_cut_off(const fleet *self)
{
    return self->failing && server_clock_real() - self->beaten > CUT_OFF_TIME;
}

void fleet_drain(fleet *self, int64_t until, const volatile bool *hurry)
{
    pthread_mutex_lock(&self->lock);
    self->draining = self->hurried = true;
    pthread_cond_signal(&self->hurry);
    wait_microseconds(self, &self->changed, BEAT_PAUSE); /* until the next view, which shows the living servers */
    while (!has_drained(self) && !is_cut_off(self) && server_clock_real() < until && !(hurry && *hurry))
        wait_microseconds(self, &self->changed, HURRY_PAUSE);
    pthread_mutex_unlock(&self->lock);
}

void fleet_stop(fleet *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->leaving = true;
    pthread_cond_signal(&self->hurry);
    pthread_mutex_unlock(&self->lock);
    if (self->started > 1) pthread_join(self->beater, NULL);
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
    if (self->started > 0) pthread_join(self->changer, NULL);
    self->started = 0;
}

void fleet_free(fleet *self)
{
    if (!self) return;
    fleet_stop(self);
    leases_leave(self->options.leases);
    pthread_cond_destroy(&self->hurry);
    pthread_cond_destroy(&self->changed);
    pthread_cond_destroy(&self->work);
    pthread_mutex_destroy(&self->lock);
    memory_release(&self->memory);
}
