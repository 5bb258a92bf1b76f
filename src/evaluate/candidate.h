/* Whoever is evaluated on a log. A candidate tells, for each event, with which probability it would take each action.
 *
 *     eenet, linucb, ...  a policy of ours, which learns from the log
 *     uniform             any action alike
 *     first               what would have been done without a bandit: the event's baseline, mostly the first action
 *     arm:N, arm:NAME     always the same action, by number from 0 or by name; the baseline where an event lacks it
 *     logged              the log's own policy
 *     model:FILE          a saved bandit as it is
 *     learning:FILE       a saved bandit that goes on to learn
 *     file:FILE           probabilities of the actions: CSV or .npy, a row for each event that somebody saw
 */
#ifndef EENET_CANDIDATE_H
#define EENET_CANDIDATE_H

#include "base/archive.h"
#include "data/log.h"

/* An event as candidates and reward models see it. */
typedef struct candidate_round {
    const log_event *event;
    uint64_t number;    /* from 0, among the events that somebody saw */
    ee_round *features; /* read from event->context; NULL where nobody needs them, or the event has arms */

    /* Of a slot of an event, which is played as an event of its own. All zero: it is none. */
    const size_t *numbers; /* (event->count) of its actions in the whole event */
    size_t slot;           /* from 0 */
    bool again; /* the candidate saw it before, in the same call: all slots are decided before one is learned */
} candidate_round;

/* The number of an action in the log's own numbering. */
static inline size_t candidate_number(const candidate_round *round, size_t action)
{
    return round->numbers ? round->numbers[action] : action;
}

/* Reads the features of an event into a round, unless that is NULL: nobody needs them, or there are vectors. *usable
 * false, and EE_OK: they are not what they should be, as error says, and the event is to be passed over. */
ee_status candidate_read_features(ee_round *features, const log_event *event, bool *usable, ee_error *error);

typedef struct candidate_setup {
    const char *text;     /* as above */
    const char *options;  /* of a policy; NULL: none */
    uint64_t seed;        /* of a policy */
    size_t dim;           /* of the log's arms; 0: it has named features */
    const char *features; /* options of these; not NULL where dim is 0 */
    bool fixed_names;     /* their room for names is what was asked for; else a policy may take less */
} candidate_setup;

typedef struct candidate candidate;

typedef struct candidate_class {
    const char *form, *summary;
    const char *name; /* the form without what follows its colon; NULL: any policy's */
    bool arms;        /* looks at the arms or features of an event */
    bool logged;      /* is the log's own policy: its weights are 1 */
    bool file;        /* what follows the colon is a file */

    ee_status (*create)(const candidate_setup *setup, candidate **out, ee_error *error);
    void (*free)(candidate *self);

    /* pi (event->count) becomes the probabilities by what the candidate knows, unless pi is NULL; after that it learns
     * the event, where it is to learn and can. */
    ee_status (*play)(candidate *self, const candidate_round *round, bool learn, double *pi, ee_error *error);

    /* The rest may be NULL. learns: whether learning changes it. */
    bool learns;
    const char *(*options)(const candidate *self);                          /* every option with its value */
    ee_status (*freeze)(candidate *self, ee_error *error);                  /* it will not learn any more */
    ee_status (*finish)(candidate *self, uint64_t events, ee_error *error); /* the log had so many */
    ee_status (*save)(const candidate *self, const char *path, ee_error *error);
    void (*archive)(candidate *self, archive *a); /* what it has learned; NULL: it learns nothing */
    ee_bandit *(*bandit)(candidate *self);        /* that it is */
} candidate_class;

/* Every candidate's struct begins with this. */
struct candidate {
    const candidate_class *class;
};

/* The class that a text names; EE_BAD_OPTION for none. */
ee_status candidate_find(const char *text, const candidate_class **class, ee_error *error);

/* What a candidate is, besides its text and seed: every option with its value, and of a file its checksum. Two that
 * have these in common give the same numbers. *out is to be freed with memory_free. */
ee_status candidate_describe(const candidate_setup *setup, char **out, ee_error *error);

/* The classes are numbered from 0; NULL past the last. */
const candidate_class *candidate_class_at(size_t index);

/* Fixed choices (candidate_fixed.c), bandits (candidate_bandit.c) and files (candidate_file.c). */
extern const candidate_class candidate_uniform, candidate_first, candidate_arm, candidate_logged;
extern const candidate_class candidate_policy, candidate_model, candidate_learning_model;
extern const candidate_class candidate_from_file;

/* What follows the colon; NULL where there is none. */
const char *candidate_place(const char *text);

#endif
