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

typedef struct stage {
    served_play *play;
    served_bandit *bandit;
    evaluation_jobs *jobs;
    job_request request;
    evaluation_job job;
    char id[JOB_ID_SIZE];
    ee_error error;
} stage;

static void start_jobs(stage *self)
{
    PLAY_OK(self, evaluation_jobs_start(self->play->kept, self->play->bandits, &self->jobs, &self->error));
}

static const char linear[] = "{\"dim\":5,\"policy\":\"linucb\",\"propensity\":\"floor:0.2\",\"wait\":50}";

static stage *start(const char *settings)
{
    stage *self = calloc(1, sizeof *self);
    self->play = play_start();
    play_open(self->play);
    self->bandit = play_create(self->play, "shop", settings);
    play_rounds(self->play, self->bandit, 1, ROUNDS, 2);
    play_pass(self->play, 100);
    play_catch_up(self->play, self->bandit);
    job_request_usual(&self->request);
    start_jobs(self);
    return self;
}

static void end(stage *self)
{
    evaluation_jobs_stop(self->jobs);
    play_close(self->play, true);
    play_end(self->play);
    free(self);
}

static void add_candidate(stage *self, const char *name, const char *policy, const char *options)
{
    job_candidate *one = &self->request.candidates[self->request.candidate_count++];
    *one = (job_candidate){0};
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->policy, sizeof one->policy, "%s", policy);
    snprintf(one->options, sizeof one->options, "%s", options);
}

static void create(stage *self)
{
    PLAY_OK(self, evaluation_jobs_create(self->jobs, self->bandit, &self->request, self->id, &self->error));
}

/* Until it is over; what it came to is in self->job, to be released. */
static bool is_over(stage *self)
{
    PLAY_OK(self, evaluation_jobs_read(self->jobs, 1, self->id, &self->job, &self->error));
    if (self->job.about.state == JOB_DONE || self->job.about.state == JOB_FAILED) return true;
    evaluation_job_release(&self->job);
    return false;
}

static job_state await_end(stage *self)
{
    AWAIT(is_over(self));
    return self->job.about.state;
}

/* In the folder of all evaluations, and in the bandit's; and temporary ones. */
static size_t count_files(const stage *self)
{
    static const char *const folders[] = {"evaluations", "evaluations/1", "temporary"};
    char path[600];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", self->play->folder.path, folders[i]);
        DIR *folder = opendir(path);
        for (const struct dirent *entry; folder && (entry = readdir(folder));)
            count += entry->d_name[0] != '.' && strcmp(entry->d_name, "1") != 0;
        if (folder) closedir(folder);
    }
    return count;
}

/* ---- the numbers ---- */

static void export_log(stage *self)
{
    store_reader *reader;
    log_export *export;
    log_range range = {.from = INT64_MIN, .until = INT64_MAX};
    text lines = text_start(&self->error);
    PLAY_OK(self, store_reader_create(self->play->kept, &reader, &self->error));
    PLAY_OK(self, log_export_create(reader, 1, &range, &export, &self->error));
    for (bool over = false; !over;)
        PLAY_OK(self, log_export_fill(export, &lines, lines.length + 1, &over, &self->error));
    log_export_free(export);
    PLAY_OK(self, text_save(&lines, folder_path(&self->play->folder, "log.dsjson")));
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
    stage *self = start(settings);
    self->request.estimator_count = 0;
    static const char *const estimators[] = {"ips", "snips", "dr"};
    for (size_t i = 0; i < 3; i++)
        snprintf(self->request.estimators[self->request.estimator_count++], sizeof self->request.estimators[0], "%s",
                 estimators[i]);
    add_candidate(self, "linear", "linucb", "alpha=0.2");
    add_candidate(self, "worn", "linucb", "alpha=nothing"); /* refused before it is asked for */
    assert_int_equal(evaluation_jobs_create(self->jobs, self->bandit, &self->request, self->id, &self->error),
                     EE_BAD_OPTION);
    self->request.candidate_count--;
    create(self);
    assert_int_equal(await_end(self), JOB_DONE);

    evaluation_request direct = evaluation_usual();
    const candidate_request candidates[] = {
        {"logged", NULL, 0}, {"first", NULL, 0}, {"uniform", NULL, 0}, {"linucb", options, 0}};
    evaluation_result results[4] = {0};
    export_log(self);
    direct.log = folder_path(&self->play->folder, "log.dsjson");
    direct.candidates = candidates;
    direct.candidate_count = direct.estimator_count = 0;
    while (direct.estimator_count < 3) {
        assert_true(
            estimator_request_parse(estimators[direct.estimator_count], &direct.estimators[direct.estimator_count]));
        direct.estimator_count++;
    }
    direct.candidate_count = 4;
    direct.alpha = 1 - 0.95;
    PLAY_OK(self, evaluation_run(&direct, NULL, results, &self->error));
    for (size_t i = 0; i < 4; i++) ok(results[i].failure.status);
    assert_same((double)self->job.log.events, (double)results[0].log.events);
    assert_same((double)self->job.log.events, ROUNDS);
    assert_same(self->job.log.reward, results[0].log.reward);
    assert_same(self->job.log.last_time, results[0].log.last_time);
    for (size_t i = 0; i < 4; i++) {
        const evaluation_result *got = &self->job.results[i];
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
    evaluation_job_release(&self->job);
    assert_int_equal(count_files(self), 2); /* the part of the log is gone */
    end(self);
}

TEST(numbers_are_those_of_the_log)
{
    check_numbers(linear, "alpha=0.2 propensity=floor propensity_epsilon=0.2");
    check_numbers("{\"policy\":\"linucb\",\"propensity\":\"floor:0.2\",\"wait\":50}",
                  "alpha=0.2 propensity=floor propensity_epsilon=0.2");
}

/* ---- restarts, deletion ---- */

TEST(jobs_outlive_a_restart)
{
    stage *self = start(linear);
    char done[JOB_ID_SIZE], slow[JOB_ID_SIZE];
    snprintf(self->request.name, sizeof self->request.name, "the first \"one\"");
    create(self);
    assert_int_equal(await_end(self), JOB_DONE);
    double value = self->job.results[2].estimates[0].value;
    evaluation_job_release(&self->job);
    memcpy(done, self->id, sizeof done);
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "network %d", i);
        add_candidate(self, name, "eenet", "");
    }
    create(self);
    memcpy(slow, self->id, sizeof slow);
    evaluation_jobs_stop(self->jobs);
    start_jobs(self);
    job_about *list;
    size_t count;
    PLAY_OK(self, evaluation_jobs_list(self->jobs, 1, &list, &count, &self->error));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].id, done);
    assert_string_equal(list[0].request.name, "the first \"one\"");
    assert_int_equal(list[0].state, JOB_DONE);
    assert_true(list[0].created > 0 && list[0].ended >= list[0].created);
    assert_true(list[1].state == JOB_WAITING || list[1].state == JOB_RUNNING);
    assert_int_equal(list[1].request.candidate_count, 23);
    memory_free(list);
    PLAY_OK(self, evaluation_jobs_list(self->jobs, 2, &list, &count, &self->error)); /* of another bandit */
    assert_int_equal(count, 0);
    memory_free(list);
    memcpy(self->id, done, sizeof done);
    await_end(self);
    assert_true(self->job.results[2].estimates[0].value == value);
    evaluation_job_release(&self->job);
    PLAY_OK(self, evaluation_jobs_delete(self->jobs, 1, slow, &self->error)); /* while it is played, perhaps */
    assert_int_equal(evaluation_jobs_read(self->jobs, 1, slow, &self->job, &self->error), EE_NO_FILE);
    assert_int_equal(evaluation_jobs_delete(self->jobs, 1, slow, &self->error), EE_NO_FILE);
    PLAY_OK(self, evaluation_jobs_delete(self->jobs, 1, done, &self->error));
    job_request_usual(&self->request); /* what comes after it is played */
    create(self);
    assert_int_equal(await_end(self), JOB_DONE);
    evaluation_job_release(&self->job);
    assert_int_equal(count_files(self), 2);
    end(self);
}

TEST(what_a_crash_left_is_swept_away)
{
    stage *self = start(linear);
    create(self);
    assert_int_equal(await_end(self), JOB_DONE);
    evaluation_job_release(&self->job);
    evaluation_jobs_stop(self->jobs);
    folder_write_text(&self->play->folder, "evaluations/00000000000000000000000000000000.eelog.zst", "x");
    folder_write_text(&self->play->folder, "evaluations/00000000000000000000000000000000.results.json", "{}");
    folder_write_text(&self->play->folder, "evaluations/00000000000000000000000000000000.json.17.0", "{");
    folder_write_text(&self->play->folder, "evaluations/11111111111111111111111111111111.json", "no job");
    folder_write_text(&self->play->folder, "evaluations/notes", "of somebody else");
    blobs_sweep(store_blobs(self->play->kept)); /* as opening the store does */
    start_jobs(self);
    assert_int_equal(count_files(self), 4);
    job_about *list;
    size_t count;
    PLAY_OK(self, evaluation_jobs_list(self->jobs, 1, &list, &count, &self->error));
    assert_int_equal(count, 1);
    memory_free(list);
    end(self);
}

/* Older versions did not keep the jobs of each bandit apart, and wrote no checksums. */
TEST(jobs_of_older_versions_are_found)
{
    stage *self = start(linear);
    create(self);
    assert_int_equal(await_end(self), JOB_DONE);
    double events = (double)self->job.log.events;
    evaluation_job_release(&self->job);
    evaluation_jobs_stop(self->jobs);
    const blob_kind kinds[] = {BLOB_EVALUATION, BLOB_EVALUATION_RESULTS};
    const char *const endings[] = {"json", "results.json"};
    blobs *kept = store_blobs(self->play->kept);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *bytes;
        size_t size;
        char name[100];
        PLAY_OK(self, blob_get(kept, blob_named(1, kinds[i], self->id), &bytes, &size, &self->error));
        PLAY_OK(self, blob_remove(kept, blob_named(1, kinds[i], self->id), &self->error));
        snprintf(name, sizeof name, "evaluations/%s.%s", self->id, endings[i]);
        folder_write(&self->play->folder, name, bytes, size);
        memory_free(bytes);
    }
    start_jobs(self);
    assert_int_equal(await_end(self), JOB_DONE);
    assert_true((double)self->job.log.events == events);
    evaluation_job_release(&self->job);
    assert_int_equal(count_files(self), 2);
    assert_true(blob_exists(kept, blob_named(1, BLOB_EVALUATION, self->id)));
    end(self);
}

/* ---- what cannot be ---- */

static void assert_refused(stage *self, const char *sentence)
{
    assert_true(evaluation_jobs_create(self->jobs, self->bandit, &self->request, self->id, &self->error) != EE_OK);
    assert_message_has(self->error.message, sentence);
    job_request_usual(&self->request);
}

TEST(what_cannot_be_is_said)
{
    stage *self = start(linear);
    static const char *const files[] = {"model:/etc/passwd", "learning:x", "file:/etc/passwd", "nobody"};
    for (size_t i = 0; i < 4; i++) { /* what reads files of this machine is nobody's business */
        add_candidate(self, "x", files[i], "");
        assert_refused(self, "candidate 'x'");
    }
    add_candidate(self, "x", "uniform", "alpha=1");
    assert_refused(self, "takes no options");
    add_candidate(self, "online", "linucb", "");
    assert_refused(self, "duplicate name 'online'");
    snprintf(self->request.estimators[0], sizeof self->request.estimators[0], "guess");
    assert_refused(self, "unknown estimator 'guess'");
    self->request.confidence = 1;
    assert_refused(self, "confidence");
    self->request.from = self->request.until = 7;
    assert_refused(self, "until must be after from");
    assert_int_equal(count_files(self), 0);

    self->request.until = 2; /* before all */
    create(self);
    assert_int_equal(await_end(self), JOB_FAILED);
    assert_string_equal(self->job.about.trouble, "no settled decisions in this time range");
    evaluation_job_release(&self->job);
    for (int i = 1; i < JOBS_EACH; i++) create(self);
    assert_refused(self, "the bandit has 100 evaluations, the maximum");
    end(self);
}
