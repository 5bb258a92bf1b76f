/* Evaluations on logs whose truth is known, in all modes; what is kept of them, and that kills lose nothing. */
#define _GNU_SOURCE
#include "evaluate/evaluations/evaluation_warm.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/intervals/confidence_sequence.h"
#include "evaluation_trial.h"
#include "support_files.h"
#include "support_logs.h"

static char log_path[80];

/* Each test has a log in its folder. */
static int set_up(void **state)
{
    folder_enter(state);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "log.eelog"));
    return 0;
}

static trial t;

static void answer(const char *candidates, const char *estimators)
{
    trial_ask(&t, log_path, candidates, estimators);
    trial_run(&t);
}

static int tear_down(void **state)
{
    trial_end(&t);
    return folder_leave(state);
}

/* What the test itself adds up of the events while they are written. */
typedef struct truth {
    double rounds, reward, uniform_ips, squares;
    double arms[8]; /* expected reward of each */
    double uniform;
} truth;

static void add_truth(void *context, const environment_round *round, const log_event *event)
{
    truth *all = context;
    double mean = 0.0;
    for (size_t i = 0; i < event->count; i++) {
        mean += round->expected[i] / (double)event->count;
        if (i < 8) all->arms[i] += round->expected[i];
    }
    all->rounds++;
    all->reward += event->reward;
    all->uniform += mean;
    all->uniform_ips += event->reward / ((double)event->count * event->probability);
}

static const made_log usual = {.path = log_path,
                               .dataset = "synthetic:clicks,arms=5,dim=4",
                               .seed = 1,
                               .rounds = 2000,
                               .floor = 0.5,
                               .scale = 1.0};

/* Writes the usual log with these rounds of another data set. */
static truth log_of(const char *data, uint64_t seed, size_t rounds)
{
    truth all = {0};
    made_log how = usual;
    how.dataset = data;
    how.seed = seed;
    how.rounds = rounds;
    make_log(&how, add_truth, &all);
    return all;
}

TEST_WITH(test_plain_numbers, set_up, tear_down)
{
    truth all = log_of(usual.dataset, 1, usual.rounds);
    answer("logged,uniform", "ips,snips,dr");
    const estimate *logged = t.results[0].estimates, *uniform = t.results[1].estimates;
    double mean = all.reward / all.rounds;
    assert_true(t.results[0].log.reward == mean);
    for (size_t i = 0; i < 2; i++) {
        assert_true(logged[i].value == mean && logged[i].gain == 0.0);
    }
    assert_close(logged[2].value, mean, 1e-12);
    assert_close(uniform[0].value, all.uniform_ips / all.rounds, 1e-12);
    assert_close(uniform[0].gain, uniform[0].value - mean, 1e-15);
    for (size_t i = 0; i < 3; i++) {
        assert_true(uniform[i].low < all.uniform / all.rounds && all.uniform / all.rounds < uniform[i].high);
        assert_true(uniform[i].gain_low < uniform[i].gain && uniform[i].gain < uniform[i].gain_high);
    }
    assert_true(t.results[1].diagnosis.trusted);
    assert_int_equal(t.results[1].log.events, usual.rounds);
}

TEST_WITH(test_marks_and_weights, set_up, tear_down)
{
    make_log(&usual, NULL, NULL);
    answer("uniform,arm:3", "ips,clipped,dr,switch-dr");
    for (size_t k = 0; k < 2; k++) {
        const evaluation_result *result = &t.results[k];
        const evaluation_mark *last = &result->marks[result->mark_count - 1];
        assert_true(result->mark_count >= EVALUATION_MARKS / 2 && result->mark_count <= EVALUATION_MARKS);
        assert_int_equal(last->events, usual.rounds);
        assert_true(last->time == 1.7e9 + (double)usual.rounds - 1.0);
        for (size_t i = 0; i < 4; i++) {
            assert_close(last->values[i], result->estimates[i].value, 1e-12);
            assert_true(last->intervals[i].low == result->estimates[i].low);
        }
        /* An estimator whose lambda cuts nothing has IPS's marks. */
        if (result->estimates[1].lambda >= 10.0)
            for (size_t i = 0; i < result->mark_count; i++)
                assert_close(result->marks[i].values[1], result->marks[i].values[0], 1e-12);
        for (size_t i = 1; i < result->mark_count; i++)
            assert_true(result->marks[i].events > result->marks[i - 1].events);
        double weights = 0.0, overlap = 0.0;
        for (size_t i = 0; i < EVALUATION_WEIGHT_BINS; i++) weights += result->weights[i];
        for (size_t i = 0; i < EVALUATION_OVERLAP_BINS; i++) overlap += result->overlap[i];
        assert_close(weights, 1.0, 1e-12);
        assert_close(overlap, 1.0, 1e-12);
    }
    /* arm:3 is taken with probability 0.1, so its weights are 0 and 10. */
    assert_close(t.results[1].overlap[5], 1.0, 1e-12);
    assert_true(t.results[1].weights[0] > 0.8 && t.results[1].weights[EVALUATION_WEIGHT_ONE + 3] > 0.05);
}

/* Events that stand for several: in sums and in kept rounds alike, also where the first of them comes late. */
TEST_WITH(test_copies, set_up, tear_down)
{
    log_writer *log;
    double rounds = 0.0, reward = 0.0, weighted = 0.0, squares = 0.0, second = 0.0;
    confidence_sequence value = confidence_sequence_of_ips((value_range){0.0, 1.0, INFINITY});
    confidence_sequence gain = confidence_sequence_of_gain((value_range){0.0, 1.0, INFINITY});
    static const double p[] = {0.8, 0.2};
    static const float vectors[] = {1, 0, 0, 1};
    ok(log_create(log_path, 2, &log, NULL));
    for (size_t i = 0; i < 400; i++) {
        char id[16];
        size_t action = i % 5 == 0, length = (size_t)snprintf(id, sizeof id, "e%zu", i);
        log_event event = {.line = i + 1,
                           .id = {id, length},
                           .time = NAN,
                           .count = 2,
                           .action = action,
                           .probability = p[action],
                           .probabilities = p,
                           .reward = i % 3 == 0,
                           .copies = i > 150 && i % 2 ? 2.0 : 1.0,
                           .arms = ee_arms_dense(vectors, 2, 2)};
        rounds += event.copies;
        reward += event.copies * event.reward;
        weighted += event.copies * event.reward * 0.5 / p[action];
        squares += event.copies * event.copies;
        second += action ? event.copies : 0.0;
        confidence_sequence_add_ips(&value, 0.5 / p[action], event.reward, event.copies);
        confidence_sequence_add_gain(&gain, 0.5 / p[action], event.reward, event.copies);
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
    answer("logged,uniform", "ips,clipped");
    assert_close(t.results[0].log.rounds, rounds, 1e-12);
    assert_close(t.results[0].log.reward, reward / rounds, 1e-12);
    assert_close(t.results[0].estimates[0].value, reward / rounds, 1e-12);
    assert_close(t.results[1].estimates[0].value, weighted / rounds, 1e-12);
    assert_true(t.results[1].estimates[1].lambda >= 2.5); /* nothing is cut */
    assert_close(t.results[1].estimates[1].value, weighted / rounds, 1e-12);
    const evaluation_mark *last = &t.results[1].marks[t.results[1].mark_count - 1];
    assert_close(last->values[1], weighted / rounds, 1e-12);

    /* The intervals by cs, and the facts: each event counts as its copies. */
    const estimate *ips = &t.results[1].estimates[0];
    interval expected = confidence_sequence_interval(&value, 0.05);
    assert_true(ips->low == expected.low && ips->high == expected.high);
    expected = confidence_sequence_interval(&gain, 0.05);
    assert_true(ips->gain_low == expected.low && ips->gain_high == expected.high);
    const diagnosis *facts = &t.results[1].facts;
    double mean = (2.5 * second + 0.625 * (rounds - second)) / rounds;
    double deviation = sqrt((0.25 / 0.8 + 0.25 / 0.2 - 1.0) * squares) / rounds; /* by the propensities */
    assert_close(facts->mean_weight, mean, 1e-12);
    assert_close(facts->spread_weight, mean, 1e-12);
    assert_close(facts->mean_weight_error, deviation, 1e-12);
    assert_close(facts->spread_weight_error, deviation, 1e-12);
    assert_close(facts->unsupported, 0.0, 1e-12);
    assert_close(facts->spread_unsupported, 0.0, 1e-12);
    assert_close(t.results[1].weights[EVALUATION_WEIGHT_ONE + 1], second / rounds, 1e-12);
    assert_close(t.results[1].weights[EVALUATION_WEIGHT_ONE - 1], 1.0 - second / rounds, 1e-12);
    assert_close(t.results[1].overlap[6], 0.5, 1e-12); /* above 0.1, up to 0.2 */
    assert_close(t.results[1].overlap[8], 0.5, 1e-12); /* above 0.5, up to 0.9 */
}

/* DR's error is below that of IPS, over some logs. */
TEST_WITH(test_dr_beats_ips, set_up, tear_down)
{
    double ips = 0.0, dr = 0.0;
    for (uint64_t seed = 0; seed < test_long(4, 10); seed++) {
        truth all = log_of("synthetic:inner,dim=4,arms=5", seed, 1000);
        answer("arm:2", "ips,dr");
        double value = all.arms[2] / all.rounds;
        ips += pow(t.results[0].estimates[0].value - value, 2.0);
        dr += pow(t.results[0].estimates[1].value - value, 2.0);
    }
    assert_true(dr < 0.5 * ips);
}

typedef struct learner {
    truth all;
    ee_bandit *bandit;
    double value;
} learner;

/* The same policy on the same events, so that its probabilities are known. */
static void play_beside(void *context, const environment_round *round, const log_event *event)
{
    learner *self = context;
    double pi[16];
    add_truth(&self->all, round, event);
    ok(ee_bandit_probabilities(self->bandit, &round->arms, pi, NULL));
    for (size_t i = 0; i < event->count; i++) self->value += pi[i] * round->expected[i];
    ok(ee_bandit_learn_from(self->bandit, &round->arms, event->action, event->reward, NULL));
}

TEST_WITH(test_order, set_up, tear_down)
{
    learner beside = {0};
    ee_settings settings = {.policy = "linucb", .dim = 20};
    ok(ee_bandit_create(&settings, &beside.bandit, NULL));
    made_log how = usual;
    how.dataset = "synthetic:clicks,arms=5,dim=4,blocks=on";
    how.rounds = test_long(4000, 10000);
    how.floor = 0.8;
    make_log(&how, play_beside, &beside);
    answer("arm:1,arm:2,linucb,first,uniform", "dr");
    double rounds = beside.all.rounds;
    const double *arms = beside.all.arms;
    const double value[] = {arms[1], arms[2], beside.value, arms[0], beside.all.uniform};
    for (size_t i = 0; i < 5; i++) {
        const estimate *found = t.results[i].estimates;
        assert_true(found->low <= value[i] / rounds && value[i] / rounds <= found->high);
        for (size_t k = 0; k < 5; k++)
            if (value[i] > value[k]) assert_true(found->value > t.results[k].estimates[0].value);
    }
    assert_int_equal(evaluation_best(&t.request, t.results, true), 2);
    ee_bandit_free(beside.bandit);
}

TEST_WITH(test_wrong_probabilities, set_up, tear_down)
{
    for (int taken_only = 0; taken_only < 2; taken_only++) {
        made_log how = usual;
        how.path = folder_path(&here, "wrong.dsjson");
        how.scale = 0.7;
        how.taken_only = taken_only;
        snprintf(log_path, sizeof log_path, "%s", how.path);
        how.path = log_path;
        make_log(&how, NULL, NULL);
        answer("uniform,arm:2,logged", "ips,snips");
        assert_true(!t.results[0].diagnosis.trusted && !t.results[1].diagnosis.trusted);
        assert_true(t.results[2].diagnosis.trusted);
        assert_message_has(t.results[1].headline, "cannot show");
        assert_message_has(t.results[1].diagnosis.sentences[0].text, "The log's propensities look wrong");
        assert_close(t.results[0].facts.spread_weight, 1.0 / 0.7, 0.1);
    }
}

TEST_WITH(test_modes, set_up, tear_down)
{
    truth all = log_of("synthetic:inner,dim=4,arms=5", 1, 1000);
    static const evaluation_mode modes[] = {EVALUATION_PROGRESSIVE, EVALUATION_SPLIT, EVALUATION_SPLIT,
                                            EVALUATION_CROSS};
    static const double splits[] = {0.5, 0.5, 250, 0.5};
    static const uint64_t judged[] = {1000, 500, 750, 1000};
    for (size_t i = 0; i < 4; i++) {
        trial_ask(&t, log_path, "linucb,uniform", "dr,mrdr,snips");
        t.request.mode = modes[i];
        t.request.split = splits[i];
        t.request.folds = 3;
        t.request.model = i % 2 ? REWARD_MODEL_F1 : REWARD_MODEL_RIDGE;
        trial_run(&t);
        assert_int_equal(t.results[0].log.events, judged[i]);
        assert_int_equal(t.results[0].log.learned, 1000 - judged[i]);
        for (size_t k = 0; k < 3; k++) {
            const estimate *learned = &t.results[0].estimates[k], *uniform = &t.results[1].estimates[k];
            assert_true(learned->value > uniform->value + 0.1);
            assert_close(uniform->value, all.uniform / all.rounds, 0.05);
        }
    }
}

/* In folds nobody is judged on what he learned from. A linear model of more features than events knows these by heart:
 * were it judged on them, nothing would be left of the rewards for DR to correct, and its error would be small. */
TEST_WITH(test_folds_are_honest, set_up, tear_down)
{
    log_of("synthetic:inner,dim=100,arms=2,noise=1", 1, 60);
    trial_ask(&t, log_path, "uniform", "dm,dr");
    t.request.mode = EVALUATION_CROSS;
    trial_run(&t);
    assert_true(t.results[0].facts.robust_error > 0.09); /* 0.102; judged on what was learned, 0.077 */
}

TEST_WITH(test_every_interval, set_up, tear_down)
{
    truth all = log_of(usual.dataset, 1, 1000);
    for (int kind = 0; kind < INTERVAL_KINDS; kind++) {
        trial_ask(&t, log_path, "uniform", "ips,snips,dr,sndr,switch-dr,el,cressie-read,clipped");
        t.request.interval = (interval_kind)kind;
        trial_run(&t);
        const estimate *ips = &t.results[0].estimates[0];
        const interval *logged = &t.results[0].log.rewards;
        double value = all.uniform / all.rounds;
        assert_true(ips->low <= value && value <= ips->high);
        for (size_t i = 0; i < t.request.estimator_count; i++) {
            const estimate *one = &t.results[0].estimates[i];
            assert_close(one->value, value, 0.06);
            assert_true(one->gain_low < one->gain_high);
            assert_true(one->gain_low >= -logged->high && one->gain_high <= 1.0 - logged->low); /* what is possible */
            assert_true(one->gain_low < one->gain && one->gain < one->gain_high);
        }
        const evaluation_mark *last = &t.results[0].marks[t.results[0].mark_count - 1];
        assert_true(last->values[6] == t.results[0].estimates[6].value); /* by the same bound of the weights */
        assert_true(isnan(ips->lambda) && t.results[0].estimates[7].lambda >= 1.0);
    }
}

/* The pairs of a normal interval: that of a difference is narrower than the values' own, and right for SNIPS and DR. */
TEST_WITH(test_paired_difference, set_up, tear_down)
{
    make_log(&usual, NULL, NULL);
    trial_ask(&t, log_path, "uniform,logged", "ips,snips,dr");
    t.request.interval = INTERVAL_NORMAL;
    trial_run(&t);
    for (size_t i = 0; i < 3; i++) {
        const estimate *one = &t.results[0].estimates[i];
        assert_close(0.5 * (one->gain_low + one->gain_high), one->gain, 1e-9);
        const estimate *logged = &t.results[1].estimates[i];
        assert_close(logged->gain_low, 0.0, 1e-12);
        assert_close(logged->gain_high, 0.0, 1e-12);
    }
}

TEST_WITH(test_ranges, set_up, tear_down)
{
    log_of("synthetic:quadratic,dim=4,arms=5", 1, usual.rounds); /* rewards beyond 1 */
    answer("uniform,first", "ips");
    assert_true(t.results[0].log.range.reward_high > 1.0 && t.results[0].facts.seen_range);
    trial_ask(&t, log_path, "uniform", "ips");
    t.request.reward_low = 0.0;
    t.request.reward_high = 1.0;
    fails_saying(evaluation_run(&t.request, NULL, t.results, &last_error), EE_BAD_INPUT, "outside [0, 1]");
    trial_ask(&t, log_path, "uniform", "ips");
    t.request.reward_low = -1000.0;
    t.request.reward_high = 1000.0;
    trial_run(&t);
    assert_false(t.results[0].facts.seen_range);
}

/* Writes lines of dsjson: `count` times the first text, then the second once. */
static void write_dsjson(const char *usual_line, size_t count, const char *last)
{
    auto_free char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; i < count; i++) fprintf(stream, "%s\n", usual_line);
    fprintf(stream, "%s\n", last);
    fclose(stream);
    folder_write_text(&here, "log.dsjson", text);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "log.dsjson"));
}

/* The reward of any slot can be outside the range. */
TEST_WITH(test_range_of_slots, set_up, tear_down)
{
    static const char within[] =
        "{\"_outcomes\":[{\"_label_cost\":-1,\"_a\":[0,1],\"_p\":[0.5,0.5]},{\"_label_cost\":0,"
        "\"_a\":[1],\"_p\":[1]}],\"c\":{\"_multi\":[{\"i\":{\"a\":1}},{\"i\":{\"b\":1}}],"
        "\"_slots\":[{},{}]}}";
    static const char outside[] =
        "{\"_outcomes\":[{\"_label_cost\":-1,\"_a\":[0,1],\"_p\":[0.5,0.5]},{\"_label_cost\":-3,"
        "\"_a\":[1],\"_p\":[1]}],\"c\":{\"_multi\":[{\"i\":{\"a\":1}},{\"i\":{\"b\":1}}],"
        "\"_slots\":[{},{}]}}";
    write_dsjson(within, 40, outside);
    answer("uniform", "ips");
    assert_true(t.results[0].facts.seen_range && t.results[0].log.range.reward_high == 3.0);
    trial_ask(&t, log_path, "uniform", "ips");
    t.request.reward_low = 0.0;
    t.request.reward_high = 2.0;
    fails_saying(evaluation_run(&t.request, NULL, t.results, &last_error), EE_BAD_INPUT,
                 "line 41: reward 3 is outside [0, 2]");
}

/* An event whose features cannot be read is skipped, counted and reported. */
TEST_WITH(test_unreadable_event, set_up, tear_down)
{
    log_writer *log;
    static const double p[] = {0.5, 0.5};
    static const char *const contexts[] = {"{\"_multi\":[{\"i\":{\"a\":1}},{\"i\":{\"b\":1}}]}", "{\"_multi\":[{}]}"};
    ok(log_create(log_path, 0, &log, NULL));
    for (size_t i = 0; i < 41; i++) {
        const char *context = contexts[i == 40];
        log_event event = {.time = NAN, .count = 2, .probability = 0.5, .probabilities = p, .reward = 1, .copies = 1};
        event.context = (json_text){context, strlen(context)};
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
    answer("linucb", "ips");
    const evaluation_result *found = &t.results[0];
    assert_int_equal(found->log.events, 40);
    assert_int_equal(found->log.passed, 1);
    assert_close(found->facts.bad_lines, 1.0 / 41.0, 1e-12);
}

TEST_WITH(test_failures, set_up, tear_down)
{
    folder_write_text(&here, "few.csv", "0.2,0.2,0.2,0.2,0.2\n");
    make_log(&usual, NULL, NULL);
    trial_ask(&t, log_path, formatted("file:%.60s,uniform,model:missing", folder_path(&here, "few.csv")), "ips");
    ok(evaluation_run(&t.request, NULL, t.results, &last_error));
    assert_int_equal(t.results[0].failure.status, EE_BAD_INPUT);
    assert_message_has(t.results[0].failure.message, "row 2: missing");
    assert_true(!t.results[0].finished && t.results[1].finished);
    assert_int_equal(t.results[2].failure.status, EE_NO_FILE);
}

static void write_rows(const char *name, const json_t *rows)
{
    auto_free char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t k = 0; k < json_array_size(json_array_get(rows, i)); k++)
            fprintf(stream, "%s%.17g%s", k ? "," : "", json_number_value(json_array_get(json_array_get(rows, i), k)),
                    k + 1 == json_array_size(json_array_get(rows, i)) ? "\n" : "");
    fclose(stream);
    folder_write_text(&here, name, text);
}

TEST_WITH(test_stored_numbers, set_up, tear_down)
{
    json_auto_t *golden = golden_load("ope/synthetic_binary.json");
    size_t count;
    auto_free double *action = golden_doubles(golden_member(golden, "action"), &count);
    auto_free double *reward = golden_doubles(golden_member(golden, "reward"), NULL);
    auto_free double *p = golden_doubles(golden_member(golden, "pscore"), NULL);
    auto_free char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "action,probability,reward\n");
    for (size_t i = 0; i < count; i++) fprintf(stream, "%.0f,%.17g,%.17g\n", action[i], p[i], reward[i]);
    fclose(stream);
    folder_write_text(&here, "log.csv", text);
    write_rows("soft.csv", golden_member(golden, "soft"));
    snprintf(log_path, sizeof log_path, "csv:%s,actions=10", folder_path(&here, "log.csv"));
    answer(formatted("file:%s,uniform", folder_path(&here, "soft.csv")), "ips,snips");
    static const char *const policies[] = {"soft", "uniform"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *expected = golden_member(golden_member(golden, "expect"), policies[i]);
        assert_close(t.results[i].estimates[0].value, json_number_value(golden_member(expected, "ipw")), 1e-9);
        assert_close(t.results[i].estimates[1].value, json_number_value(golden_member(expected, "snipw")), 1e-9);
        const json_t *weights = golden_member(expected, "weights");
        assert_close(t.results[i].facts.effective, json_number_value(golden_member(weights, "effective_sample_size")),
                     1e-9);
    }
}

/* The order that is assumed without names is a sentence. */
TEST_WITH(test_assumed_columns, set_up, tear_down)
{
    auto_free char *rows = NULL;
    size_t size, said = 0;
    make_log(&usual, NULL, NULL);
    FILE *stream = open_memstream(&rows, &size);
    for (uint64_t i = 0; i < usual.rounds; i++) fprintf(stream, "0.2,0.2,0.2,0.2,0.2\n");
    fclose(stream);
    folder_write_text(&here, "pi.csv", rows);
    answer(formatted("file:%s,uniform", folder_path(&here, "pi.csv")), "ips");
    assert_true(t.results[0].estimates[0].value == t.results[1].estimates[0].value);
    for (size_t k = 0; k < t.results[0].diagnosis.count; k++)
        said += strstr(t.results[0].diagnosis.sentences[k].text, "its columns are taken as actions 0, 1, 2,") != NULL;
    assert_int_equal(said, 1);
    assert_true(t.results[0].diagnosis.trusted);
    assert_null(t.results[0].facts.assumption);
}

TEST(test_headline_rule)
{
    static const struct {
        const char *requested, *chosen; /* NULL: none */
    } cases[] = {
        {"dr,snips", "dr"},
        {"snips,dr", "dr"},
        {"dm,snips,dr", "dr"},
        {"mrdr,sndr,dr", "dr"},
        {"dm,mrdr,sndr", "sndr"},
        {"snips,mrdr", "mrdr"},
        {"ips,snips", "snips"},
        {"dm,ips,clipped-dr,dros", "ips"},
        {"sg-ips,clipped,sg-dr,clipped-dr,switch-dr,dros", "dros"},
        {"sg-ips,clipped,sg-dr,clipped-dr,switch-dr", "switch-dr"},
        {"sg-ips,clipped,sg-dr,clipped-dr", "clipped-dr"},
        {"sg-ips,clipped,sg-dr", "sg-dr"},
        {"replay,cressie-read,el,sg-ips,clipped", "clipped"},
        {"replay,cressie-read,el,sg-ips", "sg-ips"},
        {"replay,cressie-read,el", "el"},
        {"replay,cressie-read", "cressie-read"},
        {"dm,replay", "replay"},
        {"dm", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trial_ask(&t, log_path, "uniform", cases[i].requested);
        size_t place = evaluation_headline_estimator(&t.request);
        assert_int_equal(place == t.request.estimator_count, !cases[i].chosen);
        if (cases[i].chosen) assert_string_equal(estimator_request_name(t.request.estimators[place]), cases[i].chosen);
    }
    for (size_t kind = 0; kind < ESTIMATOR_KINDS; kind++) { /* dm is the only one that never decides */
        evaluation_request one = {.estimators = {{(estimator_kind)kind, false}}, .estimator_count = 1};
        assert_int_equal(evaluation_headline_estimator(&one), kind == ESTIMATOR_DM);
    }
}

/* The best candidate is the best by that estimator, not by the first one; dm alone has none. */
TEST(test_best_by_rule)
{
    trial_ask(&t, log_path, "uniform,first,linucb", "dm,snips");
    static const double values[3][2] = {{0.9, 0.2}, {0.1, 0.4}, {0.2, 0.3}};
    for (size_t i = 0; i < 3; i++) {
        t.results[i].finished = t.results[i].diagnosis.trusted = true;
        for (size_t k = 0; k < 2; k++) t.results[i].estimates[k].value = values[i][k];
    }
    assert_int_equal(evaluation_best(&t.request, t.results, false), 1);
    assert_int_equal(evaluation_best(&t.request, t.results, true), 2);
    t.results[1].diagnosis.trusted = false;
    assert_int_equal(evaluation_best(&t.request, t.results, false), 2);
    t.request.estimator_count = 1;
    assert_int_equal(evaluation_best(&t.request, t.results, false), 3);
}

TEST_WITH(test_headline_names_its_estimator, set_up, tear_down)
{
    make_log(&usual, NULL, NULL);
    answer("linucb", "dm,snips,dr");
    assert_int_equal(t.results[0].headline_estimator, 2);
    assert_message_has(t.results[0].headline, "than the logging policy (DR, 95% interval");
    answer("linucb,logged", "dm");
    assert_int_equal(t.results[0].headline_estimator, 1);
    assert_false(t.results[0].diagnosis.trusted);
    assert_string_equal(t.results[0].headline, "dm alone cannot show what linucb would have earned; add dr or snips.");
    assert_true(t.results[1].diagnosis.trusted);
    assert_message_has(t.results[1].headline, "logged is the logging policy");
}

/* Replaces a part of every stored line. */
static void edit_lines(const char *place, const char *from, const char *to)
{
    char path[400], *edited = NULL;
    auto_memory uint8_t *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/evaluations.jsonl", place);
    ok(file_read(path, &bytes, &size, NULL));
    FILE *stream = open_memstream(&edited, &size);
    const char *at = (const char *)bytes, *found;
    assert_non_null(strstr(at, from));
    for (; (found = strstr(at, from)); at = found + strlen(from)) fprintf(stream, "%.*s%s", (int)(found - at), at, to);
    fputs(at, stream);
    fclose(stream);
    ok(file_write(path, edited, size, NULL));
    free(edited);
}

/* Evaluates again in a folder; whether the stored result was taken. */
static bool is_reused(const char *place, const char *estimators, size_t expected)
{
    trial_ask(&t, log_path, "linucb", estimators);
    t.request.folder = place;
    trial_run(&t);
    bool read = t.results[0].read;
    assert_int_equal(t.results[0].headline_estimator, expected);
    return read;
}

/* Lines from before the rule are by the first estimator: they are read, and taken if the rule chooses the same. */
TEST_WITH(test_stored_headlines, set_up, tear_down)
{
    static const struct {
        const char *estimators, *member;
        size_t place;
        bool old_is_reused;
    } cases[] = {{"dr,snips", ",\"headline_estimator\":\"dr\"", 0, true},
                 {"dm,dr", ",\"headline_estimator\":\"dr\"", 1, false},
                 {"dm", ",\"headline_estimator\":null", 1, false}};
    log_of(usual.dataset, 1, 300);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char place[96];
        RELEASED_BY(evaluations_release) stored_evaluations stored = {0};
        snprintf(place, sizeof place, "%s-%zu", folder_path(&here, "kept"), i);
        assert_false(is_reused(place, cases[i].estimators, cases[i].place));
        assert_true(is_reused(place, cases[i].estimators, cases[i].place));
        edit_lines(place, cases[i].member, "");
        ok(evaluations_read(place, &stored, NULL));
        assert_int_equal(stored.rows[0].result.headline_estimator, 0);
        assert_int_equal(evaluations_lead(&stored.rows[0]), i == 1 ? 1 : 0);
        evaluations_release(&stored);
        assert_int_equal(is_reused(place, cases[i].estimators, cases[i].place), cases[i].old_is_reused);
        edit_lines(place, ",\"marks\":", ",\"headline_estimator\":\"other\",\"marks\":");
        stored = (stored_evaluations){0};
        fails_saying(evaluations_read(place, &stored, &last_error), EE_BAD_INPUT,
                     "expected one of the estimators, or null in 'headline_estimator'");
    }
}

/* A CSV log, row by row. */
static void write_csv(size_t rows, void (*row)(size_t i, FILE *into))
{
    auto_free char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "action,probability,reward\n");
    for (size_t i = 0; i < rows; i++) row(i, stream);
    fclose(stream);
    folder_write_text(&here, "log.csv", text);
    snprintf(log_path, sizeof log_path, "csv:%s", folder_path(&here, "log.csv"));
}

/* b is always right and is shown in nine events of ten, though the log says that it draws fairly. All weights of random
 * choices are 1, so their mean is no warning; but SNIPS finds 0.9, and DR 0.5. */
static void write_unfair_row(size_t i, FILE *into)
{
    fprintf(into, "%s,0.5,%d\n", i % 10 ? "b" : "a", i % 10 != 0);
}

TEST_WITH(test_disagreement, set_up, tear_down)
{
    write_csv(2000, write_unfair_row);
    answer("uniform", "snips,dr");
    const evaluation_result *found = &t.results[0];
    assert_close(found->estimates[0].value, 0.9, 1e-12);
    assert_close(found->estimates[1].value, 0.5, 0.02);
    assert_false(found->diagnosis.trusted);
    assert_string_equal(found->facts.pair[0], "snips");
    assert_string_equal(found->facts.pair[1], "dr");
    assert_true(found->facts.pair_values[0] == found->estimates[0].value);
    assert_true(found->facts.pair_values[1] == found->estimates[1].value);
    assert_string_equal(found->headline, "This log cannot show what uniform would have earned.");
    assert_false(found->facts.pair_apart); /* with cs both have the interval of IPS */
    trial_ask(&t, log_path, "uniform", "snips,dr");
    t.request.interval = INTERVAL_NORMAL;
    trial_run(&t);
    assert_true(t.results[0].facts.pair_apart);
    answer("uniform,arm:b", "snips,replay");
    assert_null(t.results[0].facts.pair[0]);
    assert_true(isnan(t.results[0].estimates[1].value)); /* replay is for deterministic candidates */
    assert_close(t.results[1].estimates[1].value, 1.0, 1e-12);
}

/* "rare" is shown five times in 2000, each time with a reward of 1: its weights average 1, and its value is 1. */
static void write_rare_row(size_t i, FILE *into)
{
    bool rare = i % 400 == 7;
    fprintf(into, "%s,%s,%d\n", rare ? "rare" : "usual", rare ? "0.0025" : "0.9975", rare || i % 100 == 0);
}

TEST_WITH(test_few_effective_events, set_up, tear_down)
{
    for (int kind = 0; kind < 2; kind++) {
        write_csv(2000, write_rare_row);
        trial_ask(&t, log_path, "arm:rare,arm:usual", "snips,ips");
        t.request.interval = kind ? INTERVAL_NORMAL : INTERVAL_CS;
        trial_run(&t);
        assert_close(t.results[0].estimates[0].value, 1.0, 1e-12);
        assert_close(t.results[0].facts.effective, 5.0, 1e-9);
        assert_close(t.results[0].facts.mean_weight, 1.0, 1e-9);
        assert_false(t.results[0].diagnosis.trusted);
        assert_string_equal(t.results[0].headline, "This log cannot show what arm:rare would have earned.");
        assert_true(t.results[1].diagnosis.trusted);
        assert_int_equal(evaluation_best(&t.request, t.results, false), 1);
    }
}

/* All but the seconds, which are the time's own. */
static char *read_untimed(const char *path)
{
    uint8_t *bytes;
    size_t size;
    ok(file_read(path, &bytes, &size, NULL));
    char *text = (char *)bytes, *from = text, *to = text, *found;
    static const char name[] = "\"seconds\":";
    while ((found = strstr(from, name))) {
        size_t length = (size_t)(found - from) + strlen(name);
        memmove(to, from, length);
        to += length;
        from = found + strlen(name);
        from += strcspn(from, ",");
    }
    memmove(to, from, strlen(from) + 1);
    return text;
}

static void ask_in_folder(trial *self, const char *place, size_t threads)
{
    trial_ask(self, log_path, "linucb,uniform,first,arm:2,lints", "dr,snips");
    self->request.folder = place;
    self->request.threads = threads;
}

/* "FOLDER/NAME" in text. */
static char *within(char *text, size_t capacity, const char *place, const char *name)
{
    snprintf(text, capacity, "%s/%s", place, name);
    return text;
}

TEST_WITH(test_folder_and_threads, set_up, tear_down)
{
    char places[3][96], path[400], *lines[3];
    log_of(usual.dataset, 1, 300);
    for (size_t i = 0; i < 3; i++) {
        snprintf(places[i], sizeof places[i], "%s-%zu", folder_path(&here, "kept"), i);
        ask_in_folder(&t, places[i], i + 1);
        trial_run(&t);
        lines[i] = read_untimed(within(path, sizeof path, places[i], "evaluations.jsonl"));
    }
    assert_string_equal(lines[0], lines[1]);
    assert_string_equal(lines[0], lines[2]);

    /* Again: all is read, nothing is written, the numbers are the same. */
    RELEASED_BY(trial_end) trial first = {0}, again = {0};
    ask_in_folder(&first, NULL, 1);
    trial_run(&first);
    ask_in_folder(&again, places[0], 2);
    trial_run(&again);
    for (size_t i = 0; i < 5; i++) {
        assert_true(again.results[i].read && !first.results[i].read);
        assert_true(again.results[i].estimates[0].value == first.results[i].estimates[0].value);
        assert_true(again.results[i].estimates[1].gain_low == first.results[i].estimates[1].gain_low);
        assert_string_equal(again.results[i].headline, first.results[i].headline);
        assert_int_equal(again.results[i].mark_count, first.results[i].mark_count);
    }
    trial_end(&again);

    /* Another question is another evaluation. */
    ask_in_folder(&again, places[0], 1);
    again.request.mode = EVALUATION_SPLIT;
    trial_run(&again);
    for (size_t i = 0; i < 5; i++) assert_false(again.results[i].read);
    trial_end(&again);
    for (size_t i = 0; i < 3; i++) memory_free(lines[i]);
}

/* Ends the program when as many candidates as the context says have ended. */
static void die_at(void *context, size_t place, const evaluation_result *result)
{
    (void)result;
    if (place + 1 == *(const size_t *)context) _exit(77);
}

TEST_WITH(test_killed, set_up, tear_down)
{
    char whole[96], killed[96], path[400];
    log_of(usual.dataset, 1, 200);
    snprintf(whole, sizeof whole, "%s", folder_path(&here, "whole"));
    snprintf(killed, sizeof killed, "%s", folder_path(&here, "killed"));
    ask_in_folder(&t, whole, 1);
    trial_run(&t);
    auto_memory char *expected = read_untimed(within(path, sizeof path, whole, "evaluations.jsonl"));
    for (size_t after = 1; after <= 5; after += 2) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            evaluation_watch watch = {.ended = die_at, .context = &after};
            ask_in_folder(&t, killed, 1);
            evaluation_run(&t.request, &watch, t.results, NULL);
            _exit(0);
        }
        int code;
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_int_equal(WEXITSTATUS(code), 77);
        /* A line that was cut in the middle. */
        FILE *file = fopen(within(path, sizeof path, killed, "evaluations.jsonl"), "a");
        fprintf(file, "{\"log\":\"half");
        fclose(file);
        ask_in_folder(&t, killed, 2);
        trial_run(&t);
        for (size_t i = 0; i < 5; i++) assert_int_equal(t.results[i].read, i < after);
        auto_memory char *got = read_untimed(path);
        assert_string_equal(got, expected);
        assert_int_equal(remove(path), 0);
    }
}

TEST_WITH(test_wrong_lines, set_up, tear_down)
{
    static const struct {
        const char *line, *message;
    } wrong[] = {
        {"{\"log\":1}\n", "evaluations.jsonl: line 1: expected text in 'log'"},
        {"[]\n", "line 1, byte 1: expected {"},
        {"{\n", "line 1: invalid JSON at byte "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        RELEASED_BY(evaluations_release) stored_evaluations stored = {0};
        folder_write_text(&here, "evaluations.jsonl", wrong[i].line);
        fails_saying(evaluations_read(here.path, &stored, &last_error), EE_BAD_INPUT, wrong[i].message);
    }
}

/* What a bandit earns a round, in rounds of the usual log's world from number first on. */
static double play_rounds(ee_bandit *bandit, const char *text, size_t first, size_t rounds)
{
    environment_round round;
    double value = 0.0;
    auto_dataset *data = open_data(text);
    auto_environment *world = start_rounds(data, usual.seed);
    for (size_t i = 0; i < first + rounds; i++) {
        ee_decision decision;
        ok(environment_next(world, &round, NULL));
        if (i < first) continue;
        ok(ee_bandit_decide(bandit, &round.arms, &decision, NULL, NULL, NULL));
        ok(ee_bandit_learn(bandit, decision.id, round.rewards[decision.arm], NULL));
        value += round.expected[decision.arm];
    }
    return value / (double)rounds;
}

/* Warmed by logged events, it begins where one is that has decided as many itself. */
TEST_WITH(test_warm, set_up, tear_down)
{
    enum { LOGGED = 1000, FIRST = 200 };
    static const char text[] = "synthetic:inner,dim=10,arms=10";
    made_log how = usual;
    how.dataset = text;
    how.rounds = LOGGED;
    how.floor = 0.9;
    make_log(&how, NULL, NULL);
    const char *path = formatted("%s", folder_path(&here, "warm.ee"));
    bool finished;
    ee_bandit *warm, *cold, *trained;
    trial_ask(&t, log_path, "eenet", "snips");
    ok(evaluation_warm(&t.request, 0, NULL, path, &finished, NULL));
    assert_true(finished);
    ok(ee_bandit_load(path, NULL, &warm, NULL));
    ee_settings settings = {.policy = "eenet", .dim = 10};
    ok(ee_bandit_create(&settings, &cold, NULL));
    ok(ee_bandit_create(&settings, &trained, NULL));
    play_rounds(trained, text, 0, LOGGED);
    double at_once = play_rounds(warm, text, LOGGED, FIRST), from_nothing = play_rounds(cold, text, LOGGED, FIRST);
    double later = play_rounds(trained, text, LOGGED, FIRST);
    assert_true(at_once > from_nothing && at_once > later - 0.02);
    ee_bandit_free(warm);
    ee_bandit_free(cold);
    ee_bandit_free(trained);
    trial_ask(&t, log_path, "uniform", "snips");
    fails_saying(evaluation_warm(&t.request, 0, NULL, path, &finished, &last_error), EE_BAD_OPTION,
                 "'uniform' cannot be trained");
}
