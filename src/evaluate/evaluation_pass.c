#define _POSIX_C_SOURCE 200809L
#include "evaluation_pass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "candidate.h"
#include "log_tally.h"
#include "reward_model.h"
#include "ridge_model.h"
#include "tally.h"

/* A candidate in a pass. In folds there are several of it, one for each fold; else one. */
typedef struct player {
    const candidate_request *asked;
    const candidate_class *class;
    candidate **copies;        /* (folds of the pass, or 1) */
    reward_model **own_models; /* the same, for mrdr; NULL: none */
    size_t count;
    tally *sums;
    evaluation_result *result; /* its failure ends the candidate, and not the others */
} player;

typedef struct pass {
    const evaluation_frame *frame;
    const evaluation_request *request;
    const pass_watch *watch;
    player *players; /* (player_count) */
    size_t player_count;
    reward_model **models; /* (folds) that all candidates share; NULL: none */
    size_t folds;          /* 1 where there are none */
    log_reader *log;
    size_t dim;
    ee_round *features;     /* NULL: nobody needs them, or the log has vectors */
    double *pi, *q, *own_q; /* (capacity) of one event */
    size_t pi_capacity, q_capacity, own_capacity;
    log_tally about;
    value_range range;
    uint64_t number;          /* events that somebody saw, so far */
    uint64_t learned, unread; /* events that are learned from only; and that have no features which can be read */
    size_t first_unread_line;
    ee_error first_unread;
    uint64_t fingerprint;
    uint64_t step; /* events from one mark to the next */
} pass;

/* What an event is for. */
typedef struct event_use {
    bool score, learn;
    size_t fold;      /* whose copies score it */
    bool other_folds; /* the copies of all other folds learn from it, in place of this one's */
} event_use;

/* ---- setting up ---- */

ee_status evaluation_needs_arms(const evaluation_request *request, size_t place, bool *needs, ee_error *error)
{
    const candidate_class *class;
    ee_status status = candidate_find(request->candidates[place].text, &class, error);
    *needs = !status && (class->arms || tally_needs_model(request) || tally_needs_own_model(request));
    return status;
}

static candidate_setup setup_of(const pass *self, const candidate_request *asked)
{
    return (candidate_setup){asked->text, asked->options,        asked->seed,
                             self->dim,   self->frame->features, self->frame->fixed_names};
}

/* Of a reward model: its seed is the request's own. */
static ee_status create_model(const pass *self, reward_model_kind kind, reward_model **out, ee_error *error)
{
    candidate_request asked = {.text = "", .seed = self->request->seed};
    candidate_setup setup = setup_of(self, &asked);
    return reward_model_create(kind, &setup, out, error);
}

static ee_status create_own_models(pass *self, player *one, ee_error *error)
{
    ee_status status = memory_create(NULL, &one->own_models, self->folds, sizeof *one->own_models, error);
    for (size_t i = 0; i < self->folds && !status; i++)
        status = create_model(self, REWARD_MODEL_RIDGE, &one->own_models[i], error);
    return status;
}

static ee_status open_player(pass *self, player *one, ee_error *error)
{
    const char *text = one->asked->text;
    evaluation_result *result = one->result;
    snprintf(result->candidate, sizeof result->candidate, "%s", text); /* longer ones are cut for the eye alone */
    result->seed = one->asked->seed;
    ee_status status = candidate_find(text, &one->class, error);
    if (status) return status;
    one->count = one->class->learns ? self->folds : 1;
    status = memory_create(NULL, &one->copies, one->count, sizeof *one->copies, error);
    candidate_setup setup = setup_of(self, one->asked);
    for (size_t i = 0; i < one->count && !status; i++) status = one->class->create(&setup, &one->copies[i], error);
    if (!status && tally_needs_own_model(self->request)) status = create_own_models(self, one, error);
    if (!status) status = memory_create(NULL, &one->sums, 1, sizeof *one->sums, error);
    if (!status) tally_start(one->sums, self->request, self->range);
    return status;
}

static void fail_player(player *one, const ee_error *error)
{
    one->result->failure = *error;
}

static bool is_playing(const player *one)
{
    return one->result->failure.status == EE_OK;
}

static ee_status open_models(pass *self, ee_error *error)
{
    if (!tally_needs_model(self->request)) return EE_OK;
    ee_status status = memory_create(NULL, &self->models, self->folds, sizeof *self->models, error);
    for (size_t i = 0; i < self->folds && !status; i++)
        status = create_model(self, self->request->model, &self->models[i], error);
    return status;
}

static ee_status open_log(pass *self, ee_error *error)
{
    log_close(self->log);
    self->log = NULL;
    self->number = self->unread = 0;
    return log_open(self->request->log, &self->frame->reading, &self->log, error);
}

static ee_status open_pass(pass *self, const size_t *places, size_t count, evaluation_result *results, ee_error *error)
{
    bool needs_arms = false;
    ee_status status = self->log ? EE_OK : open_log(self, error);
    if (status) return status;
    self->dim = log_dim(self->log);
    self->fingerprint = log_fingerprint(self->log);
    log_tally_start(&self->about, self->range);
    status = memory_create(NULL, &self->players, count, sizeof *self->players, error);
    if (!status) status = open_models(self, error);
    for (size_t i = 0; i < count && !status; i++) {
        player *one = &self->players[self->player_count++];
        one->asked = &self->request->candidates[places[i]];
        one->result = &results[places[i]];
        ee_error own;
        if (open_player(self, one, &own)) fail_player(one, &own);
        needs_arms = needs_arms || (is_playing(one) && (one->class->arms || self->models || one->own_models));
    }
    if (!status && needs_arms && !self->dim) status = ee_round_create(NULL, &self->features, error);
    return status;
}

static void close_player(player *one, size_t folds)
{
    for (size_t i = 0; one->copies && i < one->count; i++)
        if (one->copies[i]) one->class->free(one->copies[i]);
    for (size_t i = 0; one->own_models && i < folds; i++) reward_model_free(one->own_models[i]);
    if (one->sums) tally_release(one->sums);
    memory_free(one->copies);
    memory_free(one->own_models);
    memory_free(one->sums);
}

static void close_pass(pass *self)
{
    for (size_t i = 0; i < self->player_count; i++) close_player(&self->players[i], self->folds);
    for (size_t i = 0; self->models && i < self->folds; i++) reward_model_free(self->models[i]);
    memory_free(self->players);
    memory_free(self->models);
    memory_free(self->pi);
    memory_free(self->q);
    memory_free(self->own_q);
    ee_round_free(self->features);
    log_close(self->log);
}

/* ---- an event ---- */

static ee_status reserve(pass *self, size_t count, ee_error *error)
{
    ee_status status = memory_grow(NULL, &self->pi, &self->pi_capacity, count, sizeof *self->pi, error);
    if (!status) status = memory_grow(NULL, &self->q, &self->q_capacity, count, sizeof *self->q, error);
    if (!status) status = memory_grow(NULL, &self->own_q, &self->own_capacity, count, sizeof *self->own_q, error);
    return status;
}

/* Of copy i in so many folds: whether it scores the event, and whether it learns from it. */
typedef struct copy_use {
    bool score, learn;
} copy_use;

static copy_use use_of_copy(event_use use, size_t i)
{
    bool own = i == use.fold;
    return (copy_use){use.score && own, use.learn && own != use.other_folds};
}

static ee_status play_models(pass *self, const candidate_round *round, event_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; self->models && i < self->folds && !status; i++) {
        copy_use own = use_of_copy(use, i);
        if (own.score || own.learn)
            status =
                reward_model_play(self->models[i], round, own.learn ? 1.0 : 0.0, own.score ? self->q : NULL, error);
    }
    return status;
}

/* The candidate's own model learns by weights that need its probabilities, also where the event is not scored. */
static ee_status play_copy(pass *self, player *one, size_t i, const candidate_round *round, copy_use use,
                           ee_error *error)
{
    const log_event *event = round->event;
    candidate *copy = one->copies[one->count == 1 ? 0 : i];
    bool learns = use.learn && one->class->learns;
    double *pi = use.score || one->own_models ? self->pi : NULL;
    ee_status status = learns || pi ? one->class->play(copy, round, learns, pi, error) : EE_OK;
    if (!status && one->own_models) {
        double weight = use.learn ? ridge_model_weight(RIDGE_MRDR, self->pi[event->action], event->probability) : 0.0;
        status = reward_model_play(one->own_models[i], round, weight, use.score ? self->own_q : NULL, error);
    }
    if (status || !use.score) return status;
    tally_round scored = {event, self->pi, self->models ? self->q : NULL, one->own_models ? self->own_q : NULL,
                          one->class->logged};
    return tally_add(one->sums, &scored, error);
}

static ee_status play_player(pass *self, player *one, const candidate_round *round, event_use use, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->folds && !status; i++) {
        copy_use own = use_of_copy(use, i);
        if (own.score || own.learn) status = play_copy(self, one, i, round, own, error);
    }
    return status;
}

static void mark_all(pass *self, double time)
{
    for (size_t i = 0; i < self->player_count; i++) {
        player *one = &self->players[i];
        if (!is_playing(one)) continue;
        one->sums->range.weight_high = self->range.weight_high;
        tally_mark(one->sums, time);
    }
}

static double largest_weight(const pass *self)
{
    double least = self->request->least_probability;
    return 1.0 / (isnan(least) ? self->about.least_probability : least);
}

/* At every step-th event; when the marks are twice as many as they must be, half of them go. */
static void mark_in_turn(pass *self, const log_event *event)
{
    uint64_t scored = self->about.rewards.events;
    if (scored % self->step != 0) return;
    self->range.weight_high = largest_weight(self);
    mark_all(self, event->time);
    if (scored / self->step < EVALUATION_MARKS) return;
    for (size_t i = 0; i < self->player_count; i++)
        if (is_playing(&self->players[i])) tally_thin(self->players[i].sums);
    self->step *= 2;
}

static ee_status play_event(pass *self, const log_event *event, event_use use, ee_error *error)
{
    candidate_round round = {event, self->number, self->features};
    ee_status status = reserve(self, event->count, error);
    if (!status) status = play_models(self, &round, use, error);
    if (status) return status;
    for (size_t i = 0; i < self->player_count; i++) {
        player *one = &self->players[i];
        ee_error own;
        if (is_playing(one) && play_player(self, one, &round, use, &own)) fail_player(one, &own);
    }
    if (!use.score) return EE_OK;
    log_tally_add(&self->about, event);
    mark_in_turn(self, event);
    return EE_OK;
}

/* ---- the log ---- */

/* Bounds stand on the least probability that was given: one below it is an error. */
static ee_status check_least(const pass *self, const log_event *event, ee_error *error)
{
    double least = self->request->least_probability, found = self->about.least_probability;
    const double near = 1e-6; /* as float32 has it */
    if (isnan(least) || found >= least * (1.0 - near)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "line %zu: a probability of %g is below that of --least-probability, %g",
                       event->line, found, least);
}

/* A reward out of a range that was given is an error; one out of the assumed range changes it. */
static ee_status check_reward(const pass *self, const log_event *event, pass_end *end, ee_error *error)
{
    const evaluation_frame *frame = self->frame;
    if (event->reward >= frame->reward_low && event->reward <= frame->reward_high) return EE_OK;
    *end = PASS_OTHER_RANGE;
    if (frame->assumed_range) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "line %zu: the reward %g lies outside %g to %g; --rewards LOW:HIGH tells what it can be",
                       event->line, event->reward, frame->reward_low, frame->reward_high);
}

/* What an event is for, by the mode and its number. */
typedef event_use choose_use(const pass *self);

static event_use use_progressively(const pass *self)
{
    (void)self;
    return (event_use){.score = true, .learn = true};
}

static event_use use_split(const pass *self)
{
    bool learn = self->number < self->frame->learned_events;
    return (event_use){.score = !learn, .learn = learn};
}

/* Drawn: what comes back in a log after so many events must not all come to one fold. */
static size_t fold_of(const pass *self)
{
    const uint64_t spread = 0x9e3779b97f4a7c15; /* of neighbouring seeds, so that no two have a shifted draw */
    random_stream stream = random_named(self->request->seed * spread + self->number, "fold");
    return (size_t)random_below(&stream, self->folds);
}

static event_use use_to_train(const pass *self)
{
    return (event_use){.learn = true, .fold = fold_of(self), .other_folds = true};
}

static event_use use_to_judge(const pass *self)
{
    return (event_use){.score = true, .fold = fold_of(self)};
}

static ee_status freeze_player(player *one, size_t folds, ee_error *error)
{
    ee_status status = EE_OK;
    if (!is_playing(one)) return EE_OK;
    for (size_t i = 0; one->class->learns && i < one->count && !status; i++)
        status = one->class->freeze(one->copies[i], error);
    for (size_t i = 0; one->own_models && i < folds && !status; i++)
        status = reward_model_freeze(one->own_models[i], error);
    return status;
}

static ee_status freeze(pass *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; self->models && i < self->folds && !status; i++)
        status = reward_model_freeze(self->models[i], error);
    for (size_t i = 0; i < self->player_count && !status; i++)
        status = freeze_player(&self->players[i], self->folds, error);
    return status;
}

/* Reads the features. Those that cannot be read are passed over, and the first of them noted, or refused. */
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

/* An event that somebody saw. */
static ee_status take_event(pass *self, const log_event *event, event_use use, pass_end *end, ee_error *error)
{
    bool usable;
    ee_status status = use.score ? check_reward(self, event, end, error) : EE_OK;
    if (status || *end) return status;
    status = read_features(self, event, &usable, error);
    if (!status && usable) status = play_event(self, event, use, error);
    if (!status) status = check_least(self, event, error);
    if (usable && !use.score) self->learned++;
    self->number++;
    return status;
}

static ee_status play_log(pass *self, choose_use *use_of, pass_end *end, ee_error *error)
{
    log_event event;
    bool found;
    ee_status status = EE_OK;
    bool split = self->request->mode == EVALUATION_SPLIT;
    while (!status && !*end) {
        status = log_next(self->log, &event, &found, error);
        if (status || !found) break;
        if (self->watch && !self->watch->next(self->watch->context, log_read(self->log))) *end = PASS_STOPPED;
        if (event.skipped || *end) continue;
        if (split && self->number == self->frame->learned_events) status = freeze(self, error);
        if (!status) status = take_event(self, &event, use_of(self), end, error);
    }
    return status;
}

/* Judging in folds takes the log twice: first all folds learn, then each judges its events. */
static ee_status play_folds(pass *self, pass_end *end, ee_error *error)
{
    ee_status status = play_log(self, use_to_train, end, error);
    if (!status && !*end) status = freeze(self, error);
    if (!status && !*end) status = open_log(self, error);
    self->learned = 0; /* all are judged */
    return status || *end ? status : play_log(self, use_to_judge, end, error);
}

static ee_status play(pass *self, pass_end *end, ee_error *error)
{
    switch (self->request->mode) {
    case EVALUATION_SPLIT:
        return play_log(self, use_split, end, error);
    case EVALUATION_CROSS:
        return play_folds(self, end, error);
    default:
        return play_log(self, use_progressively, end, error);
    }
}

/* ---- the end ---- */

static ee_status finish_player(pass *self, player *one, ee_error *error)
{
    evaluation_result *result = one->result;
    ee_status status = EE_OK;
    if (one->class->finish) status = one->class->finish(one->copies[0], self->number, error);
    if (!status) status = tally_finish(one->sums, result, error);
    if (status) return status;
    diagnosis *facts = &result->facts;
    facts->candidate = result->candidate;
    facts->weighs = !one->class->logged;
    facts->seen_range = self->frame->seen_range;
    facts->range_low = self->range.reward_low;
    facts->range_high = self->range.reward_high;
    log_tally_facts(&self->about, facts);
    result->diagnosis = diagnosis_explain(facts);
    const estimate *first = &result->estimates[0];
    diagnosis_gain gain = {first->gain, first->gain_low, first->gain_high, result->log.reward};
    diagnosis_headline(facts, result->diagnosis.trusted, gain, result->headline);
    return EE_OK;
}

static void describe_log(const pass *self, evaluated_log *out)
{
    const log_counts *read = log_read(self->log);
    log_tally_finish(&self->about, self->request, self->range, out);
    out->fingerprint = self->fingerprint;
    out->learned = self->learned;
    out->skipped = read->skipped;
    out->passed = read->broken + read->foreign + read->invalid + read->repeated + self->unread;
    out->features = self->dim == 0;
}

/* A log without an event to judge is a mistake: says what its first lines are. */
static ee_status fail_empty(const pass *self, ee_error *error)
{
    const log_counts *read = log_read(self->log);
    const char *reason = read->first_count ? read->first_reasons[0] : self->first_unread.message;
    size_t line = read->first_count ? read->first_lines[0] : self->first_unread_line;
    if (!reason[0])
        return status_fail(error, EE_BAD_INPUT, "the log has no event to evaluate%s",
                           self->learned   ? ": all are learned from"
                           : read->skipped ? ": nobody saw one"
                           : read->outside ? ": all lie outside the time"
                                           : "");
    return status_fail(error, EE_BAD_INPUT, "the log has no event to evaluate: line %zu: %s", line, reason);
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void finish_pass(pass *self, double start)
{
    uint64_t scored = self->about.rewards.events;
    self->range.weight_high = largest_weight(self);
    if (scored && scored % self->step != 0) mark_all(self, self->about.last_time);
    for (size_t i = 0; i < self->player_count; i++) {
        player *one = &self->players[i];
        ee_error own;
        if (!is_playing(one)) continue;
        one->sums->range.weight_high = self->range.weight_high;
        describe_log(self, &one->result->log);
        if (finish_player(self, one, &own)) fail_player(one, &own);
        one->result->finished = is_playing(one);
        one->result->seconds = thread_seconds() - start;
    }
}

ee_status evaluation_pass(const evaluation_frame *frame, log_reader *opened, const size_t *places, size_t count,
                          const pass_watch *watch, evaluation_result *results, pass_end *end, ee_error *error)
{
    double start = thread_seconds();
    const evaluation_request *request = frame->request;
    pass self = {.frame = frame,
                 .request = request,
                 .watch = watch,
                 .folds = request->mode == EVALUATION_CROSS ? request->folds : 1,
                 .log = opened,
                 .range = {frame->reward_low, frame->reward_high, INFINITY},
                 .step = 1};
    *end = PASS_FINISHED;
    ee_status status = open_pass(&self, places, count, results, error);
    if (!status) status = play(&self, end, error);
    if (!status && *end == PASS_FINISHED && !self.about.rewards.events) status = fail_empty(&self, error);
    if (!status && *end == PASS_FINISHED) finish_pass(&self, start);
    close_pass(&self);
    return status;
}
