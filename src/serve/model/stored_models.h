/* Decisions that were erased, and models that were kept because of them. From an erased decision on, the model cannot
 * be computed from the log: only from a model that was stored after it. */
#ifndef EENET_STORED_MODELS_H
#define EENET_STORED_MODELS_H

#include "follower.h"

/* All ERASED events of a bandit's log. {0} starts it. */
typedef struct stored_models {
    memory memory;
    uint64_t *erased; /* (erased_count) numbers of the decisions and of their SETTLED events, ascending */
    size_t erased_count, erased_capacity;
    uint64_t events;         /* that were erased, the decisions among them */
    checkpoint_body *models; /* (model_count) ascending by version */
    size_t model_count, model_capacity;
} stored_models;

ee_status stored_models_read(stored_models *self, store_reader *log, uint32_t bandit, ee_error *error);
void stored_models_free(stored_models *self);

/* Whether a decision was erased that the model took or learned from an event with a number from first to last. */
bool stored_models_erased(const stored_models *self, uint64_t first, uint64_t last);

/* The first model that is stored with a version of at least `version`: of an ERASED or a CHECKPOINT event. *out is NULL
 * if there is none that can be read. */
ee_status stored_models_next(const stored_models *self, store_reader *log, uint32_t bandit,
                             const bandit_settings *settings, uint64_t version, follower **out, uint64_t *found,
                             ee_error *error);

/* The same for the last with a version of at most `version`. */
ee_status stored_models_last(const stored_models *self, store_reader *log, uint32_t bandit,
                             const bandit_settings *settings, uint64_t version, follower **out, uint64_t *found,
                             ee_error *error);

/* Whether an ERASED event names the model of this version: then its file must stay. */
ee_status stored_models_keep(store_reader *log, uint32_t bandit, uint64_t version, bool *keep, ee_error *error);

#endif
