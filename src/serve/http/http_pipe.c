#include "http_pipe.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { CAPACITY = 128 << 10 };

/* A ring of bytes with one writer and one reader. The reader takes no lock: a thread that serves must not wait for one
 * that was preempted while it had it. Both ends have the pipe; the second that leaves frees it. */
struct http_pipe {
    http_exchange *exchange;
    atomic_size_t written, taken; /* bytes so far */
    atomic_bool reader_waits;     /* for http_continue */
    atomic_bool reader_is_gone, writer_is_gone, is_complete;
    atomic_int ends;     /* that have it */
    atomic_bool is_full; /* the writer waits for room */
    sem_t room;          /* posted after is_full was taken back */
    char bytes[CAPACITY];
};

static void leave(http_pipe *self)
{
    if (atomic_fetch_sub(&self->ends, 1) > 1) return;
    sem_destroy(&self->room);
    memory_free(self);
}

/* ---- the reader: a thread that serves ---- */

static void wake_writer(http_pipe *self)
{
    if (atomic_exchange(&self->is_full, false)) sem_post(&self->room);
}

static size_t take(http_pipe *self, char *bytes, size_t capacity)
{
    size_t taken = atomic_load(&self->taken), size = atomic_load(&self->written) - taken, start = taken % CAPACITY;
    if (size > capacity) size = capacity;
    size_t first = size < CAPACITY - start ? size : CAPACITY - start;
    memcpy(bytes, self->bytes + start, first);
    memcpy(bytes + first, self->bytes, size - first);
    atomic_store(&self->taken, taken + size);
    if (atomic_load(&self->written) - taken - size <= CAPACITY / 2) wake_writer(self);
    return size;
}

/* What the writer did before it left is seen here. */
static long end_of(http_pipe *self)
{
    return atomic_load(&self->is_complete) ? 0 : -1;
}

static long read_pipe(void *context, char *bytes, size_t capacity)
{
    http_pipe *self = context;
    for (;;) {
        bool is_over = atomic_load(&self->writer_is_gone);
        size_t got = take(self, bytes, capacity);
        if (got) return (long)got;
        if (is_over) return end_of(self);
        atomic_store(&self->reader_waits, true);
        bool is_changed = atomic_load(&self->writer_is_gone) || atomic_load(&self->written) > atomic_load(&self->taken);
        /* The writer takes the flag back, and continues; or it came before the flag, and this is repeated. */
        if (!is_changed || !atomic_exchange(&self->reader_waits, false)) return HTTP_READ_LATER;
    }
}

static void leave_reading(void *context)
{
    http_pipe *self = context;
    atomic_store(&self->reader_is_gone, true);
    wake_writer(self);
    leave(self);
}

/* ---- the writer ---- */

ee_status http_pipe_answer(http_exchange *exchange, int status, http_pipe **out, ee_error *error)
{
    http_pipe *self;
    ee_status created = memory_create(NULL, &self, 1, sizeof *self, error);
    if (created) return created;
    sem_init(&self->room, 0, 0);
    atomic_init(&self->ends, 2);
    self->exchange = exchange;
    *out = self;
    http_stream(exchange, status, read_pipe, leave_reading, self);
    return EE_OK;
}

/* A reader that waits does not leave before it was continued: its exchange is still there. */
static void wake_reader(http_pipe *self)
{
    if (atomic_exchange(&self->reader_waits, false)) http_continue(self->exchange);
}

/* As much as there is room for. */
static size_t put(http_pipe *self, const char *bytes, size_t size)
{
    size_t written = atomic_load(&self->written), room = CAPACITY - (written - atomic_load(&self->taken));
    size_t end = written % CAPACITY;
    if (size > room) size = room;
    size_t first = size < CAPACITY - end ? size : CAPACITY - end;
    memcpy(self->bytes + end, bytes, first);
    memcpy(self->bytes, bytes + first, size - first);
    atomic_store(&self->written, written + size);
    return size;
}

/* Until the reader has taken half of the ring, or is gone. */
static void wait_for_room(http_pipe *self)
{
    atomic_store(&self->is_full, true);
    bool is_changed =
        atomic_load(&self->reader_is_gone) || atomic_load(&self->written) - atomic_load(&self->taken) <= CAPACITY / 2;
    if (is_changed && atomic_exchange(&self->is_full, false)) return;
    while (sem_wait(&self->room)) {
    }
}

bool http_pipe_write(http_pipe *self, const char *bytes, size_t size)
{
    while (size && !atomic_load(&self->reader_is_gone)) {
        size_t part = put(self, bytes, size);
        bytes += part;
        size -= part;
        wake_reader(self);
        if (size) wait_for_room(self);
    }
    return !atomic_load(&self->reader_is_gone);
}

void http_pipe_close(http_pipe *self, bool complete)
{
    atomic_store(&self->is_complete, complete);
    atomic_store(&self->writer_is_gone, true);
    wake_reader(self);
    leave(self);
}
