#define _POSIX_C_SOURCE 200809L
#include "transport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

static MPI_Comm communicators[2];
static int own_rank, rank_count = 1;

void transport_open(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    for (size_t i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
}

void transport_close(void)
{
    for (size_t i = 0; i < 2; i++) MPI_Comm_free(&communicators[i]);
}

size_t transport_ranks(void)
{
    return (size_t)rank_count;
}

size_t transport_own_rank(void)
{
    return (size_t)own_rank;
}

_Noreturn void transport_fail(const char *sentence)
{
    fprintf(stderr, "eenet: rank %d: %s\n", own_rank, sentence);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void backoff_wait(backoff *self)
{
    const long least = 10000, most = 1000000; /* nanoseconds */
    self->nanoseconds = self->nanoseconds ? 2 * self->nanoseconds : least;
    if (self->nanoseconds > most) self->nanoseconds = most;
    nanosleep(&(struct timespec){.tv_nsec = self->nanoseconds}, NULL);
}

void backoff_reset(backoff *self)
{
    self->nanoseconds = 0;
}

void transport_begin(transport_direction to, size_t rank, size_t thread, const message *what, outgoing_message *out)
{
    ee_error error;
    size_t count;
    if (message_write(what, &out->words, &count, &error)) transport_fail(error.message);
    if (count > INT_MAX) transport_fail("MPI: a curve has too many rounds to be sent; try a smaller -T");
    MPI_Isend(out->words, (int)count, MPI_UINT64_T, (int)rank, (int)thread, communicators[to], &out->request);
}

void transport_finish(outgoing_message *of)
{
    if (!of->words) return;
    backoff between = {0};
    for (int sent = 0;;) {
        MPI_Test(&of->request, &sent, MPI_STATUS_IGNORE);
        if (sent) break;
        backoff_wait(&between);
    }
    memory_free(of->words);
    of->words = NULL;
}

void transport_send(transport_direction to, size_t rank, size_t thread, const message *what)
{
    outgoing_message one = {0};
    transport_begin(to, rank, thread, what, &one);
    transport_finish(&one);
}

/* Begins to receive the next message, if there is one. */
static bool begin_receiving(transport_direction to, int thread, incoming_message *out)
{
    int came, count;
    MPI_Message from;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, thread == ANY_THREAD ? MPI_ANY_TAG : thread, communicators[to], &came, &from, &status);
    if (!came) return false;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    ee_error error;
    if (memory_create(NULL, &out->words, (size_t)count, sizeof *out->words, &error)) transport_fail(error.message);
    MPI_Imrecv(out->words, count, MPI_UINT64_T, &from, &out->request);
    out->count = (size_t)count;
    out->rank = (size_t)status.MPI_SOURCE;
    out->thread = (size_t)status.MPI_TAG;
    return true;
}

bool transport_receive(transport_direction to, int thread, incoming_message *out)
{
    int whole;
    ee_error error;
    if (!out->words && !begin_receiving(to, thread, out)) return false;
    MPI_Test(&out->request, &whole, MPI_STATUS_IGNORE);
    if (!whole) return false;
    if (message_read(out->words, out->count, &out->what, &error)) transport_fail(error.message);
    return true;
}

void transport_wait(transport_direction to, int thread, incoming_message *out)
{
    backoff between = {0};
    while (!transport_receive(to, thread, out)) backoff_wait(&between);
}

void incoming_release(incoming_message *of)
{
    memory_free(of->words);
    of->words = NULL;
}
