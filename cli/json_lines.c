#include "json_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/results/results.h"

static void complain(json_lines *out, const char *message)
{
    command_failed(out->here->self, "%s", message);
    out->unheard = true;
}

/* Prints the lines whose turn has come; all remaining ones if the runs are over. */
static void print_lines(json_lines *out, bool over)
{
    for (; out->next < out->request->job_count && (over || out->ended[out->next]); out->next++) {
        const char *line = out->lines[out->next];
        if (!line || out->unheard) continue;
        progress_clear(&out->here->line);
        if (fputs(line, stdout) >= 0 && fflush(stdout) == 0) continue;
        char message[200];
        snprintf(message, sizeof message, "could not write to standard output: %s", strerror(errno));
        complain(out, message);
        clearerr(stdout); /* it has been reported */
    }
}

static bool take_line(void *context, const run_report *report)
{
    json_lines *out = context;
    size_t place = (size_t)(report->job - out->request->jobs);
    stored_run run = results_of_report(report);
    size_t length = results_format(&run, NULL, 0);
    ee_error error;
    out->ended[place] = true;
    if (report->result->finished && memory_create(NULL, &out->lines[place], length + 1, 1, &error))
        complain(out, error.message);
    else if (report->result->finished)
        results_format(&run, out->lines[place], length + 1);
    print_lines(out, false);
    return !out->unheard;
}

ee_status json_lines_start(json_lines *out, session *here, const run_request *request, ee_error *error)
{
    *out = (json_lines){.here = here, .request = request};
    here->also = (run_watch){.ended = take_line, .context = out};
    ee_status status = memory_create(NULL, &out->lines, request->job_count, sizeof *out->lines, error);
    return status ? status : memory_create(NULL, &out->ended, request->job_count, sizeof *out->ended, error);
}

void json_lines_print_rest(json_lines *out)
{
    if (out->lines && out->ended) print_lines(out, true);
}

void json_lines_end(json_lines *out)
{
    json_lines_print_rest(out);
    for (size_t i = 0; out->lines && i < out->request->job_count; i++) memory_free(out->lines[i]);
    memory_free(out->lines);
    memory_free(out->ended);
}
