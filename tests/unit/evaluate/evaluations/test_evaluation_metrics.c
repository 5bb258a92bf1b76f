/* Logs with groups, repeats and metrics whose truth is known: what is not randomised would bias the estimates and is
 * left out; metrics are estimated exactly as rewards are; the Pareto front is that of a search through all pairs. */

#include "base/random.h"
#include "data/support_sets.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/evaluations/pareto.h"
#include "evaluation_trial.h"
#include "support_files.h"

enum { ACTIONS = 3, CANDIDATES = 4 };

static const double chances[ACTIONS] = {0.1, 0.2, 0.4};
static const double drawn[ACTIONS] = {0.5, 0.3, 0.2};

/* How a log is made. A person is good or bad: good ones always earn, bad ones by the chances of the actions. */
typedef struct made_log {
    size_t events;
    size_t control; /* one of so many decisions is of the control group, whose persons are good; 0: none */
    size_t repeats; /* a decision that earned is repeated so often, and earns again; 0: never */
    bool marked;    /* groups and repeats are in the log */
    bool uniform;   /* the baseline draws */
    bool measured;  /* the log has the metrics cost and seen, the latter not in every event */
    bool swapped;   /* the cost is in the reward column */
} made_log;

static size_t draw_action(random_stream *draws)
{
    double u = random_unit(draws);
    return u < drawn[0] ? 0 : u < drawn[0] + drawn[1] ? 1 : 2;
}

static void write_event(log_writer *log, log_event *event, size_t number)
{
    static const float vectors[ACTIONS * 2] = {1, 0, 0, 1, 0.5, 0.5};
    char id[24];
    event->id = (json_text){id, (size_t)snprintf(id, sizeof id, "d%zu", number)};
    event->count = ACTIONS;
    event->time = NAN;
    event->copies = 1;
    event->probabilities = drawn;
    event->probability = drawn[event->action];
    event->arms = ee_arms_dense(vectors, ACTIONS, 2);
    ok(log_write(log, event, NULL));
}

static const char *make_log(const char *name, const made_log *how)
{
    log_writer *log;
    const char *path = folder_path(&here, name);
    random_stream draws = random_named(3, "log"), costs = random_named(3, "costs");
    size_t number = 0;
    ok(log_create(path, 2, &log, NULL));
    for (size_t i = 0; i < how->events; i++) {
        bool control = how->control && i % how->control == 0;
        log_metric metrics[2] = {{{"cost", 4}, 0}, {{"seen", 4}, 0}};
        log_event event = {.action = control ? 0 : draw_action(&draws)};
        event.reward = control || random_unit(&draws) < chances[event.action];
        metrics[0].value = 10 * random_unit(&costs) + (double)event.action;
        metrics[1].value = random_unit(&costs);
        if (how->measured) event.metrics = metrics;
        if (how->measured) event.metric_count = i % 5 ? 2 : 1;
        if (how->swapped) event.reward = metrics[0].value;
        if (control && how->marked)
            event.guard = (log_guard){LOG_GROUP_CONTROL, .treated_share = 0.5, .uniform = how->uniform};
        write_event(log, &event, number++);
        if (how->marked) event.guard.repeats = (json_text){"d0", 2};
        for (size_t k = 0; k < how->repeats && event.reward > 0; k++) write_event(log, &event, number++);
    }
    ok(log_end(log, true, NULL));
    return path;
}

static void evaluate(trial *t, const char *path, const char *metrics, evaluation_mode mode)
{
    trial_ask(t, path, "uniform,arm:0,arm:2,logged", "ips,snips,dr,mrdr,switch-dr");
    t->request.mode = mode;
    t->request.threads = 2;
    t->request.interval = INTERVAL_NORMAL;
    ok(evaluation_metrics_parse(metrics, &t->request, NULL));
    trial_run(t);
    for (size_t i = 0; i < CANDIDATES; i++) assert_true(t->results[i].finished);
}

/* The error of a candidate's DR in its standard errors. */
static double error_of(const evaluation_result *of, double truth)
{
    const estimate *dr = &of->estimates[2];
    double deviation = (dr->high - dr->low) / (2 * 1.959964);
    return fabs(dr->value - truth) / deviation;
}

/* Evaluates arm 2 on the log with and without its marks. */
static void compare(const made_log *how, uint64_t left_out, const char *sentence)
{
    RELEASED_BY(trial_end) trial t = {0};
    made_log bare = *how;
    char text[LOG_LEFT_OUT_TEXT];
    bare.marked = false;
    evaluate(&t, make_log("bare.eelog", &bare), NULL, EVALUATION_PROGRESSIVE);
    assert_int_equal(log_left_out_sum(&t.results[0].log.left_out), 0);
    assert_true(error_of(&t.results[1], chances[0]) > 10);
    assert_true(fabs(t.results[3].log.reward - 0.19) > 0.05);
    evaluate(&t, make_log("marked.eelog", how), NULL, EVALUATION_PROGRESSIVE);
    const evaluated_log *log = &t.results[0].log;
    assert_int_equal(log_left_out_sum(&log->left_out), left_out);
    log_left_out_format(&log->left_out, log->events, text);
    if (sentence) assert_string_equal(text, sentence);
    assert_true(error_of(&t.results[1], chances[0]) < 3 && error_of(&t.results[2], chances[2]) < 3);
    assert_true(fabs(log->reward - 0.19) < 0.02); /* 0.5 * 0.1 + 0.3 * 0.2 + 0.2 * 0.4 */
}

TEST_IN_FOLDER(control_decisions_would_bias_and_are_left_out)
{
    made_log how = {.events = 8000, .control = 4, .marked = true};
    compare(&how, 2000, "2000 of 8000 decisions were not randomised (2000 of the control group) and were left out.");
}

TEST_IN_FOLDER(repeats_would_bias_and_are_left_out)
{
    made_log how = {.events = 8000, .repeats = 2, .marked = true};
    RELEASED_BY(trial_end) trial t = {0};
    evaluate(&t, make_log("marked.eelog", &how), NULL, EVALUATION_PROGRESSIVE);
    uint64_t repeats = t.results[0].log.left_out.repeats;
    assert_true(repeats > 2000);
    compare(&how, repeats, NULL);
}

/* A baseline that draws is randomised, so its decisions count. */
TEST_IN_FOLDER(decisions_of_a_uniform_baseline_count)
{
    made_log how = {.events = 400, .control = 4, .marked = true, .uniform = true};
    RELEASED_BY(trial_end) trial t = {0};
    evaluate(&t, make_log("log.eelog", &how), NULL, EVALUATION_PROGRESSIVE);
    assert_int_equal(t.results[0].log.events, 400);
    assert_int_equal(log_left_out_sum(&t.results[0].log.left_out), 0);
}

/* In every mode, a metric has exactly the estimates that it would have as the reward. */
TEST_IN_FOLDER(a_metric_is_estimated_as_the_reward_would_be)
{
    made_log how = {.events = 1500, .measured = true}, swapped = how;
    swapped.swapped = true;
    for (evaluation_mode mode = EVALUATION_PROGRESSIVE; mode <= EVALUATION_CROSS; mode++) {
        RELEASED_BY(trial_end) trial metric = {0}, reward = {0};
        evaluate(&metric, make_log("metric.eelog", &how), NULL, mode);
        evaluate(&reward, make_log("reward.eelog", &swapped), "none", mode);
        for (size_t i = 0; i < CANDIDATES; i++) {
            const evaluation_result *one = &metric.results[i], *other = &reward.results[i];
            assert_int_equal(one->metric_count, 2);
            assert_int_equal(other->metric_count, 0);
            assert_string_equal(one->metrics[0].name, "cost");
            assert_memory_equal(one->metrics[0].estimates, other->estimates, 5 * sizeof(estimate));
            assert_memory_equal(&one->metrics[0].logged, &other->log.reward, sizeof(double));
            assert_memory_equal(&one->metrics[0].logged_interval, &other->log.rewards, sizeof(interval));
            assert_true(one->metrics[1].events < one->log.events);
        }
    }
}

/* The numbers of the reward do not depend on the metrics. */
TEST_IN_FOLDER(metrics_leave_the_reward_alone)
{
    made_log how = {.events = 800, .measured = true};
    RELEASED_BY(trial_end) trial with = {0}, without = {0};
    const char *path = make_log("log.eelog", &how);
    const char *copy = formatted("%s", path);
    evaluate(&with, copy, "-cost=-5:20", EVALUATION_CROSS);
    evaluate(&without, copy, "none", EVALUATION_CROSS);
    for (size_t i = 0; i < CANDIDATES; i++)
        assert_memory_equal(with.results[i].estimates, without.results[i].estimates, 5 * sizeof(estimate));
    assert_true(with.results[0].metrics[0].smaller_better);
    assert_true(with.results[0].metrics[0].range.reward_low == -5);

    /* A stored line has them too. */
    auto_memory char *line;
    size_t length;
    RELEASED_BY(evaluations_release) stored_evaluations stored = {0};
    ok(evaluations_format(&with.request, &with.results[1], NULL, &line, &length, NULL));
    ok(memory_create(NULL, &stored.rows, 1, sizeof *stored.rows, NULL));
    stored.count = 1;
    ok(evaluations_parse(line, length - 1, 1, &stored.rows[0], NULL));
    const metric_result *read = stored.rows[0].result.metrics;
    assert_int_equal(stored.rows[0].result.metric_count, 1);
    assert_true(read->smaller_better && read->events == 800);
    assert_true(read->estimates[2].value == with.results[1].metrics[0].estimates[2].value);
}

static ee_status run_with(const char *path, const char *metrics, ee_error *error)
{
    RELEASED_BY(trial_end) trial one = {0};
    trial_ask(&one, path, "uniform", "dr,snips");
    ee_status status = evaluation_metrics_parse(metrics, &one.request, error);
    return status ? status : evaluation_run(&one.request, NULL, one.results, error);
}

TEST_IN_FOLDER(wrong_metrics_are_refused)
{
    made_log how = {.events = 50, .measured = true};
    const char *path = formatted("%s", make_log("log.eelog", &how));
    static const struct {
        const char *metrics, *message;
    } wrong[] = {
        {"refund", "no evaluated event has the metric 'refund'"},
        {"refund=0:1", "no evaluated event has the metric 'refund'"},
        {"cost=0:1", "outside its range [0, 1]"},
        {"cost=1:0", "expected cost=LOW:HIGH with LOW below HIGH"},
        {"cost,-cost", "'cost' is given twice"},
        {"cost,", "expected a name of 1 to 63 bytes"},
        {"a,b,c,d,e,f,g,h,i", "expected at most 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(run_with(path, wrong[i].metrics, &last_error), EE_OK);
        if (!strstr(last_error.message, wrong[i].message)) fail_msg("%s: %s", wrong[i].metrics, last_error.message);
    }
}

static bool beats(const evaluation_result *a, const evaluation_result *b)
{
    double x[3] = {a->estimates[0].value, a->metrics[0].estimates[0].value, -a->metrics[1].estimates[0].value};
    double y[3] = {b->estimates[0].value, b->metrics[0].estimates[0].value, -b->metrics[1].estimates[0].value};
    bool all = x[0] >= y[0] && x[1] >= y[1] && x[2] >= y[2];
    return all && (x[0] > y[0] || x[1] > y[1] || x[2] > y[2]);
}

TEST(the_front_is_described)
{
    const struct {
        pareto_place place;
        const char *words;
    } cases[] = {{{.compared = false}, "-"},
                 {{.compared = true, .front = true}, "yes"},
                 {{.compared = true, .separated = true}, " is better"},
                 {{.compared = true}, " is better (intervals overlap)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(pareto_words(&cases[i].place), cases[i].words);
        assert_true(pareto_is_beaten(&cases[i].place) == (cases[i].words[0] == ' '));
    }
}

TEST(the_front_is_that_of_all_pairs)
{
    enum { COUNT = 9 };
    random_stream draws = random_named(5, "front");
    for (size_t trial_number = 0; trial_number < 300; trial_number++) {
        evaluation_result results[COUNT] = {{0}};
        metric_result metrics[COUNT][2];
        memset(metrics, 0, sizeof metrics);
        pareto_place places[COUNT];
        const evaluation_result *list[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            list[i] = &results[i];
            results[i].finished = random_below(&draws, 10) > 0;
            results[i].metrics = metrics[i];
            results[i].metric_count = 2;
            metrics[i][1].smaller_better = true;
            results[i].estimates[0].value = (double)random_below(&draws, 4);
            for (size_t k = 0; k < 2; k++) metrics[i][k].estimates[0].value = (double)random_below(&draws, 4);
            if (random_below(&draws, 20) == 0) metrics[i][0].estimates[0].value = NAN;
        }
        pareto_find(list, COUNT, 0, places);
        for (size_t i = 0; i < COUNT; i++) {
            bool compared = results[i].finished && !isnan(metrics[i][0].estimates[0].value), beaten = false;
            for (size_t k = 0; k < COUNT; k++)
                beaten = beaten || (results[k].finished && beats(&results[k], &results[i]));
            assert_true(places[i].compared == compared && places[i].front == (compared && !beaten));
            if (!compared || !beaten) continue;
            assert_true(places[i].dominator < COUNT && places[places[i].dominator].front);
            assert_true(beats(&results[places[i].dominator], &results[i]));
        }
    }
}
