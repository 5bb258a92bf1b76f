/* Candidates that are fed event by event: the numbers are those of an evaluation of the log, also where they were saved
 * and loaded on the way, and where judging begins later than learning. */
#define _GNU_SOURCE
#include "evaluate/evaluations/evaluation_play.h"

#include "data/support_sets.h"
#include "support_files.h"
#include "support_logs.h"

enum { CANDIDATES = 5, ROUNDS = 600, BEFORE = 250 };

static const candidate_request candidates[CANDIDATES] = {{"logged", NULL, 0},
                                                         {"first", NULL, 0},
                                                         {"uniform", NULL, 0},
                                                         {"linucb", "propensity=floor propensity_epsilon=0.1", 3},
                                                         {"lints", "probability_draws=20", 3}};

static char log_path[80];

static int set_up(void **state)
{
    folder_enter(state);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "log.eelog"));
    make_log(&(made_log){.path = log_path,
                         .dataset = "synthetic:clicks,arms=5,dim=4",
                         .seed = 1,
                         .rounds = ROUNDS,
                         .floor = 0.5,
                         .scale = 1.0},
             NULL, NULL);
    return 0;
}

static evaluation_request asked(void)
{
    evaluation_request request = evaluation_usual();
    request.log = log_path;
    request.candidates = candidates;
    request.candidate_count = CANDIDATES;
    request.estimators[0] = (estimator_request){ESTIMATOR_IPS, false};
    request.estimator_count = 1;
    request.reward_low = 0.0;
    request.reward_high = 1.0;
    return request;
}

static void assert_same(const estimate *left, const estimate *right)
{
    assert_true(left->value == right->value && left->low == right->low && left->high == right->high);
    assert_true(left->gain == right->gain && left->gain_low == right->gain_low && left->gain_high == right->gain_high);
}

/* A play of all candidates, with what it stands on. */
typedef struct fed_play {
    evaluation_request request;
    evaluation_frame frame;
    evaluation_result results[CANDIDATES];
    evaluation_play play;
} fed_play;

static void fed_open(fed_play *self, size_t dim)
{
    static const size_t places[CANDIDATES] = {0, 1, 2, 3, 4};
    *self = (fed_play){.request = asked()};
    self->frame = (evaluation_frame){.request = &self->request, .features = "", .reward_high = 1.0};
    ok(evaluation_play_open(&self->play, &self->frame, dim, places, CANDIDATES, self->results, NULL));
}

/* Closes the play, and opens another with what it knew. */
static void fed_reopen(fed_play *self)
{
    ee_error error = {0};
    size_t dim = self->play.dim;
    archive written = archive_writer(&error);
    evaluation_play_archive(&self->play, &written);
    ok(written.status);
    evaluation_play_close(&self->play);
    fed_open(self, dim);
    archive read = archive_reader(written.bytes, written.size, &error);
    evaluation_play_archive(&self->play, &read);
    ok(read.status);
    assert_int_equal(archive_remaining(&read), 0);
    memory_free(written.bytes);
}

/* Feeds the log, with a restart after so many events; the first `before` are learned from only. *from becomes the time
 * of the first that is judged. */
static void feed(fed_play *self, uint64_t restart, uint64_t before, double *from)
{
    auto_log_reader *log;
    log_event event;
    bool found;
    log_options options = log_options_usual();
    ok(log_open(log_path, &options, &log, NULL));
    fed_open(self, log_dim(log));
    assert_true(self->play.needs_arms);
    for (uint64_t number = 0; !log_next(log, &event, &found, &last_error) && found; number++) {
        if (number == restart) fed_reopen(self);
        if (number == before) *from = event.time;
        candidate_round round = {.event = &event, .number = number};
        event_use use = {.score = number >= before, .learn = true};
        ok(evaluation_play_event(&self->play, &round, use, NULL));
    }
}

static void compare(uint64_t restart, uint64_t before)
{
    fed_play fed;
    evaluation_request request = asked();
    evaluation_result results[CANDIDATES];
    evaluated_log about;
    double from = NAN;
    feed(&fed, restart, before, &from);
    request.judged_from = before ? from : (double)NAN;
    ok(evaluation_run(&request, NULL, results, NULL));
    log_tally_finish(&fed.play.about, &fed.request, fed.play.range, &about);
    assert_int_equal(about.events, ROUNDS - before);
    for (size_t i = 0; i < CANDIDATES; i++) {
        assert_true(results[i].finished && results[i].log.learned == before);
        estimate found = tally_estimate(fed.play.players[i].sums, 0, about.rewards, request.alpha);
        assert_same(&found, &results[i].estimates[0]);
        assert_true(tally_unsupported(fed.play.players[i].sums) == results[i].facts.unsupported);
    }
    evaluation_play_close(&fed.play);
    evaluation_release(results, CANDIDATES);
}

TEST_WITH(one_by_one_is_as_a_whole_log, set_up, folder_leave)
{
    compare(UINT64_MAX, 0);
}

TEST_WITH(saved_and_loaded_on_the_way, set_up, folder_leave)
{
    compare(1, 0);
    compare(ROUNDS / 2, 0);
}

TEST_WITH(judged_later_than_learned, set_up, folder_leave)
{
    compare(UINT64_MAX, BEFORE);
    compare(BEFORE + 7, BEFORE);
}

/* Judging anew: as if what came before had been learned from only. */
TEST_WITH(judged_anew, set_up, folder_leave)
{
    fed_play fed, whole;
    double from;
    auto_log_reader *log;
    log_event event;
    bool found;
    log_options options = log_options_usual();
    ok(log_open(log_path, &options, &log, NULL));
    fed_open(&fed, log_dim(log));
    for (uint64_t number = 0; !log_next(log, &event, &found, &last_error) && found; number++) {
        if (number == BEFORE) evaluation_play_judge_anew(&fed.play, (value_range){0.0, 1.0, INFINITY});
        candidate_round round = {.event = &event, .number = number};
        ok(evaluation_play_event(&fed.play, &round, (event_use){.score = true, .learn = true}, NULL));
    }
    feed(&whole, UINT64_MAX, BEFORE, &from);
    for (size_t i = 0; i < CANDIDATES; i++) {
        estimate left = tally_estimate(fed.play.players[i].sums, 0, (interval){0.0, 1.0}, 0.05);
        estimate right = tally_estimate(whole.play.players[i].sums, 0, (interval){0.0, 1.0}, 0.05);
        assert_same(&left, &right);
    }
    evaluation_play_close(&fed.play);
    evaluation_play_close(&whole.play);
}

TEST_WITH(damaged_states_are_refused, set_up, folder_leave)
{
    fed_play fed;
    ee_error error = {0};
    fed_open(&fed, 20);
    archive written = archive_writer(&error);
    evaluation_play_archive(&fed.play, &written);
    ok(written.status);
    for (size_t cut = 0; cut < written.size; cut += 1 + written.size / 97) {
        archive read = archive_reader(written.bytes, cut, &error);
        evaluation_play_archive(&fed.play, &read);
        assert_int_not_equal(read.status, EE_OK);
    }
    memory_free(written.bytes);
    evaluation_play_close(&fed.play);
}
