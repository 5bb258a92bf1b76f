/* A loop whose iterations run on several threads. */
#ifndef EENET_PARALLEL_H
#define EENET_PARALLEL_H

#include <stdbool.h>

#include "base/status.h"

/* Progress callback: called in the calling thread between its pieces, with the number done; return false to stop. */
typedef struct parallel_watch {
    bool (*wanted)(void *context, size_t done, size_t count);
    void *context;
} parallel_watch;

/* One piece of the work, by its place; in any thread, at the same time as others. */
typedef ee_status parallel_work(void *context, size_t place, ee_error *error);

/* Does the pieces 0 to count - 1, each once, in any order. After a failure no more start, and one of the errors is
 * returned. *finished: all were done. watch may be NULL. */
ee_status parallel_each(size_t count, size_t threads, parallel_work *work, void *context, const parallel_watch *watch,
                        bool *finished, ee_error *error);

#endif
