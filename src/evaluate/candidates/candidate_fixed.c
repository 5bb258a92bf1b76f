/* Candidates whose choice needs no features: uniform, first, arm:N, logged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate.h"
#include "engine/shares.h"
#include "limited_arms.h"

typedef struct fixed_candidate {
    candidate base;
    char *name;                      /* of the action; NULL for those without one */
    size_t number;                   /* the name as a number; SIZE_MAX if it is not one */
    bool met;                        /* an event had the action */
    uint64_t events, lacked, shared; /* all; without the action; with several actions of its name */
    char remark[240];
    size_t *left; /* of one event, for uniform */
    group_share *shares;
    size_t left_capacity, share_capacity;
} fixed_candidate;

static void free_fixed(candidate *self)
{
    memory_free(((fixed_candidate *)self)->name);
    memory_free(((fixed_candidate *)self)->left);
    memory_free(((fixed_candidate *)self)->shares);
    memory_free(self);
}

static ee_status create_fixed(const candidate_class *class, const candidate_setup *setup, candidate **out,
                              ee_error *error)
{
    (void)setup;
    fixed_candidate *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = class;
    *out = &self->base;
    return EE_OK;
}

static void take_one(double *pi, size_t count, size_t action)
{
    for (size_t i = 0; i < count; i++) pi[i] = 0.0;
    pi[action] = 1.0;
}

/* ---- uniform ---- */

static ee_status create_uniform(const candidate_class *class, const candidate_setup *setup, candidate **out,
                                ee_error *error)
{
    if (setup->options && setup->options[0])
        return status_fail(error, EE_BAD_OPTION, "uniform: this candidate has no options");
    return create_fixed(class, setup, out, error);
}

/* Within the limits of the event. */
static ee_status limit_uniform(fixed_candidate *self, const log_event *event, double *pi, ee_error *error)
{
    const log_limits *limits = event->limits;
    size_t count = 0, shares = limits->share_count;
    ee_status status = memory_grow(NULL, &self->left, &self->left_capacity, event->count, sizeof *self->left, error);
    if (!status)
        status = memory_grow(NULL, &self->shares, &self->share_capacity, shares + 1, sizeof *self->shares, error);
    if (status) return status;
    for (size_t i = 0; i < event->count; i++)
        if (!log_event_excludes(event, i)) self->left[count++] = i;
    for (size_t i = 0; i < count; i++) pi[i] = 1.0 / (double)count;
    ee_limits of = {.groups = limits->shares, .low = limits->low, .high = limits->high, .group_count = shares};
    if (shares) shares_project(&of, self->left, count, self->shares, pi);
    limited_arms_spread(event, pi);
    return EE_OK;
}

static ee_status play_uniform(candidate *self, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)learn;
    size_t count = round->event->count;
    if (pi && round->event->limits) return limit_uniform((fixed_candidate *)self, round->event, pi, error);
    for (size_t i = 0; pi && i < count; i++) pi[i] = 1.0 / (double)count;
    return EE_OK;
}

const candidate_class candidate_uniform = {
    .form = "uniform",
    .summary = "every action with the same probability",
    .name = "uniform",
    .create = create_uniform,
    .free = free_fixed,
    .play = play_uniform,
};

/* ---- first ---- */

static ee_status play_first(candidate *self, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)self, (void)learn, (void)error;
    if (pi) take_one(pi, round->event->count, round->event->baseline);
    return EE_OK;
}

const candidate_class candidate_first = {
    .form = "first",
    .summary = "what happens without a bandit: the baseline, usually the first action",
    .name = "first",
    .create = create_fixed,
    .free = free_fixed,
    .play = play_first,
};

/* ---- arm:N, arm:NAME ---- */

static ee_status create_arm(const candidate_class *class, const candidate_setup *setup, candidate **out,
                            ee_error *error)
{
    const char *name = candidate_place(setup->text);
    ee_status status = create_fixed(class, setup, out, error);
    fixed_candidate *self = status ? NULL : (fixed_candidate *)*out;
    if (!status) status = memory_create(NULL, &self->name, strlen(name) + 1, 1, error);
    if (status) {
        if (self) free_fixed(&self->base);
        return status;
    }
    strcpy(self->name, name);
    bool digits = strspn(name, "0123456789") == strlen(name) && strlen(name) < 10;
    self->number = digits ? (size_t)strtoul(name, NULL, 10) : SIZE_MAX;
    return EE_OK;
}

static bool is_number(json_text name)
{
    size_t digits = 0;
    while (digits < name.length && name.bytes[digits] >= '0' && name.bytes[digits] <= '9') digits++;
    return digits && digits == name.length;
}

/* By name if an action has this name, otherwise by number; event->count if neither. If all names are numbers, a
 * number is only a name: 0 is not the first of the actions 1001, 1002 and 1003. */
static size_t find_arm(const fixed_candidate *self, const candidate_round *round)
{
    const log_event *event = round->event;
    bool numbers = event->actions != NULL;
    for (size_t i = 0; event->actions && i < event->count; i++) {
        if (json_is(event->actions[i], self->name)) return i;
        numbers = numbers && is_number(event->actions[i]);
    }
    size_t found = numbers ? event->count : 0;
    while (found < event->count && candidate_number(round, found) != self->number) found++;
    return found;
}

/* Whether a later action has the same name. */
static bool has_twin(const fixed_candidate *self, const log_event *event, size_t arm)
{
    bool found = false;
    for (size_t i = arm + 1; event->actions && i < event->count; i++)
        found = found || json_is(event->actions[i], self->name);
    return found;
}

static ee_status play_arm(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)learn, (void)error;
    fixed_candidate *self = (fixed_candidate *)base;
    const log_event *event = round->event;
    if (!pi) return EE_OK;
    size_t arm = find_arm(self, round);
    self->met = self->met || arm < event->count;
    self->events++;
    self->lacked += arm == event->count;
    self->shared += has_twin(self, event, arm);
    take_one(pi, event->count, arm < event->count ? arm : event->baseline);
    return EE_OK;
}

/* A name that no event has is an error: every choice would be the baseline. */
static ee_status finish_arm(candidate *base, uint64_t events, ee_error *error)
{
    (void)events;
    fixed_candidate *self = (fixed_candidate *)base;
    double all = (double)self->events;
    if (self->shared)
        snprintf(self->remark, sizeof self->remark,
                 "In %.3g%% of the events several actions are named '%.60s'; arm:%.60s takes the first of them.",
                 100.0 * (double)self->shared / all, self->name, self->name);
    else if (self->lacked)
        snprintf(self->remark, sizeof self->remark,
                 "%.3g%% of the events have no action '%.60s'; there arm:%.60s takes the baseline, usually the first "
                 "action.",
                 100.0 * (double)self->lacked / all, self->name, self->name);
    if (self->met) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "no event has an action '%.80s'; 'eenet log' lists them", self->name);
}

static const char *arm_remark(const candidate *base)
{
    return ((const fixed_candidate *)base)->remark;
}

const candidate_class candidate_arm = {
    .form = "arm:NAME",
    .summary = "always this action, by name, or by number (from 0) unless the names are numbers; the baseline if an "
               "event lacks it",
    .name = "arm",
    .create = create_arm,
    .free = free_fixed,
    .play = play_arm,
    .finish = finish_arm,
    .remark = arm_remark,
};

/* ---- logged ---- */

/* If the log has only the probability of the logged action: certainty of that action. */
static ee_status play_logged(candidate *self, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    (void)self, (void)learn, (void)error;
    const log_event *event = round->event;
    if (pi && event->probabilities)
        memcpy(pi, event->probabilities, event->count * sizeof *pi);
    else if (pi)
        take_one(pi, event->count, event->action);
    return EE_OK;
}

const candidate_class candidate_logged = {
    .form = "logged",
    .summary = "the logging policy",
    .logged = true,
    .name = "logged",
    .create = create_fixed,
    .free = free_fixed,
    .play = play_logged,
};
