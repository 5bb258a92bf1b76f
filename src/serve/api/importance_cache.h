/* Feature importances that were computed in the last seconds, one for each bandit. */
#ifndef EENET_IMPORTANCE_CACHE_H
#define EENET_IMPORTANCE_CACHE_H

#include "data/values/text.h"

typedef struct importance_cache importance_cache;

ee_status importance_cache_create(importance_cache **out, ee_error *error);
void importance_cache_free(importance_cache *self);

/* Adds the answer for the bandit; false: there is none, or it is too old. */
bool importance_cache_find(importance_cache *self, uint32_t bandit, text *into);

/* Takes over the bytes of the answer; without memory it keeps nothing. */
void importance_cache_keep(importance_cache *self, uint32_t bandit, text *made);

/* Forgets the answer of a bandit. */
void importance_cache_forget(importance_cache *self, uint32_t bandit);

#endif
