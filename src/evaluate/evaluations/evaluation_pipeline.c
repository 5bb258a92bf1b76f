#define _POSIX_C_SOURCE 200809L
#include "evaluation_pipeline.h"

#include <pthread.h>

#include "base/memory.h"
#include "data/values/seconds.h"
#include "features/round.h"

/* Batches between the reader and the slowest stage. */
enum { BATCHES = 16 };

typedef struct pipeline pipeline;

typedef enum stage_kind { STAGE_READER, STAGE_MODEL, STAGE_CANDIDATE } stage_kind;

typedef struct stage {
    stage_kind kind;
    size_t index;   /* of the model or of the candidate */
    uint64_t next;  /* batch */
    bool busy;      /* a thread is working on it */
    double seconds; /* so far */

    /* Of one event: its rounds with the features that this stage needs. */
    bool features;
    candidate_round *rounds;
    ee_round **unpacked;
    size_t round_capacity, unpacked_capacity, unpacked_count;

    ee_status status;
    ee_error error;
    uint64_t failed_batch; /* where it failed */
    size_t failed_event;
} stage;

/* A batch with what is known about it. */
typedef struct ring_batch {
    played_batch events;
    evaluation_standing standing; /* of the log after it */
    double slowest;               /* seconds of the slowest stage */
} ring_batch;

struct pipeline {
    evaluation_play *play;
    const pipeline_source *source;
    stage *stages; /* (stage_count) the reader, models, candidates */
    size_t stage_count;
    ring_batch *ring; /* (BATCHES) */

    pthread_mutex_t lock; /* for what follows, and for next, busy and seconds of the stages */
    pthread_cond_t changed;
    size_t batch_events; /* events of the next batch */
    uint64_t retired;    /* batches that all stages have finished */
    evaluation_standing finished;
    bool ended, stopped;
};

/* ---- threads ---- */

typedef struct thread_work {
    void (*work)(void *context);
    void *context;
    double seconds;
    pthread_t thread;
} thread_work;

static void *work_in_thread(void *argument)
{
    thread_work *self = argument;
    double start = seconds_worked();
    self->work(self->context);
    self->seconds = seconds_worked() - start;
    return NULL;
}

void pipeline_in_threads(size_t threads, void (*work)(void *context), void *context, double *seconds)
{
    thread_work own = {work, context, 0.0, 0}, *others = NULL;
    size_t started = 0;
    if (threads > 1 && memory_create(NULL, &others, threads - 1, sizeof *others, NULL)) threads = 1;
    for (; started + 1 < threads; started++) {
        others[started] = own;
        if (pthread_create(&others[started].thread, NULL, work_in_thread, &others[started])) break;
    }
    work_in_thread(&own);
    *seconds += own.seconds;
    for (size_t i = 0; i < started; i++) {
        pthread_join(others[i].thread, NULL);
        *seconds += others[i].seconds;
    }
    memory_free(others);
}

/* ---- setting up ---- */

static stage *add_stage(pipeline *self, stage_kind kind, size_t index)
{
    stage *added = &self->stages[self->stage_count++];
    added->kind = kind;
    added->index = index;
    return added;
}

static ee_status open_pipeline(pipeline *self, ee_error *error)
{
    evaluation_play *play = self->play;
    size_t models = play->model_count, most = 1 + models + play->player_count;
    ee_status status = memory_create(NULL, &self->stages, most, sizeof *self->stages, error);
    if (!status) status = memory_create(NULL, &self->ring, BATCHES, sizeof *self->ring, error);
    if (status) return status;
    add_stage(self, STAGE_READER, 0);
    for (size_t i = 0; i < models; i++) add_stage(self, STAGE_MODEL, i)->features = true;
    for (size_t i = 0; i < play->player_count; i++) {
        const evaluation_player *one = &play->players[i];
        if (!evaluation_is_playing(one)) continue;
        add_stage(self, STAGE_CANDIDATE, i)->features = one->class->arms || one->own_models;
    }
    return EE_OK;
}

static void close_pipeline(pipeline *self)
{
    for (size_t i = 0; i < self->stage_count; i++) {
        stage *one = &self->stages[i];
        for (size_t k = 0; k < one->unpacked_count; k++) ee_round_free(one->unpacked[k]);
        memory_free(one->unpacked);
        memory_free(one->rounds);
    }
    for (size_t i = 0; self->ring && i < BATCHES; i++) played_batch_release(&self->ring[i].events);
    memory_free(self->stages);
    memory_free(self->ring);
}

/* ---- a batch in a stage ---- */

static ee_status read_batch(pipeline *self, ring_batch *batch, size_t most, bool *more, ee_error *error)
{
    played_batch_clear(&batch->events);
    batch->slowest = 0.0;
    ee_status status = self->source->fill(self->source->context, &batch->events, most, more, error);
    batch->standing = self->source->standing(self->source->context);
    return status;
}

/* Another stage may be reading the same event: named features are unpacked here, because turning them into vectors
 * writes to them. */
static ee_status unpack(stage *one, const batch_event *from, played_event *out, ee_error *error)
{
    size_t count = from->played.count;
    *out = from->played;
    if (!from->features || !one->features) return EE_OK;
    ee_status status = memory_grow(NULL, &one->rounds, &one->round_capacity, count, sizeof *one->rounds, error);
    if (!status)
        status = memory_grow(NULL, &one->unpacked, &one->unpacked_capacity, count, sizeof *one->unpacked, error);
    for (size_t k = 0; k < count && !status; k++) {
        if (k == one->unpacked_count) status = ee_round_create(NULL, &one->unpacked[k], error);
        if (status) break;
        if (k == one->unpacked_count) one->unpacked_count++;
        status = round_unpack(one->unpacked[k], from->features[k], error);
        one->rounds[k] = from->played.rounds[k];
        one->rounds[k].features = one->unpacked[k];
    }
    out->rounds = one->rounds;
    return status;
}

static ee_status play_event(pipeline *self, stage *one, const batch_event *event, ee_error *error)
{
    evaluation_play *play = self->play;
    bool model = one->kind == STAGE_MODEL;
    evaluation_player *player = model ? NULL : &play->players[one->index];
    ee_status status = EE_OK;
    if (event->freezes && model) status = evaluation_play_freeze_model(play, one->index, error);
    if (event->freezes && !model) status = evaluation_play_freeze(play, player, error);
    played_event played;
    if (!status) status = unpack(one, event, &played, error);
    if (status) return status;
    if (model) return evaluation_play_model(play, one->index, &played, error);
    evaluation_play_candidate(play, player, &played);
    evaluation_play_mark(player, &event->mark);
    return EE_OK;
}

/* After a failure a stage only lets the batches pass. */
static void play_batch(pipeline *self, stage *one, const played_batch *batch)
{
    for (size_t i = 0; i < batch->count && !one->status; i++) {
        one->status = play_event(self, one, &batch->events[i], &one->error);
        one->failed_batch = one->next;
        one->failed_event = i;
    }
}

/* ---- what is next; call these functions with the lock ---- */

/* The number of batches that this stage may have started. */
static uint64_t limit_of(const pipeline *self, const stage *one)
{
    const stage *reader = &self->stages[0];
    if (one == reader) return self->ended ? reader->next : self->retired + BATCHES;
    uint64_t limit = reader->next;
    for (size_t i = 1; one->kind == STAGE_CANDIDATE && self->stages[i].kind == STAGE_MODEL; i++)
        if (self->stages[i].next < limit) limit = self->stages[i].next;
    return limit;
}

/* The stage that took longest so far among those that can work: others wait for it sooner or later. */
static stage *find_stage(pipeline *self)
{
    stage *found = NULL;
    for (size_t i = 0; i < self->stage_count; i++) {
        stage *one = &self->stages[i];
        if (one->busy || one->next >= limit_of(self, one)) continue;
        if (!found || one->seconds > found->seconds) found = one;
    }
    return found;
}

static bool is_done(const pipeline *self)
{
    return self->stopped || (self->ended && self->retired == self->stages[0].next);
}

/* A batch takes a stage some milliseconds: little next to an interruption or a progress report, much next to a lock. */
static void adjust_size(pipeline *self, double slowest)
{
    const double long_seconds = 0.02, short_seconds = 0.005;
    if (slowest > long_seconds && self->batch_events > 1) self->batch_events /= 2;
    if (slowest < short_seconds && self->batch_events < PLAYED_BATCH_MOST) self->batch_events *= 2;
}

static void retire(pipeline *self)
{
    uint64_t least = self->stages[0].next;
    for (size_t i = 1; i < self->stage_count; i++)
        if (self->stages[i].next < least) least = self->stages[i].next;
    for (; self->retired < least; self->retired++) {
        const ring_batch *batch = &self->ring[self->retired % BATCHES];
        self->finished = batch->standing;
        adjust_size(self, batch->slowest);
    }
}

static void end_stage(pipeline *self, stage *one, double seconds)
{
    ring_batch *batch = &self->ring[one->next % BATCHES];
    if (seconds > batch->slowest) batch->slowest = seconds;
    if (one->status)
        self->ended =
            true; /* earlier batches go on: one of them may fail in another stage, and the first failure counts */
    one->seconds += seconds;
    one->busy = false;
    one->next++;
    retire(self);
}

/* One batch in one stage. Without the lock while it works. */
static void run_stage(pipeline *self, stage *one)
{
    ring_batch *batch = &self->ring[one->next % BATCHES];
    size_t most = self->batch_events;
    bool more = true;
    one->busy = true;
    pthread_mutex_unlock(&self->lock);
    double start = seconds_now();
    if (one->kind == STAGE_READER)
        one->status = read_batch(self, batch, most, &more, &one->error);
    else
        play_batch(self, one, &batch->events);
    double seconds = seconds_now() - start;
    pthread_mutex_lock(&self->lock);
    if (!more) self->ended = true;
    end_stage(self, one, seconds);
    pthread_cond_broadcast(&self->changed);
}

static void work(void *context)
{
    pipeline *self = context;
    pthread_mutex_lock(&self->lock);
    while (!is_done(self)) {
        stage *one = find_stage(self);
        if (!one)
            pthread_cond_wait(&self->changed, &self->lock);
        else if (self->source->next(self->source->context, &self->finished))
            run_stage(self, one);
        else
            self->stopped = true;
    }
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* The failure of the earliest event; of several, that of the first stage. The reader fails after all that it read. */
static const stage *first_failure(const pipeline *self)
{
    const stage *first = NULL;
    for (size_t i = 1; i < self->stage_count; i++) {
        const stage *one = &self->stages[i];
        if (!one->status) continue;
        if (!first || one->failed_batch < first->failed_batch ||
            (one->failed_batch == first->failed_batch && one->failed_event < first->failed_event))
            first = one;
    }
    return first || !self->stages[0].status ? first : &self->stages[0];
}

ee_status evaluation_pipeline_run(evaluation_play *play, const pipeline_source *source, size_t threads, bool *stopped,
                                  double *seconds, ee_error *error)
{
    enum { FIRST_EVENTS = 16 };
    pipeline self = {.play = play, .source = source, .batch_events = FIRST_EVENTS};
    *stopped = false;
    ee_status status = open_pipeline(&self, error);
    if (!status) {
        pthread_mutex_init(&self.lock, NULL);
        pthread_cond_init(&self.changed, NULL);
        pipeline_in_threads(threads < self.stage_count ? threads : self.stage_count, work, &self, seconds);
        pthread_cond_destroy(&self.changed);
        pthread_mutex_destroy(&self.lock);
        const stage *failed = first_failure(&self);
        *stopped = self.stopped;
        if (failed) status = failed->status;
        if (failed && error) *error = failed->error;
    }
    close_pipeline(&self);
    return status;
}
