#include "trained_model.h"

#include <inttypes.h>

#include "base/memory.h"
#include "data/values/text.h"
#include "hint.h"
#include "session.h"
#if !defined(EENET_WITHOUT_SERVER)
#include "line_bandit.h"
#endif

int trained_model_open(const command *self, const run_request *request, const char *path, trained_model *out)
{
    ee_error error;
    *out = (trained_model){.path = path, .request = request};
    if (!path) return EXIT_DONE;
    if (!path[0]) return command_misused(self, "--save: expected a file, got ''");
    if (request->dataset_texts.count > 1)
        return command_misused(self, "--save saves one bandit: expected one data set, got %zu",
                               request->dataset_texts.count);
    if (model_rows_check(dataset_row_encoding(request->datasets[0]), &error)) return command_refused(self, &error);
    return model_lock_take(path, &out->lock, &error) ? command_refused(self, &error) : EXIT_DONE;
}

void trained_model_release(trained_model *self)
{
    model_lock_release(&self->lock);
}

typedef struct trainer {
    const command *self;
    trained_model *model;
} trainer;

static void tell_interrupted(const trainer *of)
{
    fprintf(stderr, "eenet %s: interrupted; %s was not saved\n", of->self->name, of->model->path);
}

static void leave(void *context)
{
    const trainer *of = context;
    tell_interrupted(of);
    trained_model_release(of->model);
}

static int train(const command *self, trained_model *model, const run_job *job)
{
    trainer of = {self, model};
    session here = session_start(self, model->request);
    here.leave = leave;
    here.leave_context = &of;
    run_watch watch = session_watch(&here);
    run_result result = {0};
    ee_error error;
    ee_status status = training_save(job, model->path, &watch, &result, &error);
    session_end(&here);
    if (!status && result.finished) status = model_rows_write(model->path, dataset_row_encoding(job->data), &error);
    if (status) return command_failed(self, "%s", error.message);
    if (result.finished) return EXIT_DONE;
    tell_interrupted(&of);
    return EXIT_INTERRUPTED;
}

#if defined(EENET_WITHOUT_SERVER) /* 'eenet decide' is not in this program: only checks that the file can be read */
static ee_status read_example(const char *path, text *example, ee_error *error)
{
    ee_bandit *bandit = NULL;
    (void)example;
    ee_status status = ee_bandit_load(path, NULL, &bandit, error);
    ee_bandit_free(bandit);
    return status;
}

static void print_example(const char *path, const char *example, FILE *stream)
{
    (void)path;
    (void)example;
    (void)stream;
}
#else
/* An example round, made from the saved file: this also checks that the file can be read. */
static ee_status read_example(const char *path, text *example, ee_error *error)
{
    ee_bandit *bandit = NULL;
    row_encoding *rows = NULL;
    line_bandit reader = {0};
    ee_status status = ee_bandit_load(path, NULL, &bandit, error);
    if (!status) status = model_rows_read(path, bandit, &rows, error);
    if (!status) status = line_bandit_start(bandit, rows, &reader, error);
    if (!status) line_bandit_example(&reader, LONG_EXAMPLE, example);
    line_bandit_release(&reader);
    row_encoding_free(rows);
    ee_bandit_free(bandit);
    return status ? status : example->status;
}

static void print_example(const char *path, const char *example, FILE *stream)
{
    fprintf(stream, "To decide with it: eenet decide");
    hint_path(stream, path);
    fprintf(stream, "\nIt reads lines such as\n%s\n", example);
}
#endif

static void print_saved(const trained_model *model, const run_job *job, bool is_best, const char *example, FILE *stream)
{
    const char *options = job->options && job->options[0] ? job->options : "default options";
    fprintf(stream, "\nSaved %s: %s%s, %s, after %" PRIu64 " rounds of seed %" PRIu64 ".\n", model->path, job->policy,
            is_best ? " (lowest regret)" : "", options, job->rounds, job->seed);
    if (dataset_row_encoding(job->data))
        fprintf(stream, "%s.rows.json describes how a row becomes arms.\n", model->path);
    if (!model->request->quiet) print_example(model->path, example, stream);
}

int trained_model_save(const command *self, trained_model *model, const training_candidate *candidates, size_t count,
                       size_t seeds, FILE *stream)
{
    size_t best;
    ee_error error;
    text example = text_start(&error);
    if (training_best(candidates, count, seeds, &best, &error)) return command_refused(self, &error);
    if (best == count) return command_failed(self, "no policy finished all its runs, so no model was saved");
    run_job job = candidates[best].job;
    job.log = NULL; /* it has been written */
    int code = train(self, model, &job);
    if (!code && read_example(model->path, &example, &error)) code = command_failed(self, "%s", error.message);
    if (!code) print_saved(model, &job, count > 1, example.bytes, stream);
    memory_free(example.bytes);
    return code;
}
