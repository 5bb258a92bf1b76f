#include "trained_model.h"

#include <inttypes.h>

#include "hint.h"
#include "session.h"

int trained_model_open(const command *self, const run_request *request, const char *path, trained_model *out)
{
    ee_error error;
    *out = (trained_model){.path = path, .request = request};
    if (!path) return EXIT_DONE;
    if (!path[0]) return command_misused(self, "--save must be a file, got ''");
    if (request->dataset_texts.count > 1)
        return command_misused(self, "--save keeps one bandit: expected one data set, got %zu",
                               request->dataset_texts.count);
    return model_lock_take(path, &out->lock, &error) ? command_refused(self, &error) : EXIT_DONE;
}

void trained_model_release(trained_model *self)
{
    model_lock_release(&self->lock);
}

static int train(const command *self, const trained_model *model, const run_job *job)
{
    session here = session_start(self, model->request);
    run_watch watch = session_watch(&here);
    run_result result = {0};
    ee_error error;
    ee_status status = training_save(job, model->path, &watch, &result, &error);
    session_end(&here);
    if (status) return command_failed(self, "%s", error.message);
    if (result.finished) return EXIT_DONE;
    fprintf(stderr, "eenet %s: interrupted; %s was not saved\n", self->name, model->path);
    return EXIT_INTERRUPTED;
}

int trained_model_save(const command *self, const trained_model *model, const training_candidate *candidates,
                       size_t count, size_t seeds, FILE *stream)
{
    size_t best;
    ee_error error;
    if (training_best(candidates, count, seeds, &best, &error)) return command_refused(self, &error);
    if (best == count) return command_failed(self, "no policy has finished all its runs: nothing was saved");
    run_job job = candidates[best].job;
    job.log = NULL; /* it has been written */
    int code = train(self, model, &job);
    if (code) return code;
    const char *options = job.options && job.options[0] ? job.options : "its defaults";
    fprintf(stream, "\nSaved %s: %s%s, with %s, after %" PRIu64 " rounds of seed %" PRIu64 ".\n", model->path,
            job.policy, count > 1 ? ", which has the least regret" : "", options, job.rounds, job.seed);
    fprintf(stream, "To decide with it: eenet decide");
    hint_path(stream, model->path);
    fprintf(stream, "\n");
    return EXIT_DONE;
}
