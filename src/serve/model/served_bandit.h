/* A served bandit: its settings, its last published model, and scratch memory for deciding threads. Deciding never
 * waits for training or for the disk. An unused bandit is unloaded: only its name and settings stay in memory until the
 * next request. */
#ifndef EENET_SERVED_BANDIT_H
#define EENET_SERVED_BANDIT_H

#include "follower.h"
#include "serve/journal/journal.h"
#include "serve/monitoring/metrics.h"

typedef struct served_bandit served_bandit;
typedef struct served_bandits served_bandits; /* all of them, and the threads that train */

typedef struct served_options {
    size_t trainers;            /* threads; 0: half the cores, at least two */
    double publish_interval;    /* seconds between steps, unless there is more to take */
    double step_seconds;        /* that a step takes: it ends after the event that exceeds them */
    size_t step_events;         /* that a step takes, at most */
    uint64_t most_behind;       /* events: beyond, strides grow */
    uint64_t checkpoint_events; /* that a restart may have to take, about: a checkpoint is saved so often */
    double checkpoint_seconds;
    size_t checkpoints;   /* kept of each bandit */
    double sleep_seconds; /* without a request, after which a bandit goes to sleep; 0: never */
    uint64_t memory;      /* bytes of models; beyond, the bandit that was asked longest ago is unloaded; 0: no limit */
} served_options;

served_options served_options_usual(void);

/* Reads all bandits. The journal is started after it, so that nothing is missed: its `appended` must call
 * served_bandits_appended. */
ee_status served_bandits_create(store *kept, const served_options *options, served_bandits **out, ee_error *error);

/* Starts the trainers. A bandit wakes when it is asked, or has events that its model has not taken. */
ee_status served_bandits_run(served_bandits *self, journal *written, ee_error *error);

/* Loading and steps end at the next event, and no more begin: requests that wait for a bandit to be loaded fail. */
void served_bandits_interrupt(served_bandits *self);

/* Stops the trainers, and saves a checkpoint of each model that changed since its last, as far as that is expected to
 * take at most save_seconds; 0: none. What is not in a checkpoint is in the log. No more rooms may be out. The journal
 * still runs, and is stopped after it. */
void served_bandits_stop(served_bandits *self, double save_seconds);
void served_bandits_free(served_bandits *self);

void served_bandits_appended(served_bandits *self, uint32_t bandit, uint64_t last);

/* After a SETTINGS event was written: a new bandit, or a change of one. Does not wait. */
ee_status served_bandits_set(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                             bool archived, ee_error *error);

/* By its name, or NULL. It lives as long as the server. */
served_bandit *served_bandits_find(const served_bandits *self, json_text name);
/* By its number, or NULL. */
served_bandit *served_bandits_find_number(const served_bandits *self, uint32_t number);
/* Takes an archived bandit out of the table, so that nobody finds it and its name is free. Those who have it may go on
 * with it: it stays archived. Waits until its model is unloaded and nothing of it is written any more. */
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
/* Whether it was taken out of the table: then it does not exist any more. */
bool served_bandit_is_removed(const served_bandit *self);
bandit_settings served_bandit_settings(const served_bandit *self); /* a copy, of some 10 KB */
/* The rule for rewards outside *low to *high, which its settings state. */
outside_rule served_bandit_rewards(const served_bandit *self, double *low, double *high);
bool served_bandit_has_challengers(const served_bandit *self);

/* Whether it can decide now. Else it is being woken, and `ready` is called once it is awake (error NULL) or could not
 * be woken, in another thread. An archived one is not woken. */
bool served_bandit_is_awake(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context);

/* What a thread decides with; taken and given back, one for each that decides at a time. */
typedef struct served_room {
    ee_round *round; /* for named features, cleared */
    ee_scratch *scratch;
    learning_mode mode;    /* of the bandit when it was entered, as */
    uint64_t dim, seed;    /* these, which never change */
    uint64_t version;      /* of the model that decided */
    size_t choice;         /* what the model chose, among the arms that it was given */
    double *probabilities; /* (arms) of the model */
    size_t capacity;
    const void *record; /* (record_size) */
    size_t record_size;
    struct served_room *next;
} served_room;

/* NULL where it fell asleep meanwhile, and then error->status is EE_OK: ask served_bandit_is_awake again; or where
 * there is no memory. The bandit stays awake until it is given back: soon, since a trainer may have to wait for it. */
served_room *served_bandit_enter(served_bandit *self, ee_error *error);
void served_bandit_leave(served_bandit *self, served_room *room);

/* Decides arms (vectors) or, where arms is NULL, room->round. Fills the room: version, choice, probabilities, record.
 */
ee_status served_bandit_decide(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                               ee_error *error);

/* For threads that may wait: enters, and wakes it first where it is asleep. NULL: error tells why. */
served_room *served_bandit_enter_awake(served_bandit *self, ee_error *error);

/* Explains arms or, where arms is NULL, room->round, by what was published last. *out is valid until the room's next
 * use. See engine/explanation.h. */
struct explanation;
ee_status served_bandit_explain(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                                int64_t only, struct explanation **out, ee_error *error);

/* Waits until the model has taken all events up to a number and a checkpoint of it is saved. cancel is asked now and
 * then. EE_FILE_ERROR if training or saving fails. */
ee_status served_bandit_checkpoint(served_bandit *self, uint64_t upto, bool (*cancel)(void *context), void *context,
                                   ee_error *error);

/* What a page or a metric shows. */
typedef struct served_standing {
    bool awake;
    uint64_t version;     /* published */
    uint64_t events;      /* in the log */
    uint64_t taken;       /* up to which the published model took them */
    uint64_t saved;       /* up to which the last checkpoint did that was saved since the start */
    uint64_t behind;      /* of them the published model has not taken */
    double lag_seconds;   /* age of the first of these; 0: there are none */
    uint64_t stride;      /* of the last step */
    double age;           /* seconds since it was published */
    double train_seconds; /* all steps together */
    uint64_t memory;      /* bytes */
    uint64_t limited;     /* rewards that the model learned limited, as outliers */
    follower_counts counts;
    uint64_t wakes, sleeps, checkpoints;
    char trouble[252]; /* why training has stopped; "": it has not */
} served_standing;
served_standing served_bandit_standing(const served_bandit *self);

/* The model as bytes, to be freed with ee_bytes_free: of the last step. For threads that may wait. */
ee_status served_bandit_save(served_bandit *self, void **bytes, size_t *size, uint64_t *version, ee_error *error);

#endif
