#include "activity.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/values/id_set.h"

enum { RING = ACTIVITY_SECONDS + 1 }; /* the second that runs, too */

/* Of one action. */
typedef struct counter {
    double count;       /* decisions that chose it, and `over` more at most */
    double over;        /* what its place had counted before */
    double probability; /* of its decisions, all together */
    char name[ACTIVITY_NAME_SIZE];
} counter;

typedef struct lively {
    uint32_t bandit;
    int64_t newest; /* second of the ring */
    activity_second ring[RING];
    uint64_t actions[ACTIVITY_COUNTERS]; /* hashes, apart from the rest: they are looked through for each decision */
    counter counters[ACTIVITY_COUNTERS];
    size_t used;
    double decisions, explored, probability, entropy; /* sums */
    uint64_t slot_hashes[ACTIVITY_SLOTS];
    activity_slot slots[ACTIVITY_SLOTS];
    size_t slot_count;
    uint64_t other_slots;
} lively;

struct activity {
    pthread_mutex_t lock; /* held for less than a microsecond, but by readers: a few */
    lively *bandits[ACTIVITY_BANDITS];
    size_t count, cursor; /* cursor: where to look next for a bandit to forget */
    uint16_t *places;     /* (place_count) by number of the bandit: its place + 1 */
    size_t place_count;
};

_Static_assert(ACTIVITY_BANDITS < UINT16_MAX, "places are 16 bits");

/* ---- what is counted ---- */

static double entropy_of(const double *probabilities, size_t count)
{
    double sum = 0, before = 0, part = 0;
    size_t possible = 0;
    for (size_t i = 0; i < count; i++) {
        double p = probabilities[i];
        if (!(p > 0)) continue;
        if (p != before) part = -p * log(p); /* most of them are alike */
        before = p;
        sum += part;
        possible++;
    }
    return possible > 1 ? sum / log((double)possible) : 0;
}

/* Truncates longer names, not within a character. */
static void copy_name(json_text name, char *out)
{
    static const char more[] = "…";
    size_t length = name.length, most = ACTIVITY_NAME_SIZE - 1;
    bool cut = length > most;
    if (cut) length = most - (sizeof more - 1);
    while (cut && length && ((unsigned char)name.bytes[length] & 0xc0) == 0x80) length--;
    memcpy(out, name.bytes, length);
    memcpy(out + length, more, cut ? sizeof more : 0);
    if (!cut) out[length] = '\0';
}

activity_choice activity_choice_of(const decision_body *body)
{
    activity_choice choice = {.probability = (float)body->probabilities[body->action]};
    char digits[24];
    json_text name = {digits, 0};
    if (body->names)
        name = body->names[body->action];
    else
        name.length = (size_t)snprintf(digits, sizeof digits, "%zu", body->action);
    choice.action = id_hash(name.bytes, name.length);
    copy_name(name, choice.name);
    choice.entropy = (float)entropy_of(body->probabilities, body->count);
    for (size_t i = 0; i < body->count && !choice.explored; i++)
        choice.explored = body->probabilities[i] > body->probabilities[body->action] * (1 + 1e-9);
    return choice;
}

/* ---- the bandits ---- */

activity *activity_create(void)
{
    activity *self;
    if (memory_create(NULL, &self, 1, sizeof *self, NULL)) return NULL;
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void activity_free(activity *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->count; i++) memory_free(self->bandits[i]);
    memory_free(self->places);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

static lively *find(const activity *self, uint32_t bandit)
{
    size_t place = bandit < self->place_count ? self->places[bandit] : 0;
    return place ? self->bandits[place - 1] : NULL;
}

/* The quietest of a few, different ones each time: looking at all would take long with many more active bandits. */
static size_t quiet_place(activity *self)
{
    enum { FEW = 16, APART = ACTIVITY_BANDITS / FEW };
    size_t found = self->cursor;
    for (size_t i = 0; i < FEW; i++) {
        size_t place = (self->cursor + i * APART) % self->count;
        if (self->bandits[place]->newest < self->bandits[found]->newest) found = place;
    }
    self->cursor = (self->cursor + 1) % self->count;
    return found;
}

/* Creates the counters of a bandit, or takes over another's. NULL: out of memory. */
static lively *find_or_make(activity *self, uint32_t bandit)
{
    lively *found = find(self, bandit);
    if (found) return found;
    if (memory_grow(NULL, &self->places, &self->place_count, (size_t)bandit + 1, sizeof *self->places, NULL))
        return NULL;
    size_t place = self->count;
    if (self->count == ACTIVITY_BANDITS) {
        place = quiet_place(self);
        self->places[self->bandits[place]->bandit] = 0;
        memset(self->bandits[place], 0, sizeof *self->bandits[place]);
    } else if (memory_create(NULL, &self->bandits[place], 1, sizeof *self->bandits[place], NULL)) {
        return NULL;
    } else {
        self->count++;
    }
    self->bandits[place]->bandit = bandit;
    self->places[bandit] = (uint16_t)(place + 1);
    return self->bandits[place];
}

/* ---- seconds ---- */

static activity_second *second_at(lively *of, int64_t time)
{
    return &of->ring[(uint64_t)time % RING];
}

/* The ring goes up to this second; those between were quiet. */
static void go_to(lively *of, int64_t time)
{
    if (time <= of->newest) return;
    int64_t from = time - of->newest > RING ? time - RING : of->newest;
    for (int64_t at = from + 1; at <= time; at++) *second_at(of, at) = (activity_second){0};
    of->newest = time;
}

/* ---- actions ---- */

static size_t place_of(lively *of, uint64_t action)
{
    size_t rarest = 0;
    for (size_t i = 0; i < of->used; i++)
        if (of->actions[i] == action) return i;
    if (of->used < ACTIVITY_COUNTERS) {
        of->counters[of->used] = (counter){0};
        return of->used++;
    }
    for (size_t i = 1; i < of->used; i++)
        if (of->counters[i].count < of->counters[rarest].count) rarest = i;
    counter *taken = &of->counters[rarest];
    taken->over = taken->count;
    taken->probability = 0;
    return rarest;
}

static void halve(lively *of)
{
    for (size_t i = 0; i < of->used; i++) {
        of->counters[i].count *= 0.5;
        of->counters[i].over *= 0.5;
        of->counters[i].probability *= 0.5;
    }
    of->decisions *= 0.5;
    of->explored *= 0.5;
    of->probability *= 0.5;
    of->entropy *= 0.5;
}

static void count_choice(lively *of, const activity_choice *choice)
{
    size_t place = place_of(of, choice->action);
    counter *its = &of->counters[place];
    if (of->actions[place] != choice->action || !its->name[0]) memcpy(its->name, choice->name, sizeof its->name);
    of->actions[place] = choice->action;
    its->count += 1;
    its->probability += (double)choice->probability;
    of->decisions += 1;
    of->explored += choice->explored;
    of->probability += (double)choice->probability;
    of->entropy += (double)choice->entropy;
    if (of->decisions >= ACTIVITY_DECISIONS) halve(of);
}

void activity_decided(activity *self, uint32_t bandit, int64_t time, const activity_choice *choice)
{
    pthread_mutex_lock(&self->lock);
    lively *of = find_or_make(self, bandit);
    if (of) {
        go_to(of, time);
        second_at(of, of->newest)->decisions++;
        second_at(of, of->newest)->explored += choice->explored;
        count_choice(of, choice);
    }
    pthread_mutex_unlock(&self->lock);
}

void activity_rewarded(activity *self, uint32_t bandit, int64_t time)
{
    pthread_mutex_lock(&self->lock);
    lively *of = find_or_make(self, bandit);
    if (of) {
        go_to(of, time);
        second_at(of, of->newest)->rewards++;
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- slots ---- */

/* NULL: there are too many. */
static activity_slot *find_or_add_slot(lively *of, json_text slot)
{
    uint64_t hash = id_hash(slot.bytes, slot.length);
    for (size_t i = 0; i < of->slot_count; i++)
        if (of->slot_hashes[i] == hash) return &of->slots[i];
    if (of->slot_count == ACTIVITY_SLOTS) return NULL;
    activity_slot *added = &of->slots[of->slot_count];
    of->slot_hashes[of->slot_count++] = hash;
    copy_name(slot, added->name);
    return added;
}

void activity_slot_decided(activity *self, uint32_t bandit, json_text slot, bool explored)
{
    pthread_mutex_lock(&self->lock);
    lively *of = find_or_make(self, bandit);
    activity_slot *its = of ? find_or_add_slot(of, slot) : NULL;
    if (its) {
        its->decisions++;
        its->explored += explored;
    } else if (of) {
        of->other_slots++;
    }
    pthread_mutex_unlock(&self->lock);
}

void activity_slot_rewarded(activity *self, uint32_t bandit, json_text slot, double value)
{
    pthread_mutex_lock(&self->lock);
    lively *of = find_or_make(self, bandit);
    activity_slot *its = of ? find_or_add_slot(of, slot) : NULL;
    if (its) {
        its->rewards++;
        its->reward_sum += value;
    }
    pthread_mutex_unlock(&self->lock);
}

void activity_forget(activity *self, uint32_t bandit)
{
    pthread_mutex_lock(&self->lock);
    lively *of = find(self, bandit);
    if (of) *of = (lively){.bandit = bandit};
    pthread_mutex_unlock(&self->lock);
}

/* ---- reading ---- */

static int by_count(const void *a, const void *b)
{
    const counter *left = a, *right = b;
    double first = left->count - left->over, second = right->count - right->over;
    return (first < second) - (first > second);
}

static void report_actions(lively *copy, activity_report *out)
{
    qsort(copy->counters, copy->used, sizeof *copy->counters, by_count);
    out->others = copy->decisions > 0 ? 1 : 0;
    for (size_t i = 0; i < copy->used && out->count < ACTIVITY_SHOWN; i++) {
        const counter *from = &copy->counters[i];
        double certain = from->count - from->over;
        if (!(certain > 0)) break;
        activity_share *to = &out->actions[out->count++];
        memcpy(to->name, from->name, sizeof to->name);
        to->share = certain / copy->decisions;
        to->probability = from->probability / certain;
        out->others -= to->share;
    }
    if (out->others < 1e-9) out->others = 0; /* what rounding leaves */
}

void activity_read(activity *self, uint32_t bandit, int64_t time, activity_report *out)
{
    lively copy = {0};
    *out = (activity_report){0};
    pthread_mutex_lock(&self->lock);
    const lively *found = find(self, bandit);
    if (found) copy = *found;
    pthread_mutex_unlock(&self->lock);
    if (found) go_to(&copy, time);
    for (size_t i = 0; found && i < ACTIVITY_SECONDS; i++)
        out->seconds[i] = *second_at(&copy, copy.newest - ACTIVITY_SECONDS + (int64_t)i);
    report_actions(&copy, out);
    memcpy(out->slots, copy.slots, sizeof out->slots);
    out->slot_count = copy.slot_count;
    out->other_slots = copy.other_slots;
    out->decisions = copy.decisions;
    out->explored = copy.explored / copy.decisions;
    out->probability = copy.probability / copy.decisions;
    out->entropy = copy.entropy / copy.decisions;
}
