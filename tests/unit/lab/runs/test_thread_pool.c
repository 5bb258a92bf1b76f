/* Runs on many threads. Run under ThreadSanitizer. */
#include <stdatomic.h>

#include "data/support_sets.h"
#include "lab/runs/run_pool.h"
#include "support.h"

enum { JOBS = 12, ROUNDS = 60 };

static atomic_int wanted; /* times that the watch was asked */

typedef struct notes {
    const run_job *jobs;
    bool inside; /* someone is in ended or standing: no lock of ours, since they take turns */
    bool met;    /* two were */
    int ended[JOBS], standings;
    double curves[JOBS][ROUNDS];
    size_t most_running;
    run_standing last;
} notes;

static bool note_round(void *context)
{
    (void)context;
    wanted++;
    return true;
}

static void note_standing(void *context, const run_standing *now)
{
    notes *self = context;
    self->met = self->met || self->inside || now->ended < self->last.ended || now->jobs != JOBS ||
                now->rounds != JOBS * ROUNDS || now->played > now->rounds || (now->running && !now->runs[0].job);
    self->inside = true;
    self->standings++;
    self->last = *now;
    if (now->running > self->most_running) self->most_running = now->running;
    self->inside = false;
}

static bool note_end(void *context, const run_report *report)
{
    notes *self = context;
    self->met = self->met || self->inside;
    self->inside = true;
    size_t place = (size_t)(report->job - self->jobs);
    self->ended[place]++;
    memcpy(self->curves[place], report->curve, sizeof self->curves[place]);
    self->inside = false;
    return true;
}

static void play(const run_job *jobs, size_t threads, notes *heard, run_result *results)
{
    *heard = (notes){.jobs = jobs};
    wanted = 0;
    run_watch watch = {.wanted = note_round, .standing = note_standing, .ended = note_end, .context = heard};
    ok(run_pool_play(run_pool_of_threads(threads), jobs, JOBS, true, &watch, results, NULL));
    assert_false(heard->met);
    assert_int_equal(wanted, JOBS * ROUNDS);
    assert_true(heard->standings >= 1 && heard->most_running <= threads);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(heard->ended[i], 1);
}

TEST(results_do_not_depend_on_the_threads)
{
    static const char *const policies[] = {"eenet", "greedy", "neural-ts", "linucb", "kernelts", "uniform"};
    static notes alone, together;
    run_job jobs[JOBS];
    run_result one[JOBS], many[JOBS];
    auto_dataset *data = open_data("synthetic:cosine,dim=5");
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (run_job){.data = data, .policy = policies[i / 2], .seed = i % 2, .rounds = ROUNDS};
    play(jobs, 1, &alone, one);
    for (size_t threads = 2; threads <= 2 * JOBS; threads *= 2) {
        play(jobs, threads, &together, many);
        assert_memory_equal(alone.curves, together.curves, sizeof alone.curves);
        for (size_t i = 0; i < JOBS; i++) {
            one[i].seconds = many[i].seconds = 0.0;
            assert_memory_equal(&one[i], &many[i], sizeof one[i]);
        }
    }
}

static bool refuse(void *context)
{
    (void)context;
    return false;
}

/* One no ends the runs of all threads. */
TEST(all_threads_stop)
{
    run_job jobs[JOBS];
    run_result results[JOBS];
    run_watch watch = {.wanted = refuse};
    auto_dataset *data = open_data("synthetic:inner");
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (run_job){.data = data, .policy = "uniform", .seed = i, .rounds = 1000000000000};
    ok(run_pool_play(run_pool_of_threads(4), jobs, JOBS, false, &watch, results, NULL));
    for (size_t i = 0; i < JOBS; i++) assert_true(!results[i].finished && results[i].rounds <= 1);
}
