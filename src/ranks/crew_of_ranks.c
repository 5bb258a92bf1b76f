/* Rank 0: hands out runs, takes reports, tells the watch. All of it in the thread that called. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "hands.h"
#include "lab/runs/run_tally.h"
#include "post.h"
#include "ranks.h"
#include "ranks_inside.h"

/* A hand, as rank 0 sees it. */
typedef struct far_hand {
    size_t rank, thread;
    const run_job *job; /* that it plays; NULL: none */
    uint64_t played;    /* of its rounds, as it last told */
    double seconds;
    bool ended; /* it was told that it is */
    parcel told;
} far_hand;

typedef struct round_table {
    size_t rank_hands; /* of each rank */
    const char *cache;
    run_tally tally;
    bool curves;
    const run_watch *watch;
    const dataset **data; /* (data_count) of the jobs, each once */
    size_t data_count;
    far_hand *hands; /* (hand_count) of rank 0, then of rank 1, ... */
    size_t hand_count;
    size_t *first;        /* (ranks) the first hand of each */
    run_playing *playing; /* (hand_count) room for a standing */
    letter *coming;       /* (hand_count) messages of which a part has come, in the order in which they began to */
    size_t coming_count;
    size_t busy;  /* hands that play */
    size_t next;  /* the first job that is not assigned */
    bool stopped; /* the watch has had enough */
    double start, next_standing;
} round_table;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the watch ---- */

static void tell_standing(round_table *self)
{
    double time = clock_seconds();
    if (!self->watch || !self->watch->standing || time < self->next_standing) return;
    self->next_standing = time + 0.1;
    size_t running = 0;
    for (size_t i = 0; i < self->hand_count; i++) {
        const far_hand *one = &self->hands[i];
        if (one->job) self->playing[running++] = (run_playing){one->job, one->played, one->seconds};
    }
    run_standing now = run_tally_standing(&self->tally, self->playing, running, time - self->start);
    self->watch->standing(self->watch->context, &now);
}

static bool is_wanted(const round_table *self)
{
    const run_watch *watch = self->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

/* ---- data sets ---- */

static size_t place_of_data(const round_table *self, const dataset *data)
{
    size_t place = 0;
    while (place < self->data_count && self->data[place] != data) place++;
    return place;
}

static ee_status list_data(round_table *self, ee_error *error)
{
    ee_status status = memory_create(NULL, &self->data, self->tally.count, sizeof *self->data, error);
    for (size_t i = 0; i < self->tally.count && !status; i++) {
        const dataset *data = self->tally.jobs[i].data;
        if (place_of_data(self, data) == self->data_count) self->data[self->data_count++] = data;
    }
    return status;
}

/* ---- calling the ranks ---- */

static void call_rank(const round_table *self, size_t rank)
{
    char version[RANKS_VERSION];
    ranks_version(version);
    message call = {MESSAGE_CALL, .call = {version, self->rank_hands, self->data_count}};
    post_send(POST_DOWN, rank, POST_MAIN, &call);
    for (size_t i = 0; i < self->data_count; i++) {
        const dataset *data = self->data[i];
        message told = {MESSAGE_DATA, .data = {dataset_text(data), self->cache, dataset_fingerprint(data)}};
        post_send(POST_DOWN, rank, POST_MAIN, &told);
    }
}

/* ready is (ranks): the workers of each; 0 if it failed. error has the reason of the first that failed. */
static ee_status hear_answers(round_table *self, size_t *ready, ee_error *error)
{
    size_t ranks = post_ranks(), failed = ranks;
    nap between = {0};
    letter one = {0};
    for (size_t heard = 1; heard < ranks;) {
        tell_standing(self);
        if (!post_take(POST_UP, POST_ANYWHERE, &one)) {
            nap_sleep(&between);
            continue;
        }
        nap_wake(&between);
        if (one.what.kind != MESSAGE_ANSWER) post_fail("MPI: expected an answer, got another message");
        const answer_message *answer = &one.what.answer;
        ready[one.rank] = answer->hands;
        if (!answer->hands && one.rank < failed) {
            failed = one.rank;
            status_fail(error, answer->error.status, "rank %zu on %s: %s", one.rank, answer->host,
                        answer->error.message);
        }
        letter_release(&one);
        heard++;
    }
    return failed < ranks ? error->status : EE_OK;
}

static ee_status list_hands(round_table *self, const size_t *ready, ee_error *error)
{
    size_t ranks = post_ranks(), count = 0;
    for (size_t i = 0; i < ranks; i++) count += ready[i];
    ee_status status = memory_create(NULL, &self->hands, count, sizeof *self->hands, error);
    if (!status) status = memory_create(NULL, &self->playing, count, sizeof *self->playing, error);
    if (!status) status = memory_create(NULL, &self->coming, count, sizeof *self->coming, error);
    if (!status) status = memory_create(NULL, &self->first, ranks, sizeof *self->first, error);
    for (size_t i = 0; i < ranks && !status; i++) {
        self->first[i] = self->hand_count;
        for (size_t k = 1; k <= ready[i]; k++) self->hands[self->hand_count++] = (far_hand){.rank = i, .thread = k};
    }
    return status;
}

/* ---- runs ---- */

/* The hand gets its next run where there is one; a hand that plays is ended. */
static void tell_hand(round_table *self, far_hand *to, const run_job *job)
{
    message told = {.kind = MESSAGE_END};
    if (job)
        told = (message){MESSAGE_JOB, .job = {*job, place_of_data(self, job->data), self->curves}};
    else
        to->ended = true;
    post_finish(&to->told); /* it has come long ago: the hand has reported since, or is being ended */
    post_begin(POST_DOWN, to->rank, to->thread, &told, &to->told);
}

static void give_next(round_table *self, far_hand *to)
{
    if (to->ended) return;
    bool more = !self->stopped && self->next < self->tally.count;
    to->job = more ? &self->tally.jobs[self->next++] : NULL;
    to->played = 0;
    to->seconds = 0.0;
    self->busy += more;
    tell_hand(self, to, to->job);
}

static void stop(round_table *self)
{
    if (self->stopped) return;
    self->stopped = true;
    for (size_t i = 0; i < self->hand_count; i++)
        if (!self->hands[i].ended) tell_hand(self, &self->hands[i], NULL);
}

static void take_report(round_table *self, far_hand *from, const report_message *told)
{
    const run_job *job = from->job;
    run_tally_end(&self->tally, job, &told->result, &told->error);
    from->job = NULL;
    self->busy--;
    give_next(self, from); /* first: it plays while we keep what it did */
    run_report report = {.job = job,
                         .result = &told->result,
                         .options = told->options,
                         .curve = told->curve,
                         .error = &told->error,
                         .machine = told->machine};
    const run_watch *watch = self->watch;
    if (watch && watch->ended && !watch->ended(watch->context, &report)) stop(self);
}

static void take_letter(round_table *self, const letter *one)
{
    far_hand *from = &self->hands[self->first[one->rank] + one->thread - 1];
    if (one->what.kind == MESSAGE_REPORT && from->job) {
        take_report(self, from, &one->what.report);
    } else if (one->what.kind == MESSAGE_PROGRESS && from->job) {
        from->played = one->what.progress.played;
        from->seconds = one->what.progress.seconds;
    } else {
        post_fail("MPI: received a report on a run that was not assigned");
    }
}

/* Whether no earlier message of the same hand is still on its way. */
static bool is_next_of_hand(const round_table *self, size_t place)
{
    const letter *of = &self->coming[place];
    for (size_t i = 0; i < place; i++)
        if (self->coming[i].rank == of->rank && self->coming[i].thread == of->thread) return false;
    return true;
}

/* The next complete message, if any. An incomplete one does not block the others. */
static bool take_next(round_table *self, letter *out)
{
    for (size_t i = 0; i <= self->coming_count && i < self->hand_count; i++) {
        letter *one = &self->coming[i];
        bool whole = post_take(POST_UP, POST_ANYWHERE, one);
        if (i == self->coming_count && one->words) self->coming_count++;
        if (!whole || !is_next_of_hand(self, i)) continue;
        *out = *one;
        self->coming_count--;
        memmove(one, one + 1, (self->coming_count - i) * sizeof *one);
        self->coming[self->coming_count] = (letter){0};
        return true;
    }
    return false;
}

/* Until all runs have ended, and all hands. */
static void play_all(round_table *self)
{
    nap between = {0};
    for (size_t i = 0; i < self->hand_count; i++) give_next(self, &self->hands[i]);
    while (self->busy) {
        letter one;
        tell_standing(self);
        if (!is_wanted(self)) stop(self);
        if (!take_next(self, &one)) {
            nap_sleep(&between);
            continue;
        }
        nap_wake(&between);
        take_letter(self, &one);
        letter_release(&one);
    }
}

/* ---- all of it ---- */

static ee_status run(round_table *self, ee_error *error)
{
    size_t *ready = NULL, own = 0;
    hand *hands = NULL;
    ee_status status = list_data(self, error);
    if (!status) status = memory_create(NULL, &ready, post_ranks(), sizeof *ready, error);
    if (!status) status = hands_start(self->data, self->data_count, self->rank_hands, &hands, &own, error);
    if (status) goto done;
    for (size_t i = 1; i < post_ranks(); i++) call_rank(self, i);
    status = hear_answers(self, ready, error);
    ready[0] = own;
    if (list_hands(self, ready, error)) post_fail(error->message); /* the hands wait, and no one can end them */
    self->stopped = status || !is_wanted(self);
    play_all(self);
    hands_join(hands, own);
done:
    for (size_t i = 0; i < self->hand_count; i++) post_finish(&self->hands[i].told);
    memory_free(ready);
    memory_free(self->data);
    memory_free(self->hands);
    memory_free(self->playing);
    memory_free(self->coming);
    memory_free(self->first);
    return status;
}

static ee_status play(const run_crew *crew, const run_job *jobs, size_t count, bool curves, const run_watch *watch,
                      run_result *results, ee_error *error)
{
    round_table self = {.rank_hands = crew->hands / post_ranks(),
                        .cache = crew->context,
                        .tally = run_tally_start(jobs, count, results),
                        .curves = curves,
                        .watch = watch,
                        .start = clock_seconds()};
    if (!count) return EE_OK;
    ee_error own = {EE_OK, ""};
    ee_status status = run(&self, &own);
    if (!status) status = run_tally_status(&self.tally, &own);
    if (status && error) *error = own;
    return status;
}

run_crew crew_of_ranks(size_t hands, const char *cache)
{
    return (run_crew){.hands = ranks_count() * hands, .play = play, .context = (void *)cache};
}
