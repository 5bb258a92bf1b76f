#include "session.h"

#include <inttypes.h>

#include "interrupt.h"

session session_start(const command *self)
{
    interrupt_catch();
    return (session){.self = self, .line = progress_start()};
}

void session_end(session *here)
{
    progress_clear(&here->line);
}

static bool on_wanted(void *context)
{
    (void)context;
    return !interrupt_came();
}

static void on_standing(void *context, const run_standing *now)
{
    progress_draw(&((session *)context)->line, now);
}

static bool on_ended(void *context, const run_report *report)
{
    session *here = context;
    if (report->result->status) {
        progress_clear(&here->line);
        const run_job *job = report->job;
        const char *options = job->options ? job->options : "";
        command_failed(here->self, "%s, %s%s%s, seed %" PRIu64 ": %s", dataset_name(job->data), job->policy,
                       options[0] ? " " : "", options, job->seed, report->error->message);
    }
    bool more = !here->also.ended || here->also.ended(here->also.context, report);
    return more && !interrupt_came();
}

run_watch session_watch(session *here)
{
    return (run_watch){on_wanted, on_standing, on_ended, here};
}
