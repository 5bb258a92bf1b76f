/* Which events belong to the decisions that are to be erased, and which models have to be kept because of them. */
#ifndef EENET_ERASURE_H
#define EENET_ERASURE_H

#include "serve/guard/guardrails.h"
#include "serve/store/erased_event.h"
#include "serve/store/store.h"

typedef struct erasure_request {
    const json_text *ids; /* (id_count) of decisions or rounds with slots */
    size_t id_count;
    json_text path;                /* a member of the context, such as "user.id"; empty: none */
    json_text value;               /* its value: a text, or a number as text */
    json_text person;              /* the key that guardrails got with the decisions; empty: none */
    bool (*cancel)(void *context); /* called now and then; true ends it with EE_FILE_ERROR */
    void *context;
} erasure_request;

typedef struct erasure {
    memory memory;
    const erasure_request *request;
    store *kept;
    store_reader *log;
    uint32_t bandit;

    uint64_t *decisions; /* (decision_count) ascending */
    size_t decision_count, decision_capacity;
    uint64_t *settled; /* (decision_count) the number of the SETTLED event of each; 0: none */
    size_t settled_capacity;
    uint64_t *others; /* (other_count) ascending */
    size_t other_count, other_capacity;
    json_text *ids; /* (id_count) of the decisions and of the request, ascending */
    size_t id_count, id_capacity;
    size_t named;           /* of these, those that repeats may name */
    guardrails_draw *draws; /* (draw_count) those of the decisions that a person with a key may keep */
    size_t draw_count, draw_capacity;
    uint64_t scanned; /* all events up to this number were looked at */

    checkpoint_body *models; /* (model_count) that were stored */
    size_t model_count, model_capacity;
    bool is_proven; /* replay can prove everything that is not close to an erased decision */
} erasure;

/* Free it, also after a failure. */
ee_status erasure_create(erasure *self, store *kept, uint32_t bandit, const erasure_request *request, ee_error *error);
void erasure_free(erasure *self);

/* Finds the decisions: those of the ids, of the path and of the person. EE_BAD_INPUT for a path in a log of vectors. */
ee_status erasure_find_decisions(erasure *self, ee_error *error);

/* Finds the sticky repeats of these decisions, which name them. Call it when there are no new repeats
 * (served_bandit_forget). */
ee_status erasure_find_repeats(erasure *self, ee_error *error);

/* Finds their other events in what was written since the last call; others becomes those. */
ee_status erasure_find_others(erasure *self, ee_error *error);

/* The number of the last SETTLED event of the decisions. */
uint64_t erasure_last_settled(const erasure *self);

/* Follows the log and stores models after the decisions, which are still learned here. */
ee_status erasure_store_models(erasure *self, const bandit_settings *settings, ee_error *error);

/* After the events were erased: removes checkpoints that may have a decision among those that are pending. */
ee_status erasure_remove_checkpoints(store *kept, store_reader *log, uint32_t bandit, const erased_body *body,
                                     ee_error *error);

/* Whether the last ERASED event lists events that are not erased yet. What is read lies in *owner. */
ee_status erasure_find_unfinished(store_reader *log, uint32_t bandit, memory *owner, erased_body *out, bool *found,
                                  ee_error *error);

#endif
