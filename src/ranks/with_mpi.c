/* Ranks with MPI: start and end. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "ranks.h"
#include "ranks_inside.h"
#include "transport.h"

static bool together; /* MPI runs, and there are several ranks */

void ranks_version(char text[RANKS_VERSION])
{
    snprintf(text, RANKS_VERSION, "%s %s", ee_version(), ee_kernels());
}

const char *ranks_host(char text[RANKS_HOST])
{
    if (gethostname(text, RANKS_HOST)) snprintf(text, RANKS_HOST, "an unknown host");
    text[RANKS_HOST - 1] = '\0';
    return text;
}

/* "Open MPI v4.1.4, package: Debian OpenMPI, ident: ...": up to the first comma, without the v. */
const char *ranks_library(void)
{
    static char words[64];
    char whole[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(whole, &length);
    snprintf(words, sizeof words, "%.*s", (int)strcspn(whole, ",\n"), whole);
    char *number = strstr(words, " v");
    if (number) memmove(number + 1, number + 2, strlen(number + 1));
    return words;
}

/* EE_OK if this program is connected to the other ranks, or there are none. */
static ee_status check(size_t started, int found, int level, ee_error *error)
{
    if (found == 1 && started > 1)
        return status_fail(
            error, EE_BAD_INPUT,
            "%zu processes were started together, but %s cannot connect them, so each would do all runs: "
            "start them with its mpirun, or with srun --mpi=pmix",
            started, ranks_library());
    if (found > 1 && level < MPI_THREAD_MULTIPLE)
        return status_fail(error, EE_BAD_INPUT, "MPI: %s lacks thread support; use an MPI built with it",
                           ranks_library());
    return EE_OK;
}

ee_status ranks_start(ee_error *error)
{
    launch by = launch_find();
    if (!by.by_mpi || by.ranks == 1) return EE_OK;
    int level, count;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ee_status status = check(by.ranks, count, level, error);
    together = !status && count > 1;
    if (together)
        transport_open();
    else
        MPI_Finalize();
    return status;
}

size_t ranks_count(void)
{
    return together ? transport_ranks() : 1;
}

bool ranks_lead(void)
{
    return !together || transport_own_rank() == 0;
}

void ranks_end(void)
{
    if (!together) return;
    const message sent = {.kind = MESSAGE_LEAVE};
    for (size_t i = 1; i < transport_ranks(); i++) transport_send(TO_WORKERS, i, MAIN_THREAD, &sent);
    transport_close();
    MPI_Finalize();
    together = false;
}

void ranks_abort(int code)
{
    if (together) MPI_Abort(MPI_COMM_WORLD, code);
}
