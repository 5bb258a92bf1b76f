/* importance: computed in a separate thread, and cached for a while. */
#define _DEFAULT_SOURCE /* setpriority of a thread */
#include <pthread.h>
#include <sys/resource.h>

#include "call.h"
#include "handlers.h"
#include "importance_cache.h"
#include "serve/model/importance.h"
#include "serve/system/server_clock.h"

enum { SECOND = 1000000, DAY = 86400 };

/* In the analyst's thread. Those that asked meanwhile find what the first had measured. */
static void measure(void *context)
{
    call *self = context;
    service *owner = self->owner;
    text *answer = &self->exchange->answer, made = text_start(NULL);
    importance found;
    ee_error error;
    setpriority(PRIO_PROCESS, 0, 15); /* of this thread alone: answers and training go first */
    if (!importance_cache_find(owner->importances, served_bandit_number(self->bandit), answer)) {
        importance_request request = {.from = journal_wall_time(owner->journal) - (int64_t)DAY * SECOND,
                                      .until = INT64_MAX,
                                      .cancel = &owner->draining};
        if (importance_measure(owner->store, self->bandit, &request, &found, &error)) {
            call_refuse(self, &error);
            return;
        }
        importance_answer(&made, &found);
        importance_free(&found);
        text_bytes(answer, made.bytes ? made.bytes : "", made.length);
        if (made.status && !answer->status) answer->status = made.status;
        if (!made.status) importance_cache_keep(owner->importances, served_bandit_number(self->bandit), &made);
        memory_free(made.bytes);
    }
    call_answer(self, 200);
}

void api_importance(call *self)
{
    service *of = self->owner;
    if (served_bandit_is_archived(self->bandit)) {
        call_refuse_archived(self);
        return;
    }
    if (importance_cache_find(of->importances, served_bandit_number(self->bandit), &self->exchange->answer)) {
        call_answer(self, 200);
        return;
    }
    self->task = (worker_task){.run = measure, .context = self};
    if (!worker_submit(of->analyst, &self->task))
        call_refuse_for(self->exchange, 503, 1, "too many importance requests are waiting; try again");
}
