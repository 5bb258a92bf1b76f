#define _POSIX_C_SOURCE 200809L
#include "scrubbing.h"

#include <time.h>

enum { PORTION = 1024, PAUSE = 50 }; /* pages of 8 KiB; milliseconds to wait for a backup */

typedef struct scrubbing {
    uint64_t page;
    bool more;
} scrubbing;

static ee_status scrub_portion(void *context, store *into, ee_error *error)
{
    scrubbing *self = context;
    return store_scrub(into, &self->page, PORTION, &self->more, error);
}

ee_status service_scrub(service *of, ee_error *error)
{
    scrubbing all = {.more = true};
    ee_status status = EE_OK;
    while (all.more && !status) {
        uint64_t before = all.page;
        if (atomic_load(&of->ending))
            return status_fail(error, EE_FILE_ERROR,
                               "the server is stopping; removing data continues at the next start");
        status = journal_run(of->journal, scrub_portion, &all, error);
        bool waits = !status && all.more && all.page == before;
        if (waits) nanosleep(&(struct timespec){.tv_nsec = PAUSE * 1000000L}, NULL);
    }
    return status;
}
