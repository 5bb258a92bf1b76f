/* Evaluations that are asked for: their numbers are those of an evaluation of the exported log, and they outlive
 * restarts. */
#define _POSIX_C_SOURCE 200809L
#include "serve/served_play.h"

#include <dirent.h>
#include <math.h>

#include "evaluate/evaluations/evaluation.h"
#include "serve/jobs/evaluation_jobs.h"
#include "serve/log/log_export.h"

enum { ROUNDS = 150 };

static struct {
    served_bandit *bandit;
    evaluation_jobs *jobs;
    job_request request;
    evaluation_job job;
    char id[JOB_ID_SIZE];
} stage;

static void start_jobs(void)
{
    PLAY_OK(evaluation_jobs_start(play.kept, play.bandits, &stage.jobs, &play.error));
}

static const char linear[] = "{\"dim\":5,\"policy\":\"linucb\",\"propensity\":\"floor:0.2\",\"wait\":50}";

static void start(const char *settings)
{
    memset(&stage, 0, sizeof stage);
    play_start();
    play_open();
    stage.bandit = play_create("shop", settings);
    play_rounds(stage.bandit, 1, ROUNDS, 2);
    play_pass(100);
    play_catch_up(stage.bandit);
    job_request_usual(&stage.request);
    start_jobs();
}

static int end(void **state)
{
    (void)state;
    evaluation_jobs_stop(stage.jobs);
    play_close(true);
    play_end();
    return 0;
}

static void add_candidate(const char *name, const char *policy, const char *options)
{
    job_candidate *one = &stage.request.candidates[stage.request.candidate_count++];
    *one = (job_candidate){0};
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->policy, sizeof one->policy, "%s", policy);
    snprintf(one->options, sizeof one->options, "%s", options);
}

static void create(void)
{
    PLAY_OK(evaluation_jobs_create(stage.jobs, stage.bandit, &stage.request, stage.id, &play.error));
}

/* Until it is over; what it came to is in self->job, to be released. */
static bool is_over(void)
{
    PLAY_OK(evaluation_jobs_read(stage.jobs, 1, stage.id, &stage.job, &play.error));
    if (stage.job.about.state == JOB_DONE || stage.job.about.state == JOB_FAILED) return true;
    evaluation_job_release(&stage.job);
    return false;
}

static job_state await_end(void)
{
    AWAIT(is_over());
    return stage.job.about.state;
}

/* In the folder of all evaluations, and in the bandit's; and temporary ones. */
static size_t count_files(void)
{
    static const char *const folders[] = {"evaluations", "evaluations/1", "temporary"};
    char path[600];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", play.folder.path, folders[i]);
        DIR *folder = opendir(path);
        for (const struct dirent *entry; folder && (entry = readdir(folder));)
            count += entry->d_name[0] != '.' && strcmp(entry->d_name, "1") != 0;
        if (folder) closedir(folder);
    }
    return count;
}

/* ---- the numbers ---- */

static void export_log(void)
{
    store_reader *reader;
    log_export *export;
    log_range range = {.from = INT64_MIN, .until = INT64_MAX};
    text lines = text_start(&play.error);
    PLAY_OK(store_reader_create(play.kept, &reader, &play.error));
    PLAY_OK(log_export_create(reader, 1, &range, &export, &play.error));
    for (bool over = false; !over;) PLAY_OK(log_export_fill(export, &lines, lines.length + 1, &over, &play.error));
    log_export_free(export);
    PLAY_OK(text_save(&lines, folder_path(&play.folder, "log.dsjson")));
}

static void assert_same(double got, double expected)
{
    if (isnan(expected))
        assert_true(isnan(got));
    else
        assert_true(got == expected);
}

static void check_numbers(const char *settings, const char *options)
{
    start(settings);
    stage.request.estimator_count = 0;
    static const char *const estimators[] = {"ips", "snips", "dr"};
    for (size_t i = 0; i < 3; i++)
        snprintf(stage.request.estimators[stage.request.estimator_count++], sizeof stage.request.estimators[0], "%s",
                 estimators[i]);
    add_candidate("linear", "linucb", "alpha=0.2");
    add_candidate("worn", "linucb", "alpha=nothing"); /* refused before it is asked for */
    assert_int_equal(evaluation_jobs_create(stage.jobs, stage.bandit, &stage.request, stage.id, &play.error),
                     EE_BAD_OPTION);
    stage.request.candidate_count--;
    create();
    assert_int_equal(await_end(), JOB_DONE);

    evaluation_request direct = evaluation_usual();
    const candidate_request candidates[] = {
        {"logged", NULL, 0}, {"first", NULL, 0}, {"uniform", NULL, 0}, {"linucb", options, 0}};
    evaluation_result results[4] = {0};
    export_log();
    direct.log = folder_path(&play.folder, "log.dsjson");
    direct.candidates = candidates;
    direct.candidate_count = direct.estimator_count = 0;
    while (direct.estimator_count < 3) {
        assert_true(
            estimator_request_parse(estimators[direct.estimator_count], &direct.estimators[direct.estimator_count]));
        direct.estimator_count++;
    }
    direct.candidate_count = 4;
    direct.alpha = 1 - 0.95;
    PLAY_OK(evaluation_run(&direct, NULL, results, &play.error));
    for (size_t i = 0; i < 4; i++) ok(results[i].failure.status);
    assert_same((double)stage.job.log.events, (double)results[0].log.events);
    assert_same((double)stage.job.log.events, ROUNDS);
    assert_same(stage.job.log.reward, results[0].log.reward);
    assert_same(stage.job.log.last_time, results[0].log.last_time);
    for (size_t i = 0; i < 4; i++) {
        const evaluation_result *got = &stage.job.results[i];
        assert_string_equal(got->failure.message, "");
        assert_string_equal(got->headline, results[i].headline);
        assert_int_equal(got->mark_count, results[i].mark_count);
        for (size_t k = 0; k < 3; k++) {
            assert_same(got->estimates[k].value, results[i].estimates[k].value);
            assert_same(got->estimates[k].low, results[i].estimates[k].low);
            assert_same(got->estimates[k].gain_high, results[i].estimates[k].gain_high);
            assert_same(got->marks[got->mark_count / 2].values[k], results[i].marks[got->mark_count / 2].values[k]);
        }
        const evaluation_sums *sums = &got->marks[got->mark_count - 1].sums;
        assert_same(sums->rounds, ROUNDS);
        assert_true(fabs(sums->wr / sums->rounds - got->estimates[0].value) < 1e-12);
        assert_true(fabs(sums->wr / sums->w - got->estimates[1].value) < 1e-12);
        assert_true(sums->same <= ROUNDS && sums->wwrr >= sums->wr * sums->wr / ROUNDS);
        assert_true(got->diagnosis.count > 0);
    }
    evaluation_release(results, 4);
    evaluation_job_release(&stage.job);
    assert_int_equal(count_files(), 2); /* the part of the log is gone */
    end(NULL);
}

TEST(numbers_are_those_of_the_log)
{
    check_numbers(linear, "alpha=0.2 propensity=floor propensity_epsilon=0.2");
    check_numbers("{\"policy\":\"linucb\",\"propensity\":\"floor:0.2\",\"wait\":50}",
                  "alpha=0.2 propensity=floor propensity_epsilon=0.2");
}

/* ---- restarts, deletion ---- */

TEST_WITH(jobs_outlive_a_restart, NULL, end)
{
    start(linear);
    char done[JOB_ID_SIZE], slow[JOB_ID_SIZE];
    snprintf(stage.request.name, sizeof stage.request.name, "the first \"one\"");
    create();
    assert_int_equal(await_end(), JOB_DONE);
    double value = stage.job.results[2].estimates[0].value;
    evaluation_job_release(&stage.job);
    memcpy(done, stage.id, sizeof done);
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "network %d", i);
        add_candidate(name, "eenet", "");
    }
    create();
    memcpy(slow, stage.id, sizeof slow);
    evaluation_jobs_stop(stage.jobs);
    start_jobs();
    job_about *list;
    size_t count;
    PLAY_OK(evaluation_jobs_list(stage.jobs, 1, &list, &count, &play.error));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].id, done);
    assert_string_equal(list[0].request.name, "the first \"one\"");
    assert_int_equal(list[0].state, JOB_DONE);
    assert_true(list[0].created > 0 && list[0].ended >= list[0].created);
    assert_true(list[1].state == JOB_WAITING || list[1].state == JOB_RUNNING);
    assert_int_equal(list[1].request.candidate_count, 23);
    memory_free(list);
    PLAY_OK(evaluation_jobs_list(stage.jobs, 2, &list, &count, &play.error)); /* of another bandit */
    assert_int_equal(count, 0);
    memory_free(list);
    memcpy(stage.id, done, sizeof done);
    await_end();
    assert_true(stage.job.results[2].estimates[0].value == value);
    evaluation_job_release(&stage.job);
    PLAY_OK(evaluation_jobs_delete(stage.jobs, 1, slow, &play.error)); /* while it is played, perhaps */
    assert_int_equal(evaluation_jobs_read(stage.jobs, 1, slow, &stage.job, &play.error), EE_NO_FILE);
    assert_int_equal(evaluation_jobs_delete(stage.jobs, 1, slow, &play.error), EE_NO_FILE);
    PLAY_OK(evaluation_jobs_delete(stage.jobs, 1, done, &play.error));
    job_request_usual(&stage.request); /* what comes after it is played */
    create();
    assert_int_equal(await_end(), JOB_DONE);
    evaluation_job_release(&stage.job);
    assert_int_equal(count_files(), 2);
}

TEST_WITH(what_a_crash_left_is_swept_away, NULL, end)
{
    start(linear);
    create();
    assert_int_equal(await_end(), JOB_DONE);
    evaluation_job_release(&stage.job);
    evaluation_jobs_stop(stage.jobs);
    folder_write_text(&play.folder, "evaluations/00000000000000000000000000000000.eelog.zst", "x");
    folder_write_text(&play.folder, "evaluations/00000000000000000000000000000000.results.json", "{}");
    folder_write_text(&play.folder, "evaluations/00000000000000000000000000000000.json.17.0", "{");
    folder_write_text(&play.folder, "evaluations/11111111111111111111111111111111.json", "no job");
    folder_write_text(&play.folder, "evaluations/notes", "of somebody else");
    blobs_sweep(store_blobs(play.kept)); /* as opening the store does */
    start_jobs();
    assert_int_equal(count_files(), 4);
    job_about *list;
    size_t count;
    PLAY_OK(evaluation_jobs_list(stage.jobs, 1, &list, &count, &play.error));
    assert_int_equal(count, 1);
    memory_free(list);
}

/* Older versions did not keep the jobs of each bandit apart, and wrote no checksums. */
TEST_WITH(jobs_of_older_versions_are_found, NULL, end)
{
    start(linear);
    create();
    assert_int_equal(await_end(), JOB_DONE);
    double events = (double)stage.job.log.events;
    evaluation_job_release(&stage.job);
    evaluation_jobs_stop(stage.jobs);
    const blob_kind kinds[] = {BLOB_EVALUATION, BLOB_EVALUATION_RESULTS};
    const char *const endings[] = {"json", "results.json"};
    blobs *kept = store_blobs(play.kept);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *bytes;
        size_t size;
        char name[100];
        PLAY_OK(blob_get(kept, blob_named(1, kinds[i], stage.id), &bytes, &size, &play.error));
        PLAY_OK(blob_remove(kept, blob_named(1, kinds[i], stage.id), &play.error));
        snprintf(name, sizeof name, "evaluations/%s.%s", stage.id, endings[i]);
        folder_write(&play.folder, name, bytes, size);
        memory_free(bytes);
    }
    start_jobs();
    assert_int_equal(await_end(), JOB_DONE);
    assert_true((double)stage.job.log.events == events);
    evaluation_job_release(&stage.job);
    assert_int_equal(count_files(), 2);
    assert_true(blob_exists(kept, blob_named(1, BLOB_EVALUATION, stage.id)));
}

/* ---- what cannot be ---- */

static void assert_refused(const char *sentence)
{
    assert_true(evaluation_jobs_create(stage.jobs, stage.bandit, &stage.request, stage.id, &play.error) != EE_OK);
    assert_message_has(play.error.message, sentence);
    job_request_usual(&stage.request);
}

TEST_WITH(what_cannot_be_is_said, NULL, end)
{
    start(linear);
    static const char *const files[] = {"model:/etc/passwd", "learning:x", "file:/etc/passwd", "nobody"};
    for (size_t i = 0; i < 4; i++) { /* what reads files of this machine is nobody's business */
        add_candidate("x", files[i], "");
        assert_refused("candidate 'x'");
    }
    add_candidate("x", "uniform", "alpha=1");
    assert_refused("takes no options");
    add_candidate("online", "linucb", "");
    assert_refused("duplicate name 'online'");
    snprintf(stage.request.estimators[0], sizeof stage.request.estimators[0], "guess");
    assert_refused("unknown estimator 'guess'");
    stage.request.confidence = 1;
    assert_refused("confidence");
    stage.request.from = stage.request.until = 7;
    assert_refused("until must be after from");
    assert_int_equal(count_files(), 0);

    stage.request.until = 2; /* before all */
    create();
    assert_int_equal(await_end(), JOB_FAILED);
    assert_string_equal(stage.job.about.trouble, "no settled decisions in this time range");
    evaluation_job_release(&stage.job);
    for (int i = 1; i < JOBS_EACH; i++) create();
    assert_refused("the bandit has 100 evaluations, the maximum");
}
