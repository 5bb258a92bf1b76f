#define _POSIX_C_SOURCE 200809L
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "interrupt.h"
#include "ranks/ranks.h"

/* Seconds that the rounds at hand have to end in after Ctrl-C. mpirun gives its ranks one second in all. */
static const double patience = 1.0, patience_of_ranks = 0.5;

static const char *name_dataset(const void *context, const dataset *data)
{
    return run_request_label(context, data);
}

session session_start(const command *self, const run_request *request)
{
    interrupt_catch(self->name);
    if (ranks_count() > 1) interrupt_catch_termination();
    return (session){
        .self = self, .request = request, .line = progress_start(self->name, request->quiet, name_dataset, request)};
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

/* Unfinished runs are lost in any case. Nothing is being written now, since runs are kept in this thread. Worker
 * threads cannot be ended, so the program ends. */
static void leave(session *here)
{
    here->leave(here->leave_context);
    fflush(NULL);
    ranks_abort(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

static void on_standing(void *context, const run_standing *now)
{
    session *here = context;
    if (!interrupt_came()) {
        progress_draw(&here->line, now);
        return;
    }
    progress_clear(&here->line);
    if (!(here->stopping > 0.0)) here->stopping = now->seconds;
    double enough = ranks_count() > 1 ? patience_of_ranks : patience;
    if (here->leave && now->seconds - here->stopping > enough) leave(here);
}

static bool on_ended(void *context, const run_report *report)
{
    session *here = context;
    here->played += report->result->finished && report->curve; /* a run that was read comes without */
    if (report->result->status) {
        progress_clear(&here->line);
        const run_job *job = report->job;
        const char *options = job->options ? job->options : "";
        command_failed(here->self, "%s, %s%s%s, seed %" PRIu64 ": %s", run_request_label(here->request, job->data),
                       job->policy, options[0] ? " " : "", options, job->seed, report->error->message);
    }
    bool more = !here->also.ended || here->also.ended(here->also.context, report);
    return more && !interrupt_came();
}

static void on_noted(void *context, const char *sentence)
{
    session *here = context;
    if (here->request->quiet) return;
    progress_clear(&here->line);
    fprintf(stderr, "eenet %s: %s\n", here->self->name, sentence);
}

run_watch session_watch(session *here)
{
    return (run_watch){on_wanted, on_standing, on_ended, here, on_noted};
}
