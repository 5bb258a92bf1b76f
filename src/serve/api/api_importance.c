/* importance: computed in a separate thread, and cached for a while. */
#include <pthread.h>

#include "call.h"
#include "handlers.h"
#include "importance_cache.h"
#include "serve/model/importance.h"
#include "serve/system/server_clock.h"

enum { SECOND = 1000000, DAY = 86400 };

/* In the analyst's thread. Those that asked meanwhile find what the first had measured. */
static ee_status measure(call *self)
{
    service *owner = self->owner;
    text *answer = &self->exchange->answer, made = text_start(NULL);
    importance found;
    worker_go_last();
    if (!importance_cache_find(owner->importances, served_bandit_number(self->bandit), answer)) {
        importance_request request = {.from = journal_wall_time(owner->journal) - (int64_t)DAY * SECOND,
                                      .until = INT64_MAX,
                                      .cancel = &owner->draining};
        ee_status status = importance_measure(owner->store, self->bandit, &request, &found, &self->error);
        if (status) return status;
        importance_answer(&made, &found);
        importance_free(&found);
        text_bytes(answer, made.bytes ? made.bytes : "", made.length);
        if (made.status && !answer->status) answer->status = made.status;
        if (!made.status) importance_cache_keep(owner->importances, served_bandit_number(self->bandit), &made);
        memory_free(made.bytes);
    }
    return call_answer(self, 200);
}

ee_status api_importance(call *self)
{
    service *of = self->owner;
    if (served_bandit_is_archived(self->bandit)) return call_refuse_archived(self);
    if (importance_cache_find(of->importances, served_bandit_number(self->bandit), &self->exchange->answer))
        return call_answer(self, 200);
    return call_work(self, of->analyst, measure);
}
