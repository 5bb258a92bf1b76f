#include "drift_study.h"

#include <math.h>

#include "base/memory.h"
#include "lab/runs/parallel.h"

const double drift_alpha = 0.05;

const char *const drift_names[DRIFT_KINDS] = {"reward rate", "log of reward delay", "countries", "age"};

enum { PEOPLE = 2000, COUNTRIES = 12, LONGEST_SESSION = 5 };

typedef struct visitor {
    double rate, age;
    uint64_t country;
} visitor;

typedef struct stream {
    const drift_plan *plan;
    random_stream random;
    visitor people[PEOPLE];
    drift_mean reward, delay;
    drift_shares countries;
    drift_range age;
} stream;

/* The mean rate is 5%; country c has twice as many people as c + 1, up to a limit. */
static void draw_people(stream *self)
{
    for (size_t i = 0; i < PEOPLE; i++) {
        visitor *one = &self->people[i];
        one->rate = 0.05 * random_gamma(&self->random, 2.0) / 2.0;
        one->age = 40.0 + 10.0 * random_normal(&self->random);
        for (one->country = 0; one->country < COUNTRIES - 1 && random_unit(&self->random) < 0.5;) one->country++;
    }
}

static bool happens(stream *self, bool changed, double share)
{
    return random_unit(&self->random) < share && changed;
}

static void decide(stream *self, const visitor *one, bool changed)
{
    const drift_plan *plan = self->plan;
    uint64_t country = happens(self, changed, plan->moved) ? 0 : one->country;
    if (happens(self, changed, plan->unseen)) country = 1000;
    double age = happens(self, changed, plan->older) ? 200.0 : one->age;
    double delay = 3.0 + random_normal(&self->random) + (changed ? log1p(plan->delay) : 0.0);
    drift_mean_add(&self->reward, random_unit(&self->random) < one->rate * (changed ? 1.0 + plan->reward : 1.0));
    drift_mean_add(&self->delay, delay);
    drift_shares_add(&self->countries, country);
    drift_range_add(&self->age, age);
}

static void look(const stream *self, size_t block, drift_result *out)
{
    const double wealth[DRIFT_KINDS] = {drift_mean_log_wealth(&self->reward), drift_mean_log_wealth(&self->delay),
                                        drift_shares_log_wealth(&self->countries), drift_range_log_wealth(&self->age)};
    for (size_t k = 0; k < DRIFT_KINDS; k++)
        if (!out->alarm[k] && wealth[k] >= -log(drift_alpha)) out->alarm[k] = block;
}

static void end_day(stream *self)
{
    drift_mean_end_block(&self->reward);
    drift_mean_end_block(&self->delay);
    drift_shares_end_block(&self->countries);
    drift_range_end_block(&self->age);
}

static void play(stream *self, drift_result *out)
{
    const drift_plan *plan = self->plan;
    const visitor *one = NULL;
    size_t left = 0;
    draw_people(self);
    for (size_t day = 0; day < plan->blocks; day++) {
        bool changed = day >= plan->change;
        size_t count = changed && plan->traffic > 0.0 ? (size_t)(plan->traffic * (double)plan->block) : plan->block;
        for (size_t i = 0; i < count; i++) {
            if (!left--) {
                one = &self->people[random_below(&self->random, PEOPLE)];
                left = random_below(&self->random, LONGEST_SESSION);
            }
            decide(self, one, changed);
        }
        end_day(self);
        look(self, day + 1, out);
    }
}

typedef struct study_state {
    const drift_plan *plan;
    drift_result *results;
} study_state;

static ee_status play_one(void *context, size_t place, ee_error *error)
{
    const study_state *self = context;
    uint64_t seed = self->plan->seed + 1000003 * place;
    stream *one = NULL;
    ee_status status = memory_create(NULL, &one, 1, sizeof *one, error);
    if (status) return status;
    one->plan = self->plan;
    one->random = random_named(seed, "drift study");
    one->reward = drift_mean_start(0, seed);
    one->delay = drift_mean_start(0, seed + 1);
    one->countries = drift_shares_start(0, seed + 2);
    one->age = drift_range_start(0, seed + 4);
    self->results[place] = (drift_result){0};
    play(one, &self->results[place]);
    memory_free(one);
    return EE_OK;
}

ee_status drift_run(const drift_plan *plan, size_t threads, drift_result *results, ee_error *error)
{
    study_state state = {plan, results};
    bool finished = false;
    return parallel_each(plan->streams, threads, play_one, &state, NULL, &finished, error);
}
