#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assignments.h"
#include "base/memory.h"
#include "engine/bandit.h"
#include "evaluate/estimators/statistics.h"
#include "played_slots.h"

/* A run uses one thread. The time that it had on a processor is the same whatever else the machine does meanwhile. */
static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Puts an assignment in front of the options, of which text has room for one more, where it acts beside them. */
static void add_fact(const run_job *job, const char *fact, char *text)
{
    if (!bandit_takes(job->policy, fact, text)) return;
    size_t length = strlen(fact);
    memmove(text + length + 1, text, strlen(text) + 1);
    memcpy(text, fact, length);
    text[length] = ' ';
}

uint64_t runner_pending(const char *name, const delay *late, size_t slot_count)
{
    ee_option entry;
    uint64_t needed = (delay_longest(late) + 1) * (slot_count ? slot_count : 1);
    for (size_t i = 0; !ee_option_describe(name, i, &entry, NULL); i++) {
        if (strcmp(entry.name, "pending") != 0) continue;
        uint64_t usual = strtoull(entry.value, NULL, 10);
        return usual > needed ? usual : needed;
    }
    return 0;
}

/* A bandit has to keep all decisions whose rewards are still to come. */
static void add_pending(const run_job *job, char *text)
{
    char fact[32];
    if (delay_is_none(&job->late) || assignments_set(text, "pending")) return;
    snprintf(fact, sizeof fact, "pending=%" PRIu64, runner_pending(job->policy, &job->late, job->slots));
    add_fact(job, fact, text);
}

ee_status runner_create_bandit(const run_job *job, ee_bandit **bandit, ee_error *error)
{
    const char *own = job->options ? job->options : "";
    char *options, blocks[32];
    size_t room = 2 * sizeof blocks + sizeof "exclusive=on ";
    ee_status status = memory_create(NULL, &options, strlen(own) + room, 1, error);
    if (status) return status;
    strcpy(options, own);
    snprintf(blocks, sizeof blocks, "blocks=%zu", dataset_blocks(job->data));
    if (dataset_blocks(job->data) > 1) add_fact(job, blocks, options);
    if (dataset_exclusive(job->data)) add_fact(job, "exclusive=on", options);
    add_pending(job, options);
    ee_settings settings = {
        .policy = job->policy, .dim = dataset_dim(job->data), .seed = job->seed, .options = options};
    status = ee_bandit_create(&settings, bandit, error);
    memory_free(options);
    return status;
}

ee_status runner_check(const run_job *job, char **options, ee_error *error)
{
    if (options) *options = NULL;
    uint64_t limit = dataset_rounds(job->data);
    if (limit && job->rounds > limit)
        return status_fail(error, EE_BAD_INPUT, "%s has %" PRIu64 " rounds, but %" PRIu64 " were requested",
                           dataset_name(job->data), limit, job->rounds);
    size_t arms = dataset_arms(job->data), most = arms < RUN_SLOTS ? arms : RUN_SLOTS;
    if (run_slots(job) > most)
        return status_fail(error, EE_BAD_INPUT, "%s has %zu arms: expected 1 to %zu slots, got %zu",
                           dataset_name(job->data), arms, most, run_slots(job));
    ee_bandit *bandit;
    ee_status status = runner_create_bandit(job, &bandit, error);
    if (status) return status;
    const char *text = ee_bandit_info(bandit).options;
    if (options) status = memory_create(NULL, options, strlen(text) + 1, 1, error);
    if (options && !status) strcpy(*options, text);
    ee_bandit_free(bandit);
    return status;
}

/* ---- one run ---- */

typedef struct player {
    const run_watch *watch;
    ee_bandit *bandit;
    environment *world;
    delay_queue coming; /* rewards */
    played_slots slots;
    double *curve; /* (rounds), or NULL */
    size_t part;   /* of the rounds, the present one */
} player;

static void add_direction(const environment_round *round, const ee_score *scores, run_direction *into)
{
    for (size_t i = 0; i < round->arms.count; i++) {
        double exploration = (double)scores[i].exploration;
        double gain = round->expected[i] - (double)scores[i].exploitation;
        into->up += exploration > 0.0;
        into->down += exploration < 0.0;
        into->up_right += exploration > 0.0 && gain > 0.0;
        into->down_right += exploration < 0.0 && gain < 0.0;
        into->gain += gain;
        into->exploration += exploration;
        into->gain_squares += gain * gain;
        into->exploration_squares += exploration * exploration;
        into->products += gain * exploration;
    }
    into->arms += round->arms.count;
}

/* Where a policy never explores, there is no direction. */
static void drop_idle_directions(run_result *result)
{
    for (size_t i = 0; i < RUN_PARTS; i++)
        if (result->directions[i].up || result->directions[i].down) return;
    memset(result->directions, 0, sizeof result->directions);
}

/* Ends the parts that end after the rounds played; of fewer rounds than parts, some end together. */
static void end_parts(player *self, const run_job *job, run_result *result)
{
    while (self->part < RUN_PARTS && (self->part + 1) * job->rounds / RUN_PARTS == result->rounds)
        result->marks[self->part++] = result->regret;
}

/* Learns what is due by the round. */
static ee_status learn_due(player *self, uint64_t round, ee_error *error)
{
    late_reward next;
    ee_status status = EE_OK;
    while (!status && delay_next(&self->coming, round, &next))
        status = ee_bandit_learn(self->bandit, next.decision, next.reward, error);
    return status;
}

/* Adds up what the round cost. */
static void add_losses(player *self, const environment_round *round, run_result *result)
{
    double losses[RUN_SLOTS], loss = 0.0;
    played_slots_losses(&self->slots, round, losses);
    for (size_t k = 0; k < self->slots.count; k++) {
        loss += losses[k];
        result->reward += round->rewards[self->slots.decisions[k].arm];
        if (self->slots.count > 1) result->slot_regrets[k] += losses[k];
    }
    result->regret += loss;
    result->optimal += self->slots.count > 1 ? fabs(loss) < 1e-9 : loss == 0.0; /* sums of several round */
}

static ee_status play_round(player *self, const run_job *job, run_result *result, ee_error *error)
{
    environment_round round;
    ee_status status = environment_next(self->world, &round, error);
    if (status) return status;
    status = played_slots_decide(&self->slots, self->bandit, &round, error);
    if (!status && job->log) status = played_slots_write(&self->slots, job, &round, error);
    for (size_t k = 0; k < self->slots.count && !status; k++) {
        const ee_decision *decision = &self->slots.decisions[k];
        status = delay_add(&self->coming, result->rounds, decision->id, round.rewards[decision->arm], error);
    }
    if (!status) status = learn_due(self, result->rounds, error);
    if (status) return status;
    add_direction(&round, self->slots.scores, &result->directions[self->part]);
    add_losses(self, &round, result);
    if (self->curve) self->curve[result->rounds] = result->regret;
    result->rounds++;
    return EE_OK;
}

static bool is_wanted(const player *self)
{
    const run_watch *watch = self->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

static ee_status play(player *self, const run_job *job, bool with_curve, run_result *result, ee_error *error)
{
    self->part = 0;
    self->coming = delay_start(&job->late, job->seed);
    ee_status status = runner_create_bandit(job, &self->bandit, error);
    if (!status) status = environment_create(job->data, job->seed, &self->world, error);
    if (!status) status = played_slots_create(&self->slots, job, error);
    if (!status && with_curve) status = memory_create(NULL, &self->curve, job->rounds, sizeof *self->curve, error);
    if (status) return status;
    end_parts(self, job, result);
    bool wanted = true;
    while (wanted && !status && result->rounds < job->rounds) {
        status = play_round(self, job, result, error);
        end_parts(self, job, result);
        wanted = is_wanted(self);
    }
    result->finished = !status && result->rounds == job->rounds;
    return status;
}

static void report_end(const player *self, const run_job *job, const run_result *result, const ee_error *error)
{
    const run_watch *watch = self->watch;
    if (!watch || !watch->ended) return;
    run_report report = {.job = job,
                         .result = result,
                         .options = ee_bandit_info(self->bandit).options,
                         .curve = self->curve,
                         .error = error,
                         .bandit = self->bandit};
    (void)watch->ended(watch->context, &report); /* there are no others that it could end */
}

static ee_status run(const run_job *job, bool with_curve, const run_watch *watch, run_result *result, ee_error *error)
{
    player self = {.watch = watch};
    ee_error own = {EE_OK, ""};
    memset(result, 0, sizeof *result);
    result->slots = run_slots(job) > 1 ? job->slots : 0;
    double start = thread_seconds();
    result->status = play(&self, job, with_curve, result, &own);
    result->seconds = thread_seconds() - start;
    result->bytes = self.bandit ? ee_bandit_memory(self.bandit) : 0;
    drop_idle_directions(result);
    report_end(&self, job, result, &own);
    ee_bandit_free(self.bandit);
    environment_free(self.world);
    delay_release(&self.coming);
    played_slots_release(&self.slots);
    memory_free(self.curve);
    if (result->status && error) *error = own;
    return result->status;
}

ee_status runner_run(const run_job *job, const run_watch *watch, run_result *result, ee_error *error)
{
    return run(job, false, watch, result, error);
}

ee_status runner_run_with_curve(const run_job *job, const run_watch *watch, run_result *result, ee_error *error)
{
    return run(job, true, watch, result, error);
}

ee_status runner_summarize(const run_result *results, size_t count, run_summary *summary, ee_error *error)
{
    double *values; /* (3, count): regret, optimal, seconds */
    ee_status status = memory_create(NULL, &values, 3 * count, sizeof *values, error);
    if (status) return status;
    double *optimal = values + count, *seconds = values + 2 * count;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        if (!results[i].finished) continue;
        values[runs] = results[i].regret;
        optimal[runs] = (double)results[i].optimal / (double)results[i].rounds;
        seconds[runs] = results[i].seconds;
        runs++;
    }
    *summary = (run_summary){.runs = runs,
                             .regret = statistics_mean(values, runs),
                             .regret_deviation = statistics_deviation(values, runs),
                             .optimal = statistics_mean(optimal, runs),
                             .seconds = statistics_mean(seconds, runs)};
    for (size_t i = 0; i < count; i++) {
        if (!results[i].finished) continue;
        summary->slots = results[i].slots;
        for (size_t k = 0; k < RUN_SLOTS; k++) summary->slot_regrets[k] += results[i].slot_regrets[k] / (double)runs;
    }
    memory_free(values);
    return EE_OK;
}
