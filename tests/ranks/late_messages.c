/* A network on which small messages are late, for tests of the ranks: a library for LD_PRELOAD.
 *
 *     mpirun -x LD_PRELOAD=liblate_messages.so -x LATE_MESSAGES=FILE ... PROGRAM
 *
 * MPI begins to receive messages in the order in which they were sent, but may complete a later one first. Here that
 * always happens: a small message of a worker of rank 1 is not complete until a later message of that worker is. FILE
 * gets a line each time. Everything else is MPI's own: the calls below are in front of it (MPI 3.1, 14.2). */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE_RANK = 1, SMALL = 8, MOST = 64 };

/* A message that is being received. */
typedef struct incoming {
    MPI_Message matched;
    MPI_Request request;
    int worker;         /* its tag; 0: the place is free */
    bool small, beaten; /* by a later message of the worker */
    bool complete;      /* as MPI says */
    unsigned long number;
} incoming;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static incoming table[MOST];
static unsigned long count;

static void note(void)
{
    const char *path = getenv("LATE_MESSAGES");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (file < 0 || write(file, "overtaken\n", 10) != 10) abort();
    close(file);
}

int MPI_Improbe(int source, int tag, MPI_Comm way, int *flag, MPI_Message *message, MPI_Status *status)
{
    int result = PMPI_Improbe(source, tag, way, flag, message, status);
    if (result || !*flag || status->MPI_SOURCE != LATE_RANK || status->MPI_TAG < 1) return result;
    int words;
    PMPI_Get_count(status, MPI_UINT64_T, &words);
    pthread_mutex_lock(&mutex);
    incoming *free_place = table;
    while (free_place < table + MOST && free_place->worker) free_place++;
    if (free_place == table + MOST) abort();
    *free_place =
        (incoming){.matched = *message, .worker = status->MPI_TAG, .small = words <= SMALL, .number = ++count};
    pthread_mutex_unlock(&mutex);
    return result;
}

int MPI_Imrecv(void *buffer, int words, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    MPI_Message matched = *message;
    int result = PMPI_Imrecv(buffer, words, type, message, request);
    pthread_mutex_lock(&mutex);
    for (incoming *one = table; one < table + MOST; one++)
        if (one->worker && one->matched == matched && !one->request) one->request = *request;
    pthread_mutex_unlock(&mutex);
    return result;
}

/* This one is complete: earlier ones of its worker may be, too. */
static void let_pass(const incoming *later)
{
    for (incoming *one = table; one < table + MOST; one++)
        if (one->worker == later->worker && one->number < later->number && !one->beaten) {
            one->beaten = true;
            if (one->small) note();
        }
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    pthread_mutex_lock(&mutex);
    incoming *one = table;
    while (one < table + MOST && !(one->worker && one->request == *request)) one++;
    if (one == table + MOST) {
        pthread_mutex_unlock(&mutex);
        return PMPI_Test(request, flag, status);
    }
    int complete = 1, result = MPI_SUCCESS;
    if (!one->complete) result = PMPI_Request_get_status(*request, &complete, MPI_STATUS_IGNORE);
    if (complete && !one->complete) {
        one->complete = true;
        let_pass(one);
    }
    *flag = complete && (!one->small || one->beaten);
    if (*flag) {
        result = PMPI_Test(request, flag, status);
        one->worker = 0;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}
