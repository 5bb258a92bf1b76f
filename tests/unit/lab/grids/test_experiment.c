/* Runs kept in a folder: a crash before or in the middle of any write, and what comes after it. */
#define _GNU_SOURCE
#include "lab/grids/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/archive.h"
#include "data/support_sets.h"
#include "lab/results/pending_runs.h"
#include "support_files.h"

/* ---- the system calls that change the folder, made to crash or to fail ----
 *
 * A program's own definition of these goes before the C library's. */

enum { CRASHED = 77 };

static atomic_int calls; /* so far */
static int last_call;    /* the one that does not come back, or fails; 0: none */
static bool half;        /* a write has written half before that */
static bool only_fail;   /* with ENOSPC, and so do all after it */

/* Whether the call is to be made. */
static bool survive(void)
{
    int number = ++calls;
    if (!last_call || number < last_call) return true;
    if (!only_fail) _exit(CRASHED);
    errno = ENOSPC;
    return false;
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    if (half && calls + 1 == last_call) syscall(SYS_write, descriptor, bytes, size / 2);
    return survive() ? syscall(SYS_write, descriptor, bytes, size) : -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t place)
{
    if (half && calls + 1 == last_call) syscall(SYS_pwrite64, descriptor, bytes, size / 2, place);
    return survive() ? syscall(SYS_pwrite64, descriptor, bytes, size, place) : -1;
}

int fsync(int descriptor)
{
    (void)descriptor; /* nothing is lost but by the crash of this process: the disk is spared */
    return survive() ? 0 : -1;
}

int ftruncate(int descriptor, off_t size)
{
    if (only_fail) return (int)syscall(SYS_ftruncate, descriptor, size); /* a full disk can be cut */
    return survive() ? (int)syscall(SYS_ftruncate, descriptor, size) : -1;
}

int rename(const char *from, const char *to)
{
    return survive() ? (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) : -1;
}

int unlink(const char *path)
{
    if (only_fail) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return survive() ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0) : -1;
}

enum { JOBS = 5 };

static char whole[60], folder[60]; /* never crashed, and the one under test */
static dataset *data;
static run_job jobs[JOBS];
static run_shard shard; /* all, mostly */
static run_result results[JOBS];

/* The first run is the longest by far. On two threads it is held up until another has ended, which must then wait for
 * its turn in pending/. */
enum { LONG = 500, SHORT = 20 };

static atomic_int ended_runs;

static bool hold_up(void *context)
{
    (void)context;
    static _Thread_local int rounds;
    if (++rounds > JOBS * SHORT) /* it is the long run */
        while (ended_runs == 0) sched_yield();
    return true;
}

static int set_up(void **state)
{
    folder_enter(state);
    if (dataset_open("synthetic:inner,dim=3,arms=2", NULL, &data, NULL)) return -1;
    snprintf(whole, sizeof whole, "%s/whole", here.path);
    snprintf(folder, sizeof folder, "%s/deep/folder", here.path);
    shard = (run_shard){0};
    jobs[0] = (run_job){.data = data, .policy = "uniform", .seed = 0, .rounds = LONG};
    for (size_t i = 1; i < JOBS; i++)
        jobs[i] = (run_job){.data = data,
                            .policy = i < 3 ? "uniform" : "eenet",
                            .options = i < 3 ? NULL : "f1.width=4 f1.committee=1 recall=0",
                            .seed = i % 2,
                            .rounds = SHORT};
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_not_equal(access(path, F_OK), 0);
}

static int tear_down(void **state)
{
    dataset_free(data);
    return folder_leave(state);
}

static ee_status run_in(const char *into, size_t threads, const run_job *played, size_t count, const run_watch *watch,
                        run_result *found, ee_error *error)
{
    experiment_site site = {.folder = into, .pool = run_pool_of_threads(threads), .shard = shard};
    return experiment_run(&site, played, count, watch, found, error);
}

static void play(const char *into, size_t threads, const run_watch *watch)
{
    ok(run_in(into, threads, jobs, JOBS, watch, results, NULL));
    for (size_t i = 0; i < JOBS; i++) assert_true(results[i].finished && results[i].rounds == jobs[i].rounds);
}

static uint8_t *read_in(const char *from, const char *name, size_t *size)
{
    uint8_t *bytes;
    ok(file_read(formatted("%s/%s", from, name), &bytes, size, NULL));
    return bytes;
}

static void take_seconds_out(char *text)
{
    static const char member[] = "\"seconds\":";
    while ((text = strstr(text, member))) {
        text += strlen(member);
        memmove(text, text + strcspn(text, ","), strlen(text + strcspn(text, ",")) + 1);
    }
}

static void assert_same_file(const char *name)
{
    size_t sizes[2];
    auto_memory uint8_t *left = read_in(whole, name, &sizes[0]), *right = read_in(folder, name, &sizes[1]);
    if (strcmp(name, "results.jsonl") == 0) {
        take_seconds_out((char *)left);
        take_seconds_out((char *)right);
        assert_string_equal((char *)left, (char *)right);
    } else {
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(left, right, sizes[0]);
    }
}

static bool exists(const char *name)
{
    return access(formatted("%s/%s", folder, name), F_OK) == 0;
}

static void assert_same_folders(void)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    assert_same_file("results.jsonl");
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_same_file(formatted("curves/%s", list.runs[i].curve));
    }
    assert_false(exists("pending"));
}

typedef struct notes {
    int ended, with_curve, standings;
    size_t order[4 * JOBS]; /* of the jobs, as they ended */
    bool wrong;             /* a standing that does not count what was read, or goes back */
    double share;           /* of the last standing */
    int sentences;
    char sentence[800]; /* the last */
} notes;

static bool note_end(void *context, const run_report *report)
{
    notes *self = context;
    ended_runs++;
    self->order[self->ended++] = (size_t)(report->job - jobs);
    self->with_curve += report->curve != NULL;
    return true;
}

static void note_standing(void *context, const run_standing *now)
{
    notes *self = context;
    self->standings++;
    self->wrong = self->wrong || now->jobs != JOBS || now->rounds != LONG + 4 * SHORT || now->played > now->rounds ||
                  !(now->share >= self->share && now->share <= 1.0) || now->left < 0.0;
    for (size_t i = 0; i < now->running; i++)
        self->wrong = self->wrong || now->runs[i].job < jobs || now->runs[i].job >= jobs + JOBS;
    self->share = now->share;
}

TEST_WITH(what_is_there_is_not_played_again, set_up, tear_down)
{
    run_result first[JOBS];
    notes heard = {0}, again = {0};
    play(folder, 2, &(run_watch){.standing = note_standing, .ended = note_end, .context = &heard});
    memcpy(first, results, sizeof first);
    assert_int_equal(heard.ended, JOBS);
    assert_int_equal(heard.with_curve, JOBS);
    assert_true(heard.standings > 0 && !heard.wrong);
    play(folder, 2, &(run_watch){.standing = note_standing, .ended = note_end, .context = &again});
    assert_int_equal(again.ended, JOBS);
    assert_int_equal(again.with_curve, 0);
    assert_int_equal(again.standings, 0);
    for (size_t i = 0; i < JOBS; i++) assert_int_equal(again.order[i], i);
    assert_memory_equal(first, results, sizeof first); /* the seconds too: they were read */
}

TEST_WITH(lines_are_in_the_order_of_the_jobs, set_up, tear_down)
{
    play(whole, 1, NULL);
    for (size_t threads = 2; threads <= 4; threads++) {
        notes heard = {0};
        ended_runs = 0;
        play(folder, threads, &(run_watch){.wanted = hold_up, .ended = note_end, .context = &heard});
        assert_true(heard.order[0] != 0); /* it was in pending/ */
        assert_same_folders();
        remove_all(folder);
    }
}

/* A run is reported once it is in the folder, with its curve: a line, or in pending/ until its turn comes. */
static bool is_kept_before_it_is_reported(void *context, const run_report *report)
{
    size_t *reported = context;
    RELEASED_BY(results_release) stored_runs lines = {0}, waiting = {0};
    assert_true(report->result->finished);
    ok(results_read(folder, &lines, NULL));
    ok(pending_runs_list(formatted("%s/pending", folder), NULL, &waiting, NULL));
    assert_int_equal(lines.count + waiting.count, ++*reported);
    for (size_t i = 0; i < lines.count; i++) {
        bool there;
        ok(results_has_curve(folder, &lines.runs[i], &there, NULL));
        assert_true(there);
    }
    return true;
}

TEST_WITH(reported_runs_are_kept, set_up, tear_down)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        size_t reported = 0;
        run_watch watch = {.ended = is_kept_before_it_is_reported, .context = &reported};
        remove_all(folder);
        play(folder, threads, &watch);
        assert_int_equal(reported, JOBS);
    }
}

/* Plays in a process of its own, which ends at the given call; returns its exit status. */
static int play_until(int call, bool write_half, size_t threads)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        notes heard = {0};
        run_watch watch = {.wanted = threads > 1 ? hold_up : NULL, .ended = note_end, .context = &heard};
        calls = ended_runs = 0;
        last_call = call;
        half = write_half;
        _exit(run_in(folder, threads, jobs, JOBS, &watch, results, NULL));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void crash_everywhere(size_t threads, bool write_half)
{
    int status = CRASHED, call = 1;
    for (; status == CRASHED; call += (int)test_long(4, 1)) {
        remove_all(folder);
        status = play_until(call, write_half, threads);
        assert_true(status == CRASHED || status == EE_OK);
        if (status == CRASHED) ok(play_until(0, false, threads));
        assert_same_folders();
    }
    assert_true(call > 8 * JOBS); /* it did crash: a run is kept by so many calls */
}

TEST_WITH(a_crash_at_any_call, set_up, tear_down)
{
    play(whole, 1, NULL);
    crash_everywhere(1, false);
    crash_everywhere(1, true);
    crash_everywhere(2, false);
    crash_everywhere(2, true);
}

/* The folder of a shard, with the order of all. */
TEST_WITH(a_shard_that_crashes, set_up, tear_down)
{
    shard = (run_shard){1, 2};
    ok(run_in(whole, 1, jobs, JOBS, NULL, results, NULL));
    int status = CRASHED, call = 1;
    for (; status == CRASHED; call += (int)test_long(3, 1)) {
        remove_all(folder);
        status = play_until(call, call % 2, 1);
        if (status == CRASHED) ok(play_until(0, false, 1));
        assert_same_file("results.jsonl");
        assert_same_file("order");
    }
    ok(status);
}

/* A crash while it recovers from a crash, again and again: each time it comes a call further. */
TEST_WITH(crash_after_crash, set_up, tear_down)
{
    play(whole, 1, NULL);
    int status = CRASHED;
    for (int call = 1; status == CRASHED; call++) status = play_until(call, call % 2, 2);
    ok(status);
    assert_same_folders();
}

/* What is there of the lines; nothing, where the folder itself could not be synced. */
static void assert_whole_lines(void)
{
    size_t size;
    if (access(formatted("%s/results.jsonl", folder), F_OK)) return;
    auto_memory uint8_t *text = read_in(folder, "results.jsonl", &size);
    assert_true(size == 0 || text[size - 1] == '\n');
}

/* A disk that is full from any moment on: told, and nothing that was kept is lost. */
TEST_WITH(a_full_disk, set_up, tear_down)
{
    play(whole, 1, NULL);
    ee_status status = EE_FILE_ERROR;
    for (int call = 1; status; call += (int)test_long(3, 1)) {
        remove_all(folder);
        notes heard = {0};
        run_watch watch = {.wanted = hold_up, .ended = note_end, .context = &heard};
        calls = ended_runs = 0;
        last_call = call;
        only_fail = half = true;
        status = run_in(folder, 2, jobs, JOBS, &watch, results, &last_error);
        last_call = 0;
        only_fail = half = false;
        assert_whole_lines();
        if (status) fails_saying(status, EE_FILE_ERROR, "No space left on device");
        play(folder, 2, NULL);
        assert_same_folders();
    }
}

static bool refuse(void *context)
{
    (void)context;
    return false;
}

static bool stop_after_one(void *context)
{
    return hold_up(context) && ended_runs == 0;
}

/* What had ended before it was stopped is kept, though its turn had not come. */
TEST_WITH(stopped_and_called_again, set_up, tear_down)
{
    play(whole, 1, NULL);
    run_watch nobody = {.wanted = refuse};
    ok(run_in(folder, 2, jobs, JOBS, &nobody, results, NULL));
    for (size_t i = 0; i < JOBS; i++) assert_false(results[i].finished);
    notes heard = {0}, again = {0};
    ended_runs = 0;
    run_watch one = {.wanted = stop_after_one, .ended = note_end, .context = &heard};
    ok(run_in(folder, 2, jobs, JOBS, &one, results, NULL));
    assert_true(!results[0].finished && results[1].finished);
    assert_true(exists("pending"));
    play(folder, 1, &(run_watch){.ended = note_end, .context = &again});
    assert_int_equal(again.order[0], 1); /* read, not played */
    assert_int_equal(again.with_curve, JOBS - 1);
    assert_same_folders();
}

static void note_sentence(void *context, const char *sentence)
{
    notes *self = context;
    self->sentences++;
    snprintf(self->sentence, sizeof self->sentence, "%s", sentence);
}

/* The path of the curves of job 1, which are those of job 2 too: rows 0 and 1. */
static void curves_of_short_runs(char *path, size_t capacity)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(results_read(folder, &list, NULL));
    assert_string_equal(list.runs[1].curve, list.runs[2].curve);
    snprintf(path, capacity, "%s/curves/%s", folder, list.runs[1].curve);
}

static void assert_all_curves(void)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    double curve[LONG];
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, JOBS);
    for (size_t i = 0; i < JOBS; i++) ok(results_curve(folder, &list.runs[i], curve, NULL));
}

/* Plays again after a loss: so many runs are played, and a sentence tells it. */
static void assert_played_again(int runs, const char *sentence)
{
    notes heard = {0}, again = {0};
    play(folder, 2, &(run_watch){.ended = note_end, .context = &heard, .noted = note_sentence});
    assert_int_equal(heard.with_curve, runs);
    assert_int_equal(heard.sentences, 1);
    if (!strstr(heard.sentence, sentence)) fail_msg("got '%s', expected '%s'", heard.sentence, sentence);
    play(folder, 1, &(run_watch){.ended = note_end, .context = &again, .noted = note_sentence});
    assert_int_equal(again.with_curve, 0);
    assert_int_equal(again.sentences, 0);
    assert_all_curves();
}

TEST_WITH(lost_curves_are_played_again, set_up, tear_down)
{
    enum { REMOVED, CUT, EMPTIED, OTHER_NUMBERS, LOSSES };
    static const int runs[LOSSES] = {2, 1, 2, 1};
    static const char *const sentences[LOSSES] = {"2 of its 2 runs are repeated now", "1 of its 2 runs is repeated now",
                                                  "2 of its 2 runs are repeated now",
                                                  "1 of its 2 runs is repeated now"};
    char path[sizeof folder + 300];
    play(whole, 1, NULL);
    play(folder, 1, NULL);
    curves_of_short_runs(path, sizeof path);
    for (int loss = 0; loss < LOSSES; loss++) {
        double wrong = -1.0;
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        if (loss == REMOVED) assert_int_equal(remove(path), 0);
        if (loss == CUT) assert_int_equal(truncate(path, 128 + (2 * SHORT - 1) * (off_t)sizeof(double)), 0);
        if (loss == EMPTIED) assert_int_equal(truncate(path, 0), 0);
        if (loss == OTHER_NUMBERS) {
            assert_int_equal(fseek(file, 128 + (SHORT - 1) * (long)sizeof wrong, SEEK_SET), 0);
            assert_int_equal(fwrite(&wrong, sizeof wrong, 1, file), 1);
        }
        fclose(file);
        assert_played_again(runs[loss], sentences[loss]);
        if (loss == OTHER_NUMBERS) break; /* the row in the middle stays, and no line names it */
        assert_same_file(path + strlen(folder) + 1);
    }
}

/* What another command has played stays: its lines, and its rows in the file. */
TEST_WITH(others_runs_keep_their_lines, set_up, tear_down)
{
    char path[sizeof folder + 300];
    double curve[SHORT];
    notes heard = {0};
    run_watch watch = {.ended = note_end, .context = &heard, .noted = note_sentence};
    RELEASED_BY(results_release) stored_runs list = {0};
    play(folder, 1, NULL);
    curves_of_short_runs(path, sizeof path);
    assert_int_equal(remove(path), 0);
    ok(run_in(folder, 1, &jobs[1], 1, &watch, results, NULL));
    assert_int_equal(heard.with_curve, 1);
    assert_non_null(
        strstr(heard.sentence, "1 of its 2 runs is repeated now; to restore the other 1, repeat the command"));
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, JOBS);
    assert_int_equal(list.runs[1].seed, jobs[2].seed); /* its line moved up: the one before is gone, and at the end */
    fails_saying(results_curve(folder, &list.runs[1], curve, &last_error), EE_BAD_INPUT,
                 "repeat the command that made it");
    ok(results_curve(folder, &list.runs[JOBS - 1], curve, &last_error));
    assert_played_again(1, "1 of its 2 runs is repeated now");
}

/* Killed at any call while lines are taken out: nothing but what was lost is lost. */
TEST_WITH(a_crash_while_lines_are_taken_out, set_up, tear_down)
{
    char path[sizeof folder + 300];
    int status = CRASHED;
    for (int call = 1; status == CRASHED; call += (int)test_long(3, 1)) {
        remove_all(folder);
        play(folder, 1, NULL);
        curves_of_short_runs(path, sizeof path);
        assert_int_equal(truncate(path, 128), 0);
        status = play_until(call, call % 2, 1);
        if (status == CRASHED) ok(play_until(0, false, 1));
        assert_all_curves();
    }
    ok(status);
}

/* One that fails is told, is not kept, and does not hold up the others; the same job twice is played once. */
TEST_WITH(failures_and_repetitions, set_up, tear_down)
{
    RELEASED_BY(results_release) stored_runs list = {0};
    jobs[0].policy = "no-such-policy";
    jobs[3] = jobs[1];
    notes heard = {0};
    run_watch watch = {.ended = note_end, .context = &heard};
    ok(run_in(folder, 2, jobs, JOBS, &watch, results, NULL));
    assert_int_equal(results[0].status, EE_BAD_OPTION);
    assert_int_equal(heard.ended, JOBS);
    assert_memory_equal(&results[3], &results[1], sizeof results[1]);
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, JOBS - 2);
}

/* What tells two runs apart, one thing at a time. */
TEST_WITH(every_part_of_a_job_counts, set_up, tear_down)
{
    run_result result, result_of_all[9];
    notes heard = {0};
    run_watch watch = {.ended = note_end, .context = &heard};
    auto_dataset *other = open_data("synthetic:inner,dim=3,arms=3");
    const run_job first = {.data = data, .policy = "uniform", .seed = 1, .rounds = 20};
    run_job changed[9] = {first, first, first, first, first, first, first, first, first};
    changed[1].data = other;
    changed[2].policy = "greedy";
    changed[3].options = "pending=9";
    changed[4].seed = 2;
    changed[5].rounds = 21;
    changed[6].tuning = true;
    changed[7].late = (delay){.rounds = 3};
    changed[8].late = (delay){.kind = DELAY_CLICKS, .rounds = 3, .mean = 1.0};
    for (size_t i = 0; i < 9; i++) ok(run_in(folder, 1, &changed[i], 1, &watch, &result, NULL));
    assert_int_equal(heard.with_curve, 9);
    ok(run_in(folder, 1, changed, 9, &watch, &result_of_all[0], NULL));
    assert_int_equal(heard.with_curve, 9);
    /* The default, written out, is the same as not given. */
    run_job same = first;
    same.options = "pending=1024";
    ok(run_in(folder, 1, &same, 1, &watch, &result, NULL));
    assert_int_equal(heard.with_curve, 9);
}

static uint64_t text_key(const char *text)
{
    return archive_checksum((const uint8_t *)text, strlen(text));
}

/* Folders from before there were delays: the file of curves of a run whose rewards come at once is named as then. */
TEST_WITH(folders_without_delays_go_on, set_up, tear_down)
{
    const run_job job = {.data = data, .policy = "uniform", .seed = 1, .rounds = 20};
    run_result result;
    RELEASED_BY(results_release) stored_runs list = {0};
    ok(run_in(folder, 1, &job, 1, NULL, &result, NULL));
    ok(results_read(folder, &list, NULL));
    assert_int_equal(list.count, 1);
    const stored_run *run = &list.runs[0];
    uint64_t parts[] = {text_key(run->dataset), run->fingerprint, text_key("uniform"), text_key(run->options), 20, 0};
    assert_non_null(strstr(run->curve, formatted("_uniform_%016llx.npy", (unsigned long long)archive_checksum(
                                                                             (const uint8_t *)parts, sizeof parts))));
    assert_null(strstr(run->curve, "delay"));
}
