#include "live_track.h"

#include <math.h>

double live_alpha(double confidence, uint64_t number)
{
    double j = (double)number; /* 1/2 + 1/6 + 1/12 + ... = 1 */
    return (1.0 - confidence) / (j * (j + 1.0));
}

const char *live_track_name(const live_track *self)
{
    static const char *const names[] = {
        [LIVE_ONLINE] = "online", [LIVE_BASELINE] = "baseline", [LIVE_UNIFORM] = "uniform"};
    return self->kind == LIVE_CHALLENGER ? self->challenger.name : names[self->kind];
}

/* ---- making ---- */

static ee_status name_candidate(live_track *self, const bandit_settings *of, ee_error *error)
{
    static const char *const texts[] = {
        [LIVE_ONLINE] = "logged", [LIVE_BASELINE] = "first", [LIVE_UNIFORM] = "uniform"};
    self->asked.seed = of->seed;
    if (self->kind != LIVE_CHALLENGER) {
        self->asked.text = texts[self->kind];
        return EE_OK;
    }
    ee_status status = bandit_settings_options(of, &self->options, error);
    if (!status) status = self->options.status;
    self->options.error = NULL; /* the caller's does not live long enough */
    self->asked.text = self->challenger.policy;
    self->asked.options = self->options.bytes;
    return status;
}

/* As `eenet evaluate -e ips --mode progressive` is. */
static void set_request(live_track *self, const bandit_settings *of)
{
    evaluation_request *request = &self->request;
    *request = evaluation_usual();
    request->candidates = &self->asked;
    request->candidate_count = 1;
    request->estimators[0] = (estimator_request){ESTIMATOR_IPS, false};
    request->estimator_count = 1;
    request->alpha = 1.0 - of->confidence;
    request->reward_low = of->reward_low;
    request->reward_high = of->reward_high;
    request->features = of->features;
    request->tests_gain = self->kind == LIVE_CHALLENGER;
}

ee_status live_track_create(live_kind kind, const bandit_settings *of, const challenger_settings *challenger,
                            live_track **out, ee_error *error)
{
    const size_t first = 0;
    live_track *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->kind = kind;
    bandit_settings in_place = challenger ? challenger_settings_in_place(of, challenger) : *of;
    if (challenger) self->challenger = *challenger;
    memcpy(self->challenger.policy, in_place.policy, sizeof self->challenger.policy);
    self->options = text_start(error);
    for (size_t i = 0; i < LIVE_POINTS; i++) self->points[i] = (live_point){NAN, NAN, NAN};
    status = name_candidate(self, &in_place, error);
    if (!status) {
        set_request(self, of);
        self->frame = (evaluation_frame){.request = &self->request,
                                         .features = of->features,
                                         .fixed_names = true,
                                         .reward_low = of->reward_low,
                                         .reward_high = of->reward_high};
        status = evaluation_play_open(&self->play, &self->frame, (size_t)of->dim, &first, 1, &self->result, error);
    }
    if (status) {
        live_track_free(self);
        return status;
    }
    live_track_judge(self, of, challenger, 0);
    *out = self;
    return EE_OK;
}

void live_track_free(live_track *self)
{
    if (!self) return;
    evaluation_play_close(&self->play);
    memory_free(self->options.bytes);
    memory_free(self);
}

void live_track_judge(live_track *self, const bandit_settings *of, const challenger_settings *challenger, uint64_t from)
{
    if (challenger) self->challenger.number = challenger->number;
    self->request.alpha = 1.0 - of->confidence;
    self->alpha = challenger ? live_alpha(of->confidence, challenger->number) : (double)NAN;
    self->judged_from = from;
    self->won = 0;
    evaluation_play_judge_anew(&self->play, (value_range){of->reward_low, of->reward_high, INFINITY});
}

/* ---- events ---- */

static const tally *sums_of(const live_track *self)
{
    return self->play.players[0].sums;
}

const ee_error *live_track_failure(const live_track *self)
{
    return self->result.failure.status ? &self->result.failure : NULL;
}

uint64_t live_track_events(const live_track *self)
{
    return self->play.about.rewards.events;
}

static void look_for_gain(live_track *self, uint64_t number)
{
    if (self->kind != LIVE_CHALLENGER || self->won || live_track_failure(self)) return;
    if (gain_test_passes(&sums_of(self)->test, self->alpha)) self->won = number;
}

ee_status live_track_take(live_track *self, const log_event *event, ee_round *features, bool usable, uint64_t number,
                          ee_error *error)
{
    if (number <= self->upto) return EE_OK;
    bool judged = number > self->judged_from;
    candidate_round round = {.event = event, .number = self->seen, .features = features};
    event_use use = {.score = judged, .learn = true};
    ee_status status = usable && !event->skipped ? evaluation_play_event(&self->play, &round, use, error) : EE_OK;
    if (status) return status;
    if (!event->skipped) self->seen++;
    self->upto = number;
    if (judged) look_for_gain(self, number);
    return EE_OK;
}

/* ---- numbers ---- */

estimate live_track_estimate(const live_track *self)
{
    if (!live_track_events(self) || live_track_failure(self)) return (estimate){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    evaluated_log about;
    log_tally_finish(&self->play.about, &self->request, self->play.range, &about);
    double alpha = isnan(self->alpha) ? self->request.alpha : 2.0 * self->alpha; /* two-sided, each end at its level */
    return tally_estimate(sums_of(self), 0, about.rewards, alpha);
}

double live_track_evidence(const live_track *self)
{
    if (self->kind != LIVE_CHALLENGER || !live_track_events(self) || live_track_failure(self)) return NAN;
    return fmax(0.0, gain_test_log_wealth(&sums_of(self)->test) / -log(self->alpha));
}

double live_track_unsupported(const live_track *self)
{
    return live_track_events(self) && !live_track_failure(self) ? tally_unsupported(sums_of(self)) : (double)NAN;
}

ee_status live_track_model(live_track *self, const bandit_settings *of, void **bytes, size_t *size, ee_error *error)
{
    const evaluation_player *player = &self->play.players[0];
    if (live_track_failure(self))
        return status_fail(error, self->result.failure.status, "%s", self->result.failure.message);
    if (player->class->bandit)
        return ee_bandit_save_bytes(player->class->bandit(player->copies[0]), bytes, size, error);
    bandit_settings in_place = *of; /* it learns nothing: a new model is the same */
    if (self->challenger.name[0]) in_place = challenger_settings_in_place(of, &self->challenger);
    ee_bandit *made = NULL;
    ee_status status = bandit_settings_create(&in_place, &made, error);
    if (!status) status = ee_bandit_save_bytes(made, bytes, size, error);
    ee_bandit_free(made);
    return status;
}
