/* Events with several slots, on logs whose truth can be added up: each slot's value and the mean by every weighting,
 * intervals that hold it, candidates that learn, and slots that nobody knows the reward of. */

#include "base/random.h"
#include "data/support_sets.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/evaluations/evaluation_play.h"
#include "evaluate/evaluations/evaluation_warm.h"
#include "evaluation_trial.h"
#include "support_files.h"

enum { ACTIONS = 4, SLOTS = 3, DIM = ACTIONS };

static char log_path[80];

/* Each test has a log in its folder. */
static int set_up(void **state)
{
    folder_enter(state);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "log.dsjson"));
    return 0;
}

/* The chance of a reward of an action in a slot. Where slots matter to each other, action 0 above spoils what follows.
 */
static double chance(size_t action, size_t slot, bool spoiled)
{
    double own = 0.2 + 0.2 * (double)action - 0.05 * (double)slot;
    return spoiled ? 0.3 * own : own;
}

typedef struct made_slots {
    size_t events;
    bool cascade;   /* action 0 spoils the slots below it */
    bool named;     /* features as JSON, else vectors */
    size_t unknown; /* the reward of the last slot is not known in one of so many events; 0: always */
    uint64_t seed;
    bool dropped; /* every second event represents two */
} made_slots;

static const char *const context_text = "{\"u\":{\"c\":1},\"_multi\":[{\"i\":{\"n\":\"a\"}},{\"i\":{\"n\":\"b\"}},{"
                                        "\"i\":{\"n\":\"c\"}},{\"i\":{\"n\":\"d\"}}]}";

/* The log draws among what is left, the first of them with twice the chance of another. */
static void make_log(const made_slots *how)
{
    static const json_text ids[SLOTS] = {{"top", 3}, {"middle", 6}, {"bottom", 6}};
    static const json_text own[SLOTS] = {{"{\"s\":{\"at\":\"1\"}}", 16}, {"{\"s\":{\"at\":\"2\"}}", 16}, {"", 0}};
    static const size_t baselines[SLOTS] = {2, 3, 1};
    random_stream stream = random_named(how->seed, "slots");
    float vectors[ACTIONS * DIM] = {0};
    log_writer *log;
    for (size_t i = 0; i < ACTIONS; i++) vectors[i * DIM + i] = 1;
    ok(log_create(log_path, how->named ? 0 : DIM, &log, NULL));
    for (size_t e = 0; e < how->events; e++) {
        log_slot slots[SLOTS];
        size_t actions[SLOTS][ACTIONS];
        double probabilities[SLOTS][ACTIONS];
        bool taken[ACTIONS] = {false}, spoiled = false;
        for (size_t k = 0; k < SLOTS; k++) {
            size_t left = 0, drawn;
            for (size_t i = 0; i < ACTIONS; i++)
                if (!taken[i]) actions[k][left++] = i;
            for (size_t i = 0; i < left; i++) probabilities[k][i] = (i ? 1.0 : 2.0) / (double)(left + 1);
            double unit = random_unit(&stream);
            for (drawn = 0; drawn + 1 < left && unit >= probabilities[k][drawn]; drawn++)
                unit -= probabilities[k][drawn];
            size_t action = actions[k][drawn];
            double probability = probabilities[k][drawn];
            memmove(actions[k] + 1, actions[k], drawn * sizeof *actions[k]);
            memmove(probabilities[k] + 1, probabilities[k], drawn * sizeof *probabilities[k]);
            actions[k][0] = action;
            probabilities[k][0] = probability;
            taken[action] = true;
            bool reward = random_unit(&stream) < chance(action, k, spoiled);
            spoiled = spoiled || (how->cascade && action == 0);
            bool unknown = how->unknown && k + 1 == SLOTS && e % how->unknown == 0;
            slots[k] = (log_slot){.id = ids[k],
                                  .count = left,
                                  .actions = actions[k],
                                  .probabilities = probabilities[k],
                                  .reward = unknown ? 0 : reward,
                                  .skipped = unknown,
                                  .baseline = baselines[k],
                                  .features = how->named ? own[k] : (json_text){0}};
        }
        log_event event = {.time = (double)NAN,
                           .count = ACTIONS,
                           .action = actions[0][0],
                           .probability = probabilities[0][0],
                           .reward = slots[0].reward,
                           .copies = how->dropped && e % 2 ? 2 : 1,
                           .baseline = baselines[0],
                           .slots = slots,
                           .slot_count = SLOTS};
        if (how->named)
            event.context = (json_text){context_text, strlen(context_text)};
        else
            event.arms = ee_arms_dense(vectors, ACTIONS, DIM);
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
}

static trial t;

static int tear_down(void **state)
{
    trial_end(&t);
    return folder_leave(state);
}

static void ask(trial *self, const char *candidates, slot_weighting by)
{
    trial_ask(self, log_path, candidates, "ips,snips,dr");
    self->request.slots = by;
}

/* Of one who fills the slots with these actions. */
static double truth_of(const size_t actions[SLOTS], size_t slot, bool cascade)
{
    bool spoiled = false;
    for (size_t k = 0; k < slot; k++) spoiled = spoiled || (cascade && actions[k] == 0);
    return chance(actions[slot], slot, spoiled);
}

/* Of one who draws among what is left, any alike or as the log does: in the mean over all orders. */
static double truth_of_draws(size_t slot, bool cascade, bool logged)
{
    double sum = 0;
    for (size_t a = 0; a < ACTIONS; a++)
        for (size_t b = 0; b < ACTIONS; b++)
            for (size_t c = 0; c < ACTIONS; c++) {
                if (a == b || a == c || b == c) continue;
                double share = 1.0 / (ACTIONS * (ACTIONS - 1) * (ACTIONS - 2));
                if (logged) { /* the first that is left has twice the chance of another */
                    size_t second = a == 0, third = 0;
                    while (third == a || third == b) third++;
                    share =
                        (a == 0 ? 2.0 : 1.0) / 5.0 * (b == second ? 2.0 : 1.0) / 4.0 * (c == third ? 2.0 : 1.0) / 3.0;
                }
                sum += share * truth_of((const size_t[]){a, b, c}, slot, cascade);
            }
    return sum;
}

static double truth_of_uniform(size_t slot, bool cascade)
{
    return truth_of_draws(slot, cascade, false);
}

/* Where a slot is judged beside what the log had above it: the log's orders, weighed by how often it has them. */
static double truth_beside(size_t slot, bool uniform)
{
    static const size_t baselines[SLOTS] = {2, 3, 1};
    double sum = 0;
    for (size_t a = 0; a < ACTIONS; a++)
        for (size_t b = 0; b < ACTIONS; b++) {
            if (a == b) continue;
            bool taken[ACTIONS] = {false};
            double share = (a ? 1.0 : 2.0) / (ACTIONS + 1) * (b == (a ? 0 : 1) ? 2.0 : 1.0) / ACTIONS;
            if (slot > 0) taken[a] = true;
            if (slot > 1) taken[b] = true;
            double mean = 0, left = 0;
            size_t first = taken[baselines[slot]] ? SIZE_MAX : baselines[slot];
            for (size_t i = 0; i < ACTIONS; i++) {
                if (taken[i]) continue;
                if (first == SIZE_MAX) first = i;
                mean += chance(i, slot, false);
                left++;
            }
            sum += share * (uniform ? mean / left : chance(first, slot, false));
        }
    return sum;
}

static void near(double value, double truth, double error, const char *what, size_t slot)
{
    if (!(fabs(value - truth) <= error)) fail_msg("%s, slot %zu: %g, and the truth is %g", what, slot, value, truth);
}

/* first fills the slots with its baselines, 2 3 1; uniform draws. Both by all estimators, in every slot and together.
 */
static void check_truth(slot_weighting by, bool cascade, bool named, double error)
{
    static const size_t baselines[SLOTS] = {2, 3, 1};
    size_t events = test_long(3000, 20000);
    error *= sqrt(20000.0 / (double)events);
    make_log(&(made_slots){.events = events, .cascade = cascade, .named = named, .seed = 3});
    ask(&t, "first,uniform,logged", by);
    trial_run(&t);
    double first = 0, uniform = 0;
    for (size_t k = 0; k < SLOTS; k++) {
        double truths[] = {truth_of(baselines, k, cascade), truth_of_uniform(k, cascade)};
        if (by == SLOT_OWN) truths[0] = truth_beside(k, false), truths[1] = truth_beside(k, true);
        first += truths[0] / SLOTS;
        uniform += truths[1] / SLOTS;
        for (size_t c = 0; c < 2; c++)
            for (size_t e = 0; e < 3; e++) {
                const estimate *found = &t.results[c].slots[k].estimates[e];
                near(found->value, truths[c], error, t.candidates[c].text, k + 1);
                assert_true(found->low <= truths[c] && truths[c] <= found->high);
            }
    }
    for (size_t e = 0; e < 3; e++) {
        near(t.results[0].estimates[e].value, first, error, "first", 0);
        near(t.results[1].estimates[e].value, uniform, error, "uniform", 0);
        assert_true(t.results[0].estimates[e].low <= first && first <= t.results[0].estimates[e].high);
        near(t.results[2].estimates[e].value, t.results[2].log.reward, 1e-9, "logged", 0);
        near(t.results[0].estimates[e].gain, t.results[0].estimates[e].value - t.results[0].log.reward, 1e-12, "gain",
             0);
    }
    assert_true(t.results[0].diagnosis.trusted && t.results[1].diagnosis.trusted);
    assert_int_equal(t.results[0].log.slot_rounds, events);
    assert_int_equal(t.results[0].log.events, 3 * events);
    assert_int_equal(t.results[0].slot_count, SLOTS);
    assert_string_equal(t.results[0].slots[1].id, "middle");
}

TEST_WITH(every_weighting_finds_the_truth_where_slots_do_not_matter, set_up, tear_down)
{
    check_truth(SLOT_OWN, false, false, 0.03);
    check_truth(SLOT_CASCADE, false, false, 0.07);
    check_truth(SLOT_WHOLE, false, false, 0.15);
}

TEST_WITH(rewards_that_depend_on_the_slots_before_need_their_ratios, set_up, tear_down)
{
    static const size_t baselines[SLOTS] = {2, 3, 1};
    check_truth(SLOT_CASCADE, true, true, 0.07);
    check_truth(SLOT_WHOLE, true, false, 0.15);
    ask(&t, "first", SLOT_OWN); /* the log has action 0 above more often than `first`, who never has */
    trial_run(&t);
    assert_true(t.results[0].slots[2].estimates[0].high < truth_of(baselines, 2, true));
}

/* Of many logs the intervals hold the truth in as many as they promise: of the mean of all slots, whose rewards depend
 * on each other. */
TEST_WITH(intervals_hold_the_truth, set_up, tear_down)
{
    const size_t logs = test_long(8, 40), missed = 1 + logs / 8;
    static const interval_kind kinds[] = {INTERVAL_CS, INTERVAL_NORMAL, INTERVAL_BOOTSTRAP, INTERVAL_BERNSTEIN};
    size_t held[4][3] = {{0}}, gains[4] = {0};
    double truth = 0, logged = 0;
    for (size_t k = 0; k < SLOTS; k++) {
        truth += truth_of_uniform(k, true) / SLOTS;
        logged += truth_of_draws(k, true, true) / SLOTS;
    }
    for (uint64_t i = 0; i < logs; i++) {
        make_log(&(made_slots){.events = 300, .cascade = true, .seed = 100 + i});
        for (size_t kind = 0; kind < 4; kind++) {
            ask(&t, "uniform", SLOT_CASCADE);
            t.request.interval = kinds[kind];
            trial_run(&t);
            for (size_t e = 0; e < 3; e++) {
                const estimate *found = &t.results[0].estimates[e];
                held[kind][e] += found->low <= truth && truth <= found->high;
            }
            const estimate *ips = &t.results[0].estimates[0];
            gains[kind] += ips->gain_low <= truth - logged && truth - logged <= ips->gain_high;
        }
    }
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t e = 0; e < 3; e++)
            if (held[kind][e] + missed < logs) fail_msg("%s: %zu", interval_name(kinds[kind]), held[kind][e]);
        if (gains[kind] + missed < logs) fail_msg("%s: the gain in %zu", interval_name(kinds[kind]), gains[kind]);
    }
}

/* The evaluation of `uniform` by IPS with an interval of this kind; with slots each weighted alone. */
static void play_interval(trial *self, interval_kind kind, double alpha)
{
    ask(self, "uniform", SLOT_OWN);
    self->request.estimator_count = 1;
    self->request.interval = kind;
    self->request.alpha = alpha;
    trial_run(self);
}

/* The interval of the mean of the slots: with bounds for any number of rounds, the mean of the slots' intervals that
 * each have their part of alpha; with asymptotic ones, the mean of those that each have the whole. The last slot counts
 * less, because it is not always known. */
TEST_WITH(slots_share_alpha, set_up, tear_down)
{
    static const interval_kind kinds[] = {INTERVAL_NORMAL,          INTERVAL_STUDENT,   INTERVAL_BOOTSTRAP,
                                          INTERVAL_CLOPPER_PEARSON, INTERVAL_HOEFFDING, INTERVAL_BERNSTEIN,
                                          INTERVAL_CRESSIE_READ};
    const double alpha = 0.06;
    make_log(&(made_slots){.events = 1000, .unknown = 4, .seed = 5});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool shared = i > 2;
        RELEASED_BY(trial_end) trial whole = {0}, parts = {0};
        play_interval(&whole, kinds[i], alpha);
        play_interval(&parts, kinds[i], shared ? alpha / SLOTS : alpha);
        double low = 0.0, high = 0.0, gain_low = 0.0, gain_high = 0.0;
        for (size_t k = 0; k < SLOTS; k++) {
            const estimate *part = &parts.results[0].slots[k].estimates[0];
            double share = (k + 1 < SLOTS ? 1000.0 : 750.0) / 2750.0;
            low += share * part->low;
            high += share * part->high;
            gain_low += share * part->gain_low;
            gain_high += share * part->gain_high;
        }
        near(whole.results[0].estimates[0].low, low, 1e-12, interval_name(kinds[i]), 0);
        near(whole.results[0].estimates[0].high, high, 1e-12, interval_name(kinds[i]), 0);
        if (!shared) { /* the others have no form for a difference */
            near(whole.results[0].estimates[0].gain_low, gain_low, 1e-12, interval_name(kinds[i]), 0);
            near(whole.results[0].estimates[0].gain_high, gain_high, 1e-12, interval_name(kinds[i]), 0);
        }
    }
}

/* Hoeffding's by its formula: w r is at most 5, as the least probability is 1/5. */
TEST_WITH(slots_by_hoeffding, set_up, tear_down)
{
    make_log(&(made_slots){.events = 1000, .seed = 5});
    play_interval(&t, INTERVAL_HOEFFDING, 0.06);
    const estimate *found = &t.results[0].estimates[0];
    near(found->high - found->value, 5.0 * sqrt(log(2.0 / 0.02) / 2000.0), 1e-6, "all", 0);
    near(found->value - found->low, 5.0 * sqrt(log(2.0 / 0.02) / 2000.0), 1e-6, "all", 0);
    for (size_t k = 0; k < SLOTS; k++) {
        const estimate *slot = &t.results[0].slots[k].estimates[0];
        near(slot->high - slot->value, 5.0 * sqrt(log(2.0 / 0.06) / 2000.0), 1e-6, "alone", k + 1);
    }
    ask(&t, "uniform", SLOT_CASCADE); /* the weight of slot k is at most 5^k */
    t.request.interval = INTERVAL_HOEFFDING;
    trial_run(&t);
    for (size_t k = 0; k < SLOTS; k++) {
        const estimate *slot = &t.results[0].slots[k].estimates[0];
        near(slot->high - slot->value, pow(5.0, 1.0 + (double)k) * sqrt(log(2.0 / 0.05) / 2000.0), 1e-3, "alone",
             k + 1);
    }
}

/* The confidence sequences of value and difference, fed by the test: an event is one round that counts as its copies.
 */
TEST_WITH(slots_by_cs, set_up, tear_down)
{
    auto_log_reader *log;
    log_event event;
    bool found;
    log_options usual = log_options_usual();
    confidence_sequence value = confidence_sequence_of_ips((value_range){0.0, 1.0, INFINITY});
    confidence_sequence gain = confidence_sequence_of_gain((value_range){0.0, 1.0, INFINITY});
    make_log(&(made_slots){.events = 1000, .unknown = 4, .seed = 5, .dropped = true});
    ok(log_open(log_path, &usual, &log, NULL));
    while (!log_next(log, &event, &found, NULL) && found) {
        double weights[SLOTS], rewards[SLOTS];
        size_t shown = 0;
        for (size_t k = 0; k < event.slot_count; k++) {
            const log_slot *slot = &event.slots[k];
            if (slot->skipped) continue;
            weights[shown] = 1.0 / (double)slot->count / slot->probabilities[0];
            rewards[shown++] = slot->reward;
        }
        confidence_sequence_add_ips_slots(&value, weights, rewards, shown, event.copies);
        confidence_sequence_add_gain_slots(&gain, weights, rewards, shown, event.copies);
    }
    play_interval(&t, INTERVAL_CS, 0.06);
    const estimate *ips = &t.results[0].estimates[0];
    interval expected = confidence_sequence_interval(&value, 0.06);
    near(ips->low, expected.low, 1e-12, "low", 0);
    near(ips->high, expected.high, 1e-12, "high", 0);
    expected = confidence_sequence_interval(&gain, 0.06);
    near(ips->gain_low, expected.low, 1e-12, "low of the difference", 0);
    near(ips->gain_high, expected.high, 1e-12, "high of the difference", 0);
}

/* What DM of the shared ridge model and MRDR find for `uniform`, if the models are asked in one call and taught in a
 * later one, and never a slot whose reward is not known. */
static void replay_models(double values[2])
{
    auto_log_reader *log;
    log_event event;
    bool found;
    log_options usual = log_options_usual();
    reward_model *models[2];
    candidate_setup setup = {.text = "", .dim = DIM};
    double count = 0.0;
    ok(log_open(log_path, &usual, &log, NULL));
    for (size_t m = 0; m < 2; m++) {
        ok(reward_model_create(REWARD_MODEL_RIDGE, &setup, &models[m], NULL));
        values[m] = 0.0;
    }
    while (!log_next(log, &event, &found, NULL) && found)
        for (size_t k = 0; k < event.slot_count; k++) {
            const log_slot *slot = &event.slots[k];
            if (slot->skipped) continue;
            float vectors[ACTIONS * DIM] = {0};
            double q[ACTIONS], pi = 1.0 / (double)slot->count, p = slot->probabilities[0];
            double weights[2] = {1.0, pi * pi * (1.0 - p) / (p * p)}; /* of MRDR's paper */
            for (size_t i = 0; i < slot->count; i++) vectors[i * DIM + slot->actions[i]] = 1;
            log_event one = {.count = slot->count, .reward = slot->reward, .copies = 1};
            one.arms = ee_arms_dense(vectors, slot->count, DIM); /* the chosen one is the first */
            candidate_round round = {.event = &one};
            for (size_t m = 0; m < 2; m++) {
                ok(reward_model_play(models[m], &round, 0.0, q, NULL));
                for (size_t i = 0; i < slot->count; i++) values[m] += pi * q[i];
                if (m) values[m] += pi / p * (slot->reward - q[0]);
                ok(reward_model_play(models[m], &round, weights[m], NULL, NULL));
            }
            count++;
        }
    for (size_t m = 0; m < 2; m++) {
        values[m] /= count;
        reward_model_free(models[m]);
    }
}

TEST_WITH(models_predict_a_slot_before_they_learn_it, set_up, tear_down)
{
    double expected[2];
    make_log(&(made_slots){.events = 200, .unknown = 4, .seed = 5});
    ask(&t, "uniform", SLOT_OWN);
    assert_true(estimator_request_parse("dm", &t.request.estimators[0]));
    assert_true(estimator_request_parse("mrdr", &t.request.estimators[1]));
    trial_run(&t);
    replay_models(expected);
    near(t.results[0].estimates[0].value, expected[0], 1e-12, "dm", 0);
    near(t.results[0].estimates[1].value, expected[1], 1e-12, "mrdr", 0);
}

/* Action 3 is the best in every slot, then 2, then 1: a policy finds that from the rewards of the slots. */
TEST_WITH(candidates_learn_every_slot, set_up, tear_down)
{
    static const evaluation_mode modes[] = {EVALUATION_PROGRESSIVE, EVALUATION_SPLIT, EVALUATION_CROSS};
    for (size_t named = 0; named < 2; named++) {
        make_log(&(made_slots){.events = test_long(1500, 3000), .named = named, .seed = 5});
        for (size_t mode = 0; mode < (named ? test_long(1, 3) : 3); mode++) {
            ask(&t, mode || named ? "linucb" : "linucb,eenet,uniform,arm:3", SLOT_OWN);
            t.request.mode = modes[mode];
            trial_run(&t);
            double best = truth_of((const size_t[]){3, 2, 1}, 0, false), error = 0.12;
            near(t.results[0].slots[0].estimates[0].value, best, error, "linucb", 1);
            if (!mode && !named) {
                near(t.results[1].slots[0].estimates[0].value, best, error, "eenet", 1);
                assert_true(t.results[0].estimates[0].value > t.results[2].estimates[0].value + 0.05);
                near(t.results[3].slots[0].estimates[0].value, best, error, "arm:3", 1);
            }
        }
    }
}

TEST_WITH(a_slot_without_a_reward_is_not_judged, set_up, tear_down)
{
    make_log(&(made_slots){.events = 1000, .unknown = 2, .seed = 5});
    ask(&t, "uniform,linucb", SLOT_CASCADE);
    trial_run(&t);
    assert_int_equal(t.results[0].slots[2].events, 500);
    assert_int_equal(t.results[0].log.events, 2500);
    near(t.results[0].slots[2].estimates[0].value, truth_of_uniform(2, false), 0.08, "uniform", 3);
    ask(&t, "uniform,linucb", SLOT_CASCADE);
    t.request.first_slot = true;
    trial_run(&t);
    assert_int_equal(t.results[0].log.events, 1000);
    assert_int_equal(t.results[0].slot_count, 0);
    near(t.results[0].estimates[0].value, truth_of_uniform(0, false), 0.08, "uniform", 1);
}

/* What it took still counts in the weights of later slots. */
TEST(a_slot_without_a_reward_counts_for_later_ones)
{
    static const double p[] = {0.5, 0.5}, pi[] = {0.8, 0.2};
    evaluation_request request = evaluation_usual();
    auto_free tally *sums = calloc(1, sizeof *sums);
    log_event event = {.count = 2, .probability = 0.5, .probabilities = p, .reward = 1.0, .copies = 1.0};
    tally_slot slots[] = {{{&event, pi, NULL, NULL, false}, true}, {{&event, pi, NULL, NULL, false}, false}};
    request.estimators[0].kind = ESTIMATOR_IPS;
    request.slots = SLOT_CASCADE;
    tally_start(sums, &request, (value_range){0.0, 1.0, INFINITY});
    ok(tally_add_slots(sums, slots, 2, NULL));
    near(sums->views[VIEW_PLAIN].sums.wr, 1.6 * 1.6, 1e-12, "cascade", 2);
    assert_int_equal(sums->views[VIEW_PLAIN].sums.events, 1);
    tally_release(sums);
}

/* Slots are kept with the evaluation and read again; another weighting is another question. */
TEST_WITH(slots_are_kept_and_read_again, set_up, tear_down)
{
    const char *kept = formatted("%s", folder_path(&here, "kept"));
    make_log(&(made_slots){.events = 200, .seed = 5});
    RELEASED_BY(trial_end) trial again = {0};
    ask(&t, "uniform", SLOT_CASCADE);
    t.request.folder = kept;
    trial_run(&t);
    ask(&again, "uniform", SLOT_CASCADE);
    again.request.folder = kept;
    trial_run(&again);
    assert_true(again.results[0].read && again.results[0].slot_count == SLOTS);
    assert_memory_equal(again.results[0].slots, t.results[0].slots, offsetof(slot_result, estimates));
    for (size_t k = 0; k < SLOTS; k++)
        for (size_t e = 0; e < 3; e++)
            near(again.results[0].slots[k].estimates[e].value, t.results[0].slots[k].estimates[e].value, 0, "kept", k);
    ask(&again, "uniform", SLOT_OWN);
    again.request.folder = kept;
    trial_run(&again);
    assert_false(again.results[0].read);
}

TEST_WITH(a_trained_winner_learned_all_slots, set_up, tear_down)
{
    bool finished = false;
    const char *path = formatted("%s", folder_path(&here, "winner.ee"));
    make_log(&(made_slots){.events = 300, .unknown = 3, .named = true, .seed = 5});
    ask(&t, "linucb", SLOT_CASCADE);
    ok(evaluation_warm(&t.request, 0, NULL, path, &finished, NULL));
    assert_true(finished);
    auto_bandit *bandit;
    ok(ee_bandit_load(path, NULL, &bandit, NULL));
    assert_int_equal(ee_bandit_info(bandit).rewards, 800);
}

static const char three[] = "first,uniform,linucb";

typedef struct fed_play {
    trial asked;
    evaluation_frame frame;
    evaluation_play play;
} fed_play;

static void fed_open(fed_play *self)
{
    static const size_t places[] = {0, 1, 2};
    ask(&self->asked, three, SLOT_CASCADE);
    self->asked.request.estimator_count = 2; /* without a reward model */
    self->frame = (evaluation_frame){.request = &self->asked.request, .features = "names=100", .reward_high = 1.0};
    ok(evaluation_play_open(&self->play, &self->frame, 0, places, 3, self->asked.results, NULL));
}

/* Feeds the log; after so many events it is saved, closed and loaded. */
static void feed(fed_play *self, uint64_t restart)
{
    auto_log_reader *log;
    log_event event;
    bool found, usable;
    auto_round *features;
    log_options usual = log_options_usual();
    fed_open(self);
    ok(log_open(log_path, &usual, &log, NULL));
    ok(ee_round_create(NULL, &features, NULL));
    for (uint64_t number = 0; !log_next(log, &event, &found, &last_error) && found; number++) {
        if (number == restart) {
            archive written = archive_writer(&last_error);
            evaluation_play_archive(&self->play, &written);
            evaluation_play_close(&self->play);
            fed_open(self);
            archive read = archive_reader(written.bytes, written.size, &last_error);
            evaluation_play_archive(&self->play, &read);
            if (written.status || read.status || archive_remaining(&read)) fail_msg("%s", last_error.message);
            memory_free(written.bytes);
        }
        ok(candidate_read_features(features, &event, &usable, &last_error));
        assert_true(usable);
        candidate_round round = {.event = &event, .number = number, .features = features};
        ok(evaluation_play_event(&self->play, &round, (event_use){.score = true, .learn = true}, NULL));
    }
}

/* The numbers are those of the log as a whole, also where they were saved and loaded on the way. */
TEST_WITH(slots_may_come_one_by_one, set_up, tear_down)
{
    static const uint64_t restarts[] = {UINT64_MAX, 1, 150};
    make_log(&(made_slots){.events = 300, .cascade = true, .named = true, .unknown = 3, .seed = 8});
    RELEASED_BY(trial_end) trial whole = {0};
    ask(&whole, three, SLOT_CASCADE);
    whole.request.estimator_count = 2;
    whole.request.features = "names=100";
    trial_run(&whole);
    for (size_t r = 0; r < 3; r++) {
        fed_play fed = {0};
        feed(&fed, restarts[r]);
        for (size_t c = 0; c < 3; c++)
            for (size_t e = 0; e < 2; e++) {
                const tally *sums = fed.play.players[c].sums;
                estimate found = tally_estimate(sums, e, whole.results[c].log.rewards, 0.05);
                const estimate *expected = &whole.results[c].estimates[e];
                assert_true(found.value == expected->value && found.low == expected->low);
                assert_true(found.gain_low == expected->gain_low && found.gain_high == expected->gain_high);
                for (size_t k = 0; k < SLOTS; k++) {
                    estimate slot = tally_estimate(sums->slots[k], e, (interval){0, 1}, 0.05);
                    assert_true(slot.value == whole.results[c].slots[k].estimates[e].value);
                    assert_true(slot.high == whole.results[c].slots[k].estimates[e].high);
                }
            }
        evaluation_play_close(&fed.play);
    }
}
