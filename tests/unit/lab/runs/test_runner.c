#include "lab/runs/run_pool.h"

#include "data/support_sets.h"
#include "support_files.h"

/* What the watch was told. */
typedef struct notes {
    int wanted;     /* times that it was asked */
    int stop_after; /* answers no from then on; 0: never */
    int ended;
    bool refuse_more; /* answers no when a run has ended */
    char options[64];
    char message[sizeof((ee_error *)0)->message]; /* of the last that failed */
    double *curve;                                /* of the last; to be freed */
} notes;

static bool note_round(void *context)
{
    notes *self = context;
    self->wanted++;
    return !self->stop_after || self->wanted < self->stop_after;
}

static bool note_end(void *context, const run_report *report)
{
    notes *self = context;
    self->ended++;
    snprintf(self->options, sizeof self->options, "%.60s", report->options);
    if (report->result->status) snprintf(self->message, sizeof self->message, "%s", report->error->message);
    if (report->curve) {
        size_t size = (size_t)report->result->rounds * sizeof *report->curve;
        self->curve = realloc(self->curve, size);
        memcpy(self->curve, report->curve, size);
    }
    return !self->refuse_more;
}

/* Plays the job beside the runner, by the library's own calls, and adds up the same things one round at a time. */
static void play_beside(const run_job *job, run_result *sums, double *curve)
{
    ee_settings settings = {
        .policy = job->policy, .dim = dataset_dim(job->data), .seed = job->seed, .options = job->options};
    auto_bandit *bandit;
    ee_score scores[16];
    auto_free double *told = calloc((size_t)job->rounds, sizeof *told);
    ok(ee_bandit_create(&settings, &bandit, NULL));
    auto_environment *world = start_rounds(job->data, job->seed);
    *sums = (run_result){0};
    for (uint64_t t = 1; t <= job->rounds; t++) {
        ee_decision decision;
        environment_round round = next_round(world);
        ok(ee_bandit_decide(bandit, &round.arms, &decision, scores, NULL, NULL));
        told[decision.id - 1] = round.rewards[decision.arm]; /* learned after so many rounds */
        uint64_t due = decision.id - job->late.rounds;
        if (decision.id > job->late.rounds) ok(ee_bandit_learn(bandit, due, told[due - 1], NULL));
        size_t part = 0;
        while ((part + 1) * job->rounds / RUN_PARTS < t) part++;
        run_direction *direction = &sums->directions[part];
        double best = -INFINITY;
        for (size_t i = 0; i < round.arms.count; i++) {
            double missed = round.expected[i] - (double)scores[i].exploitation, f2 = (double)scores[i].exploration;
            best = fmax(best, round.expected[i]);
            direction->arms++;
            if (f2 > 0) direction->up++, direction->up_right += missed > 0;
            if (f2 < 0) direction->down++, direction->down_right += missed < 0;
            direction->gain += missed;
            direction->exploration += f2;
            direction->gain_squares += missed * missed;
            direction->exploration_squares += f2 * f2;
            direction->products += missed * f2;
        }
        double loss = best - round.expected[decision.arm];
        sums->regret += loss;
        sums->reward += round.rewards[decision.arm];
        sums->optimal += loss == 0.0;
        curve[t - 1] = sums->regret;
    }
    sums->bytes = ee_bandit_memory(bandit);
}

static void check_against_beside(const run_job *job, bool explores)
{
    run_result result, sums;
    auto_free double *curve = calloc((size_t)job->rounds, sizeof *curve);
    notes heard = {0};
    run_watch watch = {.wanted = note_round, .ended = note_end, .context = &heard};
    ok(run_pool_play(run_pool_of_threads(1), job, 1, true, &watch, &result, NULL));
    play_beside(job, &sums, curve);
    assert_true(result.finished && result.rounds == job->rounds && result.seconds > 0.0);
    assert_true(result.regret == sums.regret && result.reward == sums.reward && result.optimal == sums.optimal);
    assert_true(result.bytes == sums.bytes && result.bytes > 0);
    assert_memory_equal(heard.curve, curve, job->rounds * sizeof *curve);
    for (size_t i = 0; i < RUN_PARTS; i++) {
        uint64_t end = (i + 1) * job->rounds / RUN_PARTS;
        assert_true(result.marks[i] == (end ? curve[end - 1] : 0.0));
    }
    if (!explores) memset(sums.directions, 0, sizeof sums.directions);
    assert_memory_equal(result.directions, sums.directions, sizeof sums.directions);
    assert_int_equal(heard.wanted, job->rounds);
    assert_int_equal(heard.ended, 1);
    assert_true(heard.options[0] != '\0');
    free(heard.curve);
}

TEST(sums_are_those_of_the_rounds)
{
    auto_dataset *data = open_data("synthetic:cosine");
    const uint64_t rounds[] = {1, 7, 20, 21, 133}; /* fewer than the parts, as many, not a multiple */
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        bool explores = rounds[i] > 1; /* before two different rewards came, there is nothing to explore by */
        check_against_beside(&(run_job){.data = data, .policy = "uniform", .seed = 3, .rounds = rounds[i]}, false);
        check_against_beside(&(run_job){.data = data, .policy = "greedy", .seed = 4, .rounds = rounds[i]}, false);
        check_against_beside(&(run_job){.data = data, .policy = "eenet", .seed = 5, .rounds = rounds[i]}, explores);
        check_against_beside(&(run_job){.data = data, .policy = "neural-ts", .seed = 6, .rounds = rounds[i]}, explores);
    }
}

/* A delay of so many rounds is what somebody does who learns each reward so many decisions later. */
TEST(late_rewards_are_learned_late)
{
    auto_dataset *data = open_data("synthetic:cosine");
    const uint64_t delays[] = {1, 99, 300};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        run_job job = {.data = data, .policy = "greedy", .seed = 4, .rounds = 100, .late = {.rounds = delays[i]}};
        check_against_beside(&job, false);
        job.policy = "eenet";
        check_against_beside(&job, delays[i] < 98); /* in whose last round two rewards are there */
    }
}

/* The regret after each round, to be freed. */
static double *play_curve(const dataset *data, const char *text, uint64_t rounds, run_result *result)
{
    run_job job = {.data = data, .policy = "eenet", .seed = 2, .rounds = rounds};
    notes heard = {0};
    run_watch watch = {.ended = note_end, .context = &heard};
    ok(delay_parse(text, &job.late, NULL));
    ok(run_pool_play(run_pool_of_threads(1), &job, 1, true, &watch, result, NULL));
    return heard.curve;
}

/* Where nothing is learned in time, it does not matter by how much it is late: until the first reward is there, with a
 * delay of N after N + 1 decisions. */
TEST(nothing_is_learned_before_the_first_is_due)
{
    enum { ROUNDS = 200 };
    static const char *const texts[] = {"40", "150"};
    auto_dataset *data = open_data("synthetic:cosine");
    run_result result;
    auto_free double *never = play_curve(data, "1000", ROUNDS, &result);
    for (size_t i = 0; i < 2; i++) {
        auto_free double *late = play_curve(data, texts[i], ROUNDS, &result);
        size_t same = 0;
        while (same < ROUNDS && late[same] == never[same]) same++;
        assert_true(same > strtoull(texts[i], NULL, 10)); /* those rounds, and the one after */
        assert_true(same < ROUNDS);
    }
}

/* With rewards above 0 alone, clicks that take no time are rewards that come at once. */
TEST(clicks_of_no_time_come_at_once)
{
    enum { ROUNDS = 200 };
    auto_dataset *data = open_data("synthetic:quadratic,noise=0");
    run_result at_once, clicked, timed_out;
    auto_free double *first = play_curve(data, "0", ROUNDS, &at_once),
                     *second = play_curve(data, "clicks:1e-9,150", ROUNDS, &clicked);
    auto_free double *third = play_curve(data, "clicks:100,150", ROUNDS, &timed_out);
    assert_memory_equal(first, second, ROUNDS * sizeof *first);
    assert_memory_not_equal(first, third, ROUNDS * sizeof *first);
}

/* The bandit keeps all decisions that wait, unless the job says otherwise; then the run fails by name. */
TEST(waiting_decisions_have_room)
{
    static const struct {
        const char *late, *own, *expected;
    } cases[] = {
        {"0", NULL, "pending=1024 "},
        {"1023", NULL, "pending=1024 "},
        {"1024", NULL, "pending=1025 "},
        {"1024", "pending=3000", "pending=3000 "},
        {"1024", "pending=9", "pending=9 "},
        {"clicks:5,2000", NULL, "pending=2001 "},
        {"geometric:10", NULL, "pending=1024 "},
        {"geometric:1000", NULL, "pending=20735 "},
    };
    auto_dataset *data = open_data("synthetic:inner");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_job job = {.data = data, .policy = "lints", .options = cases[i].own, .rounds = 5};
        auto_memory char *options;
        ok(delay_parse(cases[i].late, &job.late, NULL));
        ok(runner_check(&job, &options, NULL));
        if (!strstr(options, cases[i].expected)) fail_msg("no '%s' in: %s", cases[i].expected, options);
    }
    run_job job = {.data = data, .policy = "lints", .options = "pending=9", .rounds = 50, .late = {.rounds = 9}};
    run_result result;
    fails_with(runner_run(&job, NULL, &result, &last_error), EE_EXPIRED_DECISION,
               "learn: decision 1 is no longer kept: 9 decisions followed it, and option "
               "pending is 9; if it had no reward, it was forgotten");
    job.late.rounds = 8;
    ok(runner_run(&job, NULL, &result, &last_error));
}

/* The optimal arm by chance: of 500 rounds of ten arms, 50. */
TEST(optimal_counts_rounds)
{
    auto_dataset *data = open_data("synthetic:cosine");
    run_result result;
    run_job job = {.data = data, .policy = "uniform", .seed = 3, .rounds = 500};
    ok(runner_run(&job, NULL, &result, NULL));
    assert_true(result.optimal > 20 && result.optimal < 90);
    assert_true(result.marks[RUN_PARTS - 1] == result.regret);
}

TEST(the_watch_stops_it)
{
    auto_dataset *data = open_data("synthetic:inner");
    run_job jobs[2] = {{.data = data, .policy = "uniform", .seed = 0, .rounds = 100},
                       {.data = data, .policy = "uniform", .seed = 1, .rounds = 100}};
    notes heard = {.stop_after = 7};
    run_watch watch = {.wanted = note_round, .ended = note_end, .context = &heard};
    run_result results[2];
    ok(run_pool_play(run_pool_of_threads(1), jobs, 2, true, &watch, results, NULL));
    assert_int_equal(results[0].rounds, 7);
    assert_false(results[0].finished);
    assert_int_equal(results[1].rounds, 0); /* never started */
    assert_false(results[1].finished);
    assert_int_equal(heard.ended, 1);
    free(heard.curve);
}

/* A run that has finished stays so; the next is not started all the same. */
TEST(no_run_after_the_watch_has_enough)
{
    auto_dataset *data = open_data("synthetic:inner");
    run_job jobs[2] = {{.data = data, .policy = "uniform", .seed = 0, .rounds = 5},
                       {.data = data, .policy = "uniform", .seed = 1, .rounds = 5}};
    notes heard = {.refuse_more = true};
    run_watch watch = {.ended = note_end, .context = &heard};
    run_result results[2];
    ok(run_pool_play(run_pool_of_threads(1), jobs, 2, false, &watch, results, NULL));
    assert_true(results[0].finished && !results[1].finished);
    assert_null(heard.curve);
}

TEST(one_failure_does_not_stop_the_others)
{
    auto_dataset *data = open_data("synthetic:inner");
    run_job jobs[4] = {{.data = data, .policy = "uniform", .rounds = 5},
                       {.data = data, .policy = "uniform", .options = "no-such-option=1", .rounds = 5},
                       {.data = data, .policy = "uniform", .seed = 1, .rounds = 5},
                       {.data = data, .policy = "no-such-policy", .rounds = 5}};
    for (size_t threads = 1; threads <= 4; threads++) {
        notes heard = {0};
        run_watch watch = {.ended = note_end, .context = &heard};
        run_result results[4];
        fails_saying(run_pool_play(run_pool_of_threads(threads), jobs, 4, false, &watch, results, &last_error),
                     EE_BAD_OPTION, "no-such-option"); /* the first in the list */
        if (threads == 1) assert_non_null(strstr(heard.message, "no-such-policy"));
        assert_int_equal(heard.ended, 4);
        assert_true(results[0].finished && results[2].finished);
        assert_false(results[1].finished || results[3].finished);
        assert_int_equal(results[1].status, EE_BAD_OPTION);
    }
}

TEST(check_finds_what_would_fail)
{
    auto_dataset *data = open_data("synthetic:inner");
    run_job job = {.data = data, .policy = "uniform", .options = "pending=7", .rounds = 5};
    char *options;
    ok(runner_check(&job, NULL, &last_error));
    ok(runner_check(&job, &options, &last_error));
    assert_non_null(strstr(options, "pending=7"));
    assert_non_null(strstr(options, "nonzeros=")); /* not given: all are there */
    memory_free(options);
    job.policy = "unifrom";
    assert_int_equal(runner_check(&job, &options, &last_error), EE_BAD_OPTION);
    assert_null(options);
}

/* Opens a table of three classes, whose arms have as many blocks of features. */
static dataset *open_table(void)
{
    char text[1024];
    size_t length = 0;
    for (int i = 0; i < 60; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%d,%d,%c\n", i * 7 % 11, i * i % 13,
                                   "abc"[(i + i / 4) % 3]);
    folder_write_text(&here, "made.csv", text);
    dataset *data = open_data(formatted("table:%s,header=no", folder_path(&here, "made.csv")));
    assert_int_equal(dataset_blocks(data), 3);
    return data;
}

/* The value of an option that a run on the data set has. */
static void assert_told(const dataset *data, const char *own, const char *expected)
{
    run_job job = {.data = data, .policy = "eenet", .options = own, .rounds = 5};
    auto_memory char *options;
    ok(runner_check(&job, &options, NULL));
    if (!strstr(options, expected)) fail_msg("no '%s' in: %s", expected, options);
}

/* Where the data set's blocks do nothing, the policy is not told. */
static void assert_not_told(const dataset *data, const char *policy, const char *own)
{
    run_job job = {.data = data, .policy = policy, .options = own, .rounds = 5};
    auto_memory char *options;
    ok(runner_check(&job, &options, NULL));
    assert_null(strstr(options, "blocks=3"));
    assert_null(strstr(options, "exclusive"));
}

TEST_IN_FOLDER(the_data_set_tells_of_its_arms_unless_the_job_does)
{
    auto_dataset *table = open_table(), *synthetic = open_data("synthetic:inner");
    assert_told(table, NULL, " blocks=3 ");
    assert_told(table, "f1.width=4", " blocks=3 ");
    assert_told(table, "f1.width=4 blocks=1", " blocks=1 ");
    assert_told(table, NULL, " exclusive=on ");
    assert_told(table, "exclusive=off", " exclusive=off ");
    assert_not_told(table, "linucb", NULL);
    assert_not_told(table, "greedy:paper", NULL);
    assert_not_told(table, "eenet:paper", NULL);
    assert_not_told(table, "eenet", "f1.heads=1");
    assert_not_told(synthetic, "eenet", NULL);
    assert_told(synthetic, NULL, " blocks=1 ");
    assert_told(synthetic, "blocks=4", " blocks=4 ");
    run_job job = {.data = synthetic, .policy = "eenet", .options = "blocks=7", .rounds = 5};
    fails_with(runner_check(&job, NULL, &last_error), EE_BAD_OPTION,
               "options: blocks must divide the 20 features of an arm, got 7");
}

/* Not only named: a run is the one that a bandit told of the arms would make, and no other. */
TEST_IN_FOLDER(runs_use_the_blocks)
{
    auto_dataset *table = open_table();
    const char *options[] = {"f1.width=8 blocks=3 exclusive=on", "f1.width=8", "f1.width=8 blocks=3"};
    run_result result, beside[3];
    double curve[100];
    run_job job = {.data = table, .policy = "eenet", .options = "f1.width=8", .seed = 2, .rounds = 100};
    ok(runner_run(&job, NULL, &result, NULL));
    for (size_t i = 0; i < 3; i++) {
        run_job told = job;
        told.options = options[i];
        play_beside(&told, &beside[i], curve);
    }
    assert_memory_equal(result.directions, beside[0].directions, sizeof result.directions);
    assert_memory_not_equal(result.directions, beside[1].directions, sizeof result.directions);
    assert_memory_not_equal(result.directions, beside[2].directions, sizeof result.directions);
    assert_true(result.regret == beside[0].regret && result.bytes == beside[0].bytes);
}

TEST(summary_of_the_finished)
{
    const run_result results[4] = {
        {.finished = true, .rounds = 10, .optimal = 5, .regret = 2, .seconds = 1, .slots = 2, .slot_regrets = {3, -1}},
        {.finished = false, .rounds = 3, .optimal = 3, .regret = 1000, .seconds = 1000},
        {.finished = true, .rounds = 10, .optimal = 7, .regret = 4, .seconds = 2, .slots = 2, .slot_regrets = {3, 1}},
        {.status = EE_NO_MEMORY},
    };
    run_summary summary;
    ok(runner_summarize(results, 4, &summary, NULL));
    assert_int_equal(summary.runs, 2);
    assert_close(summary.regret, 3.0, 1e-15);
    assert_close(summary.regret_deviation, sqrt(2.0), 1e-15);
    assert_close(summary.optimal, 0.6, 1e-15);
    assert_close(summary.seconds, 1.5, 1e-15);
    assert_true(summary.slots == 2 && summary.slot_regrets[0] == 3.0 && summary.slot_regrets[1] == 0.0);
    ok(runner_summarize(results + 1, 1, &summary, NULL));
    assert_int_equal(summary.runs, 0);
    assert_true(isnan(summary.regret));
}
