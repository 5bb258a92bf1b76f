/* Runs of which other programs play a part. */
#define _POSIX_C_SOURCE 200809L
#include "lab/grids/experiment.h"

#include <sys/stat.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "lab/results/failed_runs.h"
#include "lab/results/job_keys.h"
#include "lab/results/result_folder.h"
#include "lab/results/run_order.h"
#include "support_files.h"

enum { JOBS = 9, SHARDS = 3 };

static char folders[SHARDS][60], merged[60];
static dataset *data;
static run_job jobs[JOBS];

/* The last is the same as the first. */
static int set_up(void **state)
{
    folder_enter(state);
    if (dataset_open("synthetic:inner,dim=3,arms=2", NULL, &data, NULL)) return -1;
    for (size_t i = 0; i < SHARDS; i++) snprintf(folders[i], sizeof folders[i], "%s/%zu", here.path, i);
    snprintf(merged, sizeof merged, "%s/merged", here.path);
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (run_job){.data = data, .policy = i < 4 ? "uniform" : "eenet", .seed = i, .rounds = 20 + 10 * i};
    jobs[JOBS - 1] = jobs[0];
    return 0;
}

static int tear_down(void **state)
{
    dataset_free(data);
    return folder_leave(state);
}

/* What was heard of the runs. */
typedef struct notes {
    size_t ended, played;   /* reports, and those of them with a curve */
    size_t order[2 * JOBS]; /* of the jobs, as they were reported */
    size_t standing_jobs;   /* of the last standing */
    uint64_t standing_rounds;
    bool beyond; /* more ended or played than there is */
    size_t diverged, elsewhere;
    char sentence[300]; /* of the last that diverged */
} notes;

static bool note_end(void *context, const run_report *report)
{
    notes *self = context;
    self->order[self->ended++] = (size_t)(report->job - jobs);
    self->played += report->result->finished && report->curve;
    self->elsewhere += report->machine && strcmp(report->machine, "elsewhere") == 0;
    if (report->result->status == EE_DIVERGED) {
        self->diverged++;
        snprintf(self->sentence, sizeof self->sentence, "%s", report->error->message);
    }
    return true;
}

static void note_standing(void *context, const run_standing *now)
{
    notes *self = context;
    self->standing_jobs = now->jobs;
    self->standing_rounds = now->rounds;
    self->beyond = self->beyond || now->ended > now->jobs || now->played > now->rounds || now->read > now->played;
}

static notes play(const experiment_site *site, run_result *results)
{
    notes heard = {0};
    run_watch watch = {.standing = note_standing, .ended = note_end, .context = &heard};
    ok(experiment_run(site, jobs, JOBS, &watch, results, NULL));
    assert_false(heard.beyond);
    return heard;
}

static notes play_shard(size_t index, const char *known, run_result *results)
{
    experiment_site site = {folders[index], run_pool_of_threads(2), {index, SHARDS}, known};
    return play(&site, results);
}

static void copy_runs(const char *from, const char *to)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    RELEASED_BY(result_folder_close) result_folder into;
    ok(results_read(from, &list, NULL));
    ok(result_folder_open(to, NULL, &into, NULL));
    for (size_t i = 0; i < list.count; i++) {
        double curve[1000];
        ok(results_curve(from, &list.runs[i], curve, NULL));
        stored_run run = list.runs[i];
        run.machine = "elsewhere";
        ok(result_folder_add(&into, &run, curve, NULL));
    }
}

/* Every run is played by one, and by that one it is read when it is asked for again. */
TEST_WITH(shards_share_the_runs, set_up, tear_down)
{
    run_result whole[JOBS], part[JOBS];
    experiment_site alone = {.pool = run_pool_of_threads(1)};
    size_t finished[JOBS] = {0};
    play(&alone, whole);
    for (size_t k = 0; k < SHARDS; k++) {
        notes first = play_shard(k, merged, part); /* which is not there */
        assert_true(first.played > 0 && first.played < JOBS - 1);
        uint64_t rounds = 0;
        size_t own = 0;
        for (size_t i = 0; i < JOBS; i++) {
            ok(part[i].status);
            if (!part[i].finished) continue;
            assert_true(part[i].regret == whole[i].regret && part[i].rounds == jobs[i].rounds);
            finished[i]++;
            rounds += jobs[i].rounds;
            own++;
        }
        assert_int_equal(first.ended, own);
        assert_int_equal(first.standing_jobs, own);
        assert_true(first.standing_rounds == rounds);
        notes second = play_shard(k, NULL, part);
        assert_int_equal(second.played, 0);
        assert_int_equal(second.ended, first.ended);
    }
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(finished[i], 1);
}

/* What another folder has is read from there, whoever has played it, and is not written here. */
TEST_WITH(known_runs_are_not_played, set_up, tear_down)
{
    run_result results[JOBS];
    size_t played = play_shard(0, merged, results).played;
    copy_runs(folders[0], merged);
    notes other = play_shard(1, merged, results);
    size_t read = 0;
    for (size_t i = 0; i < JOBS; i++) read += results[i].finished;
    assert_int_equal(read, other.ended);
    assert_true(other.ended >= played + other.played && other.played > 0);
    assert_int_equal(other.standing_jobs, other.ended);
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(results_read(folders[1], &list, NULL));
    assert_int_equal(list.count, other.played);
}

/* Where all is known nothing is played, and a report says where it was. */
TEST_WITH(what_is_known_is_reported_as_it_was_played, set_up, tear_down)
{
    run_result results[JOBS], again[JOBS];
    experiment_site all = {.folder = folders[0], .pool = run_pool_of_threads(2)};
    assert_int_equal(play(&all, results).played, JOBS - 1);
    copy_runs(folders[0], merged);
    notes heard = play_shard(1, merged, again);
    assert_int_equal(heard.played, 0);
    assert_int_equal(heard.ended, JOBS);
    assert_int_equal(heard.elsewhere, JOBS);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(heard.order[i], i);
    assert_memory_equal(results, again, sizeof results);
}

/* All jobs in their order, whoever plays them; one that cannot be played is not among them. */
TEST_WITH(the_order_is_kept, set_up, tear_down)
{
    run_result results[JOBS];
    uint64_t *order;
    size_t count;
    RELEASED_BY(job_keys_release) job_keys keys;
    jobs[2].policy = "no-such-policy";
    ok(job_keys_create(jobs, JOBS, &keys, NULL));
    experiment_site some = {folders[1], run_pool_of_threads(1), {1, SHARDS}, NULL};
    ok(experiment_run(&some, jobs, 2, NULL, results, NULL));
    ok(experiment_run(&some, jobs, JOBS, NULL, results, NULL));
    ok(run_order_read(folders[1], &order, &count, NULL));
    assert_int_equal(count, JOBS - 2);
    for (size_t i = 0, next = 0; i < JOBS - 1; i++)
        if (i != 2) assert_true(order[next++] == keys.keys[i].run);
    memory_free(order);
    experiment_site all = {.folder = folders[0], .pool = run_pool_of_threads(1)};
    play(&all, results);
    assert_int_equal(access(formatted("%s/order", folders[0]), F_OK),
                     -1); /* there is no other to put it together with */
}

/* The shard whose run diverges keeps that; the others, once they know it, wait for it no longer. */
TEST_WITH(what_diverged_elsewhere_has_failed, set_up, tear_down)
{
    enum { BAD = 5 };
    run_result results[JOBS];
    RELEASED_BY(failed_runs_release) failed_runs failed = {0};
    size_t owners = 0;
    jobs[BAD].policy = "greedy";
    jobs[BAD].options = "f1.optimizer=sgd f1.rate=1000";
    for (size_t k = 0; k < SHARDS; k++) {
        play_shard(k, merged, results);
        owners += results[BAD].status == EE_DIVERGED;
        ok(failed_runs_read(folders[k], &failed, NULL));
        assert_int_equal(failed.count, owners);
    }
    assert_int_equal(owners, 1);
    assert_int_equal(mkdir(merged, 0777), 0);
    ok(failed_runs_write(merged, &failed, NULL));
    for (size_t k = 0; k < SHARDS; k++) {
        notes heard = play_shard(k, merged, results);
        assert_int_equal(results[BAD].status, EE_DIVERGED);
        assert_false(results[BAD].finished);
        assert_int_equal(heard.diverged, 1);
        assert_string_equal(heard.sentence, failed.runs[0].sentence);
    }
}
