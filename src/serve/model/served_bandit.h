/* A served bandit: its settings, its last published model, and scratch memory for deciding threads. Deciding never
 * waits for training or for the disk. An unused bandit is unloaded: only its name and settings stay in memory until the
 * next request. */
#ifndef EENET_SERVED_BANDIT_H
#define EENET_SERVED_BANDIT_H

#include "follower.h"
#include "serve/guard/guardrails.h"
#include "serve/journal/journal.h"
#include "serve/monitoring/metrics.h"

typedef struct served_bandit served_bandit;
typedef struct served_bandits served_bandits; /* all of them, and the threads that train */

typedef struct served_options {
    size_t trainers;            /* threads; 0: half the cores, at least two */
    double publish_interval;    /* minimum seconds between steps, unless there are more events */
    double step_seconds;        /* processor time of a step: it ends after the event that exceeds it */
    size_t step_events;         /* maximum in a step */
    uint64_t most_behind;       /* events; a model further behind uses larger strides */
    uint64_t checkpoint_events; /* about how many a restart may have to process: a checkpoint is saved this often */
    double checkpoint_seconds;
    double relearn_seconds; /* a checkpoint is also saved after so much training: another server may have to repeat it
                             * at once; 0: not */
    size_t checkpoints;     /* to keep per bandit */
    double sleep_seconds;   /* without requests, after which a model is unloaded; 0: never */
    uint64_t memory;        /* bytes of models; above, the least recently used one is unloaded; 0: no limit */
} served_options;

served_options served_options_usual(void);

/* Reads all bandits. The journal is started after it, so that nothing is missed: its `appended` must call
 * served_bandits_appended. */
ee_status served_bandits_create(store *kept, const served_options *options, served_bandits **out, ee_error *error);

/* A bandit that this process owns from now on, of a store that several share: adds it to the table, and finds out how
 * far its model has followed the log. */
ee_status served_bandits_adopt(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                               bool archived, store_reader *log, ee_error *error);

/* Starts the training threads. A model is loaded for a request, or if it has events to process. */
ee_status served_bandits_run(served_bandits *self, journal *written, ee_error *error);

/* Loading and steps end at the next event, and no more begin: requests that wait for a bandit to be loaded fail. */
void served_bandits_interrupt(served_bandits *self);

/* Stops the trainers, and saves a checkpoint of each model that changed since its last, as far as that is expected to
 * take at most save_seconds; 0: none. What is not in a checkpoint is in the log. No more rooms may be out. The journal
 * still runs, and is stopped after it. */
void served_bandits_stop(served_bandits *self, double save_seconds);
void served_bandits_free(served_bandits *self);

void served_bandits_appended(served_bandits *self, uint32_t bandit, uint64_t last);

/* After a SETTINGS event was written: a new bandit, or a change of one. Does not wait: other guardrails hold after a
 * turn (served_bandit_is_guarded). But a bandit that has guardrails falls back at once. */
ee_status served_bandits_set(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                             bool archived, ee_error *error);

/* The same, unless the bandit is another process's by now. */
void served_bandits_change(served_bandits *self, uint32_t number, const bandit_settings *settings, bool archived);

/* By name, or NULL. It lives as long as the server. */
served_bandit *served_bandits_find(const served_bandits *self, json_text name);
/* By its number, or NULL. */
served_bandit *served_bandits_find_number(const served_bandits *self, uint32_t number);
/* Removes a bandit from the table, so that its name is free: it was removed for good, or another process owns it.
 * Pointers to it stay valid. Waits until its model is unloaded and nothing more is written for it. */
void served_bandits_remove(served_bandits *self, served_bandit *bandit);
/* In the order of their numbers; NULL past the last. */
served_bandit *served_bandits_at(const served_bandits *self, size_t index);

/* Of all models, for metrics. */
typedef struct training_metrics {
    metric_histogram step_seconds, step_events, publish_seconds;
} training_metrics;
const training_metrics *served_bandits_training(const served_bandits *self);

/* Bytes of all models in memory. */
uint64_t served_bandits_memory(const served_bandits *self);

/* ---- one of them ---- */

uint32_t served_bandit_number(const served_bandit *self);
const char *served_bandit_name(const served_bandit *self);
bool served_bandit_is_archived(const served_bandit *self);
/* Whether it was removed from the table. */
bool served_bandit_is_removed(const served_bandit *self);
bandit_settings served_bandit_settings(const served_bandit *self); /* a copy of about 10 KB */
/* The rule for rewards outside *low to *high, which its settings state. */
outside_rule served_bandit_rewards(const served_bandit *self, double *low, double *high);
joining_rules served_bandit_joining(const served_bandit *self);
/* Whether live evaluation always watches it: it has challengers or guardrails. */
bool served_bandit_is_evaluated(const served_bandit *self);

/* Whether its model is loaded. If not, it is being loaded, and `ready` is called in another thread when it is (error
 * NULL) or cannot be. The model of an archived bandit is not loaded. */
bool served_bandit_is_awake(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context);

/* Whether decisions follow the guardrails of the settings, or will from the first one on. If not, `ready` is called in
 * another thread when they do, or when the model was unloaded instead (error): the next time it is loaded, they do. */
bool served_bandit_is_guarded(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context);

/* Scratch memory of a deciding thread, one per thread at a time. */
typedef struct served_room {
    ee_round *round; /* for named features, cleared */
    ee_scratch *scratch;
    learning_mode mode;    /* of the bandit when the room was entered, like */
    uint64_t dim, seed;    /* these, which never change */
    guardrails *guard;     /* of the bandit; NULL: it has none */
    uint64_t version;      /* of the model that decided */
    size_t choice;         /* the model's choice among its arms */
    double *probabilities; /* (arms) of the model */
    size_t capacity;
    const void *record; /* (record_size) */
    size_t record_size;
    struct served_room *next;
} served_room;

/* NULL if the model was unloaded meanwhile (then error->status is EE_OK; call served_bandit_is_awake again) or out of
 * memory. The model stays loaded until the room is left: leave it soon, because a training thread may wait for it. */
served_room *served_bandit_enter(served_bandit *self, ee_error *error);
void served_bandit_leave(served_bandit *self, served_room *room);

/* The model and the guardrails also stay until these are let go: decisions that are being written. Hold them before the
 * room is left. */
void served_bandit_hold(served_bandit *self, size_t count);
void served_bandit_let_go(served_bandit *self, size_t count);

/* Decides among arms (vectors) or, if arms is NULL, room->round. Fills the room: version, choice, probabilities,
 * record.
 */
ee_status served_bandit_decide(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                               ee_error *error);

/* For threads that may wait: loads the model if necessary, and enters. NULL: see error. */
served_room *served_bandit_enter_awake(served_bandit *self, ee_error *error);

/* Explains arms or, if arms is NULL, room->round, by the published model. *out is valid until the room's next
 * use. See engine/explanation.h. */
struct explanation;
ee_status served_bandit_explain(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                                int64_t only, struct explanation **out, ee_error *error);

/* Waits until the model has processed all events up to `upto` and its checkpoint is saved. cancel is called now and
 * then. EE_FILE_ERROR if training or saving fails. */
ee_status served_bandit_checkpoint(served_bandit *self, uint64_t upto, bool (*cancel)(void *context), void *context,
                                   ee_error *error);

/* State for pages and metrics. */
typedef struct served_standing {
    bool awake;
    uint64_t version;     /* published */
    uint64_t events;      /* in the log */
    uint64_t taken;       /* the last one that the published model has processed */
    uint64_t saved;       /* the same for the last checkpoint saved since the start */
    uint64_t behind;      /* events that it has not processed */
    double lag_seconds;   /* age of the first of these; 0: none */
    uint64_t stride;      /* of the last step */
    double age;           /* seconds since it was published */
    double train_seconds; /* all steps together */
    uint64_t memory;      /* bytes */
    uint64_t limited;     /* rewards that the model learned limited, as outliers */
    follower_counts counts;
    uint64_t wakes, sleeps, checkpoints;
    char trouble[252]; /* why training stopped; "": it runs */
} served_standing;
served_standing served_bandit_standing(const served_bandit *self);

/* The state of its caps, budgets and shares, as members of a JSON object: none if it has no limits, or its model is not
 * loaded. Does not load it. */
void served_bandit_write_limits(served_bandit *self, text *into);

/* These decisions were erased: no later one repeats them. */
void served_bandit_forget(served_bandit *self, const guardrails_draw *draws, size_t count);

/* The model after the last step, as bytes; free them with ee_bytes_free. For threads that may wait. */
ee_status served_bandit_save(served_bandit *self, void **bytes, size_t *size, uint64_t *version, ee_error *error);

#endif
