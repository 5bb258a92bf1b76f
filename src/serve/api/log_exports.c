#define _GNU_SOURCE /* sched_getaffinity */
#include "log_exports.h"

#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "serve/http/http_pipe.h"
#include "serve/log/log_export.h"
#include "serve/system/server_clock.h"

enum { PIECE = 64 << 10 };

typedef struct running_export {
    log_exports *all;
    worker_task task;
    atomic_bool busy;

    /* Of the present export. */
    service *owner;
    call *asked; /* NULL once it is answered */
    uint32_t bandit;
    log_range range;
    content_coding coding;
    text lines, packed;
} running_export;

struct log_exports {
    worker *threads;
    running_export exports[MOST_EXPORTS];
    sem_t turns; /* as many compute at a time */
};

/* ---- one export ---- */

static ee_status open_lines(running_export *self, log_export **lines, ee_error *error)
{
    store_reader *reader = NULL;
    ee_status status = store_reader_create(self->owner->store, &reader, error);
    return status ? status : log_export_create(reader, self->bandit, &self->range, lines, error);
}

static void take_turn(log_exports *all)
{
    while (sem_wait(&all->turns)) {
    }
}

/* Rests twice as long as it took to compute, so that exports get a third of a turn's processor. A lower priority would
 * be worse: a thread that is preempted inside SQLite blocks the one that writes decisions. */
static void end_turn(log_exports *all, int64_t begin)
{
    int64_t rest = 2 * (server_clock_real() - begin), most = 20000;
    if (rest > most) rest = most;
    nanosleep(&(struct timespec){.tv_nsec = (long)rest * 1000}, NULL);
    sem_post(&all->turns);
}

/* The next piece, encoded, in self->packed. */
static ee_status make_piece(running_export *self, log_export *lines, content_encoder *encoder, bool *over,
                            ee_error *error)
{
    self->lines.length = self->packed.length = 0;
    take_turn(self->all);
    int64_t begin = server_clock_real();
    ee_status status = log_export_fill(lines, &self->lines, PIECE, over, error);
    if (!status) status = content_encode(encoder, self->lines.bytes, self->lines.length, *over, &self->packed, error);
    end_turn(self->all, begin);
    return status;
}

static void send_lines(running_export *self, log_export *lines, content_encoder *encoder, http_pipe *pipe)
{
    bool over = false, is_read = true;
    ee_error error;
    ee_status status = EE_OK;
    while (!over && is_read && !status) {
        status = make_piece(self, lines, encoder, &over, &error);
        if (!status) is_read = http_pipe_write(pipe, self->packed.bytes, self->packed.length);
    }
    if (status)
        server_log_write(&self->owner->log, LOG_LEVEL_ERROR, NULL, "log export failed before its end: %s",
                         error.message);
    http_pipe_close(pipe, !status);
}

static ee_status answer(running_export *self, http_pipe **pipe, ee_error *error)
{
    http_exchange *exchange = self->asked->exchange;
    const char *name = content_coding_name(self->coding);
    exchange->content_type = "application/x-ndjson";
    http_add_header(exchange, "Vary", "Accept-Encoding");
    if (name) http_add_header(exchange, "Content-Encoding", name);
    return http_pipe_answer(exchange, 200, pipe, error);
}

static void run_export(void *context)
{
    running_export *self = context;
    log_export *lines = NULL;
    content_encoder *encoder = NULL;
    http_pipe *pipe;
    ee_error error;
    ee_status status = open_lines(self, &lines, &error);
    if (!status) status = content_encoder_create(self->coding, &encoder, &error);
    if (!status) status = answer(self, &pipe, &error);
    if (status)
        call_fail(self->asked, &error);
    else
        send_lines(self, lines, encoder, pipe);
    content_encoder_free(encoder);
    log_export_free(lines);
    memory_free(self->lines.bytes);
    memory_free(self->packed.bytes);
    atomic_store(&self->busy, false);
}

bool log_exports_start(log_exports *self, call *asked, const log_range *range, content_coding coding)
{
    for (size_t i = 0; i < MOST_EXPORTS; i++) {
        running_export *each = &self->exports[i];
        if (atomic_exchange(&each->busy, true)) continue;
        each->owner = asked->owner;
        each->asked = asked;
        each->bandit = served_bandit_number(asked->bandit);
        each->range = *range;
        each->coding = coding;
        each->lines = text_start(NULL);
        each->packed = text_start(NULL);
        each->task = (worker_task){.run = run_export, .context = each};
        if (worker_submit(self->threads, &each->task)) return true;
        atomic_store(&each->busy, false);
    }
    return false;
}

/* ---- all of them ---- */

static unsigned turns_at_once(void)
{
    cpu_set_t cores;
    unsigned count = sched_getaffinity(0, sizeof cores, &cores) ? 1 : (unsigned)CPU_COUNT(&cores);
    return count > 3 ? count / 2 : 1;
}

ee_status log_exports_create(log_exports **out, ee_error *error)
{
    log_exports *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    sem_init(&self->turns, 0, turns_at_once());
    *out = self;
    for (size_t i = 0; i < MOST_EXPORTS; i++) self->exports[i].all = self;
    return worker_start(MOST_EXPORTS, MOST_EXPORTS, &self->threads, error);
}

void log_exports_stop(log_exports *self)
{
    if (!self) return;
    worker_stop(self->threads);
    sem_destroy(&self->turns);
    memory_free(self);
}
