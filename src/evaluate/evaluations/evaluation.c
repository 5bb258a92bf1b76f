#include "evaluation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/files/line_file.h"
#include "data/values/seconds.h"
#include "evaluate/candidates/candidate.h"
#include "evaluation_file.h"
#include "evaluation_pass.h"
#include "log_survey.h"

/* ---- an evaluation ---- */

typedef struct evaluation {
    const evaluation_request *request;
    const evaluation_watch *watch;
    evaluation_result *results;
    evaluation_frame frame;
    char *sized_features; /* options with the room that the log needs; NULL: as requested */
    log_reader *log;      /* open, for the first pass */
    bool repeats;         /* it can be read again */
    size_t dim;
    uint64_t fingerprint;
    uint64_t total_events; /* of the log, if it was surveyed; else 0 */
    bool stopped;
    bool *ended; /* (candidate_count) finished or failed */
    size_t next; /* the first candidate not yet reported */
    line_file folder;
    double start, reported; /* seconds */
    ee_error *error;
} evaluation;

/* ---- the log, before it is played ---- */

static bool any_needs_arms(const evaluation *self)
{
    bool any = false, needs;
    for (size_t i = 0; i < self->request->candidate_count && !any; i++)
        any = !self->ended[i] && !evaluation_needs_arms(self->request, i, &needs, NULL) && needs;
    return any;
}

static ee_status open_log(evaluation *self)
{
    const evaluation_request *request = self->request;
    self->frame.reading = request->reading;
    self->frame.reading.bare = !any_needs_arms(self);
    ee_status status = log_open(request->log, &self->frame.reading, &self->log, self->error);
    if (status) return status;
    self->repeats = log_can_repeat(self->log);
    self->dim = log_dim(self->log);
    self->fingerprint = log_fingerprint(self->log);
    if (self->repeats) return EE_OK;
    if (request->mode == EVALUATION_CROSS)
        return status_fail(
            self->error, EE_BAD_OPTION,
            "cross-fitting reads the log twice, but this log can be read only once; write it to a file first");
    if (request->mode == EVALUATION_SPLIT && request->split < 1.0)
        return status_fail(self->error, EE_BAD_OPTION,
                           "the length of this log is unknown, because it can be read only once; give the number of "
                           "events to learn from, such as split=10000");
    return EE_OK;
}

/* Without values beyond 0 and 1, the range is 0 to 1, as for rewards. */
static void widen(evaluation_metric *one)
{
    if (!(one->low >= 0.0 && one->high <= 1.0)) return;
    one->low = 0.0;
    one->high = 1.0;
}

/* The metrics to be estimated, with their ranges, as far as they are known without reading the log. */
static void frame_request(const evaluation_request *request, evaluation_frame *frame)
{
    frame->metric_count = request->metric_count;
    frame->all_metrics = request->metrics_given;
    memcpy(frame->metrics, request->metrics, sizeof frame->metrics);
}

/* The same after a survey: all of the log, or the requested ones. */
static ee_status frame_metrics(const evaluation_request *request, const log_survey *found, evaluation_frame *frame,
                               ee_error *error)
{
    size_t most = found->metric_count < EVALUATION_METRICS ? found->metric_count : EVALUATION_METRICS;
    frame->all_metrics = true;
    if (!request->metrics_given) {
        frame->metric_count = most;
        frame->metrics_left = found->metric_count - most;
        memcpy(frame->metrics, found->metrics, most * sizeof *found->metrics);
        for (size_t i = 0; i < most; i++) widen(&frame->metrics[i]);
    }
    for (size_t i = 0; i < request->metric_count; i++) {
        evaluation_metric *one = &frame->metrics[i];
        size_t place = 0;
        while (place < found->metric_count && strcmp(found->metrics[place].name, one->name) != 0) place++;
        if (place == found->metric_count)
            return status_fail(error, EE_BAD_INPUT, "no evaluated event has the metric '%s'", one->name);
        if (!isnan(one->low)) continue;
        one->low = found->metrics[place].low;
        one->high = found->metrics[place].high;
        widen(one);
    }
    return EE_OK;
}

/* Fills the frame. Reads the log once more if something needs the whole log and it can be read again. again: a reward
 * was outside the assumed range. */
static ee_status frame_log(evaluation *self, bool again)
{
    const evaluation_request *request = self->request;
    evaluation_frame *frame = &self->frame;
    bool given = !isnan(request->reward_low), share = request->mode == EVALUATION_SPLIT && request->split < 1.0;
    const char *features = evaluation_features(request);
    bool sizes =
        !self->sized_features && !self->dim && self->repeats && log_survey_can_size(features) && any_needs_arms(self);
    if (!again)
        *frame = (evaluation_frame){.request = request,
                                    .reading = frame->reading,
                                    .features = features,
                                    .fixed_names = !log_survey_can_size(features),
                                    .learned_events = share ? 0 : (uint64_t)request->split,
                                    .reward_low = given ? request->reward_low : 0.0,
                                    .reward_high = given ? request->reward_high : 1.0,
                                    .assumed_range = !given};
    if (!again) frame_request(request, frame);
    if (!again && !share && !sizes) return EE_OK;
    log_survey found;
    bool finished;
    ee_status status = log_survey_take(request, sizes ? features : NULL, self->watch, &found, &finished, self->error);
    if (!status && sizes)
        status = log_survey_features(features, found.names, false, &self->sized_features, self->error);
    if (status) return status;
    if (!finished) self->stopped = true;
    status = self->stopped ? EE_OK : frame_metrics(request, &found, frame, self->error);
    if (status) return status;
    self->total_events = found.events;
    if (sizes) frame->features = self->sized_features;
    if (share) frame->learned_events = (uint64_t)(request->split * (double)found.events);
    if (given || !found.events || (found.reward_low >= 0.0 && found.reward_high <= 1.0)) return EE_OK;
    frame->reward_low = found.reward_low;
    frame->reward_high = found.reward_high;
    frame->assumed_range = false;
    frame->seen_range = true;
    return EE_OK;
}

/* ---- what ends ---- */

static ee_status keep(evaluation *self, const evaluation_result *result)
{
    char *line = NULL;
    size_t length = 0;
    ee_status status = evaluations_format(self->request, result, NULL, &line, &length, self->error);
    if (!status) status = line_file_append(&self->folder, line, length, self->error);
    memory_free(line);
    return status;
}

/* Stores and reports finished candidates in their order. */
static ee_status advance(evaluation *self)
{
    ee_status status = EE_OK;
    for (; self->next < self->request->candidate_count && self->ended[self->next]; self->next++) {
        const evaluation_result *result = &self->results[self->next];
        bool new = result->finished && !result->read;
        if (new && self->request->folder && !status) status = keep(self, result);
        if (self->watch && self->watch->ended) self->watch->ended(self->watch->context, self->next, result);
    }
    return status;
}

/* ---- the pass ---- */

static bool on_event(void *context)
{
    return evaluation_is_wanted(((const evaluation *)context)->watch);
}

static bool on_standing(void *context, const evaluation_standing *now)
{
    const double interval_seconds = 0.1; /* smooth to the eye */
    evaluation *self = context;
    double seconds = seconds_now();
    if (!evaluation_is_wanted(self->watch)) return false;
    if (!self->watch || !self->watch->standing || seconds - self->reported < interval_seconds || !now->events)
        return true;
    self->reported = seconds;
    evaluation_standing shown = *now;
    shown.seconds = seconds - self->start;
    shown.total_events = self->total_events;
    self->watch->standing(self->watch->context, &shown);
    return true;
}

/* Plays all candidates without a result. *end: see evaluation_pass. */
static ee_status play_missing(evaluation *self, pass_end *end)
{
    const evaluation_request *request = self->request;
    pass_watch watch = {on_event, on_standing, self};
    size_t *places, count = 0;
    *end = PASS_FINISHED;
    ee_status status = memory_create(NULL, &places, request->candidate_count, sizeof *places, self->error);
    for (size_t i = 0; i < request->candidate_count && !status; i++)
        if (!self->ended[i]) places[count++] = i;
    log_reader *opened = self->log;
    if (!status && count) {
        self->log = NULL;
        status = evaluation_pass(&self->frame, opened, places, count, &watch, self->results, end, self->error);
    }
    for (size_t i = 0; i < count && !status; i++) {
        const evaluation_result *result = &self->results[places[i]];
        if (result->finished || result->failure.status) self->ended[places[i]] = true;
    }
    memory_free(places);
    return status;
}

/* Discards the results of a pass that must be repeated. */
static void forget(evaluation *self)
{
    for (size_t i = 0; i < self->request->candidate_count; i++) {
        if (self->ended[i]) continue;
        char *options = self->results[i].options;
        self->results[i].options = NULL;
        evaluation_release(&self->results[i], 1);
        self->results[i] = (evaluation_result){.options = options};
    }
}

static ee_status play(evaluation *self)
{
    pass_end end = PASS_OTHER_RANGE;
    ee_status status = frame_log(self, false);
    for (int turn = 0; turn < 2 && !status && !self->stopped && end != PASS_FINISHED; turn++) {
        status = play_missing(self, &end);
        if (status || (end != PASS_OTHER_RANGE && end != PASS_NEW_METRIC)) break;
        if (!self->repeats && end == PASS_NEW_METRIC)
            return status_fail(self->error, EE_BAD_INPUT,
                               "the log has metrics, and it can be read only once; give their ranges, such as "
                               "--metrics refund=0:1, or --metrics none");
        if (!self->repeats)
            return status_fail(
                self->error, EE_BAD_INPUT,
                "a reward is outside [0, 1], and this log can be read only once; give the range, such as "
                "--rewards -1:1");
        forget(self);
        status = frame_log(self, true);
    }
    return status ? status : advance(self);
}

/* ---- what is there already ---- */

static bool is_same(const evaluation *self, const stored_evaluation *row, const char *asked, size_t place)
{
    const candidate_request *wanted = &self->request->candidates[place];
    const evaluation_result *stored = &row->result;
    const char *options = self->results[place].options;
    return stored->log.fingerprint == self->fingerprint && strcmp(row->asked, asked) == 0 &&
           stored->headline_estimator == evaluation_headline_estimator(self->request) &&
           strcmp(stored->candidate, wanted->text) == 0 && stored->seed == wanted->seed && options &&
           strcmp(stored->options, options) == 0;
}

/* Moves a result out of the list. */
static void take_stored(evaluation *self, size_t place, stored_evaluation *row)
{
    memory_free(self->results[place].options);
    self->results[place] = row->result;
    self->results[place].facts.candidate = self->results[place].candidate;
    row->result.options = NULL;
    row->result.marks = NULL;
    row->result.slots = NULL;
    row->result.metrics = NULL;
    self->ended[place] = true;
}

static ee_status look_up(evaluation *self)
{
    const evaluation_request *request = self->request;
    stored_evaluations stored = {0};
    char *asked = NULL;
    ee_status status = evaluations_asked(request, &asked, self->error);
    if (!status) status = evaluations_read(request->folder, &stored, self->error);
    for (size_t i = 0; i < request->candidate_count && !status; i++)
        for (size_t k = 0; k < stored.count && !self->ended[i]; k++)
            if (is_same(self, &stored.rows[k], asked, i)) take_stored(self, i, &stored.rows[k]);
    evaluations_release(&stored);
    memory_free(asked);
    return status;
}

/* Describes each candidate; one that cannot be created has failed. The description does not depend on the room for
 * names, so a little suffices. */
static ee_status describe_candidates(evaluation *self)
{
    const evaluation_request *request = self->request;
    for (size_t i = 0; i < request->candidate_count; i++) {
        const candidate_request *asked = &request->candidates[i];
        evaluation_result *result = &self->results[i];
        candidate_setup setup = {asked->text, asked->options, asked->seed, self->dim, "names=2 hashes=0", true};
        snprintf(result->candidate, sizeof result->candidate, "%s", asked->text);
        ee_status status = candidate_describe(&setup, &result->options, &result->failure);
        if (status == EE_NO_MEMORY) return status;
        self->ended[i] = status != EE_OK;
    }
    return EE_OK;
}

ee_status evaluation_run(const evaluation_request *request, const evaluation_watch *watch, evaluation_result *results,
                         ee_error *error)
{
    memset(results, 0, request->candidate_count * sizeof *results);
    evaluation self = {.request = request,
                       .watch = watch,
                       .results = results,
                       .folder = {NULL, -1, -1},
                       .start = seconds_now(),
                       .error = error};
    ee_status status = memory_create(NULL, &self.ended, request->candidate_count, sizeof *self.ended, error);
    if (!status) status = open_log(&self);
    if (!status) status = describe_candidates(&self);
    if (!status && request->folder) status = line_file_open(request->folder, evaluations_name, &self.folder, error);
    if (!status && request->folder && self.repeats) status = look_up(&self);
    if (!status) status = advance(&self);
    if (!status) status = play(&self);
    if (self.log) log_close(self.log);
    line_file_close(&self.folder);
    memory_free(self.sized_features);
    memory_free(self.ended);
    return status;
}

/* ---- the winner ---- */

size_t evaluation_best(const evaluation_request *request, const evaluation_result *results, bool saved_only)
{
    size_t best = request->candidate_count, by = evaluation_headline_estimator(request);
    if (by == request->estimator_count) return best;
    for (size_t i = 0; i < request->candidate_count; i++) {
        const candidate_class *class;
        double value = results[i].estimates[by].value;
        if (!results[i].finished || !results[i].diagnosis.trusted || isnan(value)) continue;
        if (candidate_find(request->candidates[i].text, &class, NULL) || (saved_only && !class->save)) continue;
        if (best == request->candidate_count || value > results[best].estimates[by].value) best = i;
    }
    return best;
}
