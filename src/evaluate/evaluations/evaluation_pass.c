#include "evaluation_pass.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "evaluation_pipeline.h"

typedef struct pass pass;

/* What an event is for, by the mode and its number. */
typedef event_use choose_use(const pass *self, const log_event *event);

struct pass {
    const evaluation_frame *frame;
    const evaluation_request *request;
    const pass_watch *watch;
    evaluation_play play;
    log_checks *checks;
    log_reader *log;
    ee_round *features; /* NULL: not needed, or the log has vectors */
    uint64_t number;    /* shown events so far */
    log_left_out left_out;
    uint64_t learned, unread; /* events used only for learning; events without readable features */
    size_t first_unread_line;
    ee_error first_unread;
    uint64_t fingerprint;
    choose_use *use_of;
    pass_end end;
    log_event event;  /* the last one that was read */
    batch_event held; /* the same, prepared; it may wait for the next batch */
    bool holds;
    bool freezes;            /* before the next event that is played */
    double seconds;          /* processor time of all threads */
    atomic_size_t finishing; /* the next candidate to finish */
};

/* ---- setting up ---- */

ee_status evaluation_needs_arms(const evaluation_request *request, size_t place, bool *needs, ee_error *error)
{
    const candidate_class *class;
    ee_status status = candidate_find(request->candidates[place].text, &class, error);
    *needs = !status && (class->arms || tally_needs_model(request) || tally_needs_own_model(request));
    return status;
}

static ee_status open_log(pass *self, ee_error *error)
{
    log_close(self->log);
    self->log = NULL;
    self->number = self->unread = 0;
    self->left_out = (log_left_out){0};
    return log_open(self->request->log, &self->frame->reading, &self->log, error);
}

static ee_status open_pass(pass *self, const size_t *places, size_t count, evaluation_result *results, ee_error *error)
{
    ee_status status = self->log ? EE_OK : open_log(self, error);
    if (status) return status;
    size_t dim = log_dim(self->log);
    self->fingerprint = log_fingerprint(self->log);
    status = evaluation_play_open(&self->play, self->frame, dim, places, count, results, error);
    if (!status) status = log_checks_create(&self->checks, error);
    self->play.about.checks = self->checks;
    if (!status && self->play.needs_arms && !dim) status = ee_round_create(NULL, &self->features, error);
    return status;
}

static void close_pass(pass *self)
{
    evaluation_play_close(&self->play);
    memory_free(self->checks);
    ee_round_free(self->features);
    log_close(self->log);
}

/* ---- the log ---- */

/* Bounds rely on the given least probability: a smaller one is an error. */
static ee_status check_least(const pass *self, const log_event *event, ee_error *error)
{
    double least = self->request->least_probability, found = self->play.about.least_probability;
    const double near = 1e-6; /* rounding of float32 */
    if (isnan(least) || found >= least * (1.0 - near)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "line %zu: probability %g is below --least-probability %g", event->line,
                       found, least);
}

static bool is_within(const evaluation_frame *frame, double reward)
{
    return reward >= frame->reward_low && reward <= frame->reward_high;
}

/* A reward outside a given range is an error; one outside the assumed range changes the range. */
static ee_status check_reward(pass *self, const log_event *event, ee_error *error)
{
    const evaluation_frame *frame = self->frame;
    double reward = event->reward;
    for (size_t i = 0; i < event->slot_count && !event->slate && is_within(frame, reward); i++)
        reward = event->slots[i].reward;
    if (is_within(frame, reward)) return EE_OK;
    self->end = PASS_OTHER_RANGE;
    if (frame->assumed_range) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "line %zu: reward %g is outside [%g, %g]; set the possible range with --rewards LOW:HIGH",
                       event->line, reward, frame->reward_low, frame->reward_high);
}

/* The metrics to be estimated and their ranges must be known. */
static ee_status check_metrics(pass *self, const log_event *event, ee_error *error)
{
    const evaluation_frame *frame = self->frame;
    for (size_t i = 0; i < event->metric_count && !self->end; i++) {
        const log_metric *found = &event->metrics[i];
        size_t place = 0;
        while (place < frame->metric_count && !json_is(found->name, frame->metrics[place].name)) place++;
        const evaluation_metric *known = &frame->metrics[place];
        bool missing = place == frame->metric_count;
        if (missing ? !frame->all_metrics : isnan(known->low)) self->end = PASS_NEW_METRIC;
        if (missing || self->end || (found->value >= known->low && found->value <= known->high)) continue;
        return status_fail(error, EE_BAD_INPUT, "line %zu: metric '%s' is %g, outside its range [%g, %g]", event->line,
                           known->name, found->value, known->low, known->high);
    }
    return EE_OK;
}

/* ---- what an event is for ---- */

static event_use use_progressively(const pass *self, const log_event *event)
{
    return (event_use){.score = !(event->time < self->request->judged_from), .learn = true};
}

static event_use use_split(const pass *self, const log_event *event)
{
    (void)event;
    bool learn = self->number < self->frame->learned_events;
    return (event_use){.score = !learn, .learn = learn};
}

/* Random: a periodic pattern in the log must not end up in one fold. */
static size_t fold_of(const pass *self)
{
    const uint64_t spread = 0x9e3779b97f4a7c15; /* of neighbouring seeds, so that no two have a shifted draw */
    random_stream stream = random_named(self->request->seed * spread + self->number, "fold");
    return (size_t)random_below(&stream, self->play.folds);
}

static event_use use_to_train(const pass *self, const log_event *event)
{
    (void)event;
    return (event_use){.learn = true, .fold = fold_of(self), .other_folds = true};
}

static event_use use_to_judge(const pass *self, const log_event *event)
{
    (void)event;
    return (event_use){.score = true, .fold = fold_of(self)};
}

/* Reads the features. Unreadable ones are skipped and the first is noted; with --strict they are an error. */
static ee_status read_features(pass *self, const log_event *event, bool *usable, ee_error *error)
{
    ee_error why;
    ee_status status = candidate_read_features(self->features, event, usable, &why);
    if (status && error) *error = why;
    if (status || *usable) return status;
    if (self->request->reading.strict)
        return status_fail(error, EE_BAD_INPUT, "line %zu: %.200s", event->line, why.message);
    if (!self->unread++) {
        self->first_unread_line = event->line;
        self->first_unread = why;
    }
    return EE_OK;
}

/* A shown event. *played: self->held is to be played. */
static ee_status take_event(pass *self, bool *played, ee_error *error)
{
    const log_event *event = &self->event;
    event_use use = self->use_of(self, event);
    bool usable;
    ee_status status = use.score ? check_reward(self, event, error) : EE_OK;
    if (!status && event->metric_count) status = check_metrics(self, event, error);
    *played = false;
    if (status || self->end) return status;
    status = read_features(self, event, &usable, error);
    *played = !status && usable;
    candidate_round round = {.event = event, .number = self->number, .features = self->features};
    self->held = (batch_event){.freezes = self->freezes};
    if (*played) status = evaluation_play_prepare(&self->play, &round, use, &self->held.played, error);
    if (*played && !status && use.score) self->held.mark = evaluation_play_next_mark(&self->play, event->time);
    if (*played) self->freezes = false;
    if (!status) status = check_least(self, event, error);
    if (usable && !use.score) self->learned++;
    self->number++;
    return status;
}

/* The next event of the log that is played. */
static ee_status next_event(pass *self, bool *played, ee_error *error)
{
    bool found;
    *played = false;
    while (!*played) {
        ee_status status = log_next(self->log, &self->event, &found, error);
        if (status || !found) return status;
        if (self->watch && !self->watch->wanted(self->watch->context)) self->end = PASS_STOPPED;
        if (self->end) return EE_OK;
        if (self->event.skipped) continue;
        if (!log_event_is_randomised(&self->event)) {
            log_left_out_add(&self->left_out, &self->event);
            continue;
        }
        bool split = self->request->mode == EVALUATION_SPLIT;
        if (split && self->number == self->frame->learned_events) self->freezes = true;
        status = take_event(self, played, error);
        if (status || self->end) return status;
    }
    return EE_OK;
}

static ee_status fill_batch(void *context, played_batch *batch, size_t most, bool *more, ee_error *error)
{
    pass *self = context;
    ee_status status = EE_OK;
    bool added = true;
    *more = true;
    while (!status && *more && added && batch->count < most) {
        if (!self->holds) status = next_event(self, &self->holds, error);
        *more = self->holds && !self->end;
        if (!status && *more) status = played_batch_add(batch, &self->held, self->play.needs_arms, &added, error);
        if (added) self->holds = false;
    }
    return status;
}

static evaluation_standing standing_of(void *context)
{
    const log_counts *read = log_read(((const pass *)context)->log);
    return (evaluation_standing){.events = read->events, .bytes = read->bytes, .total_bytes = read->total_bytes};
}

static bool report_standing(void *context, const evaluation_standing *now)
{
    const pass_watch *watch = ((const pass *)context)->watch;
    return !watch || watch->standing(watch->context, now);
}

static ee_status play_log(pass *self, choose_use *use_of, ee_error *error)
{
    pipeline_source source = {fill_batch, report_standing, standing_of, self};
    bool stopped;
    self->use_of = use_of;
    self->holds = false;
    ee_status status =
        evaluation_pipeline_run(&self->play, &source, self->request->threads, &stopped, &self->seconds, error);
    if (stopped) self->end = PASS_STOPPED;
    return status;
}

static ee_status freeze_all(pass *self, ee_error *error)
{
    evaluation_play *play = &self->play;
    ee_status status = EE_OK;
    for (size_t i = 0; i < play->model_count && !status; i++) status = evaluation_play_freeze_model(play, i, error);
    for (size_t i = 0; i < play->player_count && !status; i++)
        status = evaluation_play_freeze(play, &play->players[i], error);
    return status;
}

/* Cross-fitting reads the log twice: first all folds learn, then each evaluates its events. */
static ee_status play_folds(pass *self, ee_error *error)
{
    ee_status status = play_log(self, use_to_train, error);
    if (!status && !self->end) status = freeze_all(self, error);
    if (!status && !self->end) status = open_log(self, error);
    self->learned = 0; /* all are evaluated */
    return status || self->end ? status : play_log(self, use_to_judge, error);
}

static ee_status play(pass *self, ee_error *error)
{
    switch (self->request->mode) {
    case EVALUATION_SPLIT:
        return play_log(self, use_split, error);
    case EVALUATION_CROSS:
        return play_folds(self, error);
    default:
        return play_log(self, use_progressively, error);
    }
}

/* ---- the end ---- */

_Static_assert(sizeof((diagnosis *)0)->remarks / sizeof(char *) == LOG_REMARKS, "LOG_REMARKS");

static void describe_log(const pass *self, evaluated_log *out)
{
    const log_counts *read = log_read(self->log);
    log_tally_finish(&self->play.about, self->request, self->play.range, out);
    out->fingerprint = self->fingerprint;
    out->learned = self->learned;
    out->left_out = self->left_out;
    out->metrics_left = self->frame->metrics_left;
    out->skipped = read->skipped;
    out->passed = read->broken + read->foreign + read->invalid + read->repeated + self->unread;
    out->features = self->play.dim == 0;
    log_columns_format(self->log, out->columns);
}

/* The lines that were skipped because something is wrong with them. Rewards without a decision and repeated events are
 * no fault of the log. */
static void describe_lines(const pass *self, diagnosis *facts)
{
    const log_counts *read = log_read(self->log);
    uint64_t bad = read->broken + read->invalid + self->unread;
    bool listed = read->first_bad < read->first_count;
    for (size_t i = 0; i < LOG_REMARKS; i++) facts->remarks[i] = log_remark(self->log, i);
    facts->repeated = read->repeated;
    const log_options *reading = &self->request->reading;
    bool limits = !isnan(reading->from) || !isnan(reading->until) || !isnan(self->request->judged_from);
    facts->timeless = limits && read->events ? (double)read->timeless / (double)read->events : 0.0;
    facts->bad_lines = 0.0;
    if (!bad) return;
    facts->bad_lines = (double)bad / (double)(bad + read->events - self->unread);
    facts->first_bad_line = listed ? read->first_lines[read->first_bad] : self->first_unread_line;
    facts->bad_reason = listed ? read->first_reasons[read->first_bad] : self->first_unread.message;
}

/* A log without events to evaluate is an error that names its first event that candidates cannot use, or its first bad
 * line. */
static ee_status fail_empty(const pass *self, ee_error *error)
{
    const log_counts *read = log_read(self->log);
    bool unread = self->unread || !read->first_count;
    const char *reason = unread ? self->first_unread.message : read->first_reasons[0];
    size_t line = unread ? self->first_unread_line : read->first_lines[0];
    if (!reason[0])
        return status_fail(error, EE_BAD_INPUT, "the log has no events to evaluate%s",
                           self->learned                       ? ": all of them are used for learning"
                           : log_left_out_sum(&self->left_out) ? ": none was randomised"
                           : read->skipped                     ? ": none was shown"
                           : read->outside                     ? ": all are outside the requested time"
                                                               : "");
    return status_fail(error, EE_BAD_INPUT, "the log has no events to evaluate: line %zu: %s", line, reason);
}

/* A metric that was asked for must occur. */
static ee_status check_found(const pass *self, ee_error *error)
{
    for (size_t i = 0; i < self->frame->metric_count; i++)
        if (!self->play.metrics[i].rewards.events)
            return status_fail(error, EE_BAD_INPUT, "no evaluated event has the metric '%s'",
                               self->frame->metrics[i].name);
    return EE_OK;
}

static void finish_player(pass *self, evaluation_player *one)
{
    evaluation_result *result = one->result;
    if (!evaluation_is_playing(one)) return;
    describe_log(self, &result->log);
    describe_lines(self, &result->facts);
    ee_error own;
    if (evaluation_play_finish(&self->play, one, self->number, &own)) result->failure = own;
    memset(result->facts.remarks, 0, sizeof result->facts.remarks); /* they end with the log */
    result->facts.bad_reason = NULL;
    result->finished = evaluation_is_playing(one);
}

/* In a thread. Some intervals resample all rounds. */
static void finish_players(void *context)
{
    pass *self = context;
    size_t next;
    while ((next = atomic_fetch_add(&self->finishing, 1)) < self->play.player_count)
        finish_player(self, &self->play.players[next]);
}

static void finish_pass(pass *self)
{
    size_t threads = self->request->threads, count = self->play.player_count;
    evaluation_play_end_marks(&self->play);
    pipeline_in_threads(threads < count ? threads : count, finish_players, self, &self->seconds);
    for (size_t i = 0; i < count; i++) self->play.players[i].result->seconds = self->seconds;
}

ee_status evaluation_pass(const evaluation_frame *frame, log_reader *opened, const size_t *places, size_t count,
                          const pass_watch *watch, evaluation_result *results, pass_end *end, ee_error *error)
{
    pass self = {.frame = frame, .request = frame->request, .watch = watch, .log = opened};
    ee_status status = open_pass(&self, places, count, results, error);
    if (!status) status = play(&self, error);
    if (!status && self.end == PASS_FINISHED && !self.play.about.rewards.events) status = fail_empty(&self, error);
    if (!status && self.end == PASS_FINISHED) status = check_found(&self, error);
    if (!status && self.end == PASS_FINISHED) finish_pass(&self);
    *end = self.end;
    close_pass(&self);
    return status;
}
