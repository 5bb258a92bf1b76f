/* One program at a time writes a model: a file MODEL.lock beside it is locked meanwhile, and is gone afterwards. What a
 * program that was killed left behind locks nothing. */
#ifndef EENET_MODEL_LOCK_H
#define EENET_MODEL_LOCK_H

#include "base/status.h"

typedef struct model_lock {
    char *path; /* of the lock; NULL: nothing is locked */
    int file;
} model_lock;

/* EE_FILE_ERROR where another program has it. */
ee_status model_lock_take(const char *model, model_lock *out, ee_error *error);

/* One that is all zeros, or was not taken, is allowed. */
void model_lock_release(model_lock *self);

#endif
