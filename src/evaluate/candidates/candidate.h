/* A policy to evaluate on a log: for each event it gives the probability of each action.
 *
 *     eenet, linucb, ...  a policy, which learns from the log
 *     uniform             every action with the same probability
 *     first               what happens without a bandit: the event's baseline, usually the first action
 *     arm:N, arm:NAME     always the same action, by number from 0 or by name; the baseline if an event lacks it
 *     logged              the logging policy
 *     model:FILE          a saved bandit, which learns nothing more
 *     learning:FILE       a saved bandit, which keeps learning
 *     file:FILE           action probabilities: CSV with the actions' names, or .npy; one row per shown event
 */
#ifndef EENET_CANDIDATE_H
#define EENET_CANDIDATE_H

#include <string.h>

#include "base/archive.h"
#include "data/logs/log.h"

/* An event as candidates and reward models see it. */
typedef struct candidate_round {
    const log_event *event;
    uint64_t number;    /* from 0, among the shown events */
    ee_round *features; /* read from event->context; NULL if not needed, or if the event has vectors */

    /* For a slot, which is played like an event; otherwise all zero. */
    const size_t *numbers; /* (event->count) of its actions in the whole event */
    size_t slot;           /* from 0 */
    bool again;            /* second call for this slot: all slots are decided before one is learned */
} candidate_round;

/* The number of an action in the log. */
static inline size_t candidate_number(const candidate_round *round, size_t action)
{
    return round->numbers ? round->numbers[action] : action;
}

/* Reads the features of an event into a round; NULL: not needed, or the log has vectors. *usable false with EE_OK: the
 * features are invalid, as error says, and the event is to be skipped. */
ee_status candidate_read_features(ee_round *features, const log_event *event, bool *usable, ee_error *error);

typedef struct candidate_setup {
    const char *text;     /* as above */
    const char *options;  /* of a policy; NULL: none */
    uint64_t seed;        /* of a policy */
    size_t dim;           /* of the log's arms; 0: it has named features */
    const char *features; /* options of these; not NULL if dim is 0 */
    bool fixed_names;     /* the room for names was set explicitly; otherwise a policy may take less */
} candidate_setup;

typedef struct candidate candidate;
typedef struct candidate_class candidate_class;

struct candidate_class {
    const char *form, *summary;
    const char *name; /* the form without what follows its colon; NULL: any policy's */
    bool arms;        /* looks at the arms or features of an event */
    bool logged;      /* it is the logging policy: its weights are 1 */
    bool file;        /* what follows the colon is a file */

    ee_status (*create)(const candidate_class *class, const candidate_setup *setup, candidate **out, ee_error *error);
    void (*free)(candidate *self);

    /* Sets pi (event->count) to the probabilities from what the candidate knows, unless pi is NULL; then learns the
     * event if learn is true and it can. */
    ee_status (*play)(candidate *self, const candidate_round *round, bool learn, double *pi, ee_error *error);

    /* The rest may be NULL. learns: whether learning changes it. */
    bool learns;
    const char *(*options)(const candidate *self);                          /* every option with its value */
    ee_status (*freeze)(candidate *self, ee_error *error);                  /* it stops learning */
    ee_status (*finish)(candidate *self, uint64_t events, ee_error *error); /* events: in the whole log */
    const char *(*remark)(const candidate *self); /* what it assumed, as a sentence; "": nothing. For the diagnosis */
    ee_status (*save)(const candidate *self, const char *path, ee_error *error);
    void (*archive)(candidate *self, archive *a); /* what it has learned; NULL: it learns nothing */
    ee_bandit *(*bandit)(candidate *self);        /* the bandit behind it */
    uint64_t (*learned)(const candidate *self);   /* rewards that it had learned before this log */
};

/* Every candidate's struct begins with this. */
struct candidate {
    const candidate_class *class;
};

/* The class that a text names; EE_BAD_OPTION for none. */
ee_status candidate_find(const char *text, const candidate_class **class, ee_error *error);

/* Identifies a candidate beyond its text and seed: every option with its value, and the checksum of a file. Equal
 * descriptions give equal numbers. *out is to be freed with memory_free. */
ee_status candidate_describe(const candidate_setup *setup, char **out, ee_error *error);

/* The classes are numbered from 0; NULL past the last. */
const candidate_class *candidate_class_at(size_t index);

/* Fixed choices (candidate_fixed.c), bandits (candidate_bandit.c) and files (candidate_file.c). */
extern const candidate_class candidate_uniform, candidate_first, candidate_arm, candidate_logged;
extern const candidate_class candidate_policy, candidate_model, candidate_learning_model;
extern const candidate_class candidate_from_file;

/* What follows the colon; NULL without one. */
static inline const char *candidate_place(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : NULL;
}

#endif
