#include "evaluation_warm.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/values/seconds.h"
#include "evaluate/candidates/slot_views.h"
#include "log_survey.h"

ee_status evaluation_check_warm(const evaluation_request *request, const char *path, ee_error *error)
{
    file_draft draft;
    if (log_is_pipe(request->log))
        return status_fail(
            error, EE_BAD_OPTION,
            "training the winner reads the log again, but this log can be read only once; write it to a file first");
    ee_status status = file_draft_open(path, &draft, error);
    return status ? status : file_draft_end(&draft, false, error);
}

/* Room for the names of the log, and for those of other logs. */
static ee_status spare_features(const evaluation_request *request, size_t dim, bool repeats,
                                const evaluation_watch *watch, char **out, uint64_t *total, bool *finished,
                                ee_error *error)
{
    log_survey found;
    const char *asked = evaluation_features(request);
    *finished = true;
    if (dim || !repeats || !log_survey_can_size(asked)) return EE_OK;
    ee_status status = log_survey_take(request, asked, watch, &found, finished, error);
    *total = status ? 0 : found.events;
    return status ? status : log_survey_features(asked, found.names, true, out, error);
}

/* Learns an event, or all its slots that have a reward. */
static ee_status train_on(candidate *learner, const candidate_round *round, bool first_slot, slot_views *views,
                          ee_error *error)
{
    if (first_slot || !slot_views_apply(round->event)) return learner->class->play(learner, round, true, NULL, error);
    ee_status status = slot_views_make(views, round, round->features != NULL, error);
    for (size_t k = 0; k < views->count && !status; k++)
        if (!views->views[k].skipped) status = learner->class->play(learner, &views->views[k].round, true, NULL, error);
    return status;
}

/* Reports the progress of training. */
static void report_training(const log_reader *log, const evaluation_watch *watch, double start, double *reported,
                            uint64_t total)
{
    const double interval_seconds = 0.1; /* smooth to the eye */
    double now = seconds_now();
    const log_counts *read = log_read(log);
    if (!watch || !watch->standing || now - *reported < interval_seconds) return;
    *reported = now;
    evaluation_standing shown = {read->events, read->bytes, read->total_bytes, now - start, total};
    watch->standing(watch->context, &shown);
}

/* Learns all events of the log; total: how many there are, 0: unknown. */
static ee_status train(log_reader *log, candidate *learner, ee_round *features, bool first_slot, uint64_t total,
                       const evaluation_watch *watch, bool *finished, ee_error *error)
{
    enum { EVENTS = 64 }; /* between looks at the clock */
    double start = seconds_now(), reported = 0.0;
    log_event event;
    bool found;
    ee_status status;
    uint64_t number = 0;
    slot_views views = {0};
    while (!(status = log_next(log, &event, &found, error)) && found && *finished) {
        *finished = evaluation_is_wanted(watch);
        if (event.skipped || !log_event_is_randomised(&event)) continue;
        if (number && number % EVENTS == 0) report_training(log, watch, start, &reported, total);
        candidate_round round = {.event = &event, .number = number, .features = features};
        bool usable;
        number++;
        status = candidate_read_features(features, &event, &usable, error);
        if (!status && usable) status = train_on(learner, &round, first_slot, &views, error);
        if (status) break;
    }
    slot_views_release(&views);
    return status;
}

ee_status evaluation_warm(const evaluation_request *request, size_t place, const evaluation_watch *watch,
                          const char *path, bool *finished, ee_error *error)
{
    const candidate_request *asked = &request->candidates[place];
    const candidate_class *class;
    candidate *learner = NULL;
    log_reader *log = NULL;
    ee_round *features = NULL;
    char *spare = NULL;
    uint64_t total = 0;
    ee_status status = candidate_find(asked->text, &class, error);
    if (!status && !class->save)
        status =
            status_fail(error, EE_BAD_OPTION, "'%.80s' cannot be trained and saved; expected a policy", asked->text);
    if (!status) status = log_open(request->log, &request->reading, &log, error);
    if (status) return status;
    size_t dim = log_dim(log);
    status = spare_features(request, dim, log_can_repeat(log), watch, &spare, &total, finished, error);
    candidate_setup setup = {asked->text,
                             asked->options,
                             asked->seed,
                             dim,
                             spare ? spare : evaluation_features(request),
                             !log_survey_can_size(evaluation_features(request))};
    if (!status) status = class->create(class, &setup, &learner, error);
    if (!status && !dim) status = ee_round_create(NULL, &features, error);
    if (!status && *finished)
        status = train(log, learner, features, request->first_slot, total, watch, finished, error);
    if (!status && *finished) status = class->save(learner, path, error);
    if (learner) class->free(learner);
    ee_round_free(features);
    memory_free(spare);
    log_close(log);
    return status;
}
