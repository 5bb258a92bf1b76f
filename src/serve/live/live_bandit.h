/* Live evaluation of one bandit: the policies evaluated on its log, and their progress.
 *
 * All of it is a function of the log: decisions in their order, up to the first that is not settled (settled_reader.h),
 * and the SETTINGS and MODEL events. A period starts when decisions change: with another model, policy, mode,
 * propensity, range of rewards or objective. Then all evaluations restart. A challenger is evaluated only on decisions
 * made after it was added, because its author may have seen earlier ones. It learns from the whole log. live_guard.h
 * says when the comparison of guardrails starts.
 *
 * Used by one thread at a time. */
#ifndef EENET_LIVE_BANDIT_H
#define EENET_LIVE_BANDIT_H

#include "live_guard.h"
#include "live_track.h"
#include "serve/log/settled_reader.h"
#include "serve/store/store.h"

typedef struct live_bandit {
    uint32_t number;
    store *kept;
    store_reader *log;                    /* for rare events */
    bandit_settings in_force;             /* of the server: used if the log's SETTINGS events were removed */
    bandit_settings settings;             /* in force, by the log */
    uint64_t settings_event, model_event; /* the last ones processed */
    live_guard guard;                     /* its guardrails */
    uint64_t period;                      /* number of the event that started it; 0: the start of the log */
    uint64_t begins[MOST_CHALLENGERS];    /* the event that added each challenger of the settings */
    live_track *tracks[LIVE_TRACKS];      /* (track_count) the online policy first */
    size_t track_count;
    uint64_t objective; /* metric_objective_checksum of the rewards that the tracks have learned */

    settled_reader *ahead, *behind; /* for tracks that are up to date, and for the others; NULL: not created */
    ee_round *features;             /* NULL: vectors */
    log_slot *slots;                /* with rewards clipped to the range */
    size_t slot_capacity;

    /* Points of a curve, evenly spaced. */
    double times[LIVE_POINTS];
    uint64_t counts[LIVE_POINTS];
    size_t point_count;
    uint64_t step;

    uint64_t changes; /* counts changes: whether there is something to save */
} live_bandit;

/* self is zeroed except for in_force. Close it, also after a failure. Continues from the stored state if that can be
 * read. */
ee_status live_bandit_open(live_bandit *self, store *kept, uint32_t number, ee_error *error);
void live_bandit_close(live_bandit *self);

/* Processes some hundred decisions at most, none above event `last`, which is in the log. *more: there are more now. */
ee_status live_bandit_turn(live_bandit *self, uint64_t last, bool *more, ee_error *error);

/* Whether it has processed less than the online track. */
bool live_bandit_is_behind(const live_bandit *self, const live_track *track);
live_track *live_bandit_find(const live_bandit *self, const char *challenger);

/* ---- live_state.c ---- */

/* FOLDER/live/NUMBER.state; a state that cannot be read is computed again from the log. */
ee_status live_bandit_save(live_bandit *self, ee_error *error);
ee_status live_bandit_load(live_bandit *self, ee_error *error);

#endif
