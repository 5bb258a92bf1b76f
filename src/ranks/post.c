#define _POSIX_C_SOURCE 200809L
#include "post.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

static MPI_Comm ways[2];
static int own_rank, rank_count = 1;

void post_open(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    for (size_t i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &ways[i]);
}

void post_close(void)
{
    for (size_t i = 0; i < 2; i++) MPI_Comm_free(&ways[i]);
}

size_t post_ranks(void)
{
    return (size_t)rank_count;
}

size_t post_own_rank(void)
{
    return (size_t)own_rank;
}

_Noreturn void post_fail(const char *sentence)
{
    fprintf(stderr, "eenet: rank %d: %s\n", own_rank, sentence);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void nap_sleep(nap *self)
{
    const long least = 10000, most = 1000000; /* nanoseconds */
    self->nanoseconds = self->nanoseconds ? 2 * self->nanoseconds : least;
    if (self->nanoseconds > most) self->nanoseconds = most;
    nanosleep(&(struct timespec){.tv_nsec = self->nanoseconds}, NULL);
}

void nap_wake(nap *self)
{
    self->nanoseconds = 0;
}

void post_begin(post_way way, size_t rank, size_t thread, const message *what, parcel *out)
{
    ee_error error;
    size_t count;
    if (message_write(what, &out->words, &count, &error)) post_fail(error.message);
    if (count > INT_MAX) post_fail("MPI: a curve has too many rounds to be sent; try a smaller -T");
    MPI_Isend(out->words, (int)count, MPI_UINT64_T, (int)rank, (int)thread, ways[way], &out->request);
}

void post_finish(parcel *of)
{
    if (!of->words) return;
    nap between = {0};
    for (int sent = 0;;) {
        MPI_Test(&of->request, &sent, MPI_STATUS_IGNORE);
        if (sent) break;
        nap_sleep(&between);
    }
    memory_free(of->words);
    of->words = NULL;
}

void post_send(post_way way, size_t rank, size_t thread, const message *what)
{
    parcel one = {0};
    post_begin(way, rank, thread, what, &one);
    post_finish(&one);
}

/* Begins to receive the next message, if there is one. */
static bool begin_letter(post_way way, int thread, letter *out)
{
    int came, count;
    MPI_Message from;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, thread == POST_ANYWHERE ? MPI_ANY_TAG : thread, ways[way], &came, &from, &status);
    if (!came) return false;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    ee_error error;
    if (memory_create(NULL, &out->words, (size_t)count, sizeof *out->words, &error)) post_fail(error.message);
    MPI_Imrecv(out->words, count, MPI_UINT64_T, &from, &out->request);
    out->count = (size_t)count;
    out->rank = (size_t)status.MPI_SOURCE;
    out->thread = (size_t)status.MPI_TAG;
    return true;
}

bool post_take(post_way way, int thread, letter *out)
{
    int whole;
    ee_error error;
    if (!out->words && !begin_letter(way, thread, out)) return false;
    MPI_Test(&out->request, &whole, MPI_STATUS_IGNORE);
    if (!whole) return false;
    if (message_read(out->words, out->count, &out->what, &error)) post_fail(error.message);
    return true;
}

void post_wait(post_way way, int thread, letter *out)
{
    nap between = {0};
    while (!post_take(way, thread, out)) nap_sleep(&between);
}

void letter_release(letter *of)
{
    memory_free(of->words);
    of->words = NULL;
}
